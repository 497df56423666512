# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks and score changes written in Python, traced into regions of attn.attention.

A mask_mod is a function of the batch, query head, query position and key position, and is true where the key is seen:

    from attn_mlir import mask
    prefix = mask.trace_mask(lambda b, h, i, j: (j < 16) | (j <= i))

A score_mod is a function of the score too, and gives the score in its place:

    slopes = mask.tensor(alibi_slopes)                       # [Hq], f32; read while the kernel runs
    alibi = mask.trace_score(lambda s, b, h, i, j: s + slopes[h] * (j - i))

An output_mod is a function of an element of the output, its batch, query head, query position and column: a gate, say:

    gate = mask.tensor(gates)
    gated = mask.trace_output(lambda x, b, h, i, c: x / (1 + mask.exp(-gate[b, h, i, c])))

With normalization "none" a score_mod gives the weights: sigmoid, relu, gelu and silu.

The functions are called once, with symbols: + - * // % on numbers (rounding down, as Python does), / and ** on floats,
comparisons, & | ^ ~ on conditions and on the bits of integers, << >>, `where`, `minimum`, `maximum`, `exp`, `tanh` and so on,
and reads of a `tensor`. A condition beside a number is 0 or 1. Python's
`if`, `and`, `or`, `not` and chained comparisons ask for a value that is not there yet: TraceError names the line.
Masks combine by & | ~; the named ones below are what analyses of blocks recognise at once, but any predicate is analysed.
"""

from .data import as_block_mask, block_mask, flat, listed, packed, segment, tree, tree_bits
from .patterns import (
    alibi,
    big_bird,
    block_diagonal,
    butterfly,
    causal,
    chunked,
    dilated,
    document,
    fixed,
    gelu,
    global_window,
    neighborhood,
    prefix_lm,
    relu,
    shared_prefix,
    sigmoid,
    silu,
    sliding_window,
    soft_cap,
    strided,
    tiled_neighborhood,
)
from .outputs import Output, trace_output
from .functions import ceil, floor, key_length, query_length
from .places import TraceError
from .symbols import cos, erf, exp, exp2, log, log2, maximum, minimum, sin, sqrt, tanh, where
from .tensors import tensor
from .tracing import Mask, Score, trace_mask, trace_score

MODULES = ("data", "functions", "outputs", "patterns", "places", "positions", "ranges", "symbols", "tensors", "tracing", "weights")
__all__ = [name for name in dir() if not name.startswith("_") and name not in (*MODULES, "MODULES")]
