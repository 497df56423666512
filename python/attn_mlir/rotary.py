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
    shapes = [array.shape if hasattr(array, "shape") else view_of(array, name).shape for name, array in (("query", query), ("key", key))]
    # Another rank is a message of who checks query and key.
    rows, keys = (shape[2] if len(shape) == 4 else 0 for shape in shapes)
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
    if module in ("cupy", "jax"):
        return getattr(sys.modules[module], "numpy", sys.modules[module]).arange(begin, end)[None]
    if view_of(array).device == "cpu":
        return HostArray.of("i64", (1, end - begin), list(range(begin, end)))
    raise BindingError(f"expected rotary_positions beside arrays of {type(array).__name__}")


def rotary_field(named: Mapping[str, ArrayView], interleaved: bool) -> tuple:
    """Of an AttentionProblem: the type and the columns of the tables, which columns are pairs, and of positions of query and key the size of their dimension of batches and their type.
    Empty without a rotation. Raises BindingError for arrays that do not fit."""
    if "cos" not in named:
        return ()
    query, cos = named["query"], named["cos"]
    batch, _, rows, dim = query.shape
    check_tables(named, dim)
    # Keys in pages are turned already.
    sequences = dict(zip(POSITIONS, (rows,) if "key_table" in named else (rows, named["key"].shape[2])))
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


def check_tables(named: Mapping[str, ArrayView], dim: int):
    """Raises BindingError for a query that no kernel turns, and for cos and sin that do not fit its head dim."""
    query, cos, sin = (named[name] for name in ("query", *TABLES))
    if query.dtype not in ("f16", "bf16", "f32", "f64"):
        raise BindingError(f"query: expected dtype f16, bf16, f32 or f64 with rotary, got {query.dtype}")
    for name, table in (("cos", cos), ("sin", sin)):
        if table.dtype not in ("f16", "bf16", "f32", "f64"):
            raise BindingError(f"{name}: expected dtype f16, bf16, f32 or f64, got {table.dtype}")
        if len(table.shape) != 2 or not 1 <= table.shape[1] <= dim // 2:
            raise BindingError(f"{name}: expected [positions, columns], a column for each of at most {dim // 2} pairs, got {tuple(table.shape)}")
    if (cos.dtype, tuple(cos.shape)) != (sin.dtype, tuple(sin.shape)):
        raise BindingError(f"sin: expected {cos.dtype} of {tuple(cos.shape)}, as cos, got {sin.dtype} of {tuple(sin.shape)}")


def check_packed_rotary(named: Mapping[str, ArrayView]):
    """As check_tables, of a query [rows, heads, head dim] with positions [rows], and of such keys where they have positions."""
    check_tables(named, named["query"].shape[2])
    for name, turned in zip(POSITIONS, ("query", "key")):
        positions, rows = named.get(name), named.get(turned)
        if positions is None or rows is None:
            continue
        if positions.dtype not in ("i32", "i64") or tuple(positions.shape) != rows.shape[:1]:
            raise BindingError(f"rotary_positions: expected i32 or i64 of ({rows.shape[0]},), a position for each row of {turned}, got {positions.dtype} of {tuple(positions.shape)}")


def check_alone(name: str, change: Any, **others: Any):
    """A rotation or a norm is not combined with these."""
    for other, given in others.items():
        if change is not None and given is not None:
            by = "attn_mlir.rotary.rotate" if name == "rotary" else "attn_mlir.norms.norm"
            raise BindingError(f"expected no {other} with {name}, got one: change query and key before, by {by}")


def rotary_line(result: str, source: str, positions: Optional[str], types: Mapping[str, str], of: str, columns: int, interleaved: bool) -> str:
    """That turns rows of type `of` by the tables and the argument `positions`, of `types` by names, which have so many columns."""
    clause = f" positions(%{positions} : {types[positions]})" if positions else ""
    pairs = "interleaved" if interleaved else "halves"
    return f"{result} = attn.rotary {source}, %cos, %sin {pairs}{clause} columns [0, {2 * columns}] : {of}, {types[TABLES[0]]}"


def rotary_lines(
    field: tuple, tensor: Any, operands: Mapping[str, tuple[str, str, str]], types: Mapping[str, str]
) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """The types of more arguments, the lines that turn rows, and the names of what these give. `tensor` gives the type of sizes; `operands` are, by names of arguments, what is
    turned, the name of the argument that has its positions, and that of the number of its rows."""
    dtype, columns, interleaved, *positions = field
    table = tensor(("R", columns), dtype)
    arguments, lines, turned = dict.fromkeys(TABLES, table), [], {}
    given = dict(zip(POSITIONS, positions))
    for operand, (source, name, rows) in operands.items():
        if (of := given[name]) is not None:
            arguments[name] = tensor((of[0], rows), of[1])
        turned[operand] = f"%{operand}_turned"
        lines.append(f"  {rotary_line(turned[operand], source, name if of else None, arguments, types[operand], columns, interleaved)}\n")
    return arguments, lines, turned


