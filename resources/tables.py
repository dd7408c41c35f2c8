"""Stage outputs on the disk: immutable files named by content, one small pointer per partition.

`store/<table>/<partition>/<hash>.parquet` is written once and never changed;
`store/<table>/<partition>.json` says which file holds now, and is replaced atomically. A reader
opens a file once by its hash: replacing a Parquet file under a reader that opens it twice fails.
Tables are checked against their contract on the way out, so what is stored is what was promised.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kb_core.contracts import CONTRACTS
from kb_core.errors import StoreError
from kb_core.ids import bytes_hash, canonical_table, combined, fingerprint
from resources.atomic_files import write_atomically
from resources.seals import sealed, unsealed

# Readers that show one row unpack its whole group, so groups are small.
_ROWS_TOGETHER = 256

WHOLE = "all"  # the partition name of a table that is not split by folder


@dataclass(frozen=True)
class Pointer:
    """What a partition of a table or an index holds now."""

    hash: str  # of the content: the data version
    rows: int
    code_version: str
    inputs: Mapping[str, str]  # what it was made from: name -> hash
    files: Mapping[str, str]  # part -> path below the store
    sizes: Mapping[str, int]  # part -> bytes: a cut file is noticed without reading it
    meta: Mapping[str, Any] = field(default_factory=dict)

    def as_artifact(self) -> dict[str, Any]:
        """Return what a build's manifest records: content and versions, not inputs."""
        return {
            "hash": self.hash,
            "rows": self.rows,
            "code_version": self.code_version,
            "files": dict(self.files),
            "meta": dict(self.meta),
        }


