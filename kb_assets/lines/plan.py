"""Which link and claim lines get a vector, and in which order. Pure."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.embedding_work import EmbedPlan
from kb_core.contracts import PASSAGES
from kb_core.ids import content_id
from kb_knowledge.records import SUPERSEDED, UNSTATED
from kb_search.knowledge_graph import KnowledgeGraph, Line
from kb_search.line_vectors import LONGEST_CORE, core_id
from resources.embedder import EmbedderProfile

VERSION = "1"  # raise it when equal knowledge would be planned differently

_PAST = (SUPERSEDED, UNSTATED)


def plan_lines(
    graph: KnowledgeGraph, profile: EmbedderProfile, staying: frozenset[str] | None = None
) -> EmbedPlan:
    """Return what is embedded: one text a distinct core, in order of the cores' ids.

    `staying` are the notes of which nothing may be sent to the embedder: no line that stands on
    one, or that names one, is planned. The present's lines are embedded first.
    """
    cores = {core_id(line.core): line.core for line in _wanted_first(_that_may(graph, staying))}
    hashes = {each: content_id(core[:LONGEST_CORE]) for each, core in cores.items()}
    return EmbedPlan(
        profile=profile,
        passages=PASSAGES.table(
            {"text_id": each, "passage": 0, "passage_hash": hashes[each]} for each in sorted(cores)
        ),
        texts={hashes[each]: core[:LONGEST_CORE] for each, core in cores.items()},
    )


def notes_that_stay(chunks: Iterable[pa.Table]) -> frozenset[str]:
    """Return the notes that have any chunk, of any version, that may not leave this machine."""
    tables = (table.filter(pc.invert(table["may_leave"])) for table in chunks)
    return frozenset(note for table in tables for note in table["note_id"].to_pylist())


def _that_may(graph: KnowledgeGraph, staying: frozenset[str] | None) -> Iterator[Line]:
    for number in range(graph.line_count):
        line = graph.line(number)
        if not staying or staying.isdisjoint(_notes_of(graph, line)):
            yield line


def _notes_of(graph: KnowledgeGraph, line: Line) -> Sequence[str]:
    named = (note for each in line.entities for note in graph.entity(each).note_ids)
    return [*line.note_ids, *named]


def _wanted_first(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda each: bool(each.claim and each.claim.state in _PAST))
