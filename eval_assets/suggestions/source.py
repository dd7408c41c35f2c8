"""The notes that questions are drafted from, as the rules see them. Pure.

A note's text is cut once into parts (headings, sentences' paragraphs, list items, table rows), and
what several rules ask about the whole vault (how often a word, a heading or a title occurs) is
counted once.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from eval_assets.suggestions.parts import Part, Table, cut_into_parts
from eval_assets.suggestions.wording import word_set
from kb_core.text import fold

NOTE_COLUMNS = (
    "note_id",
    "is_current",
    "title",
    "kind",
    "note_date",
    "date_is_weak",
    "properties",
    "text",
    "body_start",
)
LINK_COLUMNS = (
    "source_note_id",
    "is_current",
    "is_ambiguous",
    "status",
    "target_note_id",
    "target",
    "byte_start",
    "byte_end",
)
RESOLVED = "resolved"
_TEMPLATE_FOLDERS = word_set(
    "template templates _templates vorlagen plantillas modèles 模板 テンプレート"
)
_PLACEHOLDER = re.compile(r"\{\{\s*(?:date|title|time)\b|<%")
_INNER_WORD = re.compile(r"(?<=[a-zà-ÿ,] )[^\W\d_]+")
_SPOKEN_OF = re.compile(  # a noun between its article and what may follow it
    r"\b(?:[Tt]he|an?|[Oo]ur|[Yy]our|[Ee]ach|[Ee]very) ([A-Za-z]+)"
    r"(?=[.,;:)?!]| (?:of|for|is|was|are|were|to|in|and|or|should|must|can|will|that|which|with|on"
    r"|at|from|by|has)\b)"
)


@dataclass(frozen=True)
class Link:
    """A link that leads to one note: its target and its place in the source's bytes."""

    target: str
    start: int
    end: int


@dataclass(frozen=True)
class SourceNote:
    """One present note."""

    note_id: str
    title: str
    kind: str
    language: str  # code of a template set
    date: str | None  # partial date somebody wrote down
    properties: tuple[tuple[str, str], ...]
    text: str
    body_start: int  # first byte after the front matter
    links: tuple[Link, ...] = ()

    @cached_property
    def _cut(self) -> tuple[tuple[Part, ...], tuple[Table, ...]]:
        body = self.text.encode()[self.body_start :].decode() if self.body_start else self.text
        return cut_into_parts(body, self.title)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Headings, paragraphs and list items, in order."""
        return self._cut[0]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in order."""
        return self._cut[1]

    @cached_property
    def folded(self) -> str:
        """The text with blanks folded: where quotes must occur."""
        return " ".join(self.text.split())

    @property
    def folder(self) -> str:
        """The folder it lies in, "" for the vault's root."""
        return self.note_id.rpartition("/")[0]


@dataclass(frozen=True)
class SourceVault:
    """All present notes, sorted by id, and what is counted over them."""

    notes: tuple[SourceNote, ...]
    by_id: Mapping[str, SourceNote] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {note.note_id: note for note in self.notes})

    @cached_property
    def links_in(self) -> Counter[str]:
        """How many other notes link to a note."""
        pairs = {(note.note_id, link.target) for note in self.notes for link in note.links}
        return Counter(target for source, target in pairs if source != target)

    @cached_property
    def headings(self) -> Counter[str]:
        """In how many notes a heading, folded, occurs."""
        return Counter(
            heading
            for note in self.notes
            for heading in {fold(part.text) for part in note.parts if part.kind == "heading"}
        )

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word occurs inside sentences, spelled as it is."""
        return Counter(word for note in self.notes for word in _INNER_WORD.findall(note.folded))

    def is_common_word(self, word: str) -> bool:
        """Say whether a word that begins a sentence is written small inside one."""
        return self.words[word.lower()] > self.words[word]

    def share_of(self, term: str) -> float:
        """Return the share of notes in which a term occurs as it is written."""
        return sum(term in note.text for note in self.notes) / max(len(self.notes), 1)

    def is_noun(self, word: str) -> bool:
        """Say whether the vault somewhere speaks of "the WORD" as of a thing."""
        return word.lower() in self._nouns

    @cached_property
    def _nouns(self) -> frozenset[str]:
        found = (word for note in self.notes for word in _SPOKEN_OF.findall(note.folded))
        return frozenset(word.lower() for word in found)


def source_vault(
    notes: Sequence[Mapping[str, Any]],
    links: Sequence[Mapping[str, Any]],
    language_of: Callable[[str], str],
) -> SourceVault:
    """Take the present rows of the tables `notes` and `note_links`.

    `language_of` names the template set that fits a text, or "" where it cannot tell: such a note
    counts as written in the vault's most frequent language.
    """
    present = (row for row in notes if row["is_current"] and not is_template(row))
    current = sorted(present, key=lambda row: row["note_id"])
    languages = [language_of(row["text"]) for row in current]
    known = Counter(language for language in languages if language)
    usual = min(known, key=lambda name: (-known[name], name)) if known else "en"
    leading = _links_by_source(links)
    return SourceVault(
        tuple(
            _note(row, language or usual, leading.get(row["note_id"], ()))
            for row, language in zip(current, languages, strict=True)
        )
    )


def is_template(row: Mapping[str, Any]) -> bool:
    """Say whether a note is a form to be filled in: by its folder, or by its placeholders."""
    folders = row["note_id"].lower().split("/")[:-1]
    return bool(_TEMPLATE_FOLDERS & set(folders)) or bool(_PLACEHOLDER.search(row["text"][:2_000]))


def _note(row: Mapping[str, Any], language: str, links: Sequence[Link]) -> SourceNote:
    return SourceNote(
        note_id=row["note_id"],
        title=row["title"],
        kind=row["kind"],
        language=language,
        date=None if row["date_is_weak"] else row["note_date"],
        properties=tuple((each["name"], each["value"]) for each in row["properties"]),
        text=row["text"],
        body_start=row["body_start"],
        links=tuple(links),
    )


def _links_by_source(links: Sequence[Mapping[str, Any]]) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {}
    for row in links:
        if row["is_current"] and row["status"] == RESOLVED and not row["is_ambiguous"]:
            link = Link(row["target_note_id"], row["byte_start"], row["byte_end"])
            found.setdefault(row["source_note_id"], []).append(link)
    return found
