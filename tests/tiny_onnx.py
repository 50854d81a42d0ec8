"""ONNX files of a few nodes, written byte by byte: the format is protobuf, and no library is needed for so little.

Field numbers are those of onnx.proto (ModelProto, GraphProto, NodeProto, TensorProto, ValueInfoProto).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["Values", "node", "write_onnx"]

Values = Sequence[int | str]
"""Sizes of the axes; a word for one that is free."""

_TYPES = {"float": 1, "uint8": 2}


def _varint(number: int) -> bytes:
    made = b""
    while True:
        number, low = number >> 7, number & 127
        made += bytes([low | (128 if number else 0)])
        if not number:
            return made


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _port(name: str, kind: str, shape: Values) -> bytes:
    dims = b"".join(_bytes(1, _number(1, one) if isinstance(one, int) else _bytes(2, one)) for one in shape)
    tensor = _number(1, _TYPES[kind]) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def node(kind: str, inputs: Sequence[str], output: str, **integers: int) -> bytes:
    """One operation with whole-number attributes."""
    attributes = b"".join(_bytes(5, _bytes(1, name) + _number(20, 2) + _number(3, i)) for name, i in integers.items())
    return b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind) + attributes


def write_onnx(
    path: Path,
    nodes: Sequence[bytes],
    inputs: Mapping[str, Values],
    output: Values,
    *,
    kind: str = "float",
    constants: Mapping[str, float] | None = None,
    says: Mapping[str, str] | None = None,
) -> Path:
    """Write a network whose output is called 'made'; constants are single floats, `says` its metadata entries."""
    graph = b"".join(_bytes(1, one) for one in nodes) + _bytes(2, "graph")
    for name, value in (constants or {}).items():
        graph += _bytes(5, _number(2, 1) + _bytes(8, name) + _bytes(9, struct.pack("<f", value)))
    graph += b"".join(_bytes(11, _port(name, kind, shape)) for name, shape in inputs.items())
    graph += _bytes(12, _port("made", kind, output))
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))
    model += b"".join(_bytes(14, _bytes(1, name) + _bytes(2, value)) for name, value in (says or {}).items())
    path.write_bytes(model)
    return path
