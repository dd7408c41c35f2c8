"""What must hold before readers are pointed to a build. Pure: tables in, reasons out."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

VERSION = "1"


def folder_problems(
    folder: str,
    files: pa.Table,
    notes: pa.Table,
    chunks: pa.Table,
    indexed_rows: int,
    said: Mapping[str, pa.Table],
) -> list[str]:
    """Return why a folder's tables may not be published together; empty when they may.

    Coverage: every readable note of the listing is a current note. Evidence: every chunk is of a
    note version that exists, and whatever was taken down stands in a chunk (`said`, by table).
    Index: it holds exactly the chunks' texts.
    """
    shown = folder or "(root)"
    dangling = _dangling(shown, chunks, said)
    return [*_problems(shown, files, notes, chunks, indexed_rows), *dangling]


def _problems(
    folder: str, files: pa.Table, notes: pa.Table, chunks: pa.Table, indexed_rows: int
) -> Iterator[str]:
    is_readable_note = pc.and_(files["is_note"], pc.equal(files["status"], "readable"))
    readable = files.filter(is_readable_note)["path"]
    current = notes.filter(notes["is_current"])["note_id"]
    missing = pc.sum(pc.invert(pc.is_in(readable, value_set=current.combine_chunks()))).as_py()
    if missing:
        yield f"{folder}: {missing} readable notes are not among the notes"
    known = notes["version_id"].combine_chunks()
    orphans = pc.sum(pc.invert(pc.is_in(chunks["version_id"], value_set=known))).as_py()
    if orphans:
        yield f"{folder}: {orphans} chunks are of note versions that do not exist"
    texts = pc.count_distinct(chunks["text_id"]).as_py()
    if texts != indexed_rows:
        yield f"{folder}: the keyword index holds {indexed_rows} texts, the chunks {texts}"


def _dangling(folder: str, chunks: pa.Table, said: Mapping[str, pa.Table]) -> Iterator[str]:
    known = set(_places(chunks))
    for name, table in sorted(said.items()):
        lost = sum(place not in known for place in _places(table))
        if lost:
            yield f"{folder}: {lost} rows of {name} stand in chunks that do not exist"


def _places(table: pa.Table) -> Iterator[tuple[str, str]]:
    return zip(*(table[name].to_pylist() for name in ("version_id", "chunk_id")), strict=True)
