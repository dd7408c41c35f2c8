"""Measure which channels of the embedded model are loud, and choose how many to make quiet.

    python -m benchmarks.calibrate_e5

Extremes are measured on one set with 32-bit products, the choice is made on a second set, by
how far 8-bit vectors turn away from 32-bit ones; `benchmarks.embedder --quality` reports on
others. Prints the table of `resources/e5/smoothing.py` to stderr. A new table is a new graph, whose
digest stands in `resources/e5/graph_file.py`, and new vectors.
"""

import argparse
import random
import textwrap
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.report import progress, report
from benchmarks.retrieval_sets import DEFAULT_FOLDER, read_set
from resources.e5.encoder import PASSAGE_PREFIX, Encoder
from resources.e5.graph import SITES, build_graph
from resources.e5.loaded import load_tokenizer, load_weights
from resources.e5.onnx_writer import GraphWriter
from resources.e5.product import integer_product
from resources.e5.smoothing import TABLE, smoothing
from resources.e5.weights import LAYERS, Floats
from resources.embedder import unit_vectors

AIMS = {"is_table_up_to_date": "== 1", "error_of_chosen": "<= 0.0008"}
_MEASURED_ON, _CHOSEN_ON = "hotpotqa-200", "musique-200"
_PERCENTILES = (95, 98, 99, 99.5, 99.8)
_SITES = (("qkv", "fi", "fo"), ("qkv", "ao", "fi", "fo"))
# Errors of two choices differ by chance as much as this; of equal ones the shorter table wins.
_AS_GOOD = 1.05
_LINE = 96  # characters
_TOPS = {f"l{layer}.{site}": width for layer in range(LAYERS) for site, width in SITES.items()}


def main() -> None:
    """Measure, choose and print one JSON line."""
    parser = argparse.ArgumentParser(description="Choose the smoothing of the embedded model.")
    parser.add_argument("--sets", type=Path, default=Path(DEFAULT_FOLDER))
    parser.add_argument("--passages", type=int, default=80)
    options = parser.parse_args()
    extremes = measure(_passages(options.sets, _MEASURED_ON, options.passages))
    chosen, figures = _choose(extremes, _passages(options.sets, _CHOSEN_ON, options.passages))
    figures["is_table_up_to_date"] = float(chosen.split() == TABLE.split())
    progress(chosen)
    report("calibrate_e5", {key: round(value, 6) for key, value in figures.items()}, AIMS)


def measure(texts: list[str]) -> dict[str, Floats]:
    """Return the largest absolute value of each input channel of each product."""
    watched = {f"{name}.top": (width,) for name, width in _TOPS.items()}
    encoder = _encoder(build_graph(load_weights(), _watched_product, watched))
    extremes = {name: np.zeros(width, np.float32) for name, width in _TOPS.items()}
    for text in texts:
        for name, tops in encoder.watch(PASSAGE_PREFIX + text, list(watched)).items():
            kept = extremes[name.removesuffix(".top")]
            np.maximum(kept, tops, out=kept)
    return extremes


def loud_channels(extremes: Mapping[str, Floats], percentile: float, sites: tuple) -> str:
    """Return the table of the channels above the percentile, with the powers that cover them."""
    lines = []
    for name, tops in extremes.items():
        if name.partition(".")[2] in sites:
            powers = np.ceil(np.log2(tops / np.percentile(tops, percentile))).astype(int)
            loud = [f"{channel}:{powers[channel]}" for channel in np.flatnonzero(powers > 0)]
            lines += textwrap.wrap(" ".join([name, *loud]), _LINE, subsequent_indent="    ")
    return "\n".join(lines)


def _choose(extremes: Mapping[str, Floats], texts: list[str]) -> tuple[str, dict[str, float]]:
    exact = _vectors(build_graph(load_weights(), float_product), texts)
    figures = {"error_of_none": _error("", texts, exact)}
    tried: list[tuple[float, str]] = []
    for sites in _SITES:
        for percentile in _PERCENTILES:
            table = loud_channels(extremes, percentile, sites)
            tried.append((_error(table, texts, exact), table))
            progress(f"{percentile} {' '.join(sites)}: {_count(table)}, {tried[-1][0]:.6f}")
    bound = _AS_GOOD * min(error for error, _ in tried)
    as_good = [pair for pair in tried if pair[0] <= bound]
    error, chosen = min(as_good, key=lambda pair: (_count(pair[1]), pair[0]))
    return chosen, figures | {"error_of_chosen": error, "channels": float(_count(chosen))}


def _count(table: str) -> int:
    return table.count(":")


def _error(table: str, texts: list[str], exact: Floats) -> float:
    """Return the mean of 1 - cosine between 8-bit and 32-bit vectors."""
    graph = build_graph(load_weights(), integer_product(smoothing(table)))
    return float(1 - np.mean(np.sum(_vectors(graph, texts) * exact, axis=1, dtype=np.float64)))


def _vectors(graph: bytes, texts: list[str]) -> Floats:
    raw = _encoder(graph).encode(texts, PASSAGE_PREFIX)
    return unit_vectors(raw, *raw.shape)


def _encoder(graph: bytes) -> Encoder:
    return Encoder(load_weights(), load_tokenizer(), graph)


def _passages(folder: Path, name: str, count: int) -> list[str]:
    return random.Random(name).sample(read_set(folder, name).passages, count)


def float_product(writer: GraphWriter, name: str, given: str, matrix: Floats, bias: Floats) -> str:
    """Multiply in 32-bit floats."""
    weights = writer.constant(f"{name}.w", np.ascontiguousarray(matrix.T))
    multiplied = writer.node("MatMul", [given, weights], f"{name}.product")
    return writer.node("Add", [multiplied, writer.constant(f"{name}.b", bias)], f"{name}.out")


def _watched_product(
    writer: GraphWriter, name: str, given: str, matrix: Floats, bias: Floats
) -> str:
    axes = writer.constant(f"{name}.axes", np.array([0, 1], np.int64))
    sizes = writer.node("Abs", [given], f"{name}.sizes")
    writer.node("ReduceMax", [sizes, axes], f"{name}.top", keepdims=0)
    return float_product(writer, name, given, matrix, bias)


if __name__ == "__main__":
    main()
