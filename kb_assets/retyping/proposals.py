"""Say which phrases of vague links are frequent enough for a type of their own. Pure.

Links that stay vague are grouped by the words between their ends. What is said in a chunk is said
once, however many versions of its note hold the chunk.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kb_assets.asking.vague_links import VagueLink, verb_phrase
from kb_core.reading_contracts import TYPE_PROPOSALS

VERSION = "1"  # raise it when equal links would propose something else

FEWEST = 3
_LONGEST = 60  # characters of a phrase; more is no name of a type
_MOST_WORDS = 6


def proposals(links: Sequence[VagueLink]) -> pa.Table:
    """Return the frequent phrases (contract `type_proposals`), the most frequent first."""
    chunks: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for link in links:
        phrase = verb_phrase(link)
        if _is_short(phrase):
            chunks[phrase][link.chunk_id, link.key] = link.chunk_id
    rows: list[dict[str, Any]] = [
        {"phrase": phrase, "times": len(found), "chunk_ids": sorted(set(found.values()))}
        for phrase, found in chunks.items()
        if len(found) >= FEWEST
    ]
    rows.sort(key=lambda row: (-row["times"], row["phrase"]))
    return TYPE_PROPOSALS.table(rows)


def _is_short(phrase: str) -> bool:
    is_short = len(phrase) <= _LONGEST and len(phrase.split()) <= _MOST_WORDS
    return is_short and any(map(str.isalpha, phrase))
