"""Tell how a sentence is meant, as a fact or as less, and who speaks. Pure, linear."""

import re
from collections.abc import Iterable
from functools import lru_cache

from kb_assets.extractions.properties import SUGGESTION
from kb_assets.extractions.prose_sentences import Passage
from kb_core.ontology import FACT
from kb_core.prose_cues import ProseCues

_ASSISTANT = re.compile(
    r"(?:assistant|ai|chatgpt|gpt|claude|gemini|copilot|bot|model|response|answer|助手)(?![^\W\d_])"
)
_PERSON = re.compile(r"(?:user|human|you|me|i|prompt|question|我|用户)(?![^\W\d_])")
_ALSO_NAMES = frozenset({"may", "will"})  # with a capital
_CHINESE = re.compile("[\u4e00-\u9fff]")
_KANA = re.compile("[\u3041-\u30ff\uac00-\ud7ff]")


class Speakers:
    """Keeps who speaks while a conversation is read from the top."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        labels = {each.label: each.is_heading for each in passages if each.label}
        has_assistant = any(map(_ASSISTANT.match, labels))
        has_people = sum(not is_heading for is_heading in labels.values()) > 1
        # Where nobody can be told apart, an assistant may have said it.
        self.is_assistant = has_assistant or not has_people

    def hear(self, passage: Passage) -> None:
        """Take down whose turn a passage begins; within a turn, `Pros:` begins none."""
        if _ASSISTANT.match(passage.label):
            self.is_assistant = True
        elif _PERSON.match(passage.label):
            self.is_assistant = False


def language_of(text: str) -> str | None:
    """Return the language whose cues a sentence is read by; None for a script without cues."""
    if text.isascii():
        return "en"
    if _KANA.search(text):
        return None
    return "zh" if _CHINESE.search(text) else "en"


def modality_of(text: str, end: int, cues: ProseCues) -> str:
    """Return how a sentence means what it says up to `end`; the first list that fits decides.

    What stands behind speaks of something else, but for a condition or a source.
    """
    behind = " ".join(_any_of(cues.behind).findall(text, end))
    scope = f"{text[:end]} {behind}"
    for name, words in cues.modality.items():
        if _any_of(words).search(scope):
            return name
    return FACT


def is_asked(text: str) -> bool:
    """Tell whether a sentence asks."""
    return text.rstrip("\"'”’*_) ").endswith(("?", "？"))


def is_denied(text: str, end: int, cues: ProseCues) -> bool:
    """Tell whether a sentence denies what it says up to `end`."""
    return bool(_any_of(cues.negation).search(text, 0, end))


def combined(modality: str, *, is_assistant: bool, is_planned: bool) -> str:
    """Return how a statement is meant, given who speaks and whether its note is only a plan."""
    if is_assistant:
        return SUGGESTION
    return "plan" if is_planned and modality == FACT else modality


@lru_cache(maxsize=32)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile "one of these words", whole ones where the script has blanks."""
    forms = [_form(word) for word in sorted(words, key=len, reverse=True)]
    return re.compile("|".join(forms), re.IGNORECASE)


def _form(word: str) -> str:
    if word == "n't":
        return r"n['’]t(?!\w)"
    escaped = re.escape(word).replace("'", "['’]")
    if word in _ALSO_NAMES:
        return rf"(?<!\w)(?-i:{escaped})(?!\w)"
    return rf"(?<!\w){escaped}(?!\w)" if word.isascii() else escaped
