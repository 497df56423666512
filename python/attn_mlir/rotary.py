# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rotary embedding: as a part of `attention`, where kernels turn queries and keys, and of arrays by themselves, as for rows that go to a cache."""

from __future__ import annotations

import sys
from typing import Any, Mapping, Optional

from .arrays import ArrayView, library_of, view_of
from .errors import BindingError
from .runtime.host_array import HostArray

TABLES = ("cos", "sin")
POSITIONS = ("query_positions", "key_positions")


def rotary_arrays(query: Any, key: Any, rotary: Any, positions: Any, lengths: Any) -> dict[str, Any]:
    """As arguments of a kernel: tables, and positions where there are some. By default key j is at position j and the last query at that of the last key."""
    if rotary is None:
        if positions is not None:
            raise BindingError("expected rotary with rotary_positions, got none")
        return {}
    if not isinstance(rotary, (tuple, list)) or len(rotary) != 2:
        raise BindingError(f"expected rotary to be two arrays, cos and sin, got {rotary!r}")
    if positions is not None and (not isinstance(positions, (tuple, list)) or len(positions) != 2):
        raise BindingError(f"expected rotary_positions to be those of query and of key, either of which may be None, got {positions!r}")
    if positions is None and lengths is not None:
        raise BindingError("expected rotary_positions with key_lengths: by default the last query is at the position of the last key")
    arrays = dict(zip(TABLES, rotary))
    rows, keys = (view_of(array, name).shape[2] for name, array in (("query", query), ("key", key)))
    if positions is None and rows > keys:
        raise BindingError(f"expected rotary_positions, or at most as many queries as keys, got {rows} and {keys}")
    if positions is None and rows < keys:
        positions = (range_like(query, keys - rows, keys), None)
    arrays.update((name, array) for name, array in zip(POSITIONS, positions or ()) if array is not None)
    return arrays


def range_like(array: Any, begin: int, end: int) -> Any:
    """[1, end - begin] of i64, of the library and on the device of `array`."""
    module = library_of(array)
    if module == "torch":
        return sys.modules["torch"].arange(begin, end, device=array.device)[None]
    if module == "cupy":
        return sys.modules[module].arange(begin, end)[None]
    if view_of(array).device == "cpu":
        return HostArray.of("i64", (1, end - begin), list(range(begin, end)))
    raise BindingError(f"expected rotary_positions beside arrays of {type(array).__name__}")


def rotary_field(named: Mapping[str, ArrayView], interleaved: bool) -> tuple:
    """Of an AttentionProblem: the type and the columns of the tables, which columns are pairs, and of positions of query and key the size of their dimension of batches and their type.
    Empty without a rotation. Raises BindingError for arrays that do not fit."""
    if "cos" not in named:
        return ()
    query, cos, sin = (named[name] for name in ("query", "cos", "sin"))
    batch, _, rows, dim = query.shape
    sequences = dict(zip(POSITIONS, (rows, named["key"].shape[2])))
    if query.dtype not in ("f16", "bf16", "f32", "f64"):
        raise BindingError(f"query: expected dtype f16, bf16, f32 or f64 with rotary, got {query.dtype}")
    for name, table in (("cos", cos), ("sin", sin)):
        if table.dtype not in ("f16", "bf16", "f32", "f64"):
            raise BindingError(f"{name}: expected dtype f16, bf16, f32 or f64, got {table.dtype}")
        if len(table.shape) != 2 or not 1 <= table.shape[1] <= dim // 2:
            raise BindingError(f"{name}: expected [positions, columns], a column for each of at most {dim // 2} pairs, got {tuple(table.shape)}")
    if (cos.dtype, tuple(cos.shape)) != (sin.dtype, tuple(sin.shape)):
        raise BindingError(f"sin: expected {cos.dtype} of {tuple(cos.shape)}, as cos, got {sin.dtype} of {tuple(sin.shape)}")
    positions: list[Optional[tuple]] = []
    for name, size in sequences.items():
        view = named.get(name)
        if view is None:
            if cos.shape[0] < size:
                raise BindingError(f"cos: expected a row for each of {size} positions, got {cos.shape[0]}")
            positions.append(None)
            continue
        if view.dtype not in ("i32", "i64") or tuple(view.shape) not in ((1, size), (batch, size)):
            raise BindingError(f"{name}: expected i32 or i64 of (1, {size}) or ({batch}, {size}), got {view.dtype} of {tuple(view.shape)}")
        positions.append(("B" if view.shape[0] != 1 else 1, view.dtype))
    return ("rotary", (cos.dtype, cos.shape[1], bool(interleaved), *positions))


def check_alone(rotary: Any, **others: Any):
    """A rotation is not combined with these."""
    for name, other in others.items():
        if rotary is not None and other is not None:
            raise BindingError(f"expected no {name} with rotary, got one: turn query and key before, by attn_mlir.rotary.rotate")


def rotary_lines(field: tuple, tensor: Any, types: Mapping[str, str]) -> tuple[dict[str, str], list[str], str]:
    """The types of more arguments, the lines that turn query and key, and the operands of the attention. `tensor` gives the type of sizes."""
    dtype, columns, interleaved, *positions = field
    table = tensor(("R", columns), dtype)
    arguments = dict.fromkeys(TABLES, table)
    lines = []
    for operand, name, rows, of in zip(("query", "key"), POSITIONS, ("M", "N"), positions):
        clause = ""
        if of is not None:
            arguments[name] = tensor((of[0], rows), of[1])
            clause = f" positions(%{name} : {arguments[name]})"
        pairs = "interleaved" if interleaved else "halves"
        lines.append(f"  %{operand}_turned = attn.rotary %{operand}, %cos, %sin {pairs}{clause} columns [0, {2 * columns}] : {types[operand]}, {table}\n")
    return arguments, lines, "%query_turned, %key_turned, %value"


def rotate(x: Any, cos: Any, sin: Any, *, interleaved: bool = False, positions: Any = None, inverse: bool = False) -> Any:
    """x [B, H, N, D] with the first columns of its rows turned, computed in f32 (f64) and rounded once: an array of NumPy or torch.

    cos, sin: [positions, r/2], of the positions 0, 1, ..., or those in `positions` [N] or [B, N]. Of the r columns, m and m + r/2 are a pair, with
    `interleaved` 2m and 2m + 1. `inverse` turns back, which is what gradients with respect to turned rows need.
    """
    if hasattr(x, "double") and hasattr(cos, "double"):  # of torch
        torch = sys.modules["torch"]
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        source, tables = x.to(wide), [cos.to(wide), sin.to(wide)]
        result = source.clone()
    else:
        import numpy as np

        wide = np.float64 if x.dtype == np.float64 else np.float32
        source, tables = np.asarray(x).astype(wide), [np.asarray(table).astype(wide) for table in (cos, sin)]
        result = source.copy()
    rows, columns = x.shape[2], 2 * cos.shape[1]
    taken = [table[:rows] if positions is None else table[positions] for table in tables]
    # [N, r/2], or [B, 1, N, r/2].
    taken = [table[:, None] if table.ndim == 3 else table for table in taken]
    first = slice(0, columns, 2) if interleaved else slice(0, columns // 2)
    second = slice(1, columns, 2) if interleaved else slice(columns // 2, columns)
    c, s = taken[0], -taken[1] if inverse else taken[1]
    result[..., first] = source[..., first] * c - source[..., second] * s
    result[..., second] = source[..., second] * c + source[..., first] * s
    return result.to(x.dtype) if hasattr(x, "double") else result.astype(x.dtype)
