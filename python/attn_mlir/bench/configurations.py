# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kit compiles and runs: attentions, the sizes they run at, and the lists of both.

An `Attention` is one kernel, with all sizes dynamic but the head dims; a `Problem` is an attention at certain sizes.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Iterator, Mapping, Optional

from ..problem import AttentionProblem, Region

TARGETS = ("sm_90a", "sm_80")
#: (D, Dv) that the kit covers.
HEAD_DIMS = ((64, 64), (96, 96), (128, 128), (192, 192), (256, 256), (192, 128))
#: score_mod regions beyond the named ones: the score less a slope times the distance, a slope for each head.
SCORES = {"distance": """(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %d = arith.subi %j, %i : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %hi = arith.index_cast %h : index to i32
      %hf = arith.sitofp %hi : i32 to f32
      %slope = arith.constant 0.03125 : f32
      %a = arith.mulf %df, %slope : f32
      %penalty = arith.mulf %a, %hf : f32
      %r = arith.addf %s, %penalty : f32
      attn.yield %r : f32
    }"""}
DISTANCE_SLOPE = 0.03125


@dataclasses.dataclass(frozen=True)
class Attention:
    """One kernel. `mask` and `score` are written as in the assembly: causal(top_left), sliding_window(8, 0),
    soft_cap(30.0); `score` may name one of SCORES. `bias` is a f32 [1, 1, M, N]."""

    dtype: str = "bf16"
    D: int = 128
    Dv: int = 128
    mask: str = ""
    score: str = ""
    bias: bool = False
    lse: bool = False

    @property
    def name(self) -> str:
        dims = f"d{self.D}" + (f"_{self.Dv}" if self.Dv != self.D else "")
        parts = [
            self.dtype,
            dims,
            self.mask or "full",
            self.score,
            "bias" if self.bias else "",
            "lse" if self.lse else "",
        ]
        return re.sub(r"[^\w-]+", "_", "-".join(part for part in parts if part)).strip("_").replace("_-", "-")

    @property
    def soft_cap(self) -> float:
        match = re.fullmatch(r"soft_cap\((.*)\)", self.score)
        return float(match[1]) if match else 0.0

    @property
    def window(self) -> Optional[tuple[int, int]]:
        """(left, right) of a sliding window."""
        match = re.fullmatch(r"sliding_window\((\d+), (\d+)\)", self.mask)
        return (int(match[1]), int(match[2])) if match else None

    def mlir(self, sizes: Mapping[str, int] = {}) -> str:
        """The module; of B, Hq, Hkv, M and N, those in `sizes` are static."""
        score = Region(SCORES.get(self.score, self.score)) if self.score else None
        attention = AttentionProblem(
            dtype=self.dtype,
            head_dim=self.D,
            value_dim=self.Dv,
            mask=Region(self.mask) if self.mask else None,
            score=score,
            bias_shape=(1, 1, "M", "N") if self.bias else None,
            lse=self.lse,
        )
        return attention.mlir(dict(sizes))


