"""Draw rows that the rules read from a vault's prose, to be judged by hand. Seeded.

`python -m benchmarks.reading_sample --vault DIR --rows 20 --seed 1` reads the vault in memory and
prints the counts by type and modality, then the rows as a table, or with `--json` as JSON lines.
"""

import argparse
import datetime as dt
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from kb_assets.chunks.chunker import chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.extractions.extraction import extract
from kb_assets.notes.parser import NoteRules, parse_notes
from kb_core.contracts import VERSIONS
from kb_core.ids import bytes_hash
from kb_core.ontology import read_ontology
from kb_core.settings import VaultSettings
from kb_core.tokens import RegexTokenCounter
from kb_knowledge.records import RULES
from resources.vault import LocalVault

_OBSERVED = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_LIMITS = Limits(
    whole_note_tokens=1500, largest_tokens=1000, smallest_tokens=100, overlap_chars=200
)
_FIRST_WORDS = 40  # characters of a phrase by which its line is found

Row = dict[str, Any]


def main() -> int:
    """Print what was counted and drawn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="JSON lines instead of a table")
    arguments = parser.parse_args()
    rows, left_out = read_vault(arguments.vault)
    print(json.dumps({**_counts(rows), "left_out": left_out}, indent=1), file=sys.stderr)
    for row in drawn(rows, arguments.rows, arguments.seed):
        print(json.dumps(row, ensure_ascii=False) if arguments.json else _line(row))
    return 0


def read_vault(root: Path) -> tuple[list[Row], Mapping[str, int]]:
    """Return every row that the rules read from prose, and what was left out."""
    vault = LocalVault(root, VaultSettings())
    folders: dict[str, dict[str, bytes]] = defaultdict(dict)
    for entry in vault.list():
        read = vault.read(entry) if entry.is_note else None
        if read and read.content is not None:
            folders[entry.folder(1)][entry.path] = read.content
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    for _, contents in sorted(folders.items()):
        rows.extend(_of_folder(contents, left_out))
    return rows, dict(left_out)


def drawn(rows: list[Row], number: int, seed: int) -> list[Row]:
    """Draw rows; the same ones for the same seed."""
    return random.Random(seed).sample(rows, min(number, len(rows)))


def _of_folder(contents: Mapping[str, bytes], left_out: Counter[str]) -> Iterator[Row]:
    notes = parse_notes(_versions(contents), NoteRules())
    chunks = chunk_notes(notes.notes, _LIMITS, RegexTokenCounter())
    found = extract(notes.notes, notes.note_links_raw, chunks, read_ontology())
    left_out.update(found.counts)
    texts = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
    for name in ("link_observations", "claim_observations"):
        for row in found.tables[name].to_pylist():
            if row["extractor"] == RULES:
                yield _shown(row, texts.get(row["note_id"], ""))


def _versions(contents: Mapping[str, bytes]) -> pa.Table:
    return VERSIONS.table(
        [
            {
                "note_id": path,
                "observed_at": _OBSERVED,
                "content_hash": bytes_hash(content),
                "file_time": _OBSERVED,
                "is_first_listing": True,
                "content": content,
                "source": None,
            }
            for path, content in contents.items()
        ]
    )


def _shown(row: Row, text: str) -> Row:
    """Return what a judge needs of a row."""
    is_link = "phrase" in row
    phrase = row["phrase"] if is_link else row["quote"]
    shown = {
        "rule": row["label"] if is_link else row["attribute"],
        "type": row["type"] if is_link else "claim",
        "from": _reference(row, "source" if is_link else "subject"),
        "to": _reference(row, "target") if is_link else row["value"],
    }
    place = {"path": row["note_id"], "line": _line_of(text, phrase), "chunk": row["chunk_id"]}
    meant = {"modality": row["modality"], "valid_from": row["valid_from"], "phrase": phrase}
    return {**shown, **meant, **place}


def _reference(row: Row, role: str) -> str:
    return f"{row[role + '_kind']} {row[role]}".strip()


def _line_of(text: str, phrase: str) -> int:
    """Return the line that a phrase begins in; 0 if it is not found."""
    at = " ".join(text.split(" ")).replace("\n", " ").find(phrase[:_FIRST_WORDS])
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _line(row: Row) -> str:
    said = f"{row['from']} --{row['type']}[{row['rule']}]--> {row['to']}"
    meant = f"{row['modality']} {row['valid_from'] or ''}".strip()
    place = f"{row['path']}:{row['line']} {row['chunk']}"
    return f"{said} | {meant} | {row['phrase']} | {place}"


def _counts(rows: list[Row]) -> dict[str, dict[str, int]]:
    counted = {
        "types": Counter(row["type"] for row in rows),
        "claims": Counter(row["rule"] for row in rows if row["type"] == "claim"),
        "modalities": Counter(row["modality"] for row in rows),
    }
    return {name: dict(sorted(each.items())) for name, each in counted.items()}


if __name__ == "__main__":
    sys.exit(main())
