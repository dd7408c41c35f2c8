"""Write an ONNX model file: the few messages of its protobuf that a graph needs. Pure.

Field numbers are those of `onnx.proto3` (ONNX, IR version 10). Same graph, same bytes.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numpy.typing import NDArray

MICROSOFT = "com.microsoft"  # the domain of onnxruntime's own operations

_IR_VERSION = 10
_SETS = {"": 20, MICROSOFT: 1}  # operator sets with their versions
_PRODUCER = "vault-knowledge-base"
_FLOAT = 1
_ELEMENT = {"float32": _FLOAT, "uint8": 2, "int8": 3, "int64": 7}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

Value = float | int | Sequence[int]
Shape = Sequence[int | str]  # a string names a size that is known only when the graph runs


@dataclass
class GraphWriter:
    """Collects operations and constants in the order they are added."""

    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)

    def constant(self, name: str, array: NDArray) -> str:
        """Add an array and return its name."""
        shape = b"".join(_int(1, size) for size in array.shape)
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        kind = _int(2, _ELEMENT[array.dtype.name])
        self.constants.append(shape + kind + _text(8, name) + _bytes(9, little.tobytes()))
        return name

    def node(
        self,
        operation: str,
        inputs: Sequence[str],
        *outputs: str,
        domain: str = "",
        **attributes: Value,
    ) -> str:
        """Add an operation and return the name of its first output. An empty input is left out."""
        parts = [_text(1, name) for name in inputs]
        parts += [_text(2, name) for name in outputs]
        parts += [_text(3, outputs[0]), _text(4, operation)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        self.nodes.append(b"".join(parts) + _text(7, domain))
        return outputs[0]

    def model(self, takes: Mapping[str, Shape], gives: Mapping[str, Shape]) -> bytes:
        """Return the file, whose inputs and outputs are float arrays, given by name."""
        graph = [_bytes(1, node) for node in self.nodes]
        graph += [_text(2, "graph")]
        graph += [_bytes(5, constant) for constant in self.constants]
        graph += [_bytes(11, _tensor_info(name, shape)) for name, shape in takes.items()]
        graph += [_bytes(12, _tensor_info(name, shape)) for name, shape in gives.items()]
        sets = [_bytes(8, _text(1, name) + _int(2, version)) for name, version in _SETS.items()]
        head = _int(1, _IR_VERSION) + _text(2, _PRODUCER)
        return head + _bytes(7, b"".join(graph)) + b"".join(sets)


def _attribute(name: str, value: Value) -> bytes:
    if isinstance(value, float):
        number = _key(2, 5) + struct.pack("<f", value)
        return _text(1, name) + number + _int(20, _ATTRIBUTE_FLOAT)
    if isinstance(value, int):
        return _text(1, name) + _int(3, value) + _int(20, _ATTRIBUTE_INT)
    numbers = b"".join(_int(8, number) for number in value)
    return _text(1, name) + numbers + _int(20, _ATTRIBUTE_INTS)


def _tensor_info(name: str, shape: Shape) -> bytes:
    sizes = b"".join(_bytes(1, _size(size)) for size in shape)
    tensor = _int(1, _FLOAT) + _bytes(2, sizes)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _size(size: int | str) -> bytes:
    return _text(2, size) if isinstance(size, str) else _int(1, size)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode("utf-8"))


def _bytes(number: int, value: bytes) -> bytes:
    return _key(number, 2) + _varint(len(value)) + value


def _int(number: int, value: int) -> bytes:
    return _key(number, 0) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
