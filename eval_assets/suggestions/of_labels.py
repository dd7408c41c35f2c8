"""Questions on labelled values in a note's body: `- **Budget:** 4,000`. Pure."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from eval_assets.suggestions.drafts import Draft, facts_of, is_quotable
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.of_properties import is_person_key, properties_of, shown_key
from eval_assets.suggestions.parts import Part
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import Templates, concept_of, ignored, key_name, templates
from eval_assets.suggestions.values import has_figure, is_askable, is_clause, is_name
from eval_assets.suggestions.wording import is_unspaced, plain
from kb_core.text import fold

_LABELLED = re.compile(
    r"(?P<mark>\*\*|__|\*|_)?(?P<label>[^\W\d_][^:：*_\n|.!?,;()\[\]{}<>`\"“”=/（）「」，。、；]{1,36}?)"
    r"(?(mark)(?:[:：](?P=mark)|(?P=mark)[:：])|[:：](?!:))\s*(?P<value>\S.*)$"
)
_LINK_ALONE = re.compile(r"\[[^\[\]]{1,200}\]\(|<?https?:")
_WEAK_START = re.compile(r"(?:an?|the|example|if|for|in|on|at|when|this|that|not|no|your)\b", re.I)
_MOST_WORDS = 4
_MOST_VALUE_WORDS = 8
_MOST_LISTED = 3
_MOST_CHARACTERS = 30  # of a value in a script without spaces; of its label a third
_FEWEST_TOGETHER = 3


class Label(NamedTuple):
    """A labelled value: plain label and value, what says so, and the headings above."""

    label: str
    value: str
    quote: str
    trail: tuple[str, ...]
    is_link: bool  # the value is nothing but a link to an address


def labels_of(note: SourceNote) -> list[Label]:
    """Return the labelled values of a note's list items and lines, in order."""
    found = (_label(part) for part in note.parts if part.kind != "heading" and part.depth < 2)
    return [each for each in found if each]


def label_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield a draft for every label that one value of a note carries."""
    for note in vault.notes:
        name = names.of(note)
        if name is None:
            continue
        known = properties_of(note)
        labels = [each for each in labels_of(note) if key_name(each.label) not in known]
        counts = Counter(key_name(each.label) for each in labels)
        sections = Counter((key_name(each.label), each.trail[-1:]) for each in labels)
        together = Counter(each.trail for each in labels)
        parts = Counter(part.trail for part in note.parts if part.kind == "item")
        for each in labels:
            is_record = not each.trail or _is_record(together[each.trail], parts[each.trail])
            is_once = sections[(key_name(each.label), each.trail[-1:])] == 1
            if is_record and is_once and is_worth_asking(vault, each):
                yield from _draft(vault, note, name, each, counts[key_name(each.label)] == 1)


def _is_record(labels: int, items: int) -> bool:
    """Several labels that make up most of a section: a record, and no remark with a colon."""
    return labels >= _FEWEST_TOGETHER and labels * 5 >= items * 3


def is_worth_asking(vault: SourceVault, each: Label) -> bool:
    """Say whether a label names a thing with a value, and the value is one."""
    folded = key_name(each.label)
    words = folded.split()
    if folded in ignored("labels") or len(words) > _MOST_WORDS or not is_quotable(each.quote):
        return False
    if not is_askable(each.value) or is_clause(each.value) or each.value.endswith("?"):
        return False
    if _WEAK_START.match(each.label) or each.label.endswith((" is", " are")):
        return False
    if is_unspaced(each.label) and max(len(each.label) * 3, len(each.value)) > _MOST_CHARACTERS:
        return False
    if each.is_link or fold(each.value) in folded or re.search(r"['’&+\d]", each.label):
        return False
    if each.label.isascii() and not vault.is_noun(words[-1]):
        return False
    return _is_short_figure(each.value) or is_name(each.value)


def _is_short_figure(value: str) -> bool:
    is_short = len(value.split()) <= _MOST_VALUE_WORDS and value.count(",") < _MOST_LISTED
    return has_figure(value) and is_short


def _draft(
    vault: SourceVault, note: SourceNote, name: str, each: Label, is_only: bool
) -> Iterator[Draft]:
    wording = templates(note.language)
    question = _worded(vault, wording, name, each, is_only)
    if question:
        yield Draft(
            rule="label",
            topic=key_name(each.label),
            category="single_fact",
            language=wording.code,
            question=question,
            answer=each.value,
            facts=facts_of(note.note_id, [each.quote]),
            reason="A labelled value of a note says it.",
            weight=1.0 if has_figure(each.value) else 0.8,
        )


def _worded(
    vault: SourceVault, wording: Templates, name: str, each: Label, is_only: bool
) -> str | None:
    concept = concept_of(each.label)
    if is_only and concept and (asked := wording.concept(concept, name=name)):
        return asked
    if is_only and is_person_key(wording, each.label) and is_name(each.value):
        return wording.word("person", key=shown_key(each.label, vault), name=name)
    if each.trail and each.trail[-1].endswith(("?", "？")):
        return None
    if not each.trail:
        return wording.word("given", key=each.label, name=name) if is_only else None
    return wording.word("given_under", key=each.label, name=name, heading=each.trail[-1])


def _label(part: Part) -> Label | None:
    found = _LABELLED.match(part.text)
    if not found:
        return None
    label, value = plain(found["label"]).strip(), plain(found["value"]).rstrip(" .;")
    if not value or (not label[:1].isupper() and label.isascii()):
        return None
    return Label(label, value, part.text, part.trail, bool(_LINK_ALONE.match(found["value"])))
