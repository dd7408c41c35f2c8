"""Decide what `vault_changes` asks for in one tick. Pure but for the doors it is handed.

Words come first, of every folder that changed and is quiet. Vectors follow when no words are
under way, one folder at a time, because they take the whole machine, then those of links and
claims. Links, knowledge and build follow by
Dagster's own automation; only when that does not happen are they asked for here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kb_core.errors import KbError, MassLossError
from kb_core.folder_names import shown_path
from kb_core.ids import content_id
from sensors.asking import LastFailure, Request, ask, counted, listed, spoken
from sensors.memory import Memory, Seen
from sensors.sweep import Sight, signature_of

# Dagster's automation looks every 30 s; it may also find a run of its own in the queue.
GRACE_SECONDS = 90.0
_VAULT, _LINES = "asked", "lines"


class Doors(Protocol):
    """What can be asked about the home. Every answer is cheap but `is_fresh`'s."""

    def follows(self, partition: str) -> bool:
        """Tell whether the folder's tables are those of its last look, without a look."""

    def is_fresh(self, partition: str) -> bool:
        """Read the folder and tell whether its words are up to date. Raises KbError, OSError."""

    def without_vectors(self, partitions: Sequence[str]) -> list[str]:
        """Return those folders whose vectors can be made now. Raises KbError."""

    def vectors_state(self, partition: str) -> str:
        """Name how far the folder's vectors are."""

    def lines_are_behind(self) -> bool:
        """Tell whether vectors of links and claims can be made now. Raises KbError."""

    def lines_state(self) -> str:
        """Name how far they are."""

    def vault_is_behind(self) -> bool:
        """Tell whether links, build, scores or publishing lag behind the folders."""


@dataclass(frozen=True)
class Busy:
    """The runs under way."""

    words: frozenset[str] = frozenset()  # partitions that are being read
    vectors: frozenset[str] = frozenset()
    is_lines: bool = False
    is_vault: bool = False


@dataclass
class Tick:
    """One look at everything: what is known, and what comes of it."""

    now: float
    quiet_seconds: float
    memory: Memory
    sights: Mapping[str, Sight]
    circumstances: Mapping[str, str]  # per folder: approvals, settings; what a failure hangs on
    doors: Doors
    busy: Busy
    last_failure: LastFailure
    is_time_up: Callable[[], bool]
    names: "Names"
    requests: list[Request] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def situation(self, partition: str) -> str:
        """Name the state of things that a run over this folder would be over."""
        return _short(self.sights[partition].signature, self.circumstances.get(partition, ""))

    def whole(self, partition: str) -> str:
        """Name that, and where all other notes are: they may be what is missing here."""
        return _short(self.situation(partition), signature_of(self.sights.values()))


@dataclass(frozen=True)
class Names:
    """The jobs' names."""

    words: str
    vectors: str
    vault: str
    lines: str


def decide(tick: Tick) -> str:
    """Fill the tick's requests and its memory; return what to say if nothing is asked for."""
    tick.memory.forget_all_but(tick.sights)
    for partition, sight in tick.sights.items():
        if why := _words(tick, partition, sight):
            tick.waiting.append(f"{shown_path(sight.folder)} {why}")
    if not tick.requests and not tick.busy.words:
        _vectors(tick)
        _vault(tick)
        _lines(tick)
    tick.memory.swept_at = tick.now
    return listed(tick.waiting, f"Nothing changed in {counted(len(tick.sights), 'folder')}.")


def _words(tick: Tick, partition: str, sight: Sight) -> str:
    """Ask for a folder's words if they are behind; return why it waits, if it does."""
    memory = tick.memory
    is_moved = memory.done.get(partition) != sight.signature
    if not is_moved and tick.doors.follows(partition):
        return _settle(memory, partition, sight)
    if partition in tick.busy.words:
        return "is being read"
    age = tick.now - _changed_at(memory, partition, sight, tick.now)
    if is_moved and age < tick.quiet_seconds:
        return f"changed {spoken(age)} ago: waits until it is quiet"
    held = memory.waits.get(partition)
    if held and held.situation == tick.whole(partition):
        return held.words
    if tick.is_time_up():
        return "is compared at the next look"
    return _look(tick, partition, sight)


