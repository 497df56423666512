# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lists of the kit: what is proven, what is timed and in which order, what is tuned."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator

from .configurations import Attention, Problem
from .masks import document_lengths, mask_of
from .silicon import Case, full_cases

TARGETS = ("sm_90a", "sm_80")
#: (D, Dv) that the kit covers.
HEAD_DIMS = ((64, 64), (96, 96), (128, 128), (192, 192), (256, 256), (192, 128))
#: Those that are timed.
TIMED_HEAD_DIMS = ((128, 128), (64, 64), (256, 256), (192, 128))
#: The parts of a run that time, each a list of problems.
TIMED_PARTS = ("speed", "backward", "masks", "serving")


@dataclasses.dataclass(frozen=True)
class Suite:
    """What a bundle holds: problems to begin with, as (target, problem, schedule), to prove on each target, to time, by part,
    and to tune over `candidates` schedules each; and what holds the simulator to the device."""

    smoke: tuple[tuple[str, Problem, str], ...]
    numerics: dict[str, tuple[Problem, ...]]
    timed: dict[str, tuple[Problem, ...]]
    tune: tuple[Problem, ...]
    silicon: tuple[Case, ...]
    candidates: int = 5


# ---- smoke


def smoke_problems() -> Iterator[tuple[str, Problem, str]]:
    """One kernel for each thing that a GPU may do otherwise than expected, the simplest first."""
    full, causal = Attention(lse=True), Attention(mask="causal(bottom_right)", lse=True)
    backward = Attention(mask="causal(bottom_right)", gradient=True)
    ragged: dict[str, Any] = dict(B=2, Hq=4, Hkv=2, M=1000, N=1000, layout="bnhd")
    yield "sm_80", Problem(Attention(D=64, Dv=64, mask="causal(bottom_right)", lse=True), **ragged), ""
    yield "sm_90a", Problem(full, B=1, Hq=1, Hkv=1, M=64, N=64), "persistent_ctas=0 cluster_m=1"
    yield "sm_90a", Problem(full, **ragged), "persistent_ctas=0 cluster_m=1"
    yield "sm_90a", Problem(causal, **ragged), "persistent_ctas=0 cluster_m=1"
    yield "sm_90a", Problem(full, **ragged), "persistent_ctas=0 cluster_m=2"
    # More than two waves of an H100's 132 SMs.
    yield "sm_90a", Problem(full, B=4, Hq=16, Hkv=4, M=1100, N=1100), "persistent_ctas=132 cluster_m=1"
    yield "sm_90a", Problem(backward, **ragged), "fused=0"
    yield "sm_90a", Problem(backward, **ragged), "fused=1"


# ---- numerics

MASKS = ("", "causal(bottom_right)", "causal(top_left)", "sliding_window(200, 0)", "sliding_window(77, 130)")
#: Sizes that each mask is proven at: a ragged self-attention with grouped heads, fewer queries than keys, one row.
SHAPES: tuple[dict[str, Any], ...] = (
    dict(B=2, Hq=4, Hkv=2, M=1000, N=1000, layout="bnhd"),
    dict(B=1, Hq=8, Hkv=1, M=333, N=1400, layout="padded"),
    dict(B=3, Hq=2, Hkv=2, M=1, N=777),
)
#: Documents that begin and end where tiles do, and beside.
NASTY_LENGTHS = (1, 63, 64, 65, 1, 127, 128, 129, 2, 255, 165)


def numerics_problems(target: str) -> Iterator[Problem]:
    """Everything on sm_90a; of forwards on the others, which are there for comparison, two head dims."""
    for gradient in (False, True):
        kind: dict[str, Any] = {"gradient": True} if gradient else {"lse": True}
        for D, Dv in HEAD_DIMS if gradient or target == "sm_90a" else ((64, 64), (128, 128)):
            for dtype in ("bf16", "f16"):
                for mask in MASKS:
                    for shape in SHAPES:
                        yield Problem(Attention(dtype, D, Dv, mask, **kind), **shape)
        for D in (64, 128):
            yield from score_problems(D, kind)
            yield from mask_problems(D, kind)
    yield from edge_problems()


def score_problems(D: int, kind: dict[str, Any]) -> Iterator[Problem]:
    for score, mask in (
        ("soft_cap(20.0)", ""),
        ("soft_cap(20.0)", "causal(top_left)"),
        ("distance", "causal(top_left)"),
    ):
        yield Problem(Attention("bf16", D, D, mask, score, **kind), B=2, Hq=4, Hkv=2, M=700, N=900, magnitude=2)
    yield Problem(Attention("bf16", D, D, bias=True, **kind), B=2, Hq=4, Hkv=2, M=500, N=600)
    yield Problem(Attention("f16", D, D, "causal(bottom_right)", bias=True, **kind), B=1, Hq=4, Hkv=4, M=640, N=640)


