"""What the structure of a vault of 13,284 notes and 14 million words costs: links, tags, mentions.

`python -m benchmarks.structure` makes the vault, measures the CPU seconds that reading, parsing and
resolving take beside a bare loop over the Markdown parser's events and beside obsidiantools on a
sample, and what one edited and one new note cost. `--vault DIR` measures a vault that exists, and
`--tldr` the 13,284 tiny notes of an archive; neither is changed.
"""

import argparse
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.report import progress, report
from benchmarks.structure_edits import Edits, measure_edits
from benchmarks.structure_peer import HOW, Peer, measure_peer
from benchmarks.structure_stages import Structure, measure_structure
from benchmarks.structure_vault import NOTES, WORDS, Made, make_linked_vault

_TLDR = Path("../shared/vaults/tldr-13284.tar.xz")
_AIMS = {
    "structure_over_pyromark": "<= 2.5",
    "obsidiantools_over_structure": ">= 60",
    "one_edit_cpu_s": "<= 2",
    "links_not_as_made": "== 0",
}

Figures = dict[str, float | int | None]


def main() -> int:
    """Run the benchmark; status 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--words", type=int, default=WORDS)
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--vault", type=Path, help="measure this vault instead of a made one")
    given.add_argument("--tldr", nargs="?", type=Path, const=_TLDR, help="measure this archive")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.tldr:
            return _given("structure_tldr", _unpacked(arguments.tldr, Path(scratch)))
        if arguments.vault:
            return _given("structure_vault", arguments.vault)
        return _made(Path(scratch), arguments.notes, arguments.words)


def _unpacked(archive: Path, scratch: Path) -> Path:
    progress(f"unpacking {archive}")
    with tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
    return scratch


def _given(name: str, vault: Path) -> int:
    found = measure_structure(vault)
    figures = {**_sizes(found), **_seconds(found), **_over_floor(found)}
    return 0 if report(name, figures, {}, links=_sorted(found.links)) else 1


def _made(scratch: Path, notes: int, words: int) -> int:
    vault = scratch / "vault"
    progress(f"making {notes:,} notes of {words:,} words")
    made = make_linked_vault(vault, notes, words)
    progress("reading, parsing, resolving, finding mentions")
    found = measure_structure(vault)
    progress("obsidiantools on a sample")
    peer = measure_peer(vault)
    edits = measure_edits(vault, scratch / "home")
    figures = {
        **_sizes(found),
        **_seconds(found),
        **_over_floor(found),
        **_beside(found, peer),
        **_changes(edits),
        "links_not_as_made": _not_as_made(made, found),
    }
    steps = {
        "first": _rounded(edits.first.seconds),
        "one_edit": _rounded(edits.one_edit.seconds),
        "one_new_note": _rounded(edits.one_new_note.seconds),
    }
    note = {} if peer else {"note": f"no figure of obsidiantools: {HOW}"}
    met = report("structure", figures, _AIMS, links=_sorted(found.links), steps=steps, **note)
    return 0 if met else 1


def _sizes(found: Structure) -> Figures:
    return {
        "notes": found.notes,
        "unread_notes": found.unread,
        "words": found.words,
        "vault_mb": round(found.megabytes, 1),
        "links": sum(found.links.values()),
        "wikilinks": found.wikilinks,
        "dangling": found.links.get("dangling", 0),
        "names": found.names,
        "mentions": found.mentions,
        "findings": sum(found.findings.values()),
    }


def _structure_s(found: Structure) -> float:
    return sum(found.seconds.get(step, 0.0) for step in ("read", "parse", "resolve"))


def _seconds(found: Structure) -> Figures:
    steps = {f"{name}_cpu_s": round(value, 3) for name, value in found.seconds.items()}
    return {"structure_cpu_s": round(_structure_s(found), 3), **steps}


def _over_floor(found: Structure) -> Figures:
    floor = found.seconds["floor"]
    return {
        "structure_over_pyromark": round(_structure_s(found) / floor, 2),
        "parse_over_pyromark": round(found.seconds["parse"] / floor, 2),
    }


def _beside(found: Structure, peer: Peer | None) -> Figures:
    """Scale what obsidiantools took for its sample to the whole vault, by words."""
    if peer is None:
        return {"obsidiantools_cpu_s": None, "obsidiantools_over_structure": None}
    seconds = peer.seconds * found.words / peer.words
    return {
        "obsidiantools_sample_cpu_s": round(peer.seconds, 3),
        "obsidiantools_cpu_s": round(seconds, 1),
        "obsidiantools_over_structure": round(seconds / _structure_s(found), 1),
    }


def _changes(edits: Edits) -> Figures:
    return {
        "first_cpu_s": round(edits.first.structure, 2),
        "first_words_cpu_s": round(edits.first.words, 2),
        "full_sweep_cpu_s": round(edits.nothing.structure, 3),
        "one_edit_cpu_s": round(edits.one_edit.structure, 3),
        "one_edit_words_cpu_s": round(edits.one_edit.words, 3),
        "one_new_note_cpu_s": round(edits.one_new_note.structure, 3),
        "edited_folder_notes": edits.edited_folder_notes,
    }


def _not_as_made(made: Made, found: Structure) -> int:
    statuses = sorted({*made.links, *found.links})
    wrong = sum(abs(made.links.get(each, 0) - found.links.get(each, 0)) for each in statuses)
    return wrong + abs(made.wikilinks - found.wikilinks)


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in seconds.items()}


if __name__ == "__main__":
    sys.exit(main())
