# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which blocks of tokens see which, of any mask: the compiler looks at all pairs, on the CPU."""

from __future__ import annotations

from typing import Any, Callable, Union

from ..arrays import view_of
from ..kernel import run_module
from ..mask import Mask, trace_mask
from ..mask.symbols import INDEX, Tracer, lift
from ..runtime.host_array import HostArray


def picture(mask: Union[Mask, Callable[..., Any]], tokens: int, block: int, batch: int, heads: int) -> str:
    """A line for each block of rows, in it for each block of keys '.' where none of its pairs is visible in any batch and head,
    '#' where all are in all, else '+'."""
    traced = Mask(lambda *at: with_length(tokens, trace_mask(mask).function, at))
    traced.check_reads((batch, heads, tokens, tokens))
    captured = [view_of(array).to_host() for array in traced.arrays]
    listed = [integers(array) for array in run_module(module(traced, tokens, block, batch, heads), captured)]
    count = -(-tokens // block)
    seen = [[0] * count for _ in range(count)]
    full = [[0] * count for _ in range(count)]
    for counts, indices, marks in ((listed[0], listed[1], ()), (listed[2], listed[3], (full,))):
        for line in range(batch * heads * count):
            first = line * count
            for key in indices[first : first + counts[line]]:
                for table in (seen, *marks):
                    table[line % count][key] += 1
    return "\n".join(
        "".join("." if not s else "#" if f == batch * heads else "+" for s, f in zip(*rows)) for rows in zip(seen, full)
    )


def with_length(tokens: int, function: Callable[..., Any], at: Any) -> Any:
    """`attn.length` stands in attentions alone."""
    tracer = Tracer.get()
    tracer.lengths = dict.fromkeys(("query", "key"), lift(tokens, INDEX))
    try:
        return function(*at)
    finally:
        tracer.lengths = {}


def module(mask: Mask, tokens: int, block: int, batch: int, heads: int) -> str:
    """A function of the arrays that the mask reads."""
    region = mask.region
    arguments, _, body = region.text.partition(" {\n")
    types = "tensor<?x?x?xi32>, tensor<?x?x?x?xi32>"
    parameters = ", ".join(f"%{capture.name}: {capture.type}" for capture in region.captures)
    return f"""func.func @blocks({parameters}) -> ({types}, {types}) {{
  %batch = arith.constant {batch} : index
  %heads = arith.constant {heads} : index
  %tokens = arith.constant {tokens} : index
  %lists:4 = attn.create_block_mask batches(%batch) heads(%heads) rows(%tokens) keys(%tokens)
      block [{block}, {block}] mask_mod {{
    ^bb0{arguments}:
{body} : {types}
  return %lists#0, %lists#1, %lists#2, %lists#3 : {types}, {types}
}}
"""


def integers(array: HostArray) -> Any:
    return memoryview(array.data).cast("i")
