"""Questions that headings ask or suggest: real ones, "How to …", what a part says. Pure."""

import re
from collections.abc import Iterator

from eval_assets.suggestions.answering import (
    POINTS_BACK,
    answers,
    is_question,
    is_taught,
    sentence_case,
    stems,
)
from eval_assets.suggestions.drafts import Draft, facts_of
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.sections import Answer, Section, answer_of, sections_of
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.subjects import is_subject
from eval_assets.suggestions.templates import Templates, ignored, key_name, templates
from eval_assets.suggestions.wording import is_unspaced
from kb_core.dates import find_date
from kb_core.text import fold

_ENGLISH = "en"
_NUMBERING = re.compile(
    r"^(?:FAQs?\s*[:.]\s*|Q(?:uestion)?\s*\d*\s*[:.)]\s*|\d+(?:\.\d+)*[.)]?\s+|[A-Z]\)\s+|[-–•]\s*)"
)
_HOW_TO = re.compile(r"How to (?P<what>[a-z][^?:]{6,80})\??$")
_EMOJI = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]|:[a-z_]+:")
_UNSOUND = re.compile(r"[{}<>|\\=`]|https?:|\w\(|\w_\w|\.\w+\.|--\w")
_ENOUGH_TEXT = 220  # characters below a heading that is worth a question of its own
_NAMES_SOMETHING = re.compile(r"(?<=[a-z,] )[A-Z]\w|\d")
_OPENING = 400  # characters in which a section speaks of what its heading names
_ENOUGH_STEMS = 5  # meaningful words of a question that stands alone
_LONGEST_SUBJECT = 60
_RULES = {  # weight, reason
    "asked": (1.1, "A heading of the note asks it; what stands below answers."),
    "how_to": (1.0, "A part of the note teaches it."),
    "about": (0.5, "Only this note has a part under this heading."),
}


def heading_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield drafts for headings that ask, that teach, and that name a subject."""
    for note in vault.notes:
        name = names.of(note)
        if name is None or note.kind == "chat":
            continue
        for section in sections_of(note):
            answer = answer_of(section)
            found = _of_section(vault, note, name, section, answer) if answer.quotes else None
            if found:
                yield found


def _of_section(
    vault: SourceVault, note: SourceNote, name: str, section: Section, answer: Answer
) -> Draft | None:
    wording = templates(note.language)
    heading = _EMOJI.sub("", _NUMBERING.sub("", section.heading)).strip(" :.*_")
    if _UNSOUND.search(heading):
        return None
    taught = _HOW_TO.fullmatch(heading) if wording.code == _ENGLISH else None
    if taught:
        if POINTS_BACK.search(heading) or not is_taught(answer):
            return None
        return _draft(note, name, wording, "how_to", f"How do you {taught['what']}?", answer)
    if heading.endswith(("?", "？")):
        asked = _asked(vault, wording, heading, answer)
        return _draft(note, name, wording, "asked", asked, answer) if asked else None
    is_whole = answer.kind != "introduced list"  # without its introduction a list says little
    if section.level and is_whole and is_subject_heading(vault, note, heading, section):
        question = wording.word("about", name=name, heading=heading)
        return _draft(note, name, wording, "about", question, answer) if question else None
    return None


def _asked(vault: SourceVault, wording: Templates, heading: str, answer: Answer) -> str | None:
    if wording.code != _ENGLISH:
        return heading if len(heading) > 5 else None
    if not is_question(heading) or not answers(heading, answer):
        return None
    return sentence_case(heading, vault.is_common_word)


def is_subject_heading(
    vault: SourceVault, note: SourceNote, heading: str, section: Section
) -> bool:
    """Say whether a heading names a subject that only this note has a part on."""
    folded = fold(section.heading)
    if len(heading) > _LONGEST_SUBJECT or key_name(heading) in ignored("headings"):
        return False
    if vault.headings[folded] > 1 or find_date(heading) or folded in fold(note.title):
        return False
    if stems(heading) and stems(heading) <= stems(note.title):
        return False
    if POINTS_BACK.search(heading) or ":" in heading or not _is_informative(heading, note.language):
        return False
    said = " ".join(part.text for part in section.parts)
    if is_unspaced(heading):
        return len(said) >= _ENOUGH_TEXT // 3
    return len(said) >= _ENOUGH_TEXT and bool(stems(heading) & stems(said[:_OPENING]))


def _is_informative(heading: str, language: str) -> bool:
    if is_unspaced(heading):
        return len(heading) >= 4
    long_words = [word for word in heading.split() if len(word) > 3]
    return len(long_words) > 1 and (language != _ENGLISH or is_subject(heading))


def _stands_alone(question: str) -> bool:
    """Say whether a question tells what it is about: many words, a name among them."""
    return len(stems(question)) >= _ENOUGH_STEMS and bool(_NAMES_SOMETHING.search(question))


def _draft(
    note: SourceNote, name: str, wording: Templates, rule: str, question: str, answer: Answer
) -> Draft:
    weight, reason = _RULES[rule]
    facts = facts_of(note.note_id, answer.quotes)
    is_title = stems(question) == stems(note.title)  # naming the note would say it twice
    return Draft(
        rule=rule,
        topic="",
        category="broad_theme",
        language=wording.code,
        question=question,
        answer=" / ".join(fact.fact for fact in facts),
        facts=facts,
        reason=reason,
        weight=weight,
        inside=wording.inside(name, question),
        is_named=rule == "about" or is_title,
        must_name=rule == "how_to" or not _stands_alone(question),
    )
