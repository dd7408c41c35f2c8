"""What must hold before readers are pointed to a build. Pure: tables in, reasons out."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

VERSION = "1"


def folder_problems(
    folder: str, files: pa.Table, notes: pa.Table, chunks: pa.Table, indexed_rows: int
) -> list[str]:
    """Return why a folder's tables may not be published together; empty when they may.

    Coverage: every readable note of the listing is a current note. Evidence: every chunk is of a
    note version that exists. Index: it holds exactly the chunks' texts.
    """
    return list(_problems(folder or "(root)", files, notes, chunks, indexed_rows))


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
