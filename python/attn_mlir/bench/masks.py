# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The masks of the kit, by their names: causal(top_left), sliding_window(8, 0), butterfly(128, 16), documents, listed(128).

Each is here a region for the compiler, the ranges of keys that a row sees (areas, tiles, the reference without packages)
and a predicate (the reference by PyTorch, FlexAttention); the tests hold these to each other.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import random
import re
from typing import Any, Callable, Optional, Sequence

from .. import mask as masks
from ..mask.tensors import Placeholder
from ..problem import Capture, Region

Ranges = list[tuple[int, int]]
#: Makes a list of integers something that a predicate can index: a tensor on some device, or the list itself.
Indexable = Callable[[Sequence[int]], Any]
Predicate = Callable[[Any, Any, Any, Any], Any]


class FullMask:
    """Every key. Other masks derive from it: `p` is a Problem, whose M, N, lengths and density they may read."""

    region: Optional[Region] = None
    #: Whether M and N are constants of the kernel: the compiler makes tables of tiles then.
    has_static_sizes = False

    def label(self, p) -> str:
        """For tables."""
        return "full"

    def captures(self, p) -> dict[str, tuple[tuple[int, ...], list[int]]]:
        """The i32 tensors that the region reads: shape and values, by the names that manifests give them."""
        return {}

    def ranges(self, p, i: int) -> Ranges:
        """The keys [begin, end) that row i sees; some may be empty, and some behind N."""
        return [(0, p.N)]

    def predicate(self, p, indexable: Indexable) -> Optional[Predicate]:
        """Of (b, h, i, j), for integers and for tensors of them; None where every key is seen."""
        return None


class CausalMask(FullMask):
    def __init__(self, alignment: str):
        self.alignment = alignment
        self.region = Region(f"causal({alignment})")

    def label(self, p):
        return "causal"

    def shift(self, p) -> int:
        return p.N - p.M if self.alignment == "bottom_right" else 0

    def ranges(self, p, i):
        return [(0, i + 1 + self.shift(p))]

    def predicate(self, p, indexable):
        shift = self.shift(p)
        return lambda b, h, i, j: j <= i + shift


class WindowMask(FullMask):
    def __init__(self, left: str, right: str):
        self.left, self.right = int(left), int(right)
        self.region = Region(f"sliding_window({left}, {right})")

    def label(self, p):
        return f"window{self.left + self.right + 1}"

    def ranges(self, p, i):
        return [(i - self.left, i + self.right + 1)]

    def predicate(self, p, indexable):
        left, right = self.left, self.right
        return lambda b, h, i, j: (j >= i - left) & (j <= i + right)


class ButterflyMask(FullMask):
    """Blocks whose numbers differ in one bit or none (Pixelfly): visible tiles that no few ranges cover."""

    has_static_sizes = True

    def __init__(self, block: str, blocks: str):
        self.block, self.blocks = int(block), int(blocks)
        self.mask = masks.butterfly(self.block, self.blocks)
        self.region = self.mask.region

    def label(self, p):
        return f"butterfly{self.block}"

    def ranges(self, p, i):
        row = i // self.block
        columns = sorted([row, *(row ^ (1 << bit) for bit in range(int(math.log2(self.blocks))))])
        return [(c * self.block, (c + 1) * self.block) for c in columns]

    def predicate(self, p, indexable):
        return self.mask.function


class DocumentMask(FullMask):
    """Documents of p.lengths positions behind each other, each causal, by their offsets."""

    region = masks.packed(Placeholder("offsets", "i32", 1), causal=True).region

    def label(self, p):
        return f"{len(p.lengths)} documents"

    @staticmethod
    def offsets(p) -> list[int]:
        return [0, *itertools.accumulate(p.lengths)]

    def captures(self, p):
        offsets = self.offsets(p)
        return {"capture0": ((len(offsets),), offsets)}

    def ranges(self, p, i):
        offsets = self.offsets(p)
        return [(offsets[bisect.bisect_right(offsets, i) - 1], i + 1)]

    def predicate(self, p, indexable):
        ids = indexable([d for d, length in enumerate(p.lengths) for _ in range(length)])
        return lambda b, h, i, j: (ids[i] == ids[j]) & (j <= i)


