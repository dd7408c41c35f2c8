"""Believe of a language model's answer about a chunk what the chunk bears out. Pure, linear.

An answer is a stranger's word: it may be anything, on purpose too. Every item is looked at by
itself and stands only if its words stand in the chunk; what does not is counted by its reason. The
same items in another order give the same rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from kb_assets.answer_text import list_in, read_answer
from kb_assets.asking.chunk_schema import CLAIMS, LINKS, LISTS, MENTIONS
from kb_assets.extractions.model_items import (
    ClaimItem,
    DroppedError,
    LinkItem,
    MentionItem,
    read_claim,
    read_link,
    read_mention,
)
from kb_assets.extractions.model_mechanics import (
    is_mechanics_of_claim,
    is_mechanics_of_link,
    is_order,
    is_question,
)
from kb_assets.extractions.model_turns import ASSISTANT, PERSON, Speakers
from kb_assets.extractions.model_words import ChunkWords, References, is_name, last_part
from kb_assets.extractions.note_text import NoteText
from kb_assets.extractions.observations import Row, Said
from kb_core.ids import canonical_json
from kb_core.names import name_key
from kb_core.ontology import FACT, Ontology
from kb_knowledge.records import SELF, STRUCTURE, Reference

VERSION = "1"  # raise it when an equal answer would be believed in another way

MOST_ITEMS = 200  # of one list
MOST_ALIASES = 10
PLAN, SUGGESTION = "plan", "ai_suggestion"
_WEAK = ("plan", "opinion", "hypothetical")  # believed of words that may be an assistant's


class Heard(NamedTuple):
    """What became of an answer's items: `accepted_mentions` and so on, and reasons of the rest."""

    counts: Counter[str]


def say_answer(
    said: Said,
    note: NoteText,
    piece: int,
    chunk_text: str,
    answer_text: str,
    ontology: Ontology,
    breadcrumb: str = "",
) -> Heard:
    """Add what an answer says of a chunk, in the name of `said.extractor`.

    `breadcrumb` is the chunk's, where its names may stand too; without one it is the note's title.
    The structure of the chunk has to be said before. Raises UnusableAnswerError, with nothing
    added, for an answer that is not what was asked for.
    """
    answer = read_answer(answer_text, LISTS)
    lists = {name: list_in(answer, name) for name in LISTS}
    hearing = _Hearing(
        said, note, piece, ChunkWords(chunk_text, breadcrumb or note.title), ontology
    )
    for name in LISTS:
        hearing.hear(name, lists[name])
    hearing.add_ends()
    return Heard(hearing.counts)


