"""What can be the subject of an English question that is read without its note. Pure.

A subject is short, points back at nothing (this, it, such), opens no clause, and says what it is
about: "the workshop lease" can be asked of, "the result" and "they" cannot.
"""

import re
from collections.abc import Callable

from eval_assets.suggestions.wording import word_set

BE = r"is|are|was|were"
MODAL = r"can|must|should|will|may|could|would|shall"
ARTICLES = ("the ", "a ", "an ", "our ", "your ", "all ", "any ", "every ", "each ", "my ")

_VERB = re.compile(rf"\b(?:{BE}|{MODAL}|has|have|had|do|does|did)\b")
_NEVER_INSIDE = word_set(
    "that which who whom whose if when while because since although though as where whether unless "
    "but so it they he she this these those there here i you what how why also however its their "
    "his her them him then than both either neither another other others same such following "
    "above below latter former next previous one ones not to"
)
_NEVER_FIRST = word_set(
    "in on at for with by from after before during once currently now today under over about into "
    "using within without despite per until through like unlike some many most few several each "
    "first second third finally lastly instead yes no please note only even just we and or always "
    "never simply sometimes often rarely proposed added adding"
)
_VAGUE = word_set(
    "reason result idea goal purpose problem issue thing point way case difference list rest "
    "answer question example process team meeting page document section note approach change "
    "proposal value number total project option version function method class object code feature "
    "file plan work step plans company user users customer customers author authors code data"
)
_POINTING = re.compile(
    r"\b(?:this|that|these|those|it|its|they|them|their|he|she|his|her|him|here|above|below|such"
    r"|following|former|latter|aforementioned|see|i|me|my)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\b(?:if|when|because|although|unless|which|who|whereas|while|but)\b")
_TRAILING = re.compile(
    r"\b(?:though|too|also|however|yet|either|instead|now|already|again|as well)$"
)
_UNCOUNTED = ("ing", "ity", "ism", "ware", "ship")
_PLURALS = word_set("people children men women data media criteria staff feet teeth")
_HEAD_ENDS = re.compile(r"\s(?:of|for|in|on|at|from|with|per|to)\s")
_LONGEST = 9  # words


def is_subject(subject: str, may_have_number: bool = False) -> bool:
    """Say whether words can be the subject of a question that is read without its note.

    >>> is_subject("The workshop lease"), is_subject("The result"), is_subject("What we do")
    (True, False, False)
    """
    words = re.findall(r"[^\W_][\w'’.-]*", subject.lower())
    if not 1 <= len(words) <= _LONGEST or not _is_start(words) or _NEVER_INSIDE & set(words):
        return False
    if not may_have_number and any(word.isdigit() for word in words):
        return False
    return _says_what(words) and not _VERB.search(subject.lower())


def is_self_contained(*texts: str) -> bool:
    """Say whether none of the texts points elsewhere, opens a clause or trails off."""
    patterns = (_POINTING, _CLAUSE, _TRAILING)
    return not any(pattern.search(text) for text in texts for pattern in patterns)


def lacks_article(subject: str, is_common_word: Callable[[str], bool]) -> bool:
    """Say whether a single thing is named in note style: `Password must contain …`."""
    first, *more = subject.split()
    if subject.lower().startswith(ARTICLES) or not first.isalpha() or not is_common_word(first):
        return False
    last = (more or [first])[-1].lower()
    return not is_plural(subject) and not last.endswith(_UNCOUNTED)


def is_plural(subject: str) -> bool:
    """Say whether the subject's head noun looks like a plural."""
    words = head_of(subject).split()
    return words[-1].endswith("s") or "and" in words or "or" in words or words[-1] in _PLURALS


def head_of(subject: str) -> str:
    """Return the subject as far as its first preposition, in small letters.

    >>> head_of("The price of a licence")
    'the price'
    """
    return _HEAD_ENDS.split(subject.lower())[0]


def small_start(text: str, is_common_word: Callable[[str], bool]) -> str:
    """Write the first letter small, unless the first word is a name's."""
    first = re.match(r"[^\W\d_]+", text)
    if not first or (len(first[0]) > 1 and first[0][1:] != first[0][1:].lower()):
        return text
    if text.lower().startswith(ARTICLES):
        return text[0].lower() + text[1:]
    if re.match(r"\S+\s[A-ZÀ-Þ]", text):  # Trusted Types: a name of two words
        return text
    return text[0].lower() + text[1:] if is_common_word(first[0]) else text


def _is_start(words: list[str]) -> bool:
    """A gerund with its object and an adverb begin sentences that cannot be turned round."""
    if words[0] in _NEVER_FIRST or words[0].endswith("ly"):
        return False
    return len(words) == 1 or not words[0].endswith("ing") or words[1] in ("of", "for")


def _says_what(words: list[str]) -> bool:
    content = [word for word in words if word not in ("the", "a", "an", "our", "your", "of", "for")]
    return bool(content) and (len(content) > 1 or content[0] not in _VAGUE)
