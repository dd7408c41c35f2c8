"""Questions on what people asked each other in notes of conversations, and got answered. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from eval_assets.suggestions.answering import stems
from eval_assets.suggestions.drafts import Draft, facts_of, is_quotable
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import templates
from eval_assets.suggestions.wording import is_unspaced, plain, sentences, word_set
from kb_core.text import fold, keyword_tokens

_TURN = re.compile(
    r"^(?:\*\*)?([^\W\d_][\w .'-]{0,30}?)(?:\*\*)?[:：](?:\*\*)?[ \t]+(\S.*)$", re.MULTILINE
)
_FEWEST_TURNS = 4
_MACHINES = word_set("user assistant ai chatgpt claude gpt gemini copilot system bot human")
_SYMBOLS = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]")
_ASKS = re.compile(
    r"(?:(?:so|and|but|also|hey|oh|well|by the way|btw|hi|ok|okay)\b,?\s+|\w+[,:]\s+)?"
    r"(?:what|which|when|where|who|whose|how(?! about)|why)\b",
    re.IGNORECASE,
)
_FEWEST_STEMS = 3
_LONGEST_QUESTION = 140
_FEWEST_ANSWER_WORDS = 8
_VAGUE = re.compile(
    r"\b(?:how are|what about you|what do you think|what's up|how's it going|you think\?|right\?"
    r"|anything else|any (?:ideas|thoughts|suggestions)\?)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|that|this|they|them|those|these|there|he|she|him|her|one|ones|then)\b", re.I
)


class Turn(NamedTuple):
    """What somebody said at once."""

    speaker: str
    text: str


def talk_drafts(vault: SourceVault) -> Iterator[Draft]:
    """Yield a draft for every question in a dated conversation that the next turn answers."""
    for note in vault.notes:
        if note.date and len(note.date) > len("2024-03"):
            for before, after in pairwise(turns_of(note)):
                yield from _draft(note, before, after)


def turns_of(note: SourceNote) -> Sequence[Turn]:
    """Return the turns of a conversation between people; none if the note is no conversation."""
    body = note.text.encode()[note.body_start :].decode()
    found = [Turn(turn[1].strip(), " ".join(turn[2].split())) for turn in _TURN.finditer(body)]
    speakers = Counter(turn.speaker for turn in found)
    talking = {speaker for speaker, number in speakers.items() if number > 1}
    kept = [turn for turn in found if turn.speaker in speakers and speakers[turn.speaker] > 0]
    kept = [turn for turn in kept if turn.speaker in talking or len(talking) > 1]
    is_talk = len(kept) >= _FEWEST_TURNS and talking and len(talking) * 4 >= len(speakers)
    if not is_talk or {fold(speaker) for speaker in speakers} & _MACHINES:
        return ()
    return kept


def _draft(note: SourceNote, before: Turn, after: Turn) -> Iterator[Draft]:
    wording = templates(note.language)
    asked = _asked(before.text)
    quote = _answer(after.text)
    if not is_unspaced(asked) and not stems(asked) & stems(quote):
        return
    if before.speaker == after.speaker or not asked or not quote or not note.date:
        return
    when = wording.word("when_talk", date=wording.date(note.date))
    question = wording.word(
        "talk", asker=before.speaker, answerer=after.speaker, when=when or "", question=asked
    )
    if question:
        yield Draft(
            rule="talk",
            topic="",
            category="single_fact",
            language=wording.code,
            question=question.replace("?”?", "?”"),
            answer=plain(quote),
            facts=facts_of(note.note_id, [quote]),
            reason="The next turn of the conversation answers.",
            weight=0.8 + 0.2 * bool(re.search(r"\d|\s[A-Z][a-z]", quote)),
        )


def _asked(text: str) -> str:
    """Return the one question a turn ends with, if it is understood alone."""
    said = list(sentences(_SYMBOLS.sub("", text)))
    questions = [sentence.strip() for sentence in said if sentence.rstrip().endswith(("?", "？"))]
    if len(questions) != 1:
        return ""
    asked = plain(questions[0])
    if len(asked) > _LONGEST_QUESTION or asked.count(":") > 1:
        return ""
    if not is_unspaced(asked) and (not _ASKS.match(asked) or len(stems(asked)) < _FEWEST_STEMS):
        return ""
    return "" if _VAGUE.search(asked) or _POINTS_BACK.search(asked) else asked


def _answer(text: str) -> str:
    """Return the sentences that answer: as many of the first ones as can be quoted."""
    said = list(sentences(text))
    quote = ""
    for sentence in said[:3]:
        longer = f"{quote} {sentence}".strip()
        if not is_quotable(longer):
            break
        quote = longer
    words = keyword_tokens(quote)
    if len(words) < _FEWEST_ANSWER_WORDS or quote.rstrip().endswith("?") or "://" in quote:
        return ""
    return quote if quote in text else ""
