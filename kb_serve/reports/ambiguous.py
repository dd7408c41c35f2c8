"""Links whose target names several notes: which one each takes, and by which rule. Pure."""

import pyarrow as pa

from kb_core.link_targets import fold
from kb_serve.reports.grouping import Row, grouped, most_first, most_frequent, where_from
from kb_serve.reports.link_names import LinkNames, bare

COLUMNS = ["is_ambiguous", "source_note_id", "target", "candidates"]

EXACT = "its exact path"
BESIDE = "in the same folder"
SHORTEST = "the shortest path"


def ambiguous_links(links: pa.Table, names: LinkNames) -> list[Row]:
    """Return one row per target and note that it takes, the most frequent first.

    Row: target, links, notes, sources, takes, rule, others, and `write` (the link that is clear).
    `links` is NOTE_LINKS of the present versions.
    """
    found = links.filter(links["is_ambiguous"]).select(COLUMNS).to_pylist()
    rows = []
    for (_, rule), same in grouped(found, _case).items():
        takes, *others = same[0]["candidates"]
        target = most_frequent(row["target"] for row in same)
        row = {"target": target, **where_from(same), "takes": takes, "rule": rule}
        rows.append({**row, "others": sorted(others), "write": names.link_to(takes, target)})
    return most_first(rows, "target", "takes", "rule")


def _case(row: Row) -> tuple[tuple[str, str], str]:
    target, takes = bare(fold(row["target"])), fold(bare(row["candidates"][0]))
    folder = fold(row["source_note_id"]).rpartition("/")[0]
    return (target, takes), _rule(target, takes, folder)


def _rule(target: str, takes: str, folder: str) -> str:
    if takes == target:
        return EXACT
    return BESIDE if takes == f"{folder}/{target}" else SHORTEST
