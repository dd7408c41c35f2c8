"""The permission service: asked about each passage right before it is handed over.

It is the user's own code, named in kb.toml, and it can only narrow what the folder rules allow. It
fails closed: what it refuses, does not answer in time or answers with an error is withheld, and
for the latter two the reader is told how many passages that were.
"""

import importlib
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Protocol

from kb_core.errors import SettingsError


class PermissionService(Protocol):
    """Who may be handed which passage, as of this moment."""

    def may_hand_over(self, principal: str, note_id: str, chunk_id: str) -> bool:
        """Tell whether a principal may be handed a chunk of a note."""


class Asked:
    """A service as it is asked: in a thread of its own, and within one time for all questions.

    A service that hangs holds up no answer: its thread is left behind.
    """

    def __init__(self, service: PermissionService, principal: str, timeout_seconds: float) -> None:
        self._service = service
        self._principal = principal
        self._left = timeout_seconds
        self.unanswered: set[str] = set()  # ids of chunks

    def allowed(self, passages: Sequence[tuple[str, str]]) -> set[str]:
        """Return the chunks that may be handed over, of some notes' chunks."""
        answers: dict[str, bool] = {}
        if passages and self._left > 0:
            self._left -= self._wait(passages, answers)
        self.unanswered.update(chunk for _, chunk in passages if chunk not in answers)
        return {chunk for chunk, is_allowed in answers.items() if is_allowed}

    def _wait(self, passages: Sequence[tuple[str, str]], answers: dict[str, bool]) -> float:
        """Gather answers until all are there or the time is over; return the seconds taken."""
        gathered: dict[str, bool] = {}
        asking = threading.Thread(target=self._ask, args=(passages, gathered), daemon=True)
        began = time.monotonic()
        asking.start()
        asking.join(self._left)
        answers.update(gathered.copy())  # what comes later is not looked at any more
        return time.monotonic() - began

    def _ask(self, passages: Iterable[tuple[str, str]], gathered: dict[str, bool]) -> None:
        for note_id, chunk_id in passages:
            with suppress(Exception):  # whatever it is, this passage got no answer
                answer = self._service.may_hand_over(self._principal, note_id, chunk_id)
                if isinstance(answer, bool):  # a coroutine or a response would pass for a yes
                    gathered[chunk_id] = answer


def open_service(named: str) -> PermissionService | None:
    """Make the service that `module:factory` names; None for no name.

    Raises SettingsError when it cannot be made: an answer without it would not be the user's wish.
    """
    if not named:
        return None
    module, _, factory = named.partition(":")
    try:
        made = getattr(importlib.import_module(module), factory)()
    except Exception as problem:  # noqa: BLE001 - whatever the user's own code raises
        raise SettingsError(
            f"The permission service {named!r} of kb.toml cannot be opened: "
            f"{type(problem).__name__}. Give `module:factory`, where Python finds the module and "
            "the factory needs no argument."
        ) from None
    if not callable(getattr(made, "may_hand_over", None)):
        raise SettingsError(
            f"The permission service {named!r} of kb.toml has no method may_hand_over(principal, "
            "note_id, chunk_id)."
        )
    service: PermissionService = made
    return service
