# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of 8 bits in the module of a backward, which are made wider in front of it."""

from __future__ import annotations

from typing import Mapping


def dequantize_lines(arguments: Mapping[str, str], wide: str) -> tuple[list[str], dict[str, str]]:
    """Lines that make the 8-bit ones of query, key and value wider, and the types of what is there then; `arguments` are types by name."""
    lines, types = [], {}
    for name in ("query", "key", "value"):
        types[name] = own = arguments[name]
        if not own.rsplit("x", 1)[1].startswith("f8E"):
            continue
        descale = arguments.get(f"{name}_descale")
        clause = f" descale(%{name}_descale : {descale})" if descale else ""
        types[name] = own.rsplit("x", 1)[0] + f"x{wide}>"
        lines.append(f"  %{name}_wide = attn.dequantize %{name}{clause} : {own} -> {types[name]}\n")
    return lines, types
