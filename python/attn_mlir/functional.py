# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention`: scaled dot-product attention on arrays, compiled on first use."""

from __future__ import annotations

import functools
from typing import Any, Optional, Union

from .arrays import ArrayView, view_of
from .cache import Cache
from .errors import BindingError
from .kernel import Kernel, compile, cuda_device
from . import mask as masks
from .mask import Mask, Score, trace_mask, trace_score
from .problem import AttentionProblem, bias_shape

Causal = Union[bool, str]
Window = Union[int, tuple[int, int], None]


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    causal: Causal = False,
    window: Window = None,
    bias: Any = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    mask_mod: Union[Mask, Any] = None,
    block_mask: Any = None,
    score_mod: Union[Score, Any] = None,
    return_lse: bool = False,
    out: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    cache: Optional[Cache] = None,
) -> Any:
    """softmax(scale * query key^T + bias, masked) value.

    Arguments:
      query: [B, Hq, M, D], f16, bf16 or f32; key: [B, Hkv, N, D]; value: [B, Hkv, N, Dv]; Hkv divides Hq. Any strides
        with a contiguous head dim: of arrays [B, M, H, D], pass the transposed view.
      causal: True or "bottom_right" (row i sees keys up to i + N - M, as FlashAttention and decoding do), "top_left" (up
        to i, as torch does), or False.
      window: (left, right): row i sees the keys i - left to i + right; a number is (left, 0).
      bias: [B, Hq, M, N] with any dimension 1, added to the scores.
      soft_cap: scores become soft_cap * tanh(score / soft_cap).
      scale: 1/sqrt(D) by default.
      mask_mod, score_mod: functions of (b, h, i, j) and (score, b, h, i, j), see attn_mlir.mask. A mask_mod holds beside
        `causal` and `window`; a score_mod takes the place of `soft_cap`.
      block_mask: lists of blocks outside of which nothing is seen, as attn_mlir.mask.block_mask or FlexAttention's BlockMask;
        holds beside the other masks.
      return_lse: also the logarithm of each row's sum of exponentials, [B, Hq, M] f32; -inf in rows without keys.
      out: an array for the output, or (output, lse).
      target: what to compile for; by default the GPU that the arrays are on, and the CPU for arrays in host memory.
      device: as for a kernel's call: "sim" runs a GPU's kernel in the simulator.

    Returns output [B, Hq, M, Dv], or (output, lse), of query's library. Rows without keys are 0. Results
    carry no gradients.

    A kernel is compiled once for each combination of types, head dims and options, and kept on disk; lengths, batch
    sizes, head counts and strides need no other. Raises BindingError for arrays that do not fit, CompileError with the
    compiler's diagnostics.
    """
    views = {name: view_of(array, name) for name, array in (("query", query), ("key", key), ("value", value))}
    for name, view in views.items():
        if len(view.shape) != 4:
            raise BindingError(f"{name}: expected [batch, heads, rows, head dim], got rank {len(view.shape)}")
    mask, score = make_mask(causal, window, mask_mod, block_mask), make_score(soft_cap, score_mod)
    arguments, problem = [query, key, value], make_problem(views, mask, score, scale, return_lse)
    if bias is not None:
        view = view_of(bias, "bias")
        sizes = (*views["query"].shape[:3], views["key"].shape[2])
        problem = {**problem, "bias_shape": bias_shape(view.shape, sizes), "bias_dtype": view.dtype}
        arguments.append(bias)
    arguments += [array for part in (score, mask) if part for array in part.arrays]
    target = target or default_target(views["query"], device)
    kernel = compiled(AttentionProblem(**problem), target, cache)
    return kernel(*arguments, out=out, device=device)


def make_problem(views: dict[str, ArrayView], mask, score, scale: Optional[float], lse: bool) -> dict[str, Any]:
    """The fields of an AttentionProblem."""
    query, value = views["query"], views["value"]
    for name, view in views.items():
        if view.dtype != query.dtype:
            raise BindingError(f"{name}: expected dtype {query.dtype}, that of query, got {view.dtype}")
    return {
        "dtype": query.dtype,
        "head_dim": query.shape[3],
        "value_dim": value.shape[3],
        "mask": mask.region if mask else None,
        "score": score.region if score else None,
        "scale": scale,
        "lse": lse,
    }


def make_mask(causal: Causal, window: Window, mask_mod, block_mask=None) -> Optional[Mask]:
    """All of the conditions at once."""
    if causal not in (True, False, "top_left", "bottom_right"):
        raise BindingError(f"expected causal to be a bool, 'top_left' or 'bottom_right', got {causal!r}")
    parts = []
    if causal:
        parts.append(masks.causal(causal if isinstance(causal, str) else "bottom_right"))
    if window is not None:
        left, right = (window, 0) if isinstance(window, int) else window
        parts.append(masks.sliding_window(left, right))
    if block_mask is not None:
        parts.append(masks.as_block_mask(block_mask))
    if mask_mod is not None:
        parts.append(trace_mask(mask_mod))
    return functools.reduce(lambda a, b: a & b, parts) if parts else None


def make_score(soft_cap: Optional[float], score_mod) -> Optional[Score]:
    if soft_cap is not None and score_mod is not None:
        raise BindingError("expected soft_cap or score_mod, got both")
    if soft_cap is not None:
        return masks.soft_cap(soft_cap)
    return trace_score(score_mod) if score_mod is not None else None


def default_target(query: ArrayView, device: Optional[str]) -> str:
    if query.device == "cuda":
        major, minor = cuda_device(query.device_id).context.capability
        return "sm_90a" if (major, minor) == (9, 0) else "sm_80"
    return "sm_90a" if device == "sim" else "cpu"


@functools.lru_cache(maxsize=256)
def compiled(problem: AttentionProblem, target: str, cache: Optional[Cache]) -> Kernel:
    """The kernel, from this process, the cache or the compiler."""
    return compile(problem, target=target, cache=cache)
