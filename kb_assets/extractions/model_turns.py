"""Who says what in a saved conversation: a person, an assistant, or nobody knows. Pure, linear.

Turns are found as the chunks stage finds them: by headings (`## User`), bold names (`**Ana:** …`)
or plain names (`Ana: …`); the first way that starts two of them is the conversation's own.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from kb_assets.extractions.model_words import plain
from kb_assets.extractions.note_text import NoteText

PERSON, ASSISTANT, UNKNOWN = "person", "assistant", "unknown"

_ASSISTANT = re.compile(
    r"(?:the )?(?:ai|assistant|bot|chatbot|model|response|answer|system|chatgpt|gpt-?[\w.]*|claude"
    r"|gemini|copilot|bard|bing|grok|perplexity|deepseek|mistral|le chat|llama|qwen|kimi|pi"
    r"|assistent|ki|助手|模型)\b.*",
    re.IGNORECASE,
)
# Who talks to an assistant: everybody else in such a conversation is one, whatever its name.
_USER = re.compile(
    r"(?:user|human|you|prompt|question|nutzer|用户|你)(?: said| says)?", re.IGNORECASE
)
_ROLES = (
    "user|assistant|human|ai|you|me|system|model|bot|prompt|response|question|answer"
    r"|chatgpt|gpt-?[\w.]*|claude|gemini|copilot|用户|助手|我|你"
)
_TIME = r"[\[(（]?[\d:/.\-T ]{4,25}(?:[AaPp][Mm])?[\])）]?"
_NAME = r"(?P<name>[^\W\d_][^\n:：*_#|<>\[\](){}]{0,39}?)"
_LINE = rf"^ {{0,3}}(?:[-*>][ \t]+)?(?:{_TIME}[ \t]*)?"
_STYLES = (
    re.compile(
        rf"^ {{0,3}}#{{1,6}}[ \t]+(?P<name>{_ROLES})(?: said| says)?[ \t]*[:：]?"
        rf"(?:[ \t]+{_TIME})?[ \t]*$",
        re.MULTILINE | re.IGNORECASE,
    ),
    re.compile(
        rf"{_LINE}(?:\*\*|__){_NAME}(?:[ \t]+{_TIME})?[ \t]*"
        r"(?:[:：](?:\*\*|__)|(?:\*\*|__)[ \t]*[:：])",
        re.MULTILINE,
    ),
    re.compile(rf"{_LINE}{_NAME}(?:[ \t]+{_TIME})?(?:[:：][ \t]*$|: |：)", re.MULTILINE),
)
_NO_SPEAKERS = """
    attendees cc channel created date datetime day from link location model note notes participants
    place platform present re source status subject summary tags time title to topic updated url
    时间 日期 主题 参加 地点
"""
_NOT_SPEAKERS = frozenset(_NO_SPEAKERS.split())
_MOST_WORDS = 4


class _Turn(NamedTuple):
    start: int  # byte of the note
    speaker: str


class Speakers:
    """Who speaks in one chunk of a conversation."""

    def __init__(self, note: NoteText, piece: int) -> None:
        self._parts = [(speaker, plain(text)) for speaker, text in _spoken(note, piece)]

    def of(self, words: str) -> str:
        """Tell who says words of the chunk: PERSON, ASSISTANT or UNKNOWN.

        Words that stand in turns of both, in none, or across two are nobody's.
        """
        wanted = plain(words)
        heard = {speaker for speaker, text in self._parts if wanted and wanted in text}
        return heard.pop() if len(heard) == 1 else UNKNOWN


def _spoken(note: NoteText, piece: int) -> Iterator[tuple[str, str]]:
    """Yield a chunk's parts by who says them; what stands before the first turn is nobody's."""
    where = note.pieces[piece]
    turns = _turns(note)
    is_with_assistant = any(_USER.fullmatch(turn.speaker) for turn in turns)
    edges = [_Turn(0, ""), *turns, _Turn(len(note.data), "")]
    for turn, following in pairwise(edges):
        start, end = max(turn.start, where.start), min(following.start, where.end)
        if start < end:
            text = note.data[start:end].decode("utf-8", "replace")
            yield _who(turn.speaker, is_with_assistant), text


def _who(name: str, is_with_assistant: bool) -> str:
    if not name:
        return UNKNOWN
    if _ASSISTANT.fullmatch(name):
        return ASSISTANT
    return ASSISTANT if is_with_assistant and not _USER.fullmatch(name) else PERSON


def _turns(note: NoteText) -> list[_Turn]:
    for turns in _readings(note.data, note.body_start):
        found = [turn for turn in turns if not note.is_code(turn.start)]
        if len(found) > 1:
            return found
    return []


@lru_cache(maxsize=2)  # asked for at every chunk of a conversation
def _readings(data: bytes, body_start: int) -> tuple[tuple[_Turn, ...], ...]:
    """Return the turns that each way of writing them finds, by bytes of the note."""
    body = data[body_start:].decode("utf-8", "replace")
    return tuple(tuple(_in(style, body, body_start)) for style in _STYLES)


def _in(style: re.Pattern[str], body: str, body_start: int) -> Iterator[_Turn]:
    at = byte = 0
    for found in style.finditer(body):
        name = found["name"].strip()
        if len(name.split()) <= _MOST_WORDS and name.casefold() not in _NOT_SPEAKERS:
            byte += len(body[at : found.start()].encode())
            at = found.start()
            yield _Turn(body_start + byte, name)
