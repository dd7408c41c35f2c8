"""Notes that no link reaches and that link to no note. Pure: tables of the present in, rows out."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.figures import linked_notes
from kb_assets.note_links.resolver import ALIAS, DANGLING
from kb_serve.reports.grouping import Row

_GOES_NOWHERE = (DANGLING, ALIAS)


def orphan_notes(notes: pa.Table, links: pa.Table, mentions: pa.Table) -> list[Row]:
    """Return one row per orphan; those that other notes name come first: a link is quickly made.

    Row: note, `mentioned_in` (notes that name it without a link), `mentions` (notes it names so),
    `dangling` (its links that lead nowhere). The tables hold present versions alone.
    """
    linked = linked_notes(links)
    alone = notes.filter(pc.invert(pc.is_in(notes["note_id"], value_set=linked)))
    sources, targets = (mentions[name].to_pylist() for name in ("source_note_id", "target_note_id"))
    pairs = set(zip(sources, targets, strict=True))
    into = Counter(target for _, target in pairs)
    out = Counter(source for source, _ in pairs)
    nowhere = links.filter(pc.is_in(links["status"], value_set=pa.array(_GOES_NOWHERE)))
    dangling = Counter(nowhere["source_note_id"].to_pylist())
    rows = [
        {"note": n, "mentioned_in": into[n], "mentions": out[n], "dangling": dangling[n]}
        for n in alone["note_id"].to_pylist()
    ]
    return sorted(rows, key=lambda row: (-row["mentioned_in"], -row["mentions"], row["note"]))
