# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named masks and score changes. Each says which keys j the query i sees, in its first line; all combine by & | ~.

Sources: Sparse Transformer (Child et al. 2019), Longformer (Beltagy et al. 2020), BigBird (Zaheer et al. 2020),
Pixelated Butterfly (Chen et al. 2022), Neighborhood Attention (Hassani et al. 2023), Sliding Tile Attention (Zhang et
al. 2025), ALiBi (Press et al. 2022). Of weights without softmax: sigmoid (Ramapuram et al. 2024), ReLU (Wortsman et al.
2023), squared ReLU (So et al. 2021), SiLU (Zhai et al. 2024, HSTU).
"""

from __future__ import annotations

import functools
import math
from numbers import Real
from typing import Any, Optional, Sequence

from ..errors import AttnError
from ..problem import float_text
from .functions import abs_difference, key_length, query_length
from .symbols import erf, exp, log, maximum, minimum, tanh
from .tensors import tensor
from .tracing import Mask, Score


def at_least(value: int, least: int, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise AttnError(f"expected {what} to be an integer of at least {least}, got {value!r}")
    return value


def causal(alignment: str = "bottom_right") -> Mask:
    """j <= i ("top_left"), or j <= i + N - M ("bottom_right": the last query sees the last key)."""
    if alignment not in ("top_left", "bottom_right"):
        raise AttnError(f"expected alignment top_left or bottom_right, got {alignment!r}")

    def sees(b, h, i, j):
        return j <= (i if alignment == "top_left" else i + (key_length() - query_length()))

    return Mask(sees, f"causal({alignment})")


def sliding_window(left: int, right: int = 0, alignment: str = "top_left") -> Mask:
    """i - left <= j <= i + right, or with "bottom_right" around i + N - M, the position of row i among the keys, in place of i."""
    at_least(left, 0, "left"), at_least(right, 0, "right")
    if alignment not in ("top_left", "bottom_right"):
        raise AttnError(f"expected alignment top_left or bottom_right, got {alignment!r}")
    if alignment == "bottom_right":
        return window_by_position(left, right)
    return Mask(lambda b, h, i, j: (j >= i - left) & (j <= i + right), f"sliding_window({left}, {right})")


@functools.lru_cache(maxsize=256)
def window_by_position(left: int, right: int) -> Mask:
    """One mask for equal windows, so that a kernel is found again by it."""

    def sees(b, h, i, j):
        position = i + (key_length() - query_length())
        return (j >= position - left) & (j <= position + right)

    return Mask(sees)


def prefix_lm(prefix: int) -> Mask:
    """j < prefix, or j <= i."""
    at_least(prefix, 0, "prefix")
    return Mask(lambda b, h, i, j: (j < prefix) | (j <= i))


def shared_prefix(prefix: int, length: int) -> Mask:
    """Causal, in sequences of `length` after a prefix that all of them see: j < prefix, or j in i's sequence; j <= i."""
    at_least(prefix, 0, "prefix"), at_least(length, 1, "length")

    def sees(b, h, i, j):
        same = (maximum(i - prefix, 0) // length) == (maximum(j - prefix, 0) // length)
        return (j <= i) & ((j < prefix) | ((i >= prefix) & same))

    return Mask(sees)


def chunked(size: int) -> Mask:
    """j <= i in the same chunk of `size` positions."""
    at_least(size, 1, "size")
    return Mask(lambda b, h, i, j: (i // size == j // size) & (j <= i))


def block_diagonal(size: int) -> Mask:
    """j in i's block of `size` positions."""
    at_least(size, 1, "size")
    return Mask(lambda b, h, i, j: i // size == j // size)


def dilated(window: int, step: int) -> Mask:
    """Every step-th of the keys up to i, `window` of them, i itself the last."""
    at_least(window, 1, "window"), at_least(step, 1, "step")
    return Mask(lambda b, h, i, j: (j <= i) & (j > i - window * step) & ((i - j) % step == 0))


def global_window(count: int, left: int, right: int = 0) -> Mask:
    """The window of sliding_window, and the first `count` positions see and are seen by all (Longformer)."""
    at_least(count, 0, "count"), at_least(left, 0, "left"), at_least(right, 0, "right")
    return Mask(lambda b, h, i, j: (i < count) | (j < count) | ((j >= i - left) & (j <= i + right)))


def strided(stride: int) -> Mask:
    """j <= i among the last `stride` keys, or a multiple of `stride` behind (Sparse Transformer, strided)."""
    at_least(stride, 1, "stride")
    return Mask(lambda b, h, i, j: (j <= i) & ((j > i - stride) | ((i - j) % stride == 0)))


def fixed(stride: int, summary: int = 1) -> Mask:
    """j <= i in i's block of `stride`, or among the last `summary` of any block (Sparse Transformer, fixed)."""
    at_least(stride, 1, "stride"), at_least(summary, 1, "summary")
    return Mask(lambda b, h, i, j: (j <= i) & ((i // stride == j // stride) | (j % stride >= stride - summary)))


def butterfly(block: int, blocks: int) -> Mask:
    """Blocks whose numbers differ in one bit or none: the flat butterfly of `blocks` (a power of two) by `block`."""
    at_least(block, 1, "block"), at_least(blocks, 1, "blocks")
    if blocks & (blocks - 1):
        raise AttnError(f"expected blocks to be a power of two, got {blocks}")

    def sees(b, h, i, j):
        row, column = i // block, j // block
        result = row == column
        for bit in range(int(math.log2(blocks))):
            size = 1 << bit
            # Equal above and below the bit: the bit itself may differ.
            result = result | ((row // (2 * size) == column // (2 * size)) & (row % size == column % size))
        return result

    return Mask(sees)


def big_bird(block: int, window: int, count: int) -> Mask:
    """In blocks: `window` neighbours to either side, and the first `count` see and are seen by all (without the random)."""
    at_least(block, 1, "block"), at_least(window, 0, "window"), at_least(count, 0, "count")

    def sees(b, h, i, j):
        row, column = i // block, j // block
        return (row < count) | (column < count) | ((column >= row - window) & (column <= row + window))

    return Mask(sees)


def document(ids: Any) -> Mask:
    """j in i's document: ids [S] or [B, S], integers, one for each position."""
    ids = tensor(ids)
    if ids.rank not in (1, 2):
        raise AttnError(f"expected document ids of rank 1 or 2, got {ids.rank}")
    if ids.rank == 1:
        return Mask(lambda b, h, i, j: ids[i] == ids[j])
    return Mask(lambda b, h, i, j: ids[b, i] == ids[b, j])


def coordinates(position, sizes: Sequence[int]) -> list:
    """Of a position in a row-major grid."""
    result = []
    for size in reversed(sizes[1:]):
        result.append(position % size)
        position = position // size
    return [position, *reversed(result)]


def neighborhood(sizes: Sequence[int], window: Sequence[int]) -> Mask:
    """In a grid of `sizes` (1 to 3 dimensions): the window around i, moved inwards at the borders (NATTEN)."""
    check_grid(sizes, window, "window")

    def sees(b, h, i, j):
        result = True
        for size, width, row, column in zip(sizes, window, coordinates(i, sizes), coordinates(j, sizes)):
            centre = minimum(maximum(row, width // 2), size - 1 - (width - 1) // 2)
            result = (column >= centre - width // 2) & (column <= centre + (width - 1) // 2) & result
        return result

    return Mask(sees)


def tiled_neighborhood(sizes: Sequence[int], tile: Sequence[int], window: Sequence[int]) -> Mask:
    """In a grid of `sizes` whose positions are ordered tile by tile: tiles at most window // 2 away (Sliding Tile Attention).

    `tile` divides `sizes`; `window` is in tiles, odd. Tiles, and positions in a tile, are row-major.
    """
    check_grid(sizes, window, "window"), check_grid(sizes, tile, "tile")
    if any(size % t for size, t in zip(sizes, tile)):
        raise AttnError(f"expected tiles that divide {tuple(sizes)}, got {tuple(tile)}")
    grid, volume = [size // t for size, t in zip(sizes, tile)], math.prod(tile)

    def sees(b, h, i, j):
        result = True
        for width, row, column in zip(window, coordinates(i // volume, grid), coordinates(j // volume, grid)):
            result = (abs_difference(row, column) <= width // 2) & result
        return result

    return Mask(sees)


def check_grid(sizes: Sequence[int], other: Sequence[int], what: str):
    if not 1 <= len(sizes) <= 3 or len(other) != len(sizes):
        raise AttnError(f"expected 1 to 3 sizes and as many in {what}, got {tuple(sizes)} and {tuple(other)}")
    for size, value in zip(sizes, other):
        at_least(size, 1, "sizes"), at_least(value, 1, what)
        if value > size:
            raise AttnError(f"expected {what} of at most {tuple(sizes)}, got {tuple(other)}")


#: The smallest that is normal: by a smaller number or 0 no score is to be divided.
SMALLEST_F32, LARGEST_F32 = 2.0**-126, (2 - 2.0**-23) * 2.0**127


def check_cap(cap: Any):
    if not (isinstance(cap, Real) and SMALLEST_F32 <= float(cap) <= LARGEST_F32):
        raise AttnError(f"expected cap to be a positive number of f32, got {cap!r}")


def soft_cap(cap: float) -> Score:
    """cap * tanh(score / cap)."""
    check_cap(cap)
    value = float(cap)
    return Score(lambda s, b, h, i, j: value * tanh(s / value), f"soft_cap({float_text(value)})")


def sigmoid(bias: Optional[float] = None) -> Score:
    """1 / (1 + exp(-score - bias)), with normalization "none"; the bias is -log(N) by default."""
    return Score(lambda s, b, h, i, j: 1.0 / (1.0 + exp((log(key_length()) if bias is None else -float(bias)) - s)))


def relu(power: int = 1) -> Score:
    """max(score, 0) ** power, with normalization "none"."""
    at_least(power, 1, "power")
    return Score(lambda s, b, h, i, j: maximum(s, 0.0) ** power)


def silu() -> Score:
    """score / (1 + exp(-score)), with normalization "none"."""
    return Score(lambda s, b, h, i, j: s / (1.0 + exp(-s)))


def gelu() -> Score:
    """score * Phi(score), of the normal distribution, with normalization "none"."""
    return Score(lambda s, b, h, i, j: 0.5 * s * (1.0 + erf(s * math.sqrt(0.5))))


def alibi(slopes: Any) -> Score:
    """score + slopes[h] * (j - i): slopes [Hq], f32."""
    slopes = tensor(slopes)
    if slopes.rank != 1:
        raise AttnError(f"expected slopes of rank 1, got {slopes.rank}")
    return Score(lambda s, b, h, i, j: s + slopes[h] * (j - i))