class ListedMask(FullMask):
    """Square blocks by a list, as many in each row of blocks: p.density of them, at random, at least one."""

    def __init__(self, block: str):
        self.block = int(block)
        types = ("tensor<1x1x?xi32>", "tensor<1x1x?x?xi32>")
        text = f"""(%b: index, %h: index, %i: index, %j: index) {{
      %r = attn.block_listed %counts, %indices at(%b, %h, %i, %j) block [{block}, {block}] : {", ".join(types)}
      attn.yield %r : i1
    }}"""
        self.region = Region(text, (Capture("counts", types[0]), Capture("indices", types[1])))

    def label(self, p):
        return f"listed{self.block} 1/{1 / p.density:g}"

    def blocks(self, p) -> tuple[tuple[int, ...], ...]:
        """The blocks that each row of blocks sees, ascending."""
        rows, columns = (-(-size // self.block) for size in (p.M, p.N))
        return chosen_blocks(rows, columns, p.density)

    def captures(self, p):
        lists = self.blocks(p)
        columns = -(-p.N // self.block)
        indices = [c for row in lists for c in (*row, *[0] * (columns - len(row)))]
        return {
            "capture0": ((1, 1, len(lists)), [len(row) for row in lists]),
            "capture1": ((1, 1, len(lists), columns), indices),
        }

    def ranges(self, p, i):
        return [(c * self.block, (c + 1) * self.block) for c in self.blocks(p)[i // self.block]]

    def predicate(self, p, indexable):
        columns, block = -(-p.N // self.block), self.block
        seen = indexable([int(c in row) for row in map(set, self.blocks(p)) for c in range(columns)])
        return lambda b, h, i, j: seen[(i // block) * columns + j // block] == 1


@functools.lru_cache(maxsize=8)
def chosen_blocks(rows: int, columns: int, density: float) -> tuple[tuple[int, ...], ...]:
    generator = random.Random(rows)
    count = max(1, round(density * columns)) if columns else 0
    return tuple(tuple(sorted(generator.sample(range(columns), count))) for _ in range(rows))


FORMS: dict[str, Callable[..., FullMask]] = {
    "": FullMask,
    "causal": CausalMask,
    "sliding_window": WindowMask,
    "butterfly": ButterflyMask,
    "documents": DocumentMask,
    "listed": ListedMask,
}


@functools.lru_cache(maxsize=None)
def mask_of(text: str) -> FullMask:
    """By its name: "causal(top_left)"."""
    name, *arguments = re.findall(r"\w+", text) or [""]
    return FORMS[name](*arguments)


def visible_ranges(p, i: int) -> Ranges:
    """The keys that row i sees, as ranges that are not empty."""
    clamped = ((max(0, begin), min(p.N, end)) for begin, end in mask_of(p.attention.mask).ranges(p, i))
    return [(begin, end) for begin, end in clamped if begin < end]


def visible_pairs(p) -> int:
    """Pairs (i, j) that the mask leaves visible, of one head."""
    return sum(end - begin for i in range(p.M) for begin, end in visible_ranges(p, i))


def visited_share(p, tile_m: int, tile_n: int) -> float:
    """Of the tiles of a head, those with a visible pair."""
    visited = 0
    for first in range(0, p.M, tile_m):
        rows = range(first, min(first + tile_m, p.M))
        ranges = {(begin // tile_n, -(-end // tile_n)) for i in rows for begin, end in visible_ranges(p, i)}
        visited += len({tile for begin, end in ranges for tile in range(begin, end)})
    return visited / (-(-p.M // tile_m) * -(-p.N // tile_n))


def document_lengths(total: int, seed: int = 1, median: float = 400, sigma: float = 1.2) -> tuple[int, ...]:
    """Lengths of documents that fill `total` positions: log-normal, as those of text corpora are about; the mean is twice
    the median. The last one is cut."""
    generator, lengths = random.Random(seed), []
    while total:
        lengths.append(min(total, max(1, round(generator.lognormvariate(math.log(median), sigma)))))
        total -= lengths[-1]
    return tuple(lengths)
