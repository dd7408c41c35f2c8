"""The order in which folders get their vectors: those with the newest notes first."""

from collections.abc import Sequence

import pyarrow.compute as pc

from resources.home import Home


def newest_first(home: Home, partitions: Sequence[str]) -> list[str]:
    """Sort folders by the latest date any of their notes states; undated folders come last."""
    return sorted(sorted(partitions), key=lambda key: _newest(home, key), reverse=True)


def _newest(home: Home, partition: str) -> str:
    if home.store.pointer("notes", partition) is None:
        return ""
    notes = home.store.read("notes", partition, ["note_date", "date_is_weak", "is_current"])
    dated = notes.filter(pc.and_(notes["is_current"], pc.invert(notes["date_is_weak"])))
    return pc.max(dated["note_date"]).as_py() or ""