class TableStore:
    """All tables and index files of one home."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def pointer(self, name: str, partition: str = WHOLE) -> Pointer | None:
        """Return what the partition holds, or None if it was never written.

        A pointer with other fields was written by another version: its work is done anew.
        """
        path = self._pointer_path(name, partition)
        try:
            return Pointer(**unsealed(path.read_bytes()))
        except (FileNotFoundError, TypeError):
            return None
        except (ValueError, RecursionError):
            raise StoreError(
                f"The pointer {path} is damaged. Delete it, or run `kb verify --mend`, which finds "
                "all that is: the next `kb build` makes it anew."
            ) from None

    def partitions(self, name: str) -> list[str]:
        """Return the partitions that hold something, sorted."""
        stems = sorted(path.stem for path in (self.root / name).glob("*.json"))
        return [partition for partition in stems if self.pointer(name, partition)]

    def pointers(self) -> Iterator[tuple[Path, Pointer]]:
        """Give every pointer there is, with its file, by table and partition.

        Raises StoreError for a damaged one.
        """
        for path in sorted(self.root.glob("*/*.json")):
            pointer = self.pointer(path.parent.name, path.stem)
            if pointer:
                yield path, pointer

    def holds(
        self, name: str, partition: str, inputs: Mapping[str, str], code_version: str
    ) -> Pointer | None:
        """Return the pointer if it was made from these inputs by this code, and is complete."""
        pointer = self.pointer(name, partition)
        if pointer is None or pointer.code_version != code_version:
            return None
        if dict(pointer.inputs) != dict(inputs):
            return None
        return pointer if self.is_whole(pointer) else None

    def is_whole(self, pointer: Pointer) -> bool:
        """Tell whether every file is there in its full size. `kb build` mends what is not."""
        for part, path in pointer.files.items():
            try:
                if (self.root / path).stat().st_size != pointer.sizes[part]:
                    return False
            except FileNotFoundError:
                return False
        return True

    def write(
        self,
        name: str,
        table: pa.Table,
        *,
        partition: str = WHOLE,
        inputs: Mapping[str, str],
        code_version: str,
    ) -> Pointer:
        """Check the table, store it under its content's hash and move the pointer to it."""
        table = canonical_table(CONTRACTS[name].check(table))
        sink = pa.BufferOutputStream()
        pq.write_table(
            table,
            sink,
            compression="zstd",
            write_page_checksum=True,
            row_group_size=_ROWS_TOGETHER,
        )
        data = sink.getvalue().to_pybytes()
        path = self._store_bytes(name, partition, data, "parquet")
        return self._point(
            name,
            partition,
            Pointer(
                fingerprint(table),
                table.num_rows,
                code_version,
                dict(inputs),
                {"table": path},
                {"table": len(data)},
            ),
        )

    def write_arrays(
        self,
        name: str,
        arrays: Mapping[str, np.ndarray],
        *,
        partition: str,
        rows: int,
        inputs: Mapping[str, str],
        code_version: str,
        meta: Mapping[str, Any] | None = None,
    ) -> Pointer:
        """Store an index: each array in its own file, one pointer over all of them."""
        files: dict[str, str] = {}
        sizes: dict[str, int] = {}
        hashes: list[str] = []
        for part in sorted(arrays):
            data = _array_bytes(arrays[part])
            hashes += [part, bytes_hash(data)]
            sizes[part] = len(data)
            files[part] = self._store_bytes(name, partition, data, "npy")
        pointer = Pointer(
            combined(hashes), rows, code_version, dict(inputs), files, sizes, dict(meta or {})
        )
        return self._point(name, partition, pointer)

    def read(
        self, name: str, partition: str = WHOLE, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return a partition's table. Raises StoreError if it was never written or is damaged."""
        pointer = self.pointer(name, partition)
        if pointer is None:
            raise StoreError(
                f"Table {name!r} holds nothing for {partition!r}. Run `kb build` to make it."
            )
        return read_parquet(self.root / pointer.files["table"], columns)

    def read_all(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return every partition's rows, partitions in order of their keys."""
        tables = [self.read(name, partition, columns) for partition in self.partitions(name)]
        empty = CONTRACTS[name].empty()
        return pa.concat_tables([empty.select(columns) if columns else empty, *tables])

    def forget(self, name: str, partition: str) -> None:
        """Forget what a partition holds in one table. Its files stay until collected."""
        self._pointer_path(name, partition).unlink(missing_ok=True)

    def drop(self, partition: str) -> None:
        """Forget what a partition holds, in every table. Its files stay until collected."""
        for path in sorted(self.root.glob(f"*/{partition}.json")):
            path.unlink()

    def _store_bytes(self, name: str, partition: str, data: bytes, suffix: str) -> str:
        relative = f"{name}/{partition}/{bytes_hash(data)}.{suffix}"
        path = self.root / relative
        if not path.is_file() or path.read_bytes() != data:  # a damaged one is mended
            write_atomically(path, data)
        return relative

    def _point(self, name: str, partition: str, pointer: Pointer) -> Pointer:
        write_atomically(self._pointer_path(name, partition), sealed(asdict(pointer)))
        return pointer

    def _pointer_path(self, name: str, partition: str) -> Path:
        return self.root / name / f"{partition}.json"


MADE_ANEW = (
    "Run `kb verify --mend`, which moves away what is damaged, and `kb build`: it is made anew "
    "from the vault."
)


def read_parquet(
    path: Path, columns: Sequence[str] | None = None, remedy: str = MADE_ANEW
) -> pa.Table:
    """Read a content-named Parquet file through one handle, if its bytes are those of its name.

    Page checksums leave the heads of pages and the file's foot uncovered; the name covers all.
    Raises StoreError with the remedy, which differs for what cannot be made anew.
    """
    try:
        with pa.memory_map(str(path)) as source:
            if bytes_hash(source.read_buffer()) != path.stem:
                raise StoreError(f"{path} is damaged: its bytes are not its name's. {remedy}")
            source.seek(0)
            # Not `read_table`: that loads pandas, which takes longer than the whole question.
            with pq.ParquetFile(source, page_checksum_verification=True) as file:
                table = file.read(columns=None if columns is None else list(columns))
            return table if columns is None else table.select(list(columns))
    except FileNotFoundError:
        raise StoreError(f"{path} is missing. {remedy}") from None
    except (OSError, pa.ArrowException, KeyError) as problem:
        raise StoreError(f"{path} is damaged ({type(problem).__name__}). {remedy}") from None


def _array_bytes(array: np.ndarray) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.ascontiguousarray(array), allow_pickle=False)
    return sink.getvalue()
