# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which key and value head serves a query head, as data: groups that are not equal, or not known before."""

from __future__ import annotations

from typing import Any, Mapping

from .arrays import ArrayView
from .errors import BindingError

HEAD_MAPS = ("key_head_map", "value_head_map")


def head_map_arrays(head_map: Any) -> dict[str, Any]:
    """As arguments of a kernel: one map of both, or a pair."""
    if head_map is None:
        return {}
    maps = head_map if isinstance(head_map, (tuple, list)) else (head_map,)
    if len(maps) not in (1, 2) or any(not hasattr(array, "shape") for array in maps):
        raise BindingError(f"expected head_map to be an array [Hq], or two, of key and of value, got {head_map!r}")
    return dict(zip(HEAD_MAPS, maps))


def map_types(named: Mapping[str, ArrayView]) -> tuple[str, ...]:
    """The types of the entries of the maps that there are."""
    return tuple(named[name].dtype for name in HEAD_MAPS if name in named)


def check_head_maps(named: Mapping[str, ArrayView]):
    """A map for each query head, of heads that there are; with it the numbers of heads need not divide each other."""
    query_heads = named["query"].shape[1]
    for name, source in zip(HEAD_MAPS, ("key", "value")):
        if (view := named.get(name)) is None:
            continue
        if view.dtype not in ("i32", "i64") or tuple(view.shape) != (query_heads,):
            raise BindingError(f"{name}: expected {query_heads} heads of {source}, i32 or i64, one for each query head, got {view.dtype} of {tuple(view.shape)}")
        if query_heads and not named[source].shape[1]:
            raise BindingError(f"operand {source}: expected at least one head, of which {name} selects, got none")
    if "key_head_map" in named and any(name.endswith("descale") for name in named):
        raise BindingError("expected no head_map with descale, got one: select the heads before")


def select_heads(map_types: tuple[str, ...], sources: Mapping[str, str], types: Mapping[str, str]) -> tuple[list[str], str]:
    """Lines that make views of key and value, and the operands of an attention. `sources` are the tensors that have the heads, with
    their types, `types` those of the arguments and of the views."""
    lines = []
    for name, (source, type), map_name in zip(("key", "value"), sources.items(), (HEAD_MAPS[0], HEAD_MAPS[len(map_types) - 1])):
        lines.append(f"  %{name}_rows = attn.select_heads %{source}[%{map_name}] : {type}[{types[map_name]}] -> {types[name + '_rows']}\n")
    return lines, "%query, %key_rows, %value_rows"


def sum_heads(map_types: tuple[str, ...], types: Mapping[str, str]) -> list[str]:
    """Lines that make %d_key and %d_value of the gradients of the views, %d_key_rows and %d_value_rows. `types` are those of the
    arguments, and of the gradients before and behind."""
    lines = []
    for name, map_name in zip(("key", "value"), (HEAD_MAPS[0], HEAD_MAPS[len(map_types) - 1])):
        rows, sums = types[f"d_{name}_rows"], types[f"d_{name}"]
        sizes = [d for d, size in enumerate(sums.removeprefix("tensor<").split("x")[:3]) if size == "?"]
        for d in sizes:
            lines.append(f"  %{name}_dim{d} = arith.constant {d} : index\n  %{name}_size{d} = tensor.dim %{name}, %{name}_dim{d} : {types[name]}\n")
        lines.append(f"  %{name}_sizes = tensor.empty({', '.join(f'%{name}_size{d}' for d in sizes)}) : {sums}\n")
        lines.append(f"  %d_{name} = attn.sum_heads %d_{name}_rows[%{map_name}] into %{name}_sizes : {rows}[{types[map_name]}] into {sums}\n")
    return lines
