# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of 8 bits in a backward, which are made wider in front of it."""

from __future__ import annotations

from typing import Any, Mapping

from .arrays import ArrayView, view_of
from .checks import FLOAT8
from .errors import BindingError


def wide_field(named: Mapping[str, ArrayView], d_output: Any) -> tuple:
    """The field of an AttentionProblem that says what 8-bit inputs of a backward are made: the type of the query, or of d_output; none without such inputs."""
    query, key = named["query"].dtype, named["key"].dtype
    if key not in FLOAT8:
        return ()
    if "key_head_map" in named:
        raise BindingError(f"expected no head_map in a backward of inputs of {key}, got one: select the heads before")
    wide = query if query not in FLOAT8 else view_of(d_output, "d_output").dtype
    if wide not in ("f16", "bf16"):
        raise BindingError(f"expected {'d_output' if query in FLOAT8 else 'query'} of f16 or bf16 with inputs of {key}, got {wide}")
    return "wide_dtype", wide


def dequantize_lines(arguments: Mapping[str, str], wide: str) -> tuple[list[str], dict[str, str]]:
    """Lines that make the 8-bit ones of query, key and value wider, and the types of what is there then; `arguments` are types by name."""
    lines, types = [], {}
    for name in ("query", "key", "value"):
        types[name] = own = arguments[name]
        if not own.endswith(tuple(f"x{dtype}>" for dtype in FLOAT8)):
            continue
        descale = arguments.get(f"{name}_descale")
        clause = f" descale(%{name}_descale : {descale})" if descale else ""
        types[name] = own.rsplit("x", 1)[0] + f"x{wide}>"
        lines.append(f"  %{name}_wide = attn.dequantize %{name}{clause} : {own} -> {types[name]}\n")
    return lines, types