class _Hearing:
    """One answer being heard."""

    def __init__(
        self, said: Said, note: NoteText, piece: int, words: ChunkWords, ontology: Ontology
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._say = _Sayer(said, piece)
        self._words = words
        self._ontology = ontology
        self._references = References(note, piece)
        self._speakers = Speakers(note, piece) if note.is_chat else None
        self._mentioned: set[Reference] = set()
        self._ends: dict[Reference, str] = {}

    def hear(self, name: str, items: list[Any]) -> None:
        """Hear one list. Sorted first: what is beyond the limit or said twice hangs on no order."""
        hear: Callable[[Any], None] = {
            MENTIONS: self._hear_mention,
            LINKS: self._hear_link,
            CLAIMS: self._hear_claim,
        }[name]
        ordered = sorted(items, key=canonical_json)
        if len(items) > MOST_ITEMS:
            self.counts["items_cut"] += len(items) - MOST_ITEMS
        for item in ordered[:MOST_ITEMS]:
            try:
                hear(item)
                self.counts[f"accepted_{name}"] += 1
            except DroppedError as dropped:
                self.counts[dropped.reason] += 1

    def add_ends(self) -> None:
        """Add that the chunk speaks of what its links and claims name."""
        for reference, name in sorted(self._ends.items()):
            if reference not in self._mentioned:
                self._say.mention(reference, "", name)

    def _hear_mention(self, item: Any) -> None:
        mention: MentionItem = read_mention(item, self._ontology)
        reference = self._named(mention.name)
        self._say.mention(reference, mention.type, mention.name)
        self._mentioned.add(reference)
        for alias in sorted(mention.aliases)[:MOST_ALIASES]:
            if self._is_said(alias) and name_key(alias) != name_key(mention.name):
                self._say.alias(reference, mention.type, alias)
            else:
                self.counts["aliases_dropped"] += 1

    def _hear_link(self, item: Any) -> None:
        link: LinkItem = read_link(item, self._ontology)
        self._quoted(link.evidence)
        if is_mechanics_of_link((link.source, link.target), link.type, link.evidence):
            raise DroppedError("mechanics")
        ends = (self._named(link.source), self._named(link.target))
        if ends[0] == ends[1]:
            raise DroppedError("same_ends")
        self._say.link(ends, link.type, link.evidence, self._modality(link.modality, link.evidence))
        self._end(ends[0], link.source)
        self._end(ends[1], link.target)

    def _hear_claim(self, item: Any) -> None:
        claim: ClaimItem = read_claim(item, self._ontology)
        self._quoted(claim.quote)
        if is_mechanics_of_claim(claim.entity, claim.attribute):
            raise DroppedError("mechanics")
        if is_question(claim.quote, self._words.text):
            raise DroppedError("question")
        reference = self._named(claim.entity)
        if claim.dates_dropped:
            self.counts["dates_dropped"] += claim.dates_dropped
        self._say.claim(reference, claim, self._modality(claim.modality, claim.quote))
        self._end(reference, claim.entity)

    def _named(self, name: str) -> Reference:
        if not self._words.has_name(name):
            raise DroppedError("name_not_in_chunk")
        # The note's own title and what it links to are names, whatever they look like.
        is_known = self._references.is_own(name) or self._references.is_linked(name)
        if not is_known and not is_name(name, self._ontology):
            raise DroppedError("no_name")
        return self._references.of(name)

    def _is_said(self, alias: str) -> bool:
        return is_name(alias, self._ontology) and self._words.has_name(alias)

    def _quoted(self, words: str) -> None:
        if not self._words.has_quote(words):
            raise DroppedError("quote_not_in_chunk")

    def _modality(self, said: str, words: str) -> str:
        """Return how words are meant: what an assistant says is no fact, nor is an order."""
        if self._speakers is not None:
            speaker = self._speakers.of(words)
            if speaker == ASSISTANT or (speaker != PERSON and said not in _WEAK):
                return SUGGESTION
        return PLAN if said == FACT and is_order(words, self._words.text) else said

    def _end(self, reference: Reference, name: str) -> None:
        if reference.kind != SELF:
            self._ends.setdefault(reference, name)


class _Sayer:
    """Adds rows to one chunk, but for what its structure says already."""

    def __init__(self, said: Said, piece: int) -> None:
        self._said = said
        self._piece = piece
        self._links = set(self._structure("link_observations", _link_key))
        self._claims = set(self._structure("claim_observations", _claim_key))

    def mention(self, subject: Reference, kind: str, name: str) -> None:
        self._said.mention(self._piece, subject, kind, "value", name)

    def alias(self, subject: Reference, kind: str, name: str) -> None:
        self._said.mention(self._piece, subject, kind, "value", name, is_alias=True)

    def link(
        self, ends: tuple[Reference, Reference], kind: str, evidence: str, modality: str
    ) -> None:
        if (*map(_loose, ends), kind) in self._links:
            raise DroppedError("said_as_structure")
        self._said.link(self._piece, ends, (kind, kind.lower()), evidence, modality)

    def claim(self, subject: Reference, claim: ClaimItem, modality: str) -> None:
        stated = (claim.attribute, claim.value)
        if (_loose(subject), claim.attribute, claim.value.casefold()) in self._claims:
            raise DroppedError("said_as_structure")
        valid = (claim.valid_from, claim.valid_to)
        self._said.claim(self._piece, subject, stated, claim.quote, "prose", modality, valid)

    def _structure(self, table: str, key: Callable[[Row], tuple[str, ...]]) -> Iterator[Any]:
        rows = self._said.said_in(self._piece, table)
        return (key(row) for row in rows if row["extractor"] == STRUCTURE)


def _link_key(row: Row) -> tuple[str, ...]:
    return (*map(partial(_end_of, row), ("source", "target")), row["type"])


def _claim_key(row: Row) -> tuple[str, ...]:
    return _end_of(row, "subject"), row["attribute"], row["value"].casefold()


def _end_of(row: Row, role: str) -> str:
    return _loose(Reference(row[f"{role}_kind"], row[role]))


def _loose(reference: Reference) -> str:
    """Write a reference as what it is called: a link in front matter is a plain name below it."""
    return "" if reference.kind == SELF else name_key(last_part(reference.text))
