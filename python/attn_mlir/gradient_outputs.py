# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a module stores the gradients of a backward: in 8 bits, times a scale, and beside the largest magnitude of each row."""

from __future__ import annotations

from typing import NamedTuple, Sequence

#: Scales of gradients, in the order of the results.
GRADIENT_SCALES = ("scale_dq", "scale_dk", "scale_dv")


class StoredGradients(NamedTuple):
    """What a module has for it."""

    given: list[str]  #: types of the gradients as the backward gives them
    values: list[str]  #: what is returned of them, and the maxima
    maxima: list[str]  #: types of the maxima
    lines: str


def store_gradients(names: Sequence[str], types: Sequence[str], scales: Sequence[str], with_amax: bool, element: str) -> StoredGradients:
    """Of d_query, d_key and d_value, that are results of `types`; `element` is the type of what is scaled and measured."""
    extents = [type.rpartition("x")[0] for type in types]
    given = [f"{sizes}x{element}>" for sizes in extents]
    rows = [f"{sizes.rpartition('x')[0]}x{element}>" for sizes in extents]
    values: list[str] = []
    maxima: list[str] = []
    lines = ""
    for name, scale, whole, result, row in zip(names, GRADIENT_SCALES, given, types, rows):
        if with_amax:
            largest = f"%amax_{scale.removeprefix('scale_')}"
            changed = whole if scale in scales else result
            lines += f"  {name}_measured, {largest} = attn.output_mod {name} {region_of(element)} : {whole} -> {changed}, {row}\n"
            name = f"{name}_measured"
            maxima.append(largest)
        if scale in scales or not with_amax:
            region = region_of(element, scale if scale in scales else "")
            lines += f"  {name}_stored = attn.output_mod {name} {region} : {whole} -> {result}\n"
            name = f"{name}_stored"
        values.append(name)
    return StoredGradients(given, values + maxima, rows if with_amax else [], lines)


def region_of(element: str, scale: str = "") -> str:
    """That of an output_mod which multiplies by the one number of the argument `scale`, or by nothing."""
    lines = [f"attn.yield %x : {element}"]
    if scale:
        lines = [
            "%first = arith.constant 0 : index",
            f"%factor = tensor.extract %{scale}[%first] : tensor<1x{element}>",
            f"%y = arith.mulf %x, %factor : {element}",
            f"attn.yield %y : {element}",
        ]
    body = "".join(f"    {line}\n" for line in lines)
    return f"(%x: {element}, %b: index, %h: index, %i: index, %c: index) {{\n{body}  }}"
