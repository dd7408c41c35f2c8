"""Questions on dated entries: dated headings and lines that begin with a date. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from eval_assets.suggestions.drafts import Draft, facts_of, is_quotable
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.of_labels import Label, is_worth_asking, labels_of
from eval_assets.suggestions.past_tense import when_did
from eval_assets.suggestions.sections import Section, answer_of, sections_of
from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import concept_of, key_name, templates
from eval_assets.suggestions.values import has_figure
from eval_assets.suggestions.wording import plain, sentences
from kb_core.dates import parse_date

_DATED_LINE = re.compile(
    r"\**(?P<date>[^\s:*][^:*]{3,24}?)\**\s*(?::|–|—|\s-)\**\s+(?P<event>\S.*)$"
)
_PROPER = re.compile(r"\b[A-Z]\w|\d")  # a question without a name or number could mean many things
_DAY = len("2024-03-14")
_MOST_SENTENCES = 4
_FEWEST_ENTRIES = 2


def entry_drafts(vault: SourceVault, names: Names) -> Iterator[Draft]:
    """Yield drafts for dated lines, dated sections, and labels whose value changes over time."""
    for note in vault.notes:
        name = names.of(note)
        if name is None:
            continue
        yield from _events(vault, note, name)
        yield from _entries(note, name)
        yield from _newest_labels(vault, note, name)


def heading_day(heading: str) -> str | None:
    """Return the day a heading stands for: it is a date, or opens with one."""
    whole = parse_date(heading)
    if whole:
        return whole if len(whole) == _DAY else None
    opening = re.match(r"[\w.,/-]+(?: [\w.,]+){0,3}?(?=\s*(?:[:–—(,]|$|\s-))", heading)
    found = parse_date(opening[0]) if opening else None
    return found if found and len(found) == _DAY else None


def _events(vault: SourceVault, note: SourceNote, name: str) -> Iterator[Draft]:
    """An item `2024-03-14: PEP 8 moved to Final.` asks when that was."""
    wording = templates(note.language)
    for part in note.parts:
        found = _DATED_LINE.match(part.text) if part.kind == "item" else None
        date = parse_date(found["date"]) if found else None
        if not found or not date or wording.code != "en" or not is_quotable(part.text):
            continue
        first = next(sentences(found["event"]), "")
        question = when_did(plain(first), vault)
        if question:
            yield Draft(
                rule="event",
                topic="",
                category="temporal",
                language=wording.code,
                question=question,
                answer=wording.moment(date),
                facts=facts_of(note.note_id, [part.text]),
                reason="A dated line tells when it was.",
                inside=wording.inside(name, question),
                is_named=False,
                must_name=not _PROPER.search(question.removeprefix("When ")),
            )


def _entries(note: SourceNote, name: str) -> Iterator[Draft]:
    """A short section under a date is asked for whole."""
    wording = templates(note.language)
    sections = sections_of(note)
    following = [*sections[1:], None]
    dated = [
        (day, section)
        for section, after in zip(sections, following, strict=True)
        if (day := heading_day(section.heading)) and not _has_parts_below(section, after)
    ]
    counts = Counter(day for day, _ in dated)
    for day, section in dated:
        quotes = _short_entry(section) if counts[day] == 1 and len(dated) >= _FEWEST_ENTRIES else []
        question = wording.word("entry", name=name, date=wording.date(day))
        if quotes and question:
            yield Draft(
                rule="entry",
                topic="",
                category="temporal",
                language=wording.code,
                question=question,
                answer=" ".join(plain(quote) for quote in quotes),
                facts=facts_of(note.note_id, quotes),
                reason="The entry of that day is short and says it.",
                weight=0.9 if any(has_figure(quote) for quote in quotes) else 0.7,
            )


def _has_parts_below(section: Section, after: Section | None) -> bool:
    return after is not None and after.level > section.level


def _short_entry(section: Section) -> list[str]:
    """Return the sentences of a section that is read in one breath, else nothing."""
    if not 1 <= len(section.parts) <= 2 or not answer_of(section).quotes:
        return []
    said = [sentence for part in section.parts for sentence in sentences(part.text)]
    if not 1 <= len(said) <= _MOST_SENTENCES or sum(map(len, said)) < 40:
        return []
    usable = [sentence for sentence in said if is_quotable(sentence)]
    return usable if len(usable) == len(said) else []


def _newest_labels(vault: SourceVault, note: SourceNote, name: str) -> Iterator[Draft]:
    """A label that stands under several days has a newest value."""
    wording = templates(note.language)
    for values in labels_by_day(note).values():
        days = [day for day, _ in values]
        shown = {label.value for _, label in values}
        if len(set(days)) < 2 or len(set(days)) < len(days) or len(shown) < 2:
            continue
        newest = max(values, key=lambda pair: pair[0])[1]
        question = wording.word("newest_label", key=newest.label, name=name)
        is_of_note = concept_of(newest.label) == "author"
        if question and not is_of_note and is_worth_asking(vault, newest):
            yield Draft(
                rule="newest_label",
                topic=key_name(newest.label),
                category="temporal",
                language=wording.code,
                question=question,
                answer=newest.value,
                facts=facts_of(note.note_id, [newest.quote]),
                reason="The value changed from entry to entry; the last day's counts.",
                weight=1.2,
            )


def labels_by_day(note: SourceNote) -> dict[str, Sequence[tuple[str, Label]]]:
    """Return a note's labels that stand under days, by folded label."""
    found: dict[str, list[tuple[str, Label]]] = defaultdict(list)
    for label in labels_of(note):
        day = next((day for head in reversed(label.trail) if (day := heading_day(head))), None)
        if day:
            found[key_name(label.label)].append((day, label))
    return dict(found)
