"""From a folder's chunks to what is embedded: each text cut into passages, the most wanted first.

Pure.
"""

from collections.abc import Sequence

import pyarrow as pa

from kb_assets.embedding_work import EmbedPlan
from kb_assets.embeddings.passages import split_passages
from kb_core.contracts import PASSAGES
from kb_core.ids import content_id
from kb_core.tokens import TokenCounter
from resources.embedder import EmbedderProfile

VERSION = "1"  # raise it when the same chunks would be planned differently

_COLUMNS = [
    "text_id", "note_id", "search_text", "is_current", "written_date", "available_at", "may_leave",
]  # fmt: skip


def plan_passages(
    chunks: pa.Table,
    profile: EmbedderProfile,
    counter: TokenCounter,
    *,
    may_leave_only: bool = False,
) -> EmbedPlan:
    """Cut a folder's texts into passages, one row each.

    Takes a table of contract CHUNKS. `may_leave_only` plans only what a server on another
    machine may be sent: an older version only if the present one of its note may be, too.
    """
    rows = chunks.select(_COLUMNS).to_pylist()
    wanted = _newest_first(_that_may_leave(rows) if may_leave_only else rows)
    chosen = frozenset(wanted)
    # In order of first appearance among all rows, by which the index numbers its texts: one that
    # may leave in one note may have stood in another, that may not, before.
    texts = {row["text_id"]: row["search_text"] for row in rows if row["text_id"] in chosen}
    hashed = {
        text_id: [
            (content_id(passage), passage)
            for passage in split_passages(text, counter.count, profile.passage_tokens)
        ]
        for text_id, text in texts.items()
    }
    return EmbedPlan(
        profile=profile,
        passages=PASSAGES.table(
            {"text_id": text_id, "passage": ordinal, "passage_hash": passage_hash}
            for text_id, passages in hashed.items()
            for ordinal, (passage_hash, _) in enumerate(passages)
        ),
        texts=dict(pair for text_id in wanted for pair in hashed[text_id]),
    )


def _that_may_leave(rows: Sequence[dict]) -> list[dict]:
    """Drop what stays on this machine, and older versions of notes that stay by now."""
    staying = {row["note_id"] for row in rows if row["is_current"] and not row["may_leave"]}
    return [row for row in rows if row["may_leave"] and row["note_id"] not in staying]


def _newest_first(rows: Sequence[dict]) -> list[str]:
    """Order texts: those of present notes before older versions', each newest first."""

    def wanted(row: dict) -> tuple[bool, str]:
        # A longer partial date sorts after the shorter one it begins with: 2024 < 2024-03.
        return row["is_current"], row["written_date"] or row["available_at"].date().isoformat()

    newest = sorted(rows, key=wanted, reverse=True)  # equal ones keep the table's order
    return list(dict.fromkeys(row["text_id"] for row in newest))
