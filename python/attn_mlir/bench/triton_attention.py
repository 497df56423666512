# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plain Triton forward kernel, as one writes it by hand in an hour: online softmax, one program for each row tile."""

from __future__ import annotations

import math

import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    query, key, value, output, scale_log2,
    q_b, q_h, q_m, k_b, k_h, k_n, v_b, v_h, v_n, o_b, o_h, o_m,
    heads, group, rows, keys,
    D: tl.constexpr, DV: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(1) // heads, tl.program_id(1) % heads
    first = tl.program_id(0) * BLOCK_M
    i = first + tl.arange(0, BLOCK_M)
    d, dv = tl.arange(0, D), tl.arange(0, DV)
    query += b.to(tl.int64) * q_b + h.to(tl.int64) * q_h
    key += b.to(tl.int64) * k_b + (h // group).to(tl.int64) * k_h
    value += b.to(tl.int64) * v_b + (h // group).to(tl.int64) * v_h
    q = tl.load(query + i[:, None] * q_m + d[None, :], mask=i[:, None] < rows, other=0.0)
    top = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, DV], tl.float32)
    begin = 0
    if WINDOW >= 0:
        begin = tl.maximum(0, first - WINDOW) // BLOCK_N * BLOCK_N
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, first + BLOCK_M)
    for start in tl.range(begin, end, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        k = tl.load(key + j[None, :] * k_n + d[:, None], mask=j[None, :] < keys, other=0.0)
        s = tl.dot(q, k) * scale_log2
        visible = j[None, :] < keys
        if CAUSAL:
            visible = visible & (j[None, :] <= i[:, None])
        if WINDOW >= 0:
            visible = visible & (j[None, :] >= i[:, None] - WINDOW)
        s = tl.where(visible, s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        p = tl.exp2(s - shift[:, None])
        alpha = tl.exp2(top - shift)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(value + j[:, None] * v_n + dv[None, :], mask=j[:, None] < keys, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        top = new_top
    acc = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    output += b.to(tl.int64) * o_b + h.to(tl.int64) * o_h
    tl.store(output + i[:, None] * o_m + dv[None, :], acc.to(output.dtype.element_ty), mask=i[:, None] < rows)


def meta(problem) -> dict:
    """The constants and launch options for a problem."""
    a = problem.attention
    wide = a.D > 128
    return {
        "D": a.D,
        "DV": a.Dv,
        "BLOCK_M": 128,
        "BLOCK_N": 64 if wide else 128,
        "CAUSAL": a.mask != "",
        "WINDOW": a.window[0] if a.window else -1,
        "num_warps": 8,
        "num_stages": 2,
    }


def make_attention(problem, sets):
    """See peers.py."""
    import torch

    from .peers import Unavailable

    a = problem.attention
    if a.D & (a.D - 1) or a.Dv & (a.Dv - 1):
        raise Unavailable("Triton's tiles are powers of two; this kernel does not split a head dim")
    if a.mask not in ("", "causal(top_left)") and not a.window:
        raise Unavailable(f"this kernel has no mask {a.mask}")
    if a.window and a.window[1] != 0:
        raise Unavailable("this kernel has only windows to the left")
    output = torch.empty_strided(
        problem.shapes()["output"],
        problem.strides()["output"],
        dtype=sets[0]["query"].dtype,
        device=sets[0]["query"].device,
    )
    grid = (triton.cdiv(problem.M, 128), problem.B * problem.Hq)
    scale, options = math.log2(math.e) / math.sqrt(a.D), meta(problem)

    def call(i):
        q, k, v = (sets[i % len(sets)][name] for name in ("query", "key", "value"))
        strides = [s for t in (q, k, v, output) for s in t.stride()[:3]]
        attention_kernel[grid](
            q, k, v, output, scale, *strides, problem.Hq, problem.Hq // problem.Hkv, problem.M, problem.N, **options
        )
        return output

    return call