def mask_problems(D: int, kind: dict[str, Any]) -> Iterator[Problem]:
    """Masks that read data."""
    rows = sum(NASTY_LENGTHS)
    documents = Attention("bf16", D, D, "documents", **kind)
    yield Problem(documents, B=1, Hq=4, Hkv=2, M=rows, N=rows, layout="bnhd", lengths=NASTY_LENGTHS)
    listed = Attention("bf16", D, D, "listed(128)", **kind)
    yield Problem(listed, B=2, Hq=4, Hkv=2, M=1000, N=1000, density=1 / 4)
    yield Problem(listed, B=1, Hq=2, Hkv=2, M=300, N=1400, layout="bnhd", density=1 / 4)


def edge_problems() -> Iterator[Problem]:
    causal, full = Attention(mask="causal(bottom_right)", lse=True), Attention(lse=True)
    backward = dataclasses.replace(causal, lse=False, gradient=True)
    yield from (Problem(full, B=1, Hq=2, Hkv=1, M=m, N=n) for m, n in ((1, 1), (129, 1), (17, 0), (0, 20), (128, 256)))
    for attention in (causal, backward):
        yield Problem(attention, B=1, Hq=2, Hkv=2, M=900, N=300)  # rows without keys
        yield Problem(attention, B=1, Hq=6, Hkv=2, M=512, N=512, layout="packed", magnitude=8)  # logits of hundreds
        yield Problem(attention, B=1, Hq=8, Hkv=1, M=16384, N=16384, layout="packed")
    yield Problem(full, B=1, Hq=8, Hkv=1, M=1, N=131072)
    yield Problem(causal, B=2, Hq=64, Hkv=64, M=65536, N=131072, layout="bnhd")  # offsets beyond 2^31 elements


# ---- what is timed

CAUSAL = "causal(top_left)"


