"""Multiply by a matrix in 8-bit integers, with a few loud channels made quiet first. Pure.

onnxruntime's DynamicQuantizeMatMul scales a whole activation by its extremes. In this model a few
channels reach 66 where the others stay below 5, which leaves those a handful of steps. So the
activation is divided by a factor per channel and the weights are multiplied by it, which changes
nothing but the rounding. Source: SmoothQuant (Xiao et al. 2022).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from resources.e5.graph import Product
from resources.e5.onnx_writer import MICROSOFT, GraphWriter
from resources.e5.weights import Floats

# By product, as "l0.qkv": the factor of each input channel. What is missing stays as it is.
Smoothing = Mapping[str, Floats]

# x86 processors without VNNI add two products in 16 bits, where 2 * 255 * 127 does not fit and is
# cut: 1 - cosine .0009 against .0005, simulated. That is nearer than weights up to 63, which
# always fit (.0013); unsigned weights fit too, at 60% of the speed.
_LARGEST = 127


def integer_product(smoothing: Smoothing) -> Product:
    """Return a product of 8-bit integers that makes the given channels quiet first."""

    def multiply(writer: GraphWriter, name: str, given: str, matrix: Floats, bias: Floats) -> str:
        factors = smoothing.get(name)
        if factors is not None:
            quiet = writer.constant(f"{name}.quiet", 1 / factors)
            given = writer.node("Mul", [given, quiet], f"{name}.given")
            matrix = matrix * factors
        values, scales = quantize(matrix)
        inputs = [
            given,
            writer.constant(f"{name}.w", np.ascontiguousarray(values.T)),
            writer.constant(f"{name}.scales", scales),
            "",  # the weights' zero is zero
            writer.constant(f"{name}.b", bias),
        ]
        return writer.node("DynamicQuantizeMatMul", inputs, f"{name}.out", domain=MICROSOFT)

    return multiply


def quantize(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return integers from -127 to 127 and a scale per row: row ≈ integers * scale."""
    scales = np.abs(matrix).max(axis=1) / np.float32(_LARGEST)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
