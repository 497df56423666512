# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays [B, H, tokens, ...] of which a rank has some of the tokens, of NumPy or torch."""

from __future__ import annotations

import bisect
import importlib
import operator
from typing import Any, Iterable, Sequence

from ..arrays import library_of
from ..errors import BindingError
from .ranges import Ranges, count

#: Where the tokens are.
AXIS = 2


class Library:
    """What NumPy and torch spell differently; `like` is an array of the kind and on the device of all others."""

    def __init__(self, like: Any):
        name = library_of(like)
        if name not in ("numpy", "torch"):
            raise BindingError(f"expected arrays of NumPy or torch, got {type(like).__name__}")
        self.name, self.like, self.module = name, like, importlib.import_module(name)

    def dtype(self, name: str) -> Any:
        return getattr(self.module, {"f32": "float32", "f64": "float64", "i32": "int32"}[name])

    def convert(self, array: Any, dtype: Any) -> Any:
        return array.to(dtype) if self.name == "torch" else array.astype(dtype, copy=False)

    def full(self, shape: Sequence[int], value: float, dtype: Any) -> Any:
        place = {"device": self.like.device} if self.name == "torch" else {}
        return self.module.full(tuple(shape), value, dtype=dtype, **place)

    def integers(self, numbers: Iterable[int]) -> Any:
        """[n], i32."""
        place = {"device": self.like.device} if self.name == "torch" else {}
        make = self.module.tensor if self.name == "torch" else self.module.array
        return make(list(numbers), dtype=self.module.int32, **place)

    def positions(self, ranges: Ranges) -> Any:
        """Of all tokens of ranges that are not empty, i32."""
        place = {"device": self.like.device} if self.name == "torch" else {}
        return self.concatenate([self.module.arange(begin, end, dtype=self.module.int32, **place) for begin, end in ranges], 0)

    def concatenate(self, arrays: Sequence[Any], axis: int = AXIS) -> Any:
        """A contiguous array."""
        if len(arrays) == 1:
            return arrays[0].contiguous() if self.name == "torch" else self.module.ascontiguousarray(arrays[0])
        return self.module.concatenate(tuple(arrays), axis)

    def repeat(self, array: Any, times: int, axis: int) -> Any:
        """Each part of the axis so many times, one after the other."""
        return array.repeat_interleave(times, axis) if self.name == "torch" else array.repeat(times, axis)

    def flatten(self, arrays: Sequence[Any]) -> Any:
        """One flat array of all elements."""
        return self.concatenate([array.reshape(-1) for array in arrays], 0)


def split(flat: Any, shapes: Sequence[Sequence[int]]) -> list[Any]:
    """The arrays that `flatten` made one of."""
    result, begin = [], 0
    for shape in shapes:
        end = begin + size_of(shape)
        result.append(flat[begin:end].reshape(tuple(shape)))
        begin = end
    return result


def size_of(shape: Sequence[int]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


class Store:
    """Arrays that are there for some tokens, in pieces, each of which has several arrays for the same tokens."""

    def __init__(self, library: Library):
        self.library = library
        self.pieces: list[tuple[int, int, tuple[Any, ...]]] = []

    def add(self, ranges: Ranges, arrays: Sequence[Any]):
        """Arrays whose tokens are those of `ranges`, ascending."""
        at = 0
        for begin, end in ranges:
            part = slice(at, at + end - begin)
            self.pieces.append((begin, end, tuple(array[:, :, part] for array in arrays)))
            at += end - begin

    def take(self, ranges: Ranges) -> list[Any]:
        """The arrays of these tokens, all of which are there, ascending and contiguous."""
        self.pieces.sort(key=operator.itemgetter(0))
        begins = [piece[0] for piece in self.pieces]
        parts = []
        for begin, end in ranges:
            at = max(0, bisect.bisect_right(begins, begin) - 1)
            for first, last, arrays in self.pieces[at : bisect.bisect_left(begins, end)]:
                low, high = max(begin, first), min(end, last)
                if low < high:
                    parts.append([array[:, :, low - first : high - first] for array in arrays])
        result = [self.library.concatenate(arrays) for arrays in zip(*parts)]
        got = result[0].shape[AXIS] if result else 0
        assert got == count(ranges), f"expected {count(ranges)} tokens, got {got}"
        return result


def take(array: Any, ranges: Ranges, axis: int = AXIS) -> Any:
    """The tokens of an array that has all of them along `axis`."""
    before = (slice(None),) * axis
    parts = [array[(*before, slice(begin, end))] for begin, end in ranges or ((0, 0),)]
    return Library(array).concatenate(parts, axis)
