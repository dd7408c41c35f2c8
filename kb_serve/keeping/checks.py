"""Check every stored byte of a home. Looks only, and may run beside a build.

What the user writes (kb.toml, `data/eval`, `data/overrides`) cannot be told from an edit and is
not checked; nor is what a log says.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kb_serve.keeping import damage
from kb_serve.keeping.damage import Damage, Kind
from kb_serve.keeping.meter import Meter, Progress
from kb_serve.keeping.named import NamedFiles
from resources.content_names import MISSING
from resources.home import Home
from resources.paid_rows import paid_problem
from resources.soundness import database_problem, lines_problem, sealed_problem
from resources.vector_rows import cache_problem

LEASES = "cache/leases.sqlite"
VECTOR_CACHE = "cache/embeddings.sqlite"
PAID_ANSWERS = "cache/paid.sqlite"

# Records that the next run writes anew; any other one is a decision of the user's.
_RECORDS = {
    "last-build": damage.RECORD,
    "last-publish": damage.RECORD,
    "folder-scores": damage.RECORD,
    "folders": damage.FOLDERS,
    "baseline": damage.BASELINE,
    "home": damage.HOME,
}


@dataclass(frozen=True)
class Verified:
    """What a check found."""

    files: int
    bytes: int
    damages: tuple[Damage, ...]


def verify(
    home: Home,
    *,
    build: str | None = None,
    everything: bool = False,
    progress: Progress = lambda read: None,
) -> Verified:
    """Check a home, or one build of it; `everything` adds files that nothing names any more."""
    meter = Meter(progress)
    named = NamedFiles(home, meter)
    if build:
        found = list(named.problems_of(build))
    else:
        found = [
            *_records(home, meter),
            *named.problems(everything=everything),
            *_history(home, meter),
            *_databases(home, meter),
        ]
    return Verified(meter.files, meter.bytes, tuple(found))


def size_of(home: Home) -> int:
    """Return the bytes there are below the home's data, about as many as a check reads."""
    return sum(path.stat().st_size for path in home.data.rglob("*") if path.is_file())


def leases_are_sound(home: Home) -> bool:
    """Tell whether leases can be taken; without the file they can."""
    return not _problem(home.data / LEASES, database_problem)


def _records(home: Home, meter: Meter) -> Iterator[Damage]:
    for path in sorted(home.data.glob("*.json")):
        meter.look_at(path)
        yield from _damage(home, path, sealed_problem, _RECORDS.get(path.stem, damage.DECISION))


def _history(home: Home, meter: Meter) -> Iterator[Damage]:
    root = home.data / "history"
    segments = sorted((root / "versions").glob("*/*.parquet"))
    for path in segments:
        yield from _damage(home, path, meter.hashed, damage.JOURNAL)
    if segments and not (root / "listing.json").exists():
        yield Damage("history/listing.json", MISSING, damage.LISTING)
    for name, check, kind in (
        ("listing.json", sealed_problem, damage.LISTING),
        ("pruned.json", sealed_problem, damage.LISTING),
        ("evaluations.jsonl", lines_problem, damage.EVALUATIONS),
    ):
        meter.look_at(root / name)
        yield from _damage(home, root / name, check, kind)


def _databases(home: Home, meter: Meter) -> Iterator[Damage]:
    yield from _damage(home, home.data / LEASES, database_problem, damage.LEASES)
    cache = home.data / VECTOR_CACHE
    yield from _damage(home, cache, lambda path: cache_problem(path, meter.add), damage.VECTORS)
    paid = home.data / PAID_ANSWERS
    yield from _damage(home, paid, lambda path: paid_problem(path, meter.add), damage.PAID)
    for path in sorted((home.data / "dagster").rglob("*.db")):
        meter.look_at(path)
        yield from _damage(home, path, database_problem, damage.RUNS)


def _damage(home: Home, path: Path, check: Callable[[Path], str], kind: Kind) -> Iterator[Damage]:
    problem = _problem(path, check)
    if problem:
        yield Damage(path.relative_to(home.data).as_posix(), problem, kind)


def _problem(path: Path, check: Callable[[Path], str]) -> str:
    return check(path) if path.exists() else ""
