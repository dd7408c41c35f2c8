"""What the chunks of a synthetic build say: evidence of exactly so many entities, links and claims.

Who is spoken of follows Zipf's law, so there are hubs. Names are two made-up words with capitals,
claims are dated and half of them have earlier values. The same numbers, the same evidence.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic_build import TENANT, Corpus, chunk_id, note_id
from kb_knowledge.records import (
    NAME,
    NOTE,
    SELF,
    ChunkRow,
    ClaimSaid,
    Evidence,
    LinkSaid,
    Mention,
    Reference,
)

ENTITIES, LINKS, CLAIMS = 40_903, 34_459, 52_866  # of the case study's 31,047 chunks
TYPES = ("DEPENDS_ON", "OWNED_BY", "AUTHORED_BY", "LED_TO", "INTRODUCED", "RELATED_TO")
ATTRIBUTES = ("status", "owner", "budget", "created", "revenue", "capacity", "version", "place")
_TYPES_OF = ("Person", "Organization", "Product", "Project", "Concept", "Asset")
_EXPONENT = 0.9
_SELF = Reference(SELF)


class Speech:
    """The evidence of a corpus, and the names that questions can use."""

    def __init__(
        self, corpus: Corpus, entities: int = ENTITIES, links: int = LINKS, claims: int = CLAIMS
    ) -> None:
        """Speak of so many things; notes that are entities anyway are among them."""
        self._chance = np.random.default_rng(11)
        self.chunks = list(_chunks(corpus))
        notes = list(dict.fromkeys(row.note_id for row in self.chunks))
        self.names = _names(corpus.words, entities - len(notes), self._chance)
        self.evidence = Evidence(
            chunks=self.chunks,
            mentions=list(self._mentions()),
            links=list(self._links(links, notes)),
            claims=list(self._claims(claims)),
        )

    def questions(self, texts: Sequence[str]) -> list[str]:
        """Make each text a question that names something and implies a type or an attribute."""
        asked = []
        for at, text in enumerate(texts):
            name = self.names[int(self._chance.integers(len(self.names)))]
            cue = ("depends on", "status of", "who owns", "was the budget of")[at % 4]
            asked.append(f"{text} {cue} {name}")
        return asked

    def _mentions(self) -> Iterator[Mention]:
        """Speak of every name once, then of the frequent ones again."""
        rows = self.chunks
        places = self._chance.integers(len(rows), size=len(self.names))
        again = _zipf(self._chance, len(self.names), len(rows))
        once = [(place, name, "type") for name, place in enumerate(places.tolist())]
        more = [(place, name, "value") for place, name in enumerate(again.tolist())]
        for place, name, said in (*once, *more):
            chunk, kind = rows[place], _TYPES_OF[name % len(_TYPES_OF)]
            reference = Reference(NAME, self.names[name])
            yield Mention(chunk.version_id, chunk.chunk_id, reference, kind, said, "")

    def _links(self, number: int, notes: Sequence[str]) -> Iterator[LinkSaid]:
        """Link each chunk's note, or something named, to another: no two links are the same."""
        rows = self.chunks
        seen: set[tuple[str, str, str]] = set()
        while len(seen) < number:
            chunk = rows[int(self._chance.integers(len(rows)))]
            name = self.names[int(_zipf(self._chance, len(self.names), 1)[0])]
            to_note = self._chance.random() < 0.3
            other = notes[int(self._chance.integers(len(notes)))]
            target = (
                Reference(NOTE, other.removesuffix(".md")) if to_note else Reference(NAME, name)
            )
            kind = TYPES[int(self._chance.integers(len(TYPES)))]
            key = (chunk.note_id, kind, other if to_note else name)
            if key in seen or other == chunk.note_id:
                continue
            seen.add(key)
            yield LinkSaid(
                chunk.version_id, chunk.chunk_id, _SELF, target, kind, kind.lower(),
                f"{kind.lower()}: {target.text}", "fact", None,
            )  # fmt: skip

    def _claims(self, number: int) -> Iterator[ClaimSaid]:
        rows = self.chunks
        picked = self._chance.integers(len(rows), size=number).tolist()
        named = _zipf(self._chance, len(self.names), number).tolist()
        for at, (place, name) in enumerate(zip(picked, named, strict=True)):
            chunk = rows[place]
            subject = _SELF if at % 2 else Reference(NAME, self.names[name])
            attribute = ATTRIBUTES[at % len(ATTRIBUTES)]
            value = f"{at} {self.names[at % len(self.names)].split()[0]}"
            yield ClaimSaid(
                chunk.version_id, chunk.chunk_id, subject, attribute, value,
                f"{attribute}: {value}", "fact", None, None, "field",
            )  # fmt: skip


def _chunks(corpus: Corpus) -> Iterator[ChunkRow]:
    for folder in corpus.folders:
        for at in range(len(folder.texts)):
            note = note_id(folder.path, at)
            day = f"20{18 + at % 9}-{at % 12 + 1:02}-{at % 28 + 1:02}"
            yield ChunkRow(
                note, chunk_id(folder.path, at), note, TENANT, note, (), "note", 1, 0, day, False,
                True,
            )  # fmt: skip


def _names(words: Sequence[str], number: int, chance: np.random.Generator) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < number:
        pairs = chance.integers(len(words), size=(number, 2)).tolist()
        found.update((f"{words[a]} {words[b]}".title(), None) for a, b in pairs)
    return list(found)[:number]


def _zipf(chance: np.random.Generator, size: int, number: int) -> NDArray[np.int64]:
    """Draw places below `size`, the first ones most often: a power law, by inversion."""
    rest = 1 - _EXPONENT
    ranks = (1 + chance.random(number) * ((size + 1) ** rest - 1)) ** (1 / rest)
    return np.minimum(size, ranks.astype(np.int64)) - 1
