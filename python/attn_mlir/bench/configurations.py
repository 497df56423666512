# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kit compiles and runs. An `Attention` is one kernel (of a backward: a few), with all sizes dynamic but the head
dims; a `Problem` is an attention at certain sizes. suites.py has the lists of both.
"""

from __future__ import annotations

import dataclasses
import math
import random
import re
from typing import Iterable, Mapping, Optional

from ..mask import trace_score
from ..problem import AttentionProblem, Region
from .masks import FullMask, WindowMask, mask_of, visible_pairs

DISTANCE_SLOPE = 0.03125
#: What keys and values of 8 bits stand for: so many times what is stored. Its operands; beside a query of bf16 that of the keys is what a score_mod reads.
DESCALE = 0.75
DESCALED = ("descale_key", "descale_value", "capture0")


def distance(s, b, h, i, j):
    """A score_mod, of symbols, numbers or tensors: the score less a slope times the distance, a slope for each head."""
    return s + (j - i) * h * DISTANCE_SLOPE


#: score_mod regions beyond the named ones.
SCORES = {"distance": trace_score(distance).region}


@dataclasses.dataclass(frozen=True)
class Attention:
    """A forward, or with `gradient` the backward of query, key and value. `mask` is one of masks.py; `score` is written as in
    the assembly, soft_cap(30.0), or names one of SCORES. `bias` is a f32 [1, 1, M, N]. With a `page` keys and values lie in a
    cache of pages of so many positions, and each batch has a length; such attentions have no mask, bias or gradient. `cache` is
    the type of 8 bits of such keys and values, which are DESCALE times what is stored; of a `latent` cache (MLA) the values are the
    first columns of the keys."""

    dtype: str = "bf16"
    D: int = 128
    Dv: int = 128
    mask: str = ""
    score: str = ""
    bias: bool = False
    lse: bool = False
    gradient: bool = False
    page: int = 0
    cache: str = ""
    latent: bool = False

    @property
    def name(self) -> str:
        dims = f"d{self.D}" + (f"_{self.Dv}" if self.Dv != self.D else "")
        parts = [
            self.dtype,
            dims,
            self.mask or "full",
            self.score,
            "bias" if self.bias else "",
            f"pages{self.page}" if self.page else "",
            self.cache,
            "latent" if self.latent else "",
            "lse" if self.lse else "",
            "backward" if self.gradient else "",
        ]
        return re.sub(r"[^\w-]+", "_", "-".join(part for part in parts if part)).strip("_").replace("_-", "-")

    @property
    def soft_cap(self) -> float:
        match = re.fullmatch(r"soft_cap\((.*)\)", self.score)
        return float(match[1]) if match else 0.0

    @property
    def form(self) -> FullMask:
        return mask_of(self.mask)

    @property
    def window(self) -> Optional[tuple[int, int]]:
        """(left, right) of a sliding window."""
        return (self.form.left, self.form.right) if isinstance(self.form, WindowMask) else None

    def mlir(self, sizes: Mapping[str, int] = {}) -> str:
        """The module; of B, Hq, Hkv, M and N, those in `sizes` are static."""
        score = SCORES.get(self.score, Region(self.score)) if self.score else None
        attention = AttentionProblem(
            dtype=self.dtype,
            head_dim=self.D,
            value_dim=self.Dv,
            mask=self.form.region,
            score=score,
            bias_shape=(1, 1, "M", "N") if self.bias else None,
            pages=(self.page, "i32") if self.page else None,
            cache_dtype=self.cache or None,
            descales=(1, 1) if self.cache else (),
            latent=self.latent,
            scale=self.D**-0.5 if self.latent else None,
            lengths=(("key_lengths", "i32"),) if self.page else (),
            lse=self.lse,
            gradient=self.gradient,
        )
        return attention.mlir(dict(sizes))


@dataclasses.dataclass(frozen=True)
class Problem:
    """An attention at sizes. `layout` is where rows lie in memory: bhnd, bnhd, packed (query, key and value of a
    position side by side) or padded (gaps after rows, heads and batches). `magnitude` scales query and key. `lengths` of
    documents and the `density` of listed blocks are for the masks that read them."""

    attention: Attention
    B: int = 1
    Hq: int = 1
    Hkv: int = 1
    M: int = 1
    N: int = 1
    layout: str = "bhnd"
    magnitude: float = 1.0
    lengths: tuple[int, ...] = ()
    density: float = 1.0

    @property
    def name(self) -> str:
        heads = f"H{self.Hq}" + (f"/{self.Hkv}" if self.Hkv != self.Hq else "")
        rows = f"S{self.M}" if self.M == self.N else f"M{self.M} N{self.N}"
        extra = "" if self.layout == "bhnd" else f" {self.layout}"
        extra += f" x{self.magnitude:g}" if self.magnitude != 1 else ""
        extra += f" {len(self.lengths)} documents" if self.lengths else ""
        extra += f" 1/{1 / self.density:g} listed" if self.density != 1 else ""
        return f"{self.attention.name} B{self.B} {heads} {rows}{extra}"

    @property
    def label(self) -> str:
        """For tables: "hd128 causal S8192 B2 H16"."""
        a = self.attention
        dims = f"hd{a.D}" + (f"/{a.Dv}" if a.Dv != a.D else "")
        heads = f"H{self.Hq}" + (f"/{self.Hkv}" if self.Hkv != self.Hq else "")
        rows = f"S{self.M}" if self.M == self.N else f"M{self.M} N{self.N}"
        what = "backward " if a.gradient else ""
        cache = (f" pages of {a.page}" if a.page else "") + (f" {a.cache}" if a.cache else "") + (" latent" if a.latent else "")
        return f"{what}{dims} {a.form.label(self)} {rows} B{self.B} {heads}{cache}"

    @property
    def sizes(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("B", "Hq", "Hkv", "M", "N")}

    def to_json(self) -> dict:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(fields: dict) -> "Problem":
        attention, lengths = Attention(**fields["attention"]), tuple(fields["lengths"])
        return Problem(**{**fields, "attention": attention, "lengths": lengths})

    def flops(self) -> int:
        """By the exact visible area: 2 (D + Dv) for each visible pair of each query head, 2.5 times that in a backward."""
        pairs = self.M * sum(self.key_lengths) if self.attention.page else visible_pairs(self) * self.B
        forward = 2 * (self.attention.D + self.attention.Dv) * pairs * self.Hq
        return forward * 5 // 2 if self.attention.gradient else forward

    @property
    def is_serving(self) -> bool:
        """Whether there are keys and values of a cache before those of the rows: what it takes is the time to read them."""
        return self.M < self.N

    def bytes(self) -> int:
        """Of query, key, value and output of a forward, each once; of a cache, the keys and values that exist."""
        a, sizes = self.attention, self.shapes()
        element = 4 if a.dtype == "f32" else 2
        keys = (a.D + (0 if a.latent else a.Dv)) * self.Hkv * sum(self.key_lengths)
        rows = sum(math.prod(sizes[name]) for name in ("query", "output"))
        return element * rows + (1 if a.cache else element) * keys

    @property
    def key_lengths(self) -> list[int]:
        """Of each batch: N; in a cache with pages from N down to three quarters of it, few of which end with a page."""
        if not self.attention.page:
            return [self.N] * self.B
        return [max(1, self.N - b * (self.N // 4) // self.B - b % 3) for b in range(self.B)]

    def integers(self) -> dict[str, tuple[tuple[int, ...], list[int]]]:
        """The i32 operands: shape and values, by their names in the manifest. The pages of a batch are anywhere in the cache."""
        operands = self.attention.form.captures(self)
        if self.attention.page:
            pages = list(range(self.B * self.pages))
            random.Random(0).shuffle(pages)
            operands["key_table"] = (self.B, self.pages), pages
            operands["key_lengths"] = (self.B,), self.key_lengths
        return operands

    @property
    def pages(self) -> int:
        """Of a batch."""
        return -(-self.N // self.attention.page)

    @property
    def results(self) -> tuple[str, ...]:
        """The operands that are computed."""
        if self.attention.gradient:
            return "d_query", "d_key", "d_value"
        return ("output", "lse") if self.attention.lse else ("output",)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of every operand, by its name in the manifest."""
        a, rows = self.attention, (self.B, self.Hq, self.M)
        shapes: dict[str, tuple[int, ...]] = {
            "query": (*rows, a.D),
            "key": (self.B, self.Hkv, self.N, a.D),
            "value": (self.B, self.Hkv, self.N, a.Dv),
        }
        if a.page:
            pools = {name: (self.B * self.pages, self.Hkv, a.page, shapes[name][3]) for name in ("key", "value")}
            shapes.update(pools)
        if a.cache:
            shapes.update((name, (1,)) for name in DESCALED)
        if a.bias:
            shapes["bias"] = (1, 1, self.M, self.N)
        shapes.update((name, shape) for name, (shape, _) in self.integers().items())
        shapes["output"] = (*rows, a.Dv)
        if a.lse or a.gradient:
            shapes["lse"] = rows
        if a.gradient:
            shapes.update((f"d_{name}", shapes[name]) for name in ("output", "query", "key", "value"))
        return shapes

    def dtype_of(self, name: str) -> str:
        """Of an operand."""
        if self.attention.cache and name in ("key", "value", *DESCALED):
            return self.attention.cache if name in ("key", "value") else "f32"
        if name.startswith("capture") or name in ("key_table", "key_lengths"):
            return "i32"
        return "f32" if name in ("bias", "lse") else self.attention.dtype

    def strides(self) -> dict[str, tuple[int, ...]]:
        """Of the operands that have rows, in elements; the others have no gaps."""
        names = ("query", "key", "value", "output")
        with_rows = {name for operand in names for name in (operand, f"d_{operand}")}
        return {name: self.strides_of(shape) for name, shape in self.shapes().items() if name in with_rows}

    def strides_for(self, operands: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Those of the operands of a kernel, which reads no values of a latent cache where keys have them."""
        known = self.strides()
        return {name: known[name] for name in operands if name in known}

    def strides_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        _, heads, rows, width = shape
        if self.layout == "bnhd":
            return rows * heads * width, width, heads * width, 1
        if self.layout == "packed":
            row = self.Hq * self.attention.D + self.Hkv * (self.attention.D + self.attention.Dv)
            return rows * row, width, row, 1
        if self.layout == "padded":
            return heads * (rows * (width + 8) + 16) + 64, rows * (width + 8) + 16, width + 8, 1
        return heads * rows * width, rows * width, width, 1