def rows_of_tokens(rotary: Any, positions: Any, query: Any, lengths: Any, k_new: Any) -> dict[str, Any]:
    """As arguments of a kernel for the last tokens of sequences, and for their new keys: tables and positions, of token i of M in a sequence lengths - M + i by default."""
    if rotary is None:
        if positions is not None:
            raise BindingError("expected rotary with rotary_positions, got none")
        return {}
    tables = rotary_arrays(query, query, rotary, (None, None), None)
    shape = view_of(query, "query").shape
    if len(shape) != 4:
        raise BindingError(f"query: expected [batch, heads, rows, head dim], got rank {len(shape)}")
    batch, rows = shape[0], shape[2]
    if k_new is not None:
        new = view_of(k_new, "k_new")
        if len(new.shape) != 4 or (new.shape[0], new.shape[2]) != (batch, rows):
            raise BindingError(f"k_new: expected [{batch}, heads, {rows}, head dim] with rotary, a row for each of query, got {tuple(new.shape)}")
        if new.dtype not in ("f16", "bf16", "f32", "f64"):
            raise BindingError(f"k_new: expected dtype f16, bf16, f32 or f64 with rotary, got {new.dtype}")
    return {**tables, POSITIONS[0]: last_positions(lengths, rows) if positions is None else positions}


def rows_of_sequences(rotary: Any, positions: Any, query: Any, offsets: Any, lengths: Any, k_new: Any) -> dict[str, Any]:
    """As rows_of_tokens, of rows [rows, heads, head dim] of sequences behind each other."""
    if rotary is None:
        if positions is not None:
            raise BindingError("expected rotary with rotary_positions, got none")
        return {}
    tables = rotary_arrays(query, query, rotary, (None, None), None)
    rows = view_of(query, "query").shape[0]
    if k_new is not None:
        new = view_of(k_new, "k_new")
        if len(new.shape) != 3 or new.shape[0] != rows:
            raise BindingError(f"k_new: expected [{rows}, heads, head dim] with rotary, a row for each of query, got {tuple(new.shape)}")
        if new.dtype not in ("f16", "bf16", "f32", "f64"):
            raise BindingError(f"k_new: expected dtype f16, bf16, f32 or f64 with rotary, got {new.dtype}")
    return {**tables, POSITIONS[0]: positions_of_rows(offsets, lengths, rows) if positions is None else positions}


def rows_of_both(rotary: Any, positions: Any, query: Any, key: Any, offsets: Any, key_offsets: Any) -> dict[str, Any]:
    """As rows_of_sequences, of queries and of keys behind each other: `positions` are those of both, either of which may be None; key j of a sequence is at j then, and
    its last query at its last key."""
    if rotary is None:
        return rotary_arrays(query, query, rotary, positions, None)
    tables = rotary_arrays(query, query, rotary, (None, None) if positions is None else positions, None)
    lengths = lengths_of(key_offsets)
    for name, own, rows in zip(POSITIONS, (offsets, key_offsets), (query, key)):
        if name not in tables:
            tables[name] = positions_of_rows(own, lengths, view_of(rows, name).shape[0])
    return tables


def lengths_of(offsets: Any) -> Any:
    """[B] of offsets [B + 1], of their library and on their device."""
    if library_of(offsets) in ("torch", "cupy", "jax", "numpy"):
        return offsets[1:] - offsets[:-1]
    view = view_of(offsets, "cu_seqlens_k")
    if view.device != "cpu":
        raise BindingError(f"expected rotary_positions beside cu_seqlens_k of {type(offsets).__name__}")
    entries = view.to_host().values()
    return HostArray.of(view.dtype, (view.shape[0] - 1,), [end - begin for begin, end in zip(entries, entries[1:])])


