"""Keep what was read of a version that has been read before. Pure.

The same bytes under the same rules give the same rows, so only new versions are parsed; what the
journal says anew of an old one, its number and how long it stood, is renewed. The tables come out
as if everything had been parsed.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.notes.note import Version
from kb_core.contracts import NOTES

Tables = Mapping[str, pa.Table]  # the stage's tables by name


def known_versions(before: Tables, versions: Sequence[Version]) -> set[str]:
    """Return the versions whose rows can be kept.

    A version whose number moved has other versions before it now, and these may date its note.
    """
    notes = before["notes"]
    columns = (notes[name].to_pylist() for name in ("version_id", "version"))
    numbers = dict(zip(*columns, strict=True))
    return {each.version_id for each in versions if numbers.get(each.version_id) == each.number}


def carried(before: Tables, made: Tables, known: set[str], order: Sequence[Version]) -> Tables:
    """Put the rows of known versions and of those just parsed together, versions in `order`."""
    places = {each.version_id: place for place, each in enumerate(order)}
    kept_ids = pa.array(sorted(known), pa.string())
    joined = {
        name: _in_order(before[name], table, kept_ids, places) for name, table in made.items()
    }
    return {**joined, "notes": _renewed(joined["notes"], order)}


def _in_order(
    before: pa.Table, made: pa.Table, kept: pa.Array, places: Mapping[str, int]
) -> pa.Table:
    old = before.filter(pc.is_in(before["version_id"], value_set=kept))
    table = pa.concat_tables([old, made])
    order = np.array([places[each] for each in table["version_id"].to_pylist()], np.int64)
    return table.take(pa.array(np.argsort(order, kind="stable"))).combine_chunks()


def _renewed(notes: pa.Table, order: Sequence[Version]) -> pa.Table:
    present = {each.version_id: each for each in order}
    versions = [present[each] for each in notes["version_id"].to_pylist()]
    renewed = {
        "version": [each.number for each in versions],
        "observed_until": [each.observed_until for each in versions],
        "is_current": [each.is_current for each in versions],
    }
    columns = [
        pa.array(renewed[field.name], field.type) if field.name in renewed else notes[field.name]
        for field in NOTES.schema
    ]
    return pa.Table.from_arrays(columns, schema=NOTES.schema)
