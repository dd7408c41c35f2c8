"""Questions on what one sentence states: a figure, a date, a reason, who, what it is. Pure."""

import re
from collections.abc import Iterator

from eval_assets.suggestions.definitions import define
from eval_assets.suggestions.drafts import Draft, facts_of, is_quotable
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.parts import Part
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.statements import ask
from eval_assets.suggestions.templates import Templates, templates
from eval_assets.suggestions.wording import plain, sentences
from kb_core.text import fold

_ENGLISH = "en"
_WORTH_A_LOOK = re.compile(
    r"\d|\bbecause\b|\bby\b|\bcosts?\b|\b(?:is|are) (?:an?|the|our|one of)\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b"
)
_UNSOUND = re.compile(r"https?:|[{}<>|\\=]|\w\(\)|\b(?:TODO|TBD|XXX)\b|[a-z]_[a-z]|\.\.\.|…")
_CATEGORIES = {"reason": "broad_theme", "definition": "broad_theme"}
_REASONS = {
    "figure": "One sentence gives the figure.",
    "date": "One sentence says when.",
    "reason": "One sentence gives the reason.",
    "agent": "One sentence says who.",
    "definition": "The note says what it is.",
}
_TOO_COMMON = 0.1  # of a vault's notes: what they all speak of is defined in many of them
_WEIGHTS = {"definition": 0.9, "agent": 0.8}


def sentence_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield a draft for every sentence that states one thing a question can ask for."""
    for note in vault.notes:
        name = names.of(note)
        wording = templates(note.language)
        if name is None or note.kind == "chat":
            continue
        before: Part | None = None
        for part in note.parts:
            if part.kind != "heading":
                is_opening = before is None or before.kind == "heading"
                yield from _of_part(vault, note, name, wording, part, is_opening)
            before = part


def _of_part(
    vault: SourceVault,
    note: SourceNote,
    name: str,
    wording: Templates,
    part: Part,
    is_opening: bool,
) -> Iterator[Draft]:
    for at, sentence in enumerate(sentences(part.text)):
        if not is_quotable(sentence):
            continue
        shown = plain(sentence)
        is_first = is_opening and at == 0
        if wording.code != _ENGLISH:
            found = _by_pattern(wording, shown) if is_first else None
        elif _WORTH_A_LOOK.search(shown) and not _UNSOUND.search(shown):
            found = _english(vault, note, part, shown, is_first)
        else:
            found = None
        if found:
            kind, question, answer = found
            yield _draft(note, name, wording, kind, question, answer, sentence)


def _english(
    vault: SourceVault, note: SourceNote, part: Part, shown: str, is_first: bool
) -> tuple[str, str, str] | None:
    asked = ask(shown, vault.is_common_word)
    if asked:
        return asked.kind, asked.question, asked.answer
    defined = define(shown, vault.is_common_word) if is_first or part.kind == "item" else None
    if defined and _is_about(vault, defined[1], note, part):
        return "definition", defined[0], shown
    return None


def _is_about(vault: SourceVault, term: str, note: SourceNote, part: Part) -> bool:
    """A definition stands where its term is the subject: under its heading, in its note."""
    if vault.share_of(term) > _TOO_COMMON:
        return False
    words = {_stem(word) for word in fold(term).split() if len(word) > 3}
    about = {
        _stem(word) for word in re.findall(r"\w+", fold(" ".join((note.title, *part.trail[-1:]))))
    }
    return bool(words) and words <= about


def _stem(word: str) -> str:
    return word.rstrip("s")


def _by_pattern(wording: Templates, shown: str) -> tuple[str, str, str] | None:
    pattern = wording.text("definition")
    found = re.match(pattern, shown) if pattern else None
    question = wording.word("what_is", term=found["term"]) if found else None
    return ("definition", question, shown) if question else None


def _draft(
    note: SourceNote,
    name: str,
    wording: Templates,
    kind: str,
    question: str,
    answer: str,
    sentence: str,
) -> Draft:
    return Draft(
        rule=kind,
        topic="",
        category=_CATEGORIES.get(kind, "single_fact"),
        language=wording.code,
        question=question,
        answer=answer,
        facts=facts_of(note.note_id, [sentence]),
        reason=_REASONS[kind],
        weight=_WEIGHTS.get(kind, 1.0),
        inside=wording.inside(name, question),
        is_named=False,
        must_name=kind != "definition",
    )
