"""Which names can be told from the text around them, and which notes they mean. Pure.

A title or a file name is a name; an alias is one if it means one note alone and nobody is called
so; so is a short form of a title. What names more than a few notes (`Meeting`) names none.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from kb_core.contracts import NOTE_NAMES
from kb_core.names import distinct_forms, name_key, short_forms

TITLE = "title"
ALIAS = "alias"
SHORT = "short"

_MOST_NOTES = {TITLE: 3, ALIAS: 1, SHORT: 3}
_KINDS = (TITLE, ALIAS, SHORT)  # the name of an earlier kind keeps a later one away

_Carriers = dict[str, dict[str, set[str]]]  # name -> note id -> forms


def find_names(notes: pa.Table) -> pa.Table:
    """Return the names of the present notes (contract NOTE_NAMES), sorted by name.

    `notes` holds note_id, title, aliases and is_current of all folders.
    """
    present = notes.filter(notes["is_current"]).sort_by("note_id")
    columns = (present[name].to_pylist() for name in ("note_id", "title", "aliases"))
    carriers: dict[str, _Carriers] = {kind: defaultdict(dict) for kind in _KINDS}
    for note_id, title, aliases in zip(*columns, strict=True):
        for kind, form in _forms(note_id, title, aliases):
            carriers[kind][name_key(form)].setdefault(note_id, set()).add(form)
    rows = {}
    for kind in reversed(_KINDS):
        for name, notes_of in carriers[kind].items():
            rows[name] = _row(name, kind, notes_of)
    usable = (row for row in rows.values() if row is not None)
    return NOTE_NAMES.table(sorted(usable, key=lambda row: str(row["name"])))


def _forms(note_id: str, title: str, aliases: Sequence[str]) -> Iterator[tuple[str, str]]:
    stem = note_id.rpartition("/")[2].rpartition(".")[0]
    titles = distinct_forms([title, stem])
    yield from ((TITLE, form) for form in titles)
    yield from ((ALIAS, form) for form in distinct_forms(aliases))
    shorts = [short for form in titles for short in short_forms(form)]
    yield from ((SHORT, form) for form in distinct_forms(shorts))


def _row(name: str, kind: str, carriers: Mapping[str, set[str]]) -> dict[str, object] | None:
    """Return a name's row; None for one that means too many notes."""
    if len(carriers) > _MOST_NOTES[kind]:
        return None
    return {
        "name": name,
        "kind": kind,
        "forms": sorted(set().union(*carriers.values())),
        "candidates": sorted(carriers, key=lambda note_id: (len(note_id), note_id)),
    }
