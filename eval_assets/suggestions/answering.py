"""Is an English heading a question that stands alone, and does its section answer it? Pure.

Without a model the second can only be guessed: an answer speaks of what was asked, decides where
the question is yes or no, gives a reason where it asks why. What does not is left out.
"""

import re
from collections.abc import Callable

from eval_assets.suggestions.sections import Answer
from eval_assets.suggestions.wording import plain, word_set
from kb_core.text import keyword_tokens

POINTS_BACK = re.compile(
    r"\b(?:this|that|these|those|it|they|them|here|he|she|me|my)\b", re.IGNORECASE
)
_ASKING = re.compile(
    r"(?:what(?!\s(?:about|if|else))|why(?!\sno\s)|how(?!\sabout)|when|where|who|whose|whom|which|if"
    r"|can|could|do|does|did|is|are|was|were|will|would|should|shall|may|must|has|have)\b",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"(?:can|could|do|does|did|is|are|was|were|will|would|should|shall|may|must|has|have)\b",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:yes|no|not|never|cannot|depends|correct|absolutely)\b|n['’]t\b", re.IGNORECASE
)
_STEPS = (
    "use using run create go open click send add ask fill submit start first make set select "
    "navigate visit log login contact email post write choose install by download call input enter "
    "search check review update delete remove change edit save share join tell press drag copy "
    "paste clone build sign wait turn enable disable find schedule book pick put take look provide "
    "complete respond move ensure upload attach describe merge push commit try give keep reach "
    "follow consider connect configure"
)
_TELLS_HOW = re.compile(
    rf"(?:to|in order|you (?:can|should|will|must|need)|{_STEPS.replace(' ', '|')})\b",
    re.IGNORECASE,
)
_STEP_INSIDE = re.compile(
    rf"(?:, (?:then )?(?:please )?|\byou (?:can|should|must) )(?:{_STEPS.replace(' ', '|')})\b"
    r"|\breach out\b"
)
_HOW_TO_DO = re.compile(r"how (?:do|can|should) (?:i|you|we|one)\b", re.IGNORECASE)
_HOW_IS = re.compile(r"how (?:is|are|was|were)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|should|will|would|shall|must|may|has|have|had)\b"
    r"|['’](?:s|re|ll|d)\b|n['’]t\b",
    re.IGNORECASE,
)
_GIVES_REASON = re.compile(
    r"\b(?:because|since|due to|reasons?|cannot|can['’]t|impossible|avoids?|otherwise|so that"
    r"|in order|therefore|doesn['’]t|isn['’]t"
    r"|would (?:make|cause|require|break|mean|lead|be|not|add|allow|need|force))\b",
    re.IGNORECASE,
)
_TWO_CLAUSES = re.compile(r"\s[-–—]\s|[.;:]\s")
_NO_STEMS = word_set(
    "what when where which whose does have will would should could with from that this your "
    "they there about think been guys yours"
)
_STEM = 5
_DECIDES_EARLY = 30  # characters in which an answer says yes or no
_LONGEST_QUESTION = 140
_FEWEST_WORDS = 4


def is_question(heading: str) -> bool:
    """Say whether a heading asks a whole question that needs no other one before it."""
    if len(heading) > _LONGEST_QUESTION or heading.count("?") > 1 or not heading[:1].isupper():
        return False
    if not _ASKING.match(heading) or len(heading.split()) < _FEWEST_WORDS:
        return False
    if POINTS_BACK.search(heading) or len(stems(heading)) < 2 or _TWO_CLAUSES.search(heading):
        return False
    return bool(_VERB.search(heading)) or heading.lower().startswith("why not ")


def answers(question: str, answer: Answer) -> bool:
    """Say whether a section's quotes look like an answer to the question."""
    if answer.kind == "introduced list":
        return question.lower().startswith(("what", "which"))
    said = plain(" ".join(answer.quotes))
    if "?" in said:  # a question that is answered by questions is still open
        return False
    if _YES_OR_NO.match(question):
        return not said.startswith("If ") and bool(_DECIDES.search(said[:_DECIDES_EARLY]))
    if question.lower().startswith("how"):
        return _answers_how(question, said)
    if question.lower().startswith("why") and not _GIVES_REASON.search(said):
        return False
    return bool(stems(question) & stems(said))


def _answers_how(question: str, said: str) -> bool:
    shared = stems(question) & stems(said)
    if _HOW_TO_DO.match(question):
        return bool(_TELLS_HOW.match(said) or _STEP_INSIDE.search(said))
    if _HOW_IS.match(question):
        return len(shared) * 5 >= len(stems(question)) * 3
    return len(shared) > 1 or bool(_TELLS_HOW.match(said))


def is_taught(answer: Answer) -> bool:
    """Say whether quotes tell how: most of a list's items, or the first sentence, instruct."""
    if answer.kind == "introduced list":  # it may as well be of cases, or of exceptions
        return False
    if answer.kind == "prose":
        return bool(_TELLS_HOW.match(plain(answer.quotes[0])))
    shown = map(plain, answer.quotes)
    steps = [bool(_TELLS_HOW.match(each) or _STEP_INSIDE.search(each)) for each in shown]
    return sum(steps) * 2 > len(steps)


def stems(text: str) -> set[str]:
    """Return the beginnings of a text's longer words: inflected forms count as one."""
    words = keyword_tokens(plain(text).replace("-", " "))
    return {word[:_STEM] for word in words if len(word) > 3} - _NO_STEMS


def sentence_case(heading: str, is_common_word: Callable[[str], bool]) -> str:
    """Write a heading in title case as a sentence; names keep their capitals.

    >>> sentence_case("How Should Metadata Be Kept?", lambda word: True)
    'How should metadata be kept?'
    """
    first, *rest = heading.split()
    if sum(word[:1].isupper() for word in rest) * 2 < len(rest):
        return heading
    small = [
        word.lower() if word.istitle() and is_common_word(word.strip("?,")) else word
        for word in rest
    ]
    return " ".join([first, *small])
