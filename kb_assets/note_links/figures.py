"""What the links of a vault come to, in numbers. Pure: tables of the present in, counts out."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.resolver import ALIAS, DANGLING, RESOLVED, UNREAD

COLUMNS = ["is_current", "source_note_id", "status", "is_ambiguous", "target_note_id"]


def link_figures(notes: pa.Table, links: pa.Table) -> dict[str, int]:
    """Count dangling, by_alias and ambiguous links, and the notes that are orphans.

    `notes` holds note_id, `links` COLUMNS, both of the present versions.
    """
    ended = Counter(links["status"].to_pylist())
    linked = pc.sum(pc.is_in(notes["note_id"], value_set=linked_notes(links))).as_py() or 0
    return {
        "dangling": ended[DANGLING],
        "by_alias": ended[ALIAS],
        "ambiguous": pc.sum(links["is_ambiguous"]).as_py() or 0,
        "orphans": notes.num_rows - linked,
    }


def linked_notes(links: pa.Table) -> pa.Array:
    """Return the notes that a link joins to another note: its source, and its target if known.

    A link to oneself joins nothing, nor does one that leads nowhere or out of the notes.
    """
    is_other = pc.not_equal(links["source_note_id"], links["target_note_id"])
    joins = pc.and_(pc.equal(links["status"], RESOLVED), pc.fill_null(is_other, False))
    out = links.filter(pc.or_(joins, pc.equal(links["status"], UNREAD)))["source_note_id"]
    into = links.filter(joins)["target_note_id"]
    return pa.chunked_array([*out.chunks, *into.chunks], pa.string()).unique()
