"""What may be handed over at this moment: by the folder rules as they are now, then the service.

A build may be older than kb.toml, and access may be taken back between finding and showing. What
is refused is dropped without a trace; what the service did not answer for is dropped and counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kb_search.folder import Folder
from kb_search.hybrid import RankedChunk, RankedNote
from kb_search.live_rules import LiveRules
from kb_search.policy import Policy
from kb_search.view import View
from resources.permissions import Asked, PermissionService

if TYPE_CHECKING:  # it loads pydantic, which a question may not need
    from kb_core.settings import Settings

_Place = tuple[Folder, int]


class HandOver:
    """One answer on its way out: every passage of it is asked about, each once."""

    def __init__(
        self,
        view: View,
        policy: Policy,
        settings: "Settings",
        service: PermissionService | None = None,
    ) -> None:
        self._view = view
        self._rules = LiveRules(settings, policy)
        timeout = settings.policy.service_timeout_seconds
        self._asked = Asked(service, policy.principal.name, timeout) if service else None
        self._answers: dict[str, bool] = {}

    @property
    def hands_over_all(self) -> bool:
        """Tell whether there is nothing to ask: the owner's own door, and no service."""
        return self._asked is None and not self._rules.may_close

    @property
    def asks_a_service(self) -> bool:
        """Tell whether more than the rules decides."""
        return self._asked is not None

    @property
    def withheld(self) -> int:
        """How many passages the service did not answer for."""
        return len(self._asked.unanswered) if self._asked else 0

    @property
    def words(self) -> str:
        """Say what was withheld for want of an answer; empty if nothing was."""
        if not self.withheld:
            return ""
        passages = "1 passage" if self.withheld == 1 else f"{self.withheld:,} passages"
        return f"{passages} withheld: the permission service did not answer."

    def chunk(self, chunk_id: str) -> bool:
        """Tell whether a chunk of the view may be handed over; one outside it never is."""
        if chunk_id not in self._answers:
            self._decide({each: self._places[each] for each in [chunk_id] if each in self._places})
        return self._answers.get(chunk_id, False)

    def note(self, note_id: str) -> bool:
        """Tell whether any chunk of a note may be handed over."""
        chunks = self._chunks_of.get(note_id, ())
        self._decide({each: self._places[each] for each in chunks})
        return any(self._answers[each] for each in chunks)

    def ranked(self, found: Sequence[RankedNote]) -> list[RankedNote]:
        """Return what may be handed over of a ranking, in its order; empty notes are left out."""
        every = [chunk for note in found for chunk in note.chunks]
        self._decide({_id(chunk): (chunk.folder, chunk.row) for chunk in every})
        kept = (
            replace(note, chunks=tuple(c for c in note.chunks if self._answers[_id(c)]))
            for note in found
        )
        return [note for note in kept if note.chunks]

    def filled(self, best: Callable[[int], list[RankedNote]], limit: int) -> list[RankedNote]:
        """Return the best `limit` notes that may be handed over; `best` ranks so many notes.

        What is refused leaves no gap: the next best follow.
        """
        asked = limit
        while True:
            found = best(asked)
            kept = self.ranked(found)
            if len(kept) >= limit or len(found) < asked or self.withheld:
                return kept[:limit]
            asked *= 2

    def _decide(self, places: Mapping[str, _Place]) -> None:
        new = {each: place for each, place in places.items() if each not in self._answers}
        is_open = {each: self._rules.is_open(*place) for each, place in new.items()}
        passages = [
            (folder.rows.note_id(row), each) for each, (folder, row) in new.items() if is_open[each]
        ]
        allowed = self._asked.allowed(passages) if self._asked else {each for _, each in passages}
        self._answers.update((each, each in allowed) for each in new)

    @cached_property
    def _places(self) -> dict[str, _Place]:
        """Where each chunk of the view stands."""
        found: dict[str, _Place] = {}
        for folder, mask in zip(self._view.folders, self._view.masks, strict=True):
            ids = folder.rows.chunk_ids
            found |= {ids[row].as_py(): (folder, row) for row in np.flatnonzero(mask).tolist()}
        return found

    @cached_property
    def _chunks_of(self) -> dict[str, list[str]]:
        """Each note's chunks in view, in the table's order."""
        found: dict[str, list[str]] = {}
        for chunk_id, (folder, row) in self._places.items():
            found.setdefault(folder.rows.note_id(row), []).append(chunk_id)
        return found


def _id(chunk: RankedChunk) -> str:
    found: str = chunk.folder.rows.chunk_ids[chunk.row].as_py()
    return found
