"""The stages of connected retrieval, and ways, as rows that a person or a program reads. Pure."""

from collections.abc import Sequence
from typing import Any

from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.paths import Reached, Shown
from kb_search.shortest_path import Hop
from kb_search.starts import Start


class Rows:
    """Writes rows over one graph; `shown` keeps out what may not be handed over."""

    def __init__(self, graph: KnowledgeGraph, shown: Shown | None) -> None:
        self._graph = graph
        self._shown = shown

    def start(self, found: Start) -> dict[str, Any]:
        """Say what a start stands for, or what it could stand for."""
        return {
            "start": None if found.number is None else self._entity(found.number),
            "asked_back": found.is_asked_back,
            "candidates": [self._entity(each) for each in found.candidates],
        }

    def reached(self, found: Reached) -> dict[str, Any]:
        """Say what was reached, in how many links, and by which."""
        via = [self._link(line) for line in found.lines]
        return {**self._entity(found.number), "depth": found.depth, "via": via}

    def hops(self, start: int, hops: Sequence[Hop]) -> list[dict[str, Any]]:
        """Say each hop: the entity it leads to, and all that joins it to the one before."""
        rows, before = [], self._entity(start)
        for hop in hops:
            row = self._entity(hop.number)
            joined = [self._link(line) for line in hop.lines]
            noted = ((hop.is_linked, before, row), (hop.is_linked_from, row, before))
            joined += [_noted(one, other) for is_there, one, other in noted if is_there]
            rows.append({**row, "via": joined})
            before = row
        return rows

    def _entity(self, number: int) -> dict[str, Any]:
        entity = self._graph.entity(number)
        notes = [each for each in entity.note_ids if self._shown is None or self._shown.note(each)]
        return {
            "entity": entity.entity_id,
            "name": entity.name,
            "kind": entity.type,
            "notes": notes,
        }

    def _link(self, number: int) -> dict[str, Any]:
        line = self._graph.line(number)
        if line.link is None:
            raise ValueError(number)  # a claim leads nowhere
        source, target = (self._graph.entity(each).name for each in line.entities)
        shown = self._shown
        chunks = [each for each in line.link.chunk_ids if shown is None or shown.chunk(each)]
        notes = [each for each in line.note_ids if shown is None or shown.note(each)]
        is_whole = len(chunks) == len(line.link.chunk_ids)
        return {
            "source": source,
            "type": line.link.type,
            "target": target,
            # A phrase does not say which chunk it is from.
            "phrases": list(line.link.phrases) if is_whole else [],
            "extractors": list(line.link.extractors) if is_whole else [],
            "notes": notes,
            "chunks": chunks,
        }


def _noted(source: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": source["name"],
        "type": "LINKS_TO_OR_MENTIONS",
        "target": target["name"],
        "phrases": [],
        "extractors": [],
        "notes": source["notes"],
        "chunks": [],
    }
