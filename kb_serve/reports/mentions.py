"""Notes that others name without linking to them: links that are quickly made. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.resolver import RESOLVED
from kb_serve.reports.grouping import Row

COLUMNS = ["source_note_id", "name", "target_note_id", "candidates", "count"]


def mention_suggestions(
    mentions: pa.Table, links: pa.Table, forms: Mapping[str, Sequence[str]]
) -> list[Row]:
    """Return one row per note that is named and not linked, the most named first.

    Row: note, `names` it is called by there, notes, occurrences, sources (most occurrences first),
    `others` (notes these names could mean as well). A note that links to what a name means, or
    could mean, is no source. The tables hold present versions alone; `forms` gives the spellings
    of a folded name.
    """
    written = _written(links)
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    names: dict[str, set[str]] = defaultdict(set)
    others: dict[str, set[str]] = defaultdict(set)
    for row in mentions.select(COLUMNS).to_pylist():
        source, target = row["source_note_id"], row["target_note_id"]
        if any((source, note) in written for note in row["candidates"]):
            continue
        counts[target][source] += row["count"]
        names[target].update(forms.get(row["name"], [row["name"]]))
        others[target].update(note for note in row["candidates"] if note != target)
    rows = [
        {
            "note": target,
            "names": sorted(names[target]),
            "notes": len(sources),
            "occurrences": sum(sources.values()),
            "sources": sorted(sources, key=lambda note: (-sources[note], note)),
            "others": sorted(others[target]),
        }
        for target, sources in counts.items()
    ]
    return sorted(rows, key=lambda row: (-row["notes"], -row["occurrences"], row["note"]))


def _written(links: pa.Table) -> set[tuple[str, str]]:
    found = links.filter(pc.equal(links["status"], RESOLVED))
    columns = (found[name].to_pylist() for name in ("source_note_id", "target_note_id"))
    return set(zip(*columns, strict=True))
