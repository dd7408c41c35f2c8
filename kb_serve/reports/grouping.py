"""Put links that say the same together: how many, and from which notes. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

Row = dict[str, Any]
Key = TypeVar("Key", bound=Hashable)


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """Return the rows by key, in order of appearance."""
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


def where_from(rows: Sequence[Mapping[str, Any]]) -> Row:
    """Count links and the notes they stand in: {"links", "notes", "sources"}, sources sorted."""
    sources = sorted({row["source_note_id"] for row in rows})
    return {"links": len(rows), "notes": len(sources), "sources": sources}


def most_frequent(values: Iterable[str]) -> str:
    """Return the value that stands there most often, of several the first by the alphabet."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def most_first(rows: Iterable[Row], *names: str) -> list[Row]:
    """Sort by number of links, most first, then by these columns."""
    return sorted(rows, key=lambda row: (-row["links"], *(row[name] for name in names)))