def self_attention(attention: Attention, rows: int, heads: int = 0, group: int = 1, **more) -> Problem:
    """16k tokens and a hidden size of 2048, as the FlashAttention papers measure, unless `heads` are given."""
    heads = heads or 2048 // (128 if (attention.D, attention.Dv) == (192, 128) else attention.D)
    batch = max(1, 16384 // rows) if group == 1 else 1
    return Problem(attention, batch, heads, heads // group, rows, rows, layout="bnhd", **more)


def dense_problems(rows: int, **kind) -> Iterator[Problem]:
    for D, Dv in TIMED_HEAD_DIMS:
        for mask in (CAUSAL, ""):
            yield self_attention(Attention("bf16", D, Dv, mask, **kind), rows)


def grouped_problems(rows: int, **kind) -> Iterator[Problem]:
    for mask in (CAUSAL, ""):
        yield self_attention(Attention(mask=mask, **kind), rows, heads=64, group=8)


def speed_problems() -> Iterator[Problem]:
    """Forward; the most telling sizes first."""
    window = Attention(mask="sliding_window(1023, 0)")
    yield from dense_problems(8192)
    yield from grouped_problems(8192)
    yield self_attention(window, 8192)
    for rows in (16384, 4096, 2048, 32768, 1024, 512):
        yield from dense_problems(rows)
    for rows in (16384, 32768):
        yield from grouped_problems(rows)
        yield self_attention(window, rows)


def backward_problems() -> Iterator[Problem]:
    """Backward at the sizes of the forward, then under masks at 16k."""
    yield from dense_problems(8192, gradient=True)
    yield from dense_problems(16384, gradient=True)
    yield from grouped_problems(8192, gradient=True)
    for mask, more in (
        ("sliding_window(1023, 0)", {}),
        ("documents", {"lengths": document_lengths(16384)}),
        ("listed(128)", {"density": 1 / 8}),
    ):
        yield self_attention(Attention(mask=mask, gradient=True), 16384, **more)
    for rows in (4096, 2048, 32768, 1024, 512):
        yield from dense_problems(rows, gradient=True)


def masked_problems() -> Iterator[Problem]:
    """Families of masks, each behind the dense attention that its times are held to."""
    for D in (128, 64):
        yield self_attention(Attention(D=D, Dv=D), 16384)
        for k in range(7):
            yield self_attention(Attention(D=D, Dv=D, mask="listed(128)"), 16384, density=1 / 2**k)
    yield self_attention(Attention(mask="butterfly(128, 128)"), 16384)
    # The lengths of Path-X and Path-256 (FlashAttention, Dao et al. 2022).
    for rows in (16384, 65536):
        if rows != 16384:
            yield self_attention(Attention(), rows)
        for size in (256, 512, 1024, 2048, 4096, 8192):
            yield self_attention(Attention(mask=f"sliding_window({size - 1}, 0)"), rows)
    for rows in (16384, 32768):
        if rows != 16384:
            yield self_attention(Attention(), rows)
        for seed in (1, 2):
            yield self_attention(Attention(mask="documents"), rows, lengths=document_lengths(rows, seed))


#: Batch and keys of a decode step: few long sequences, a batch, many short ones; and one row or some, as speculation has.
DECODE_SIZES = ((1, 8192), (1, 65536), (16, 2048), (16, 8192), (64, 1024), (128, 2048), (128, 4096))


def serving_problems() -> Iterator[Problem]:
    """Over a cache of the keys and values of those before: decode steps, by heads (grouped, all alike, one key head, few for one long
    sequence, 64 of 256 columns for one as in Step-3's multi-matrix factorization attention) and by the size of its pages, of 8 bits, over DeepSeek's latent cache, and chunks of a prompt."""
    for batch, keys in DECODE_SIZES:
        yield Problem(Attention(), batch, 32, 8, 1, keys, layout="bnhd")
    for heads, key_heads, dim in ((32, 32, 128), (64, 8, 128), (32, 1, 128), (32, 8, 64)):
        yield Problem(Attention(D=dim, Dv=dim), 16, heads, key_heads, 1, 8192, layout="bnhd")
    yield Problem(Attention(), 1, 32, 4, 1, 16384, layout="bnhd")
    yield Problem(Attention(), 1, 64, 8, 1, 131072, layout="bnhd")
    yield Problem(Attention(D=256, Dv=256), 64, 64, 1, 1, 8192, layout="bnhd")
    for page, batch, keys in ((1, 16, 8192), (16, 16, 8192), (16, 64, 4096), (64, 64, 4096), (64, 16, 8192), (64, 1, 65536)):
        yield Problem(Attention(page=page), batch, 32, 8, 1, keys, layout="bnhd")
    yield Problem(Attention(page=64, cache="f8E4M3FN"), 16, 32, 8, 1, 8192, layout="bnhd")
    for heads in (16, 128):
        yield Problem(Attention(D=576, Dv=512, page=64, latent=True), 128, heads, 1, 1, 4096, layout="bnhd")
    for rows in (4, 512):
        chunk = Attention(mask="causal(bottom_right)")
        yield Problem(chunk, 16 if rows == 4 else 1, 32, 8, rows, 8192, layout="bnhd")
    yield Problem(Attention(mask="causal(bottom_right)"), 1, 32, 8, 2048, 32768, layout="bnhd")


def is_for_slow_peers(problem: Problem) -> bool:
    """Whether peers that compile for seconds at every length are timed on it: at the length that tells most, and where
    they are the ones to compare with; none takes pages."""
    if problem.attention.page:
        return False
    return problem.M == 8192 or problem.attention.mask not in ("", CAUSAL) or problem.is_serving


def proof_problem(problem: Problem, static: tuple[str, ...] = (), schedule: str = "") -> Problem:
    """A ragged problem, with the same heads to a group, that proves the kernel of a problem that is timed; the sizes that
    `static` names are the same. The CTAs of a persistent kernel go round more than twice."""
    group = problem.Hq // problem.Hkv
    most = {"M": 500 if problem.is_serving else 1000, "N": 1000}
    batches = min(problem.B, 3) if problem.attention.page else 1
    rows, keys = (
        size if name in static or size < 64 else min(size, most[name]) - 3
        for name, size in (("M", problem.M), ("N", problem.N))
    )
    heads = problem.Hkv if "Hkv" in static else min(problem.Hkv, 2)
    lengths = document_lengths(rows, median=rows / 9) if problem.lengths else ()
    density = 1 / 4 if problem.attention.mask.startswith("listed") else 1.0
    batches = max(batches, batches_of(schedule, heads * group * rows))
    sizes: dict[str, Any] = dict(B=batches, Hq=heads * group, Hkv=heads, M=rows, N=keys)
    return dataclasses.replace(problem, **sizes, lengths=lengths, density=density)


def batches_of(schedule: str, rows: int) -> int:
    """How many batches of so many rows in all heads give each CTA of a persistent kernel more than two tiles; 1 for others."""
    fields = dict(field.split("=") for field in schedule.split())
    tiles = 2 * int(fields.get("persistent_ctas", 0)) * int(fields.get("tile_m", 128))
    return 1 + tiles // rows


def static_sizes(problem: Problem, schedule: str) -> tuple[str, ...]:
    """The sizes that a kernel must know: heads where its tiles pack those of a group, lengths where its mask is a table."""
    heads = ("Hq", "Hkv") if "pack_gqa=1" in schedule else ()
    return heads + (("M", "N") if mask_of(problem.attention.mask).has_static_sizes else ())


def tune_problems() -> Iterator[Problem]:
    """The forwards of 8k rows, and of the few where what a CTA does before and behind its loop counts; then backwards."""
    for problem in speed_problems():
        if problem.M == 8192 or (problem.M in (512, 1024) and problem.attention.D in (64, 128)):
            yield problem
    for problem in backward_problems():
        if problem.M == 8192 and problem.attention.D <= 128 and problem.Hq == problem.Hkv:
            yield problem


def full_suite() -> Suite:
    numerics = {target: tuple(numerics_problems(target)) for target in TARGETS}
    timed = zip(TIMED_PARTS, map(tuple, (speed_problems(), backward_problems(), masked_problems(), serving_problems())))
    return Suite(tuple(smoke_problems()), numerics, dict(timed), tuple(tune_problems()), tuple(full_cases()))


# ---- for tests


def tiny_suite() -> Suite:
    """A few problems that the simulator runs in seconds: what the kit's own tests use."""
    causal = Attention("bf16", 64, 64, "causal(bottom_right)", lse=True)
    backward = Attention("bf16", 64, 64, "causal(bottom_right)", "soft_cap(5.0)", gradient=True)
    numerics = (
        Problem(causal, B=1, Hq=2, Hkv=1, M=70, N=90, layout="bnhd"),
        Problem(causal, B=1, Hq=1, Hkv=1, M=40, N=20),
        Problem(
            Attention("f16", 64, 64, "sliding_window(16, 4)", lse=True), B=1, Hq=1, Hkv=1, M=60, N=60, layout="padded"
        ),
        Problem(Attention("bf16", 64, 64, "", "distance", True, True), B=1, Hq=2, Hkv=2, M=20, N=30, layout="packed"),
        Problem(Attention("f16", 64, 64, "", "soft_cap(5.0)"), B=1, Hq=1, Hkv=1, M=1, N=40, magnitude=3),
        Problem(backward, B=1, Hq=2, Hkv=1, M=30, N=40, layout="bnhd"),
        Problem(backward, B=1, Hq=1, Hkv=1, M=30, N=20, layout="padded"),
        Problem(Attention("f16", 64, 64, "listed(16)", gradient=True), B=1, Hq=1, Hkv=1, M=40, N=50, density=1 / 2),
    )
    sizes: dict[str, Any] = dict(B=1, Hq=1, Hkv=1, M=64, N=64)
    lengths, dense = (1, 30, 31, 2), Attention("bf16", 64, 64)
    timed = {
        "speed": (Problem(dataclasses.replace(dense, mask=CAUSAL), **sizes),),
        "backward": (
            Problem(dataclasses.replace(dense, mask=CAUSAL, gradient=True), **sizes),
            Problem(dataclasses.replace(dense, mask="documents", gradient=True), **sizes, lengths=lengths),
        ),
        "masks": (
            Problem(dense, **sizes),
            Problem(dataclasses.replace(dense, mask="listed(32)"), **sizes, density=1 / 2),
            Problem(dataclasses.replace(dense, mask="butterfly(8, 8)"), **sizes),
            Problem(dataclasses.replace(dense, mask="documents"), **sizes, lengths=lengths),
        ),
        "serving": (
            Problem(dense, B=1, Hq=2, Hkv=1, M=1, N=64),
            Problem(dataclasses.replace(dense, page=16), B=2, Hq=2, Hkv=1, M=1, N=40),
            Problem(dataclasses.replace(dense, page=16, cache="f8E4M3FN"), B=2, Hq=2, Hkv=1, M=1, N=40),
            Problem(dataclasses.replace(dense, D=96, page=16, latent=True), B=2, Hq=2, Hkv=1, M=1, N=40),
        ),
    }
    smoke = (
        ("sm_80", numerics[1], ""),
        ("sm_90a", Problem(Attention(lse=True), M=20, N=30), "persistent_ctas=0 cluster_m=2"),
        ("sm_90a", numerics[5], "fused=1"),
    )
    silicon = tuple(dataclasses.replace(case, M=70, N=90) for case in full_cases() if case.problem.mask)[:3]
    # Of each kind on one of the targets.
    proven: dict[str, tuple[Problem, ...]] = {"sm_80": (numerics[1], numerics[2], numerics[4], numerics[6])}
    proven["sm_90a"] = (numerics[0], numerics[3], numerics[5], numerics[7])
    return Suite(smoke, proven, timed, timed["speed"], silicon, candidates=2)


SUITES = {"full": full_suite, "tiny": tiny_suite}