@dataclasses.dataclass(frozen=True)
class Problem:
    """An attention at sizes. `layout` is where rows lie in memory: bhnd, bnhd, packed (query, key and value of a
    position side by side) or padded (gaps after rows, heads and batches). `magnitude` scales query and key."""

    attention: Attention
    B: int = 1
    Hq: int = 1
    Hkv: int = 1
    M: int = 1
    N: int = 1
    layout: str = "bhnd"
    magnitude: float = 1.0

    @property
    def name(self) -> str:
        heads = f"H{self.Hq}" + (f"/{self.Hkv}" if self.Hkv != self.Hq else "")
        rows = f"S{self.M}" if self.M == self.N else f"M{self.M} N{self.N}"
        extra = "" if self.layout == "bhnd" else f" {self.layout}"
        extra += f" x{self.magnitude:g}" if self.magnitude != 1 else ""
        return f"{self.attention.name} B{self.B} {heads} {rows}{extra}"

    @property
    def label(self) -> str:
        """For tables: "hd128 causal S8192 B2 H16"."""
        a = self.attention
        dims = f"hd{a.D}" + (f"/{a.Dv}" if a.Dv != a.D else "")
        mask = a.mask.partition("(")[0] or "full"
        if a.window:
            mask = f"window{sum(a.window) + 1}"
        heads = f"H{self.Hq}" + (f"/{self.Hkv}" if self.Hkv != self.Hq else "")
        rows = f"S{self.M}" if self.M == self.N else f"M{self.M} N{self.N}"
        return f"{dims} {mask} {rows} B{self.B} {heads}"

    @property
    def sizes(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("B", "Hq", "Hkv", "M", "N")}

    def to_json(self) -> dict:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(fields: dict) -> "Problem":
        return Problem(**{**fields, "attention": Attention(**fields["attention"])})

    def key_range(self, i: int) -> tuple[int, int]:
        """The keys [begin, end) that row i sees; empty where begin >= end."""
        mask = self.attention.mask
        if mask.startswith("causal"):
            return 0, min(self.N, i + 1 + (self.N - self.M if "bottom_right" in mask else 0))
        window = self.attention.window
        if window:
            return max(0, i - window[0]), min(self.N, i + window[1] + 1)
        return 0, self.N

    def visible_pairs(self) -> int:
        """Pairs (i, j) that the mask leaves visible, of one head."""
        return sum(max(0, end - begin) for begin, end in map(self.key_range, range(self.M)))

    def flops(self) -> int:
        """Of both products, by the exact visible area: 2 (D + Dv) for each visible pair of each query head."""
        return 2 * (self.attention.D + self.attention.Dv) * self.visible_pairs() * self.B * self.Hq

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of every operand, by its name in the manifest."""
        a = self.attention
        shapes: dict[str, tuple[int, ...]] = {
            "query": (self.B, self.Hq, self.M, a.D),
            "key": (self.B, self.Hkv, self.N, a.D),
            "value": (self.B, self.Hkv, self.N, a.Dv),
            "output": (self.B, self.Hq, self.M, a.Dv),
        }
        if a.bias:
            shapes["bias"] = (1, 1, self.M, self.N)
        if a.lse:
            shapes["lse"] = (self.B, self.Hq, self.M)
        return shapes

    def strides(self) -> dict[str, tuple[int, ...]]:
        """Of query, key, value and output, in elements; other operands have no gaps."""
        return {name: self.strides_of(self.shapes()[name]) for name in ("query", "key", "value", "output")}

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


@dataclasses.dataclass(frozen=True)
class Suite:
    """What a bundle holds: problems to prove on each target, to time, and to tune over `candidates` schedules each."""

    numerics: dict[str, tuple[Problem, ...]]
    speed: tuple[Problem, ...]
    tune: tuple[Problem, ...]
    candidates: int = 10


#: Sizes that each mask is proven at: a ragged self-attention with grouped heads, fewer queries than keys, one row.
SHAPES = (
    dict(B=2, Hq=4, Hkv=2, M=1000, N=1000, layout="bnhd"),
    dict(B=1, Hq=8, Hkv=1, M=333, N=1400, layout="padded"),
    dict(B=3, Hq=2, Hkv=2, M=1, N=777),
)


def numerics_problems(target: str) -> Iterator[Problem]:
    """Everything on sm_90a; two head dims on the others, which are there for comparison."""
    masks = ("", "causal(bottom_right)", "causal(top_left)", "sliding_window(200, 0)", "sliding_window(77, 130)")
    for D, Dv in HEAD_DIMS if target == "sm_90a" else ((64, 64), (128, 128)):
        for dtype in ("bf16", "f16"):
            for mask in masks:
                attention = Attention(dtype, D, Dv, mask, lse=True)
                for shape in SHAPES:
                    yield Problem(attention, **shape)
    for D in (64, 128):
        for score, mask in (
            ("soft_cap(20.0)", ""),
            ("soft_cap(20.0)", "causal(top_left)"),
            ("distance", "causal(top_left)"),
        ):
            yield Problem(Attention("bf16", D, D, mask, score, lse=True), B=2, Hq=4, Hkv=2, M=700, N=900, magnitude=2)
        yield Problem(Attention("bf16", D, D, "", bias=True, lse=True), B=2, Hq=4, Hkv=2, M=500, N=600)
        yield Problem(
            Attention("f16", D, D, "causal(bottom_right)", bias=True, lse=True), B=1, Hq=4, Hkv=4, M=640, N=640
        )
    causal, full = Attention(mask="causal(bottom_right)", lse=True), Attention(lse=True)
    yield from (Problem(full, B=1, Hq=2, Hkv=1, M=m, N=n) for m, n in ((1, 1), (129, 1), (17, 0), (0, 20), (128, 256)))
    yield Problem(causal, B=1, Hq=2, Hkv=2, M=900, N=300)  # rows without keys
    yield Problem(causal, B=1, Hq=6, Hkv=2, M=512, N=512, layout="packed", magnitude=8)  # logits of hundreds
    yield Problem(causal, B=1, Hq=8, Hkv=1, M=16384, N=16384, layout="packed")
    yield Problem(full, B=1, Hq=8, Hkv=1, M=1, N=131072)
    yield Problem(causal, B=2, Hq=64, Hkv=64, M=65536, N=131072, layout="bnhd")  # offsets beyond 2^31 elements


def speed_problems() -> Iterator[Problem]:
    """16k tokens and a hidden size of 2048, as the FlashAttention papers measure; the most telling sizes first."""

    def self_attention(D, Dv, mask, rows):
        heads = 2048 // (128 if (D, Dv) == (192, 128) else D)
        sizes = dict(B=max(1, 16384 // rows), Hq=heads, Hkv=heads, M=rows, N=rows)
        return Problem(Attention("bf16", D, Dv, mask), **sizes, layout="bnhd")

    grouped = [
        Problem(Attention(mask=mask), B=1, Hq=64, Hkv=8, M=rows, N=rows, layout="bnhd")
        for rows in (8192, 16384, 32768)
        for mask in ("causal(top_left)", "")
    ]
    window = [
        Problem(
            Attention(mask="sliding_window(1023, 0)"),
            B=max(1, 16384 // rows),
            Hq=16,
            Hkv=16,
            M=rows,
            N=rows,
            layout="bnhd",
        )
        for rows in (8192, 16384, 32768)
    ]
    # Time against the window, at the lengths of Path-X and Path-256 (FlashAttention, Dao et al. 2022).
    windows = [
        Problem(Attention(mask=f"sliding_window({size - 1}, 0)"), B=1, Hq=16, Hkv=16, M=rows, N=rows, layout="bnhd")
        for rows in (16384, 65536)
        for size in (256, 512, 2048, 4096, 8192)
    ]
    dims = ((128, 128), (64, 64), (256, 256), (192, 128))
    masks = ("causal(top_left)", "")
    yield from (self_attention(*d, mask, 8192) for d in dims for mask in masks)
    yield from grouped[:2]
    yield window[0]
    for rows in (16384, 4096, 2048, 32768, 1024, 512):
        yield from (self_attention(*d, mask, rows) for d in dims for mask in masks)
    yield from grouped[2:]
    yield from window[1:]
    yield from windows


def proof_problem(problem: Problem, all_heads: bool = False) -> Problem:
    """A ragged problem, with the same heads to a group, that proves the kernel of a problem that is timed; with
    `all_heads`, with as many."""
    group = problem.Hq // problem.Hkv
    rows = min(problem.M, 1000) - 3
    heads = problem.Hkv if all_heads else min(problem.Hkv, 2)
    return Problem(problem.attention, B=1, Hq=heads * group, Hkv=heads, M=rows, N=rows, layout=problem.layout)


def tune_problems() -> Iterator[Problem]:
    for problem in speed_problems():
        if problem.M == 8192 or (problem.M == 1024 and problem.attention.D == 128):
            yield problem


def full_suite() -> Suite:
    numerics = {target: tuple(numerics_problems(target)) for target in TARGETS}
    return Suite(numerics, tuple(speed_problems()), tuple(tune_problems()))


def tiny_suite() -> Suite:
    """A few problems that the simulator runs in seconds: what the kit's own tests use."""
    causal = Attention("bf16", 64, 64, "causal(bottom_right)", lse=True)
    numerics = (
        Problem(causal, B=1, Hq=2, Hkv=1, M=70, N=90, layout="bnhd"),
        Problem(causal, B=1, Hq=1, Hkv=1, M=40, N=20),
        Problem(
            Attention("f16", 64, 64, "sliding_window(16, 4)", lse=True), B=1, Hq=1, Hkv=1, M=60, N=60, layout="padded"
        ),
        Problem(Attention("bf16", 64, 64, "", "distance", True, True), B=1, Hq=2, Hkv=2, M=20, N=30, layout="packed"),
        Problem(Attention("f16", 64, 64, "", "soft_cap(5.0)"), B=1, Hq=1, Hkv=1, M=1, N=40, magnitude=3),
    )
    speed = (Problem(Attention("bf16", 64, 64, "causal(top_left)"), B=1, Hq=1, Hkv=1, M=128, N=128),)
    return Suite({target: numerics for target in TARGETS}, speed, speed, candidates=2)


SUITES = {"full": full_suite, "tiny": tiny_suite}
