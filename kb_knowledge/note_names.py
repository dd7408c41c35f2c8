"""Which names can be told from the text around them, and which notes they mean. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from kb_core.contracts import NOTE_NAMES
from kb_core.names import KINDS, forms_of, meant, name_key

# Kind; whether its file is called otherwise, length of its path, path; form.
_Row = tuple[int, tuple[bool, int, str], str]


def find_names(notes: pa.Table) -> pa.Table:
    """Return the names of the present notes (contract NOTE_NAMES), sorted by name.

    `notes` holds note_id, title, aliases and is_current of all folders.
    """
    present = notes.filter(notes["is_current"])
    columns = (present[name].to_pylist() for name in ("note_id", "title", "aliases"))
    return NOTE_NAMES.table(names_of(zip(*columns, strict=True)))


def names_of(notes: Iterable[tuple[str, str, Sequence[str]]]) -> Iterator[dict[str, Any]]:
    """Yield the names of some notes, sorted: rows of NOTE_NAMES. A note: id, title, aliases."""
    rows: dict[str, list[_Row]] = defaultdict(list)
    for note_id, title, aliases in notes:
        for kind, form in forms_of(title, stem(note_id), aliases):
            is_elsewhere = name_key(stem(note_id)) != name_key(form)
            rows[name_key(form)].append((kind, (is_elsewhere, len(note_id), note_id), form))
    named = (_name(name, rows[name]) for name in sorted(rows))
    yield from (row for row in named if row["candidates"])


def stem(note_id: str) -> str:
    """Return the name of a note's file without its ending."""
    return note_id.rpartition("/")[2].rpartition(".")[0]


def _name(name: str, rows: Sequence[_Row]) -> dict[str, Any]:
    """Return a name's row; the first note it may mean is one whose file is called so."""
    kind, carriers = meant((each, carrier) for each, carrier, _ in rows)
    return {
        "name": name,
        "kind": KINDS[kind],
        "forms": sorted({form for each, _, form in rows if each == kind}),
        "candidates": [note_id for *_, note_id in carriers],
    }
