"""Links to notes that do not exist, by target. Pure: the present links in, rows out."""

import posixpath

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.resolver import DANGLING
from kb_core.link_targets import fold
from kb_serve.reports.grouping import Row, grouped, most_first, most_frequent, where_from
from kb_serve.reports.link_names import LinkNames, bare

COLUMNS = ["status", "source_note_id", "target", "display"]


def dangling_links(links: pa.Table, names: LinkNames) -> list[Row]:
    """Return one row per missing target, the most wanted first.

    Row: target, links, notes, sources, `perhaps` (a note of nearly that name, or ""), and
    `swapped`: in how many of the links the part behind `|` is the name of a note, as in vaults
    that write `[[shown|Note]]`. `links` is NOTE_LINKS of the present versions.
    """
    found = links.filter(pc.equal(links["status"], DANGLING)).select(COLUMNS).to_pylist()
    rows = []
    for same in grouped(found, _meant).values():
        target = most_frequent(row["target"] for row in same)
        shown = [row["display"] for row in same if row["display"]]
        swapped = sum(1 for text in shown if names.is_name(text))
        like = names.like(target)
        rows.append({"target": target, **where_from(same), "perhaps": like, "swapped": swapped})
    return most_first(rows, "target")


def _meant(row: Row) -> str:
    """Fold a target, so that its spellings are one; a relative one is seen from its note."""
    target = bare(fold(row["target"]))
    if target.startswith(("./", "../")):
        folder = fold(row["source_note_id"]).rpartition("/")[0]
        return posixpath.normpath(posixpath.join(folder, target))
    return target
