"""A note and a model's answer about one of its chunks in, rows out: through parser and chunker."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kb_assets.extractions.model_answers import say_answer
from kb_assets.extractions.model_words import plain
from kb_assets.extractions.note_text import LinkRow, NoteText, Piece, as_bytes
from kb_assets.extractions.observations import Said
from kb_core.knowledge_contracts import CLAIM_OBSERVATIONS, LINK_OBSERVATIONS, MENTIONS
from kb_core.link_targets import is_address
from tests.extracted_notes import LIMITS, ONTOLOGY, cut, parsed, shown

LABEL = "some-model"
TABLES = (MENTIONS, LINK_OBSERVATIONS, CLAIM_OBSERVATIONS)
KILN = "# Kiln\n\nGas now comes from Bolt Ltd, 240 EUR a month. [[Works/Shed|The shed]] holds it.\n"

Row = dict[str, Any]


class Heard(NamedTuple):
    """What became of an answer."""

    rows: dict[str, list[Row]]  # the model's, by table
    counts: dict[str, int]

    @property
    def names(self) -> list[tuple[str, str, str]]:
        return [(shown(row, "subject"), row["type"], row["name"]) for row in self.rows["mentions"]]

    @property
    def links(self) -> list[tuple[str, str, str, str]]:
        return [(shown(row, "source"), row["type"], shown(row, "target"), row["modality"])
                for row in self.rows["link_observations"]]  # fmt: skip

    @property
    def claims(self) -> list[tuple[str, str, str, str]]:
        return [(shown(row, "subject"), row["attribute"], row["value"], row["modality"])
                for row in self.rows["claim_observations"]]  # fmt: skip

    @property
    def reasons(self) -> dict[str, int]:
        """Return why things were dropped."""
        return {key: each for key, each in self.counts.items() if not key.startswith("accepted")}


@lru_cache(maxsize=8)  # properties hear many answers about one note
def note_of(text: str, path: str = "Kiln.md", limits: Any = LIMITS) -> tuple[NoteText, list[Row]]:
    """Return a note as the stage reads it, and its chunks."""
    tables = parsed({path: text})
    chunks = sorted(cut(tables, limits).to_pylist(), key=lambda row: row["ordinal"])
    row = tables.notes.to_pylist()[0]
    pieces = tuple(
        Piece(each["chunk_id"], each["byte_start"], each["byte_end"], each["written_date"], False)
        for each in chunks
    )
    links = tuple(
        LinkRow(each["byte_start"], each["byte_end"], each["target"], each["display"],
                is_address(each["target"], each["syntax"]))
        for each in sorted(tables.note_links_raw.to_pylist(), key=lambda row: row["byte_start"])
        if each["syntax"] in ("wikilink", "markdown")
    )  # fmt: skip
    note = NoteText(
        version_id=row["version_id"],
        note_id=row["note_id"],
        title=row["title"],
        aliases=tuple(row["aliases"]),
        kind=row["kind"],
        properties=(),
        data=as_bytes(row["text"]),
        body_start=row["body_start"],
        pieces=pieces,
        links=links,
    )
    return note, chunks


def answer_of(
    mentions: Sequence[Any] = (), links: Sequence[Any] = (), claims: Sequence[Any] = ()
) -> str:
    """Write an answer."""
    return json.dumps({"mentions": list(mentions), "links": list(links), "claims": list(claims)})


def mention(name: Any, kind: Any = "Organization", aliases: Any = ()) -> dict[str, Any]:
    return {"name": name, "type": kind, "aliases": list(aliases)}


def link(
    source: Any, target: Any, evidence: Any, kind: Any = "SUPPLIED_BY", modality: Any = "fact"
) -> dict[str, Any]:
    return {"source": source, "target": target, "type": kind, "evidence": evidence,
            "modality": modality}  # fmt: skip


def claim(
    entity: Any, attribute: Any, value: Any, quote: Any, modality: Any = "fact",
    valid: tuple[Any, Any] = ("", ""),
) -> dict[str, Any]:  # fmt: skip
    return {"entity": entity, "attribute": attribute, "value": value, "quote": quote,
            "modality": modality, "valid_from": valid[0], "valid_to": valid[1]}  # fmt: skip


def hear(
    answer: str, text: str = KILN, path: str = "Kiln.md", piece: int = 0, limits: Any = LIMITS,
    structure: Any = None,
) -> Heard:  # fmt: skip
    """Hear an answer about one chunk; `structure` says first what the note's structure says."""
    note, chunks = note_of(text, path, limits)
    said = Said(note)
    if structure:
        structure(said)
    said.extractor = LABEL
    chunk = chunks[piece]
    heard = say_answer(
        said, note, piece, chunk["text"], answer, ONTOLOGY, breadcrumb=chunk["breadcrumb"]
    )
    rows = {}
    for contract in TABLES:
        found = contract.table(said.rows(contract.name)).to_pylist()
        rows[contract.name] = [row for row in found if row["extractor"] == LABEL]
    return Heard(rows, dict(heard.counts))


def is_quoted(rows: Mapping[str, Sequence[Row]], chunk: Row) -> bool:
    """Tell whether everything that was believed stands in the chunk or above it."""
    places = (plain(chunk["text"]), plain(chunk["breadcrumb"]))
    said = [row["quote"] for row in rows["claim_observations"]]
    said += [row["phrase"] for row in rows["link_observations"]]
    return all(any(plain(words) in place for place in places) for words in said)
