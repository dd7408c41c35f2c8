"""The store: what is written is what was promised, and equal work is not done twice."""

import stat
import subprocess
import sys

import numpy as np
import pytest

from kb_core.contracts import FOLDERS
from kb_core.errors import ContractError, StoreError
from resources.atomic_files import TEMPORARY, replacing, write_atomically
from resources.tables import TableStore


@pytest.fixture
def store(tmp_path):
    return TableStore(tmp_path / "store")


def folders(*paths: str):
    return FOLDERS.table(
        {"partition": f"p-{path}", "path": path, "files": 1, "notes": 1} for path in paths
    )


def write(store, table, inputs=None, code="1"):
    return store.write("folders", table, partition="p", inputs=inputs or {}, code_version=code)


def test_a_table_comes_back_as_it_was_written(store):
    write(store, folders("a", "b"))

    assert store.read("folders", "p").equals(folders("a", "b"))
    assert store.read("folders", "p", ["path"])["path"].to_pylist() == ["a", "b"]


def test_equal_tables_are_one_file_and_one_name(store):
    first, second = write(store, folders("a")), write(store, folders("a"), {"x": "1"})

    assert (first.hash, first.files) == (second.hash, second.files)
    assert len(list((store.root / "folders" / "p").iterdir())) == 1


def test_an_old_generation_stays_readable(store):
    old = write(store, folders("a"))
    write(store, folders("b"))

    assert (store.root / old.files["table"]).is_file()


def test_work_is_not_redone_for_equal_inputs_and_code(store):
    write(store, folders("a"), {"notes": "1"})

    assert store.holds("folders", "p", {"notes": "1"}, "1")
    assert not store.holds("folders", "p", {"notes": "2"}, "1")
    assert not store.holds("folders", "p", {"notes": "1"}, "2")


def test_a_missing_file_means_the_work_is_redone(store):
    pointer = write(store, folders("a"))
    (store.root / pointer.files["table"]).unlink()

    assert not store.holds("folders", "p", {}, "1")


def test_a_broken_promise_is_not_stored(store):
    with pytest.raises(ContractError, match="repeats its key"):
        write(store, folders("a", "a"))
    assert store.pointer("folders", "p") is None


@pytest.mark.parametrize("position", [100, -100])
def test_a_flipped_bit_is_noticed(store, position):
    pointer = write(store, folders(*(f"folder {n}" for n in range(2000))))
    path = store.root / pointer.files["table"]
    data = bytearray(path.read_bytes())
    data[position] ^= 0x10
    path.write_bytes(data)

    with pytest.raises(StoreError, match=r"damaged.*kb build"):
        store.read("folders", "p")


def test_a_damaged_pointer_says_what_to_do(store):
    write(store, folders("a"))
    (store.root / "folders" / "p.json").write_text("{")

    with pytest.raises(StoreError, match="Delete it"):
        store.pointer("folders", "p")


def test_a_pointer_of_another_version_means_the_work_is_done_anew(store):
    write(store, folders("a"))
    (store.root / "folders" / "p.json").write_text('{"hash": "x", "new_field": 1}')

    assert store.pointer("folders", "p") is None
    assert store.partitions("folders") == []
    assert store.read_all("folders").num_rows == 0


def test_a_cut_file_means_the_work_is_done_anew(store):
    pointer = write(store, folders("a"))
    path = store.root / pointer.files["table"]
    path.write_bytes(path.read_bytes()[:-1])

    assert not store.holds("folders", "p", {}, "1")


def test_arrays_come_back_and_are_named_by_content(store):
    arrays = {"codes": np.arange(6, dtype=np.int8).reshape(2, 3), "lengths": np.array([1.5])}
    write_arrays = store.write_arrays
    first = write_arrays("vectors", arrays, partition="p", rows=2, inputs={}, code_version="1")

    assert set(first.files) == {"codes", "lengths"}
    loaded = np.load(store.root / first.files["codes"], mmap_mode="r")
    assert np.array_equal(loaded, arrays["codes"])


def test_files_are_for_the_user_alone(store):
    pointer = write(store, folders("a"))
    path = store.root / pointer.files["table"]

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_error_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def interrupted():
        with replacing(path) as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()

    assert path.read_bytes() == b"old"
    assert not [item for item in tmp_path.iterdir() if TEMPORARY in item.name]


def test_a_killed_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    script = (
        "import os, signal, sys; from pathlib import Path;"
        "from resources.atomic_files import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n"
        "    file.write(b'new'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )

    subprocess.run([sys.executable, "-c", script, str(path)], check=False)

    assert path.read_bytes() == b"old"
