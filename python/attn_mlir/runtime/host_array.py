# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dense tensors in host memory without NumPy, their element types, and .npy files (numpy.lib.format)."""

from __future__ import annotations

import ast
import dataclasses
import math
import struct
from pathlib import Path
from typing import Any, Iterable, Sequence

from ..errors import AttnError
from .binding import row_major_strides
from .manifest import DTYPE_BYTES

NPY_DESCR = {
    "f8E4M3FN": "<V1",  # as for ml_dtypes.float8_e4m3fn; a file does not say which of the 8-bit floats it has
    "f8E5M2": "<V1",
    "f16": "<f2",
    "bf16": "<V2",  # what numpy.save writes for ml_dtypes.bfloat16
    "f32": "<f4",
    "f64": "<f8",
    "i1": "|b1",
    "i8": "|i1",
    "i32": "<i4",
    "i64": "<i8",
}
NPY_DTYPE = {**{descr: dtype for dtype, descr in NPY_DESCR.items()}, "|V2": "bf16", "<u2": "bf16"}
NPY_DTYPE.update({"<V1": "f8E4M3FN", "|V1": "f8E4M3FN", "|u1": "f8E4M3FN", "<f1": "f8E5M2"})
#: Bits of fraction and bias of the exponent (OCP 8-bit Floating Point Specification, section 5).
FLOAT8 = {"f8E4M3FN": (3, 7), "f8E5M2": (2, 15)}
STRUCT = {"f16": "e", "f32": "f", "f64": "d", "i1": "?", "i8": "b", "i32": "i", "i64": "q"}


def round_to(x: float, dtype: str) -> float:
    """The nearest f16, bf16, f32 or f64, ties to even."""
    if dtype == "f64":
        return x
    if dtype != "bf16":
        return struct.unpack("<" + STRUCT[dtype], struct.pack("<" + STRUCT[dtype], x))[0]
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def decode_float8(code: int, dtype: str) -> float:
    """The number of a byte."""
    bits, bias = FLOAT8[dtype]
    exponent, fraction = (code & 127) >> bits, code & ((1 << bits) - 1)
    if dtype == "f8E5M2" and exponent == 31:
        number = math.nan if fraction else math.inf
    elif dtype == "f8E4M3FN" and code & 127 == 127:
        number = math.nan
    else:
        number = math.ldexp(fraction + (1 << bits if exponent else 0), max(exponent, 1) - bias - bits)
    return -number if code & 128 else number


@dataclasses.dataclass
class HostArray:
    """A row-major tensor that owns its bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytearray

    @staticmethod
    def of(dtype: str, shape: Sequence[int], values: Iterable[float]) -> "HostArray":
        """From values that the dtype holds exactly (see round_to)."""
        values = list(values)
        if dtype == "bf16":
            words = struct.unpack(f"<{2 * len(values)}H", struct.pack(f"<{len(values)}f", *values))
            data = struct.pack(f"<{len(values)}H", *words[1::2])
        else:
            data = struct.pack(f"<{len(values)}{STRUCT[dtype]}", *values)
        return HostArray(dtype, tuple(shape), bytearray(data))

    def values(self) -> list[float]:
        count = math.prod(self.shape)
        if self.dtype in FLOAT8:
            return [decode_float8(code, self.dtype) for code in self.data]
        if self.dtype == "bf16":
            wide = bytearray(4 * count)  # of f32, whose upper halves they are
            wide[2::4], wide[3::4] = self.data[::2], self.data[1::2]
            return list(struct.unpack(f"<{count}f", wide))
        return list(struct.unpack(f"<{count}{STRUCT[self.dtype]}", self.data))

    def spread(self, strides: Sequence[int], fill: int = 0xFF) -> bytearray:
        """The bytes with element (i, j, ...) at i * strides[0] + j * strides[1] + ...; `fill` lies between elements."""
        if tuple(strides) == row_major_strides(self.shape):
            return bytearray(self.data)
        size = DTYPE_BYTES[self.dtype]
        result = bytearray([fill]) * (strided_elements(self.shape, strides) * size)
        self.scatter(result, strides)
        return result

    def scatter(self, target: Any, strides: Sequence[int], origin: int = 0):
        """Writes the elements into the memory `target`, whose element `origin` is (0, 0, ...)."""
        starts, run = runs(self.shape, strides)
        count, memory = run * DTYPE_BYTES[self.dtype], memoryview(self.data)
        for k, start in enumerate(starts):
            begin = (origin + start) * DTYPE_BYTES[self.dtype]
            target[begin : begin + count] = memory[k * count : (k + 1) * count]

    @staticmethod
    def gather(dtype: str, shape: Sequence[int], strides: Sequence[int], data: Any, origin: int = 0) -> "HostArray":
        """The inverse of `scatter`."""
        if tuple(strides) == row_major_strides(shape) and isinstance(data, bytearray):
            return HostArray(dtype, tuple(shape), data)
        starts, run = runs(shape, strides)
        size, memory = DTYPE_BYTES[dtype], memoryview(data)
        parts = [memory[(origin + start) * size : (origin + start + run) * size] for start in starts]
        return HostArray(dtype, tuple(shape), bytearray(b"".join(parts)))


def strided_elements(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last in memory of a strided tensor."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * abs(stride) for size, stride in zip(shape, strides))


def elements_before(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements in memory before element (0, 0, ...), where strides are negative."""
    return -sum((size - 1) * stride for size, stride in zip(shape, strides) if stride < 0) if 0 not in shape else 0


def runs(shape: Sequence[int], strides: Sequence[int]) -> tuple[list[int], int]:
    """Where the parts that lie together begin, in row-major order, and how many elements each has."""
    dims, run = len(shape), 1
    while dims and (shape[dims - 1] == 1 or strides[dims - 1] == run):
        dims -= 1
        run *= shape[dims]
    starts = [0] if 0 not in shape else []
    for size, stride in zip(shape[:dims], strides):
        starts = [start + i * stride for start in starts for i in range(size)]
    return starts, run


def write_npy(path: Path, tensor: HostArray):
    dims = "".join(f"{n}, " for n in tensor.shape)
    header = f"{{'descr': '{NPY_DESCR[tensor.dtype]}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + tensor.data)


def read_npy(path: Path) -> HostArray:
    """Reads a row-major array of a little-endian type that manifests know."""
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise AttnError(f"{path}: expected a .npy file, got {data[:6]!r}")
    wide = data[6] > 1
    begin = 12 if wide else 10
    length = struct.unpack("<I" if wide else "<H", data[8:begin])[0]
    header = ast.literal_eval(data[begin : begin + length].decode())
    dtype = NPY_DTYPE.get(header["descr"])
    if dtype is None or header["fortran_order"]:
        raise AttnError(f"{path}: expected a row-major array of {', '.join(NPY_DTYPE)}, got {header}")
    return HostArray(dtype, tuple(header["shape"]), bytearray(data[begin + length :]))