def positions_of_rows(offsets: Any, lengths: Any, rows: int) -> Any:
    """[rows] of the library of lengths [B], and on their device: row i of the M between offsets of a sequence is at lengths - M + i, one of no sequence at 0."""
    module = library_of(lengths)
    if module in ("torch", "cupy", "jax", "numpy"):
        library = sys.modules["jax"].numpy if module == "jax" else sys.modules[module]
        if module == "torch":
            row = library.arange(rows, device=lengths.device)
            offsets, lengths = (library.as_tensor(array).to(row) for array in (offsets, lengths))
        else:
            row = library.arange(rows)
            offsets, lengths = (library.asarray(array, dtype=row.dtype) for array in (offsets, lengths))
        if lengths.shape[0] == 0:
            return 0 * row
        ends = offsets[1:]
        # One behind the last sequence counts as its.
        sequence = library.searchsorted(ends, row, side="right").clip(0, lengths.shape[0] - 1)
        position = row - ends[sequence] + lengths[sequence]
        return library.where((row < offsets[0]) | (row >= offsets[-1]), 0 * position, position)
    if view_of(lengths, "lengths").device != "cpu":
        raise BindingError(f"expected rotary_positions beside lengths of {type(lengths).__name__}")
    bounds, found = [int(x) for x in view_of(offsets, "cu_seqlens_q").to_host().values()], [0] * rows
    for length, begin, end in zip(view_of(lengths, "lengths").to_host().values(), bounds, bounds[1:]):
        found[begin:end] = range(int(length) - (end - begin), int(length))
    return HostArray.of("i64", (rows,), found)


def last_positions(lengths: Any, rows: int) -> Any:
    """[B, rows] of the library of lengths [B], and on their device: those of the last `rows` tokens of sequences."""
    module = library_of(lengths)
    if module == "torch":
        return lengths[:, None] - rows + sys.modules["torch"].arange(rows, device=lengths.device, dtype=lengths.dtype)
    if module in ("cupy", "jax", "numpy"):
        library = sys.modules["jax"].numpy if module == "jax" else sys.modules[module]
        return lengths[:, None] - rows + library.arange(rows, dtype=lengths.dtype)
    view = view_of(lengths, "lengths")
    if view.device != "cpu":
        raise BindingError(f"expected rotary_positions beside lengths of {type(lengths).__name__}")
    return HostArray.of(view.dtype, (view.shape[0], rows), [n - rows + i for n in view.to_host().values() for i in range(rows)])


def rotate(x: Any, cos: Any, sin: Any, *, interleaved: bool = False, positions: Any = None, inverse: bool = False) -> Any:
    """x [B, H, N, D] with the first columns of its rows turned, computed in f32 (f64) and rounded once: an array of NumPy, torch or JAX. The latter two know its gradients.

    cos, sin: [positions, r/2], of the positions 0, 1, ..., or those in `positions` [N] or [B, N], of which one that the tables do not have counts as the last. Of the r columns,
    m and m + r/2 are a pair, with `interleaved` 2m and 2m + 1. `inverse` turns back, which is what gradients with respect to turned rows need.
    """
    rows, columns, size = x.shape[2], 2 * cos.shape[1], cos.shape[0]
    if positions is None and size < rows:
        raise BindingError(f"cos: expected a row for each of {rows} positions, got {size}")
    if positions is not None:
        positions = positions + (size - 1 - positions) * ((positions < 0) | (positions >= size))
    library, (wide, *tables) = in_f32(x, x, cos, sin)
    # [N, r/2], or [B, 1, N, r/2].
    taken = [table[:rows] if positions is None else table[positions] for table in tables]
    c, s = (table[:, None] if table.ndim == 3 else table for table in taken)
    s = -s if inverse else s
    first = slice(0, columns, 2) if interleaved else slice(0, columns // 2)
    second = slice(1, columns, 2) if interleaved else slice(columns // 2, columns)
    a, b = wide[..., first], wide[..., second]
    turned, join = [a * c - b * s, b * c + a * s], library.cat if hasattr(library, "cat") else library.concatenate
    parts = [library.stack(turned, -1).reshape(*x.shape[:3], columns)] if interleaved else turned
    return rounded_as(join([*parts, wide[..., columns:]], -1), x)


def in_f32(like: Any, *arrays: Any) -> tuple[Any, list[Any]]:
    """The module of the library that `like` is of, torch, jax.numpy or NumPy, and the arrays in f32, or in f64 where `like` is."""
    wide, module = "float64" if "float64" in str(like.dtype) else "float32", library_of(like)
    if module == "torch":
        torch = sys.modules["torch"]
        return torch, [array.to(getattr(torch, wide)) for array in arrays]
    if module == "jax":
        jnp = sys.modules["jax"].numpy
        return jnp, [jnp.asarray(array).astype(wide) for array in arrays]
    import numpy as np

    return np, [np.asarray(array).astype(wide) for array in arrays]


def rounded_as(array: Any, like: Any) -> Any:
    """In the type of `like`."""
    return array.to(like.dtype) if library_of(array) == "torch" else array.astype(like.dtype)
