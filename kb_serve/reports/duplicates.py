"""Notes that say the same as another one: equal, nearly equal, or a conflict copy of it. Pure.

Texts are compared by their runs of four words, without front matter. On 14 million words this takes
10 to 12 CPU seconds; datasketch with 100 permutations, measured on 400,000 words, would take 17 to
hash them, and leaves it to chance which pairs are looked at.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kb_serve.reports.grouping import Row
from kb_serve.reports.link_names import stem
from kb_serve.reports.set_join import similar_groups
from kb_serve.reports.shingles import Shingles, share

SAME = "the same words"
NEAR = "nearly the same"
COPY = "conflict copy"

# Of all runs of four words in both. One word in twenty differs at .67, one in forty at .82: below
# this, two notes were written apart or have grown apart.
THRESHOLD = 0.8
WORDS_TOGETHER = 4
# A note with fewer different runs is a stub or a form: its likes say nothing.
FEWEST_RUNS = 20

_KINDS = (COPY, SAME, NEAR)


def duplicate_notes(bodies: Iterable[tuple[str, str]], copies: Sequence[str]) -> list[Row]:
    """Return one row per conflict copy, then one per group of notes that say the same.

    Row: kind, notes (a copy before its original), similarity (0 to 1: of the least similar pair
    that holds the group together; None for a copy whose original is gone). `bodies` gives each
    present note and its text without front matter; `copies` the conflict copies among the files.
    """
    shingles = Shingles(WORDS_TOGETHER)
    sets = {note: shingles.of(body) for note, body in sorted(bodies)}
    rows = _conflict_copies(copies, sets)
    apart = sorted(set(sets) - set(copies))
    apart = [note for note in apart if sets[note].size >= FEWEST_RUNS]
    for group in similar_groups([sets[note] for note in apart], THRESHOLD):
        notes = [apart[at] for at in group.members]
        kind = SAME if group.similarity == 1 else NEAR
        rows.append({"kind": kind, "notes": notes, "similarity": round(group.similarity, 3)})
    return sorted(rows, key=_order)


def _order(row: Row) -> tuple[int, float, list[str]]:
    return _KINDS.index(row["kind"]), -(row["similarity"] or 0), row["notes"]


def _conflict_copies(copies: Sequence[str], sets: Mapping[str, np.ndarray]) -> list[Row]:
    beside: dict[str, list[str]] = defaultdict(list)
    for note in sorted(set(sets) - set(copies)):
        beside[note.rpartition("/")[0]].append(note)
    rows: list[Row] = []
    for copy in sorted(copies):
        original = original_of(copy, beside[copy.rpartition("/")[0]])
        if original and copy in sets:
            similarity = round(share(sets[copy], sets[original]), 3)
            rows.append({"kind": COPY, "notes": [copy, original], "similarity": similarity})
        else:
            rows.append({"kind": COPY, "notes": [copy], "similarity": None})
    return rows


def original_of(copy: str, beside: Sequence[str]) -> str:
    """Return the note beside a conflict copy whose name the copy's begins with, or ""."""
    name = stem(copy)
    begin = [note for note in beside if _continues(name, stem(note))]
    return max(begin, key=lambda note: (len(note), note), default="")


def _continues(name: str, start: str) -> bool:
    """Tell whether a name is another with something added, as `Plan (conflicted copy)` is."""
    rest = name[len(start) :]
    return name.startswith(start) and bool(rest) and not rest[0].isalnum()
