"""The model as an ONNX graph, from the 4-bit weights. Pure.

Takes `tokens`, (1, t, 384) float32: word, position and type vectors added up, not yet normalised.
Gives `mean`, (1, 384): the mean over the last layer's tokens. Architecture: BERT (Devlin et al.
2018) as multilingual-e5-small has it. How a matrix is multiplied by is up to the `Product`:
8-bit integers in use, 32-bit floats to measure what those cost.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from resources.e5.onnx_writer import MICROSOFT, GraphWriter, Shape
from resources.e5.weights import DIMS, HEADS, LAYERS, Floats, WeightFile

TAKES, GIVES = "tokens", "mean"
# The products of a layer, by their names in the weight file: query, key and value at once, what
# attention found, and into and out of the wide part. With the width of what they multiply.
SITES: Mapping[str, int] = {"qkv": DIMS, "ao": DIMS, "fi": DIMS, "fo": 4 * DIMS}

# Adds a product to the graph: (writer, "layer.site", input, matrix, bias) to the output's name.
# The matrix is (outputs, inputs), the bias (outputs,).
Product = Callable[[GraphWriter, str, str, Floats, Floats], str]

_EPSILON = 1e-12


def build_graph(
    weights: WeightFile, product: Product, watched: Mapping[str, Shape] | None = None
) -> bytes:
    """Return the ONNX file. Same weights and product, same bytes.

    `watched` names outputs that the product added and the graph is to give as well.
    """
    writer = GraphWriter()
    state = _normalised(writer, weights, "emb.ln", TAKES)
    for layer in range(LAYERS):
        state = _layer(writer, weights, f"l{layer}", state, product)
    axes = writer.constant("axes", np.array([1], np.int64))
    writer.node("ReduceMean", [state, axes], GIVES, keepdims=0)
    return writer.model({TAKES: (1, "t", DIMS)}, {GIVES: (1, DIMS)} | dict(watched or {}))


def _layer(
    writer: GraphWriter, weights: WeightFile, layer: str, state: str, product: Product
) -> str:
    """Add attention and the wide part, each followed by what it was given, normalised."""
    multiply = partial(_multiply, writer, weights, layer, product)
    parts = [f"{layer}.{part}" for part in "qkv"]
    writer.node("Split", [multiply("qkv", state)], *parts, axis=-1, num_outputs=3)
    found = writer.node(
        "MultiHeadAttention", parts, f"{layer}.found", domain=MICROSOFT, num_heads=HEADS
    )
    added = writer.node("Add", [multiply("ao", found), state], f"{layer}.attended")
    attended = _normalised(writer, weights, f"{layer}.aln", added)
    wide = writer.node("Gelu", [multiply("fi", attended)], f"{layer}.wide")
    added = writer.node("Add", [multiply("fo", wide), attended], f"{layer}.added")
    return _normalised(writer, weights, f"{layer}.oln", added)


def _multiply(
    writer: GraphWriter, weights: WeightFile, layer: str, product: Product, site: str, given: str
) -> str:
    parts = list(site) if site == "qkv" else [site]
    matrix = [weights.matrix(f"{layer}.{part}.w", SITES[site]) for part in parts]
    bias = [weights.floats(f"{layer}.{part}.b") for part in parts]
    return product(writer, f"{layer}.{site}", given, np.concatenate(matrix), np.concatenate(bias))


def _normalised(writer: GraphWriter, weights: WeightFile, name: str, given: str) -> str:
    scale, shift = (
        writer.constant(f"{name}.{part}", weights.floats(f"{name}.{part}")) for part in "wb"
    )
    return writer.node("LayerNormalization", [given, scale, shift], name, epsilon=_EPSILON)