def _look(tick: Tick, partition: str, sight: Sight) -> str:
    try:
        is_fresh = tick.doors.is_fresh(partition)
    except (KbError, OSError) as problem:
        words = f"waits: {problem}"
        # Looking for moved notes reads much of the vault: only when something moved again.
        if isinstance(problem, MassLossError):
            tick.memory.waits[partition] = Seen(tick.whole(partition), tick.now, words)
        return words
    tick.memory.waits.pop(partition, None)
    if is_fresh:
        return _settle(tick.memory, partition, sight)
    request, why = ask(
        tick.memory.words,
        partition,
        Request(tick.names.words, partition),
        situation=tick.situation(partition),
        now=tick.now,
        last_failure=tick.last_failure,
    )
    tick.requests += [request] if request else []
    return why


def _settle(memory: Memory, partition: str, sight: Sight) -> str:
    """Note that a folder's words are up to date with what was seen."""
    memory.done[partition] = sight.signature
    memory.changed.pop(partition, None)
    memory.waits.pop(partition, None)
    memory.words.pop(partition, None)
    return ""


def _changed_at(memory: Memory, partition: str, sight: Sight, now: float) -> float:
    """Return when the folder came into its present state, as far as anything tells.

    A deletion, and a copy that keeps its file's times, leave no stamp: they happened between the
    last tick and this one.
    """
    held = memory.changed.get(partition)
    if held is None or held.situation != sight.signature:
        is_stamped = sight.newest > memory.swept_at or not memory.swept_at
        held = Seen(sight.signature, sight.newest if is_stamped else now)
        memory.changed[partition] = held
    return held.at


def _vectors(tick: Tick) -> None:
    """Ask for the vectors of the folder that was touched last, one at a time."""
    ready = [key for key in tick.sights if tick.memory.done.get(key)]
    try:
        wanted = tick.doors.without_vectors(ready)
    except KbError as problem:
        tick.waiting.append(f"No new vectors: {problem}")
        return
    for partition in [key for key in sorted(tick.memory.vectors) if key not in wanted]:
        del tick.memory.vectors[partition]
    if tick.busy.vectors:
        tick.waiting.append(f"Vectors of {_names(tick, sorted(tick.busy.vectors))} are being made")
        return
    for partition in sorted(wanted, key=lambda key: (-tick.sights[key].newest, key)):
        request, why = ask(
            tick.memory.vectors,
            partition,
            Request(tick.names.vectors, partition),
            situation=_short(tick.doors.vectors_state(partition)),
            now=tick.now,
            last_failure=tick.last_failure,
        )
        if request:
            tick.requests.append(request)
            return
        tick.waiting.append(f"{_names(tick, [partition])}: its vectors: {why}")


def _vault(tick: Tick) -> None:
    """Ask for links and build if they are behind and Dagster's automation does not come."""
    memory = tick.memory
    if tick.busy.is_vault:
        memory.lagging_since = 0.0
        tick.waiting.append("Links and build are being made")
        return
    if not tick.doors.vault_is_behind():
        memory.lagging_since = 0.0
        memory.vault.pop(_VAULT, None)
        return
    memory.lagging_since = memory.lagging_since or tick.now
    if tick.now - memory.lagging_since < GRACE_SECONDS:
        tick.waiting.append("Links and build follow by themselves")
        return
    states = [tick.situation(partition) for partition in tick.sights]
    request, why = ask(
        memory.vault,
        _VAULT,
        Request(tick.names.vault, None),
        situation=_short(*states),
        now=tick.now,
        last_failure=tick.last_failure,
    )
    tick.requests += [request] if request else []
    tick.waiting += [f"The run for links and build {why}"] if why else []


def _lines(tick: Tick) -> None:
    """Ask for the vectors of links and claims when nothing else is to be done for the vault."""
    if tick.busy.is_lines:
        tick.waiting.append("Vectors of links and claims are being made")
        return
    is_settled = not (tick.busy.is_vault or tick.memory.lagging_since)
    if tick.requests or tick.busy.vectors or not is_settled:
        return
    if not tick.doors.lines_are_behind():
        tick.memory.vault.pop(_LINES, None)
        return
    request, why = ask(
        tick.memory.vault,
        _LINES,
        Request(tick.names.lines, None),
        situation=_short(tick.doors.lines_state()),
        now=tick.now,
        last_failure=tick.last_failure,
    )
    tick.requests += [request] if request else []
    tick.waiting += [f"The vectors of links and claims: {why}"] if why else []


def _names(tick: Tick, partitions: Sequence[str]) -> str:
    return ", ".join(
        shown_path(tick.sights[key].folder) if key in tick.sights else key for key in partitions
    )


def _short(*parts: str) -> str:
    return content_id(*parts)[:16]
