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


def select_heads(map_types: tuple[str, ...], types: Mapping[str, str]) -> tuple[list[str], str]:
    """Lines that make views of key and value, and the operands of an attention. `types` are those of the arguments and of the views."""
    lines = []
    for name, map_name in zip(("key", "value"), (HEAD_MAPS[0], HEAD_MAPS[len(map_types) - 1])):
        lines.append(f"  %{name}_rows = attn.select_heads %{name}[%{map_name}] : {types[name]}[{types[map_name]}] -> {types[name + '_rows']}\n")
    return lines, "%query, %key_rows, %value_rows"


def sum_by_maps(gradients: tuple[Any, ...], maps: Mapping[str, Any], key: Any, value: Any) -> tuple[Any, ...]:
    """(d_query, d_key, d_value, ...) of key and value, by those of what the maps select of them."""
    key_map, value_map = maps[HEAD_MAPS[0]], maps.get(HEAD_MAPS[1], maps[HEAD_MAPS[0]])
    d_query, d_key, d_value, *others = gradients
    return (d_query, sum_heads(d_key, key_map, key.shape[1]), sum_heads(d_value, value_map, value.shape[1]), *others)


def sum_heads(gradient: Any, head_map: Any, heads: int) -> Any:
    """[B, heads, N, D] of [B, Hq, N, D]: the sum of the heads of each entry of the map, in f32; one that is no head is the last."""
    shape = (gradient.shape[0], heads, *gradient.shape[2:])
    if hasattr(gradient, "index_add"):  # of torch
        wide = gradient.double() if gradient.element_size() == 8 else gradient.float()
        entries = head_map.to(gradient.device)
        entries = entries.masked_fill((entries < 0) | (entries >= heads), heads - 1)
        return wide.new_zeros(shape).index_add_(1, entries, wide).to(gradient.dtype)
    import numpy as np

    if not isinstance(gradient, np.ndarray):
        raise BindingError(f"expected arrays of NumPy or torch with head_map, got {type(gradient).__module__}.{type(gradient).__name__}")
    total = np.zeros(shape, np.float64 if gradient.dtype == np.float64 else np.float32)
    for head, entry in enumerate(np.asarray(head_map)):
        total[:, entry if 0 <= entry < heads else heads - 1] += gradient[:, head].astype(total.dtype)
    return total.astype(gradient.dtype)
