"""Links that use an alias, which Obsidian does not follow. Pure: the present links in, rows out."""

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.resolver import ALIAS
from kb_core.link_targets import fold
from kb_serve.reports.grouping import Row, grouped, most_first, most_frequent, where_from
from kb_serve.reports.link_names import LinkNames

COLUMNS = ["status", "source_note_id", "target", "candidates"]


def alias_links(links: pa.Table, names: LinkNames) -> list[Row]:
    """Return one row per alias that is linked to, the most used first.

    Row: target, links, notes, sources, `means` (the notes that carry the alias) and `write` (the
    link that works, for each of them).
    """
    found = links.filter(pc.equal(links["status"], ALIAS)).select(COLUMNS).to_pylist()
    rows = []
    for same in grouped(found, lambda row: fold(row["target"])).values():
        target, means = most_frequent(row["target"] for row in same), same[0]["candidates"]
        write = [names.link_to(note, target) for note in means]
        rows.append({"target": target, **where_from(same), "means": means, "write": write})
    return most_first(rows, "target")
