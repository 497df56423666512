# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of 16-bit inputs by products of 8-bit integers: SageAttention (Zhang et al., ICLR 2025; SageAttention2, ICML 2025)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

from .arrays import view_of
from .checks import check_no_gradients
from .errors import BindingError
from .functional import attention
from .mask import tensor
from .paged import check_offsets
from .ragged import varlen
from .runtime.host_array import HostArray

#: Rows of a query, and keys, that share a scale: tiles of kernels are parts of them.
QUERY_BLOCK, KEY_BLOCK = 128, 128
LAYOUTS = ("HND", "NHD")


class Quantized(NamedTuple):
    """`values`, i8 [B, H, N, D], times `scales`, f32 [B, H, ceil(N / block)], of `block` rows each."""

    values: Any
    scales: Any
    block: int


def quantize_int8(x: Any, block: int) -> Quantized:
    """The integers nearest to x [B, H, N, D], of NumPy or torch, divided by a scale for each `block` rows of a head, by which their largest magnitude becomes 127."""
    if view_of(x, "x").dtype not in ("f16", "bf16", "f32") or len(x.shape) != 4:
        raise BindingError(f"x: expected f16, bf16 or f32 of [B, H, N, D], got {view_of(x, 'x').dtype} of rank {len(x.shape)}")
    if not isinstance(block, int) or block < 1:
        raise BindingError(f"expected block to be a positive number of rows, got {block!r}")
    library = Library(x)
    wide = library.widen(x)
    rows, blocks = x.shape[2], -(-x.shape[2] // block)
    largest = [library.largest(wide[:, :, i * block : (i + 1) * block]) for i in range(blocks)]
    scales = library.stack(largest, wide) / 127
    # A block of zeros is divided by 1.
    divisors = library.where(scales > 0, scales, 1.0)
    quotients = wide / library.repeat(divisors, block)[:, :, :rows, None]
    return Quantized(library.round(quotients), scales, block)


def sageattn(
    q: Any,
    k: Any,
    v: Any,
    tensor_layout: str = "HND",
    is_causal: bool = False,
    sm_scale: Optional[float] = None,
    return_lse: bool = False,
    *,
    smooth_k: bool = True,
    query_block: int = QUERY_BLOCK,
    key_block: int = KEY_BLOCK,
    **options: Any,
) -> Any:
    """softmax(sm_scale * q k^T) v, whose scores are products of integers of 8 bits, by SageAttention's names.

    Arguments:
      q: [B, Hq, M, D], k: [B, Hkv, N, D], v: [B, Hkv, N, Dv], f16, bf16 or f32, of NumPy or torch; "NHD" has heads behind rows. Hkv divides Hq. Weights and v keep v's type.
      is_causal: row i sees keys up to i + N - M.
      smooth_k: the mean of all keys is subtracted first: it changes no output, and keys of models have channels with a large one. The LSE that is returned has it.
      query_block, key_block: rows and keys that share a scale.
      options: of `attention`: window, mask_mod, target, device, cache, ...; score_mod and descale are what this is made of.

    Returns the output, or (output, lse) with lse [B, Hq, M] f32. Forward only.
    """
    check_no_gradients(q=q, k=k, v=v)
    if tensor_layout not in LAYOUTS:
        raise BindingError(f"expected tensor_layout {' or '.join(LAYOUTS)}, got {tensor_layout!r}")
    for name in ("score_mod", "soft_cap", "descale", "bias", "head_map", "qk_norm", "rotary", "key_lengths", "out"):
        if options.get(name) is not None:
            raise BindingError(f"expected no {name}, which integers have no room for, got one")
    is_turned = tensor_layout == "NHD"
    if is_turned:
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    for name, x in (("q", q), ("k", k), ("v", v)):
        if len(x.shape) != 4:
            raise BindingError(f"{name}: expected [B, H, N, D], got rank {len(x.shape)}")
    scale = 1 / math.sqrt(q.shape[3]) if sm_scale is None else sm_scale
    library = Library(k)
    mean = library.mean(library.widen(k)) if smooth_k and k.shape[2] else None
    query, key = quantize_int8(q, query_block), quantize_int8(k if mean is None else library.widen(k) - mean, key_block)
    group = q.shape[1] // max(k.shape[1], 1)
    rows, keys = tensor(query.scales), tensor(key.scales)

    def dequantize(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return s * (rows[b, h, i // query_block] * keys[b, h // group, j // key_block])

    result = attention(query.values, key.values, v, causal=is_causal, scale=scale, score_mod=dequantize, return_lse=return_lse, **options)
    output, lse = result if return_lse else (result, None)
    output = output.swapaxes(1, 2) if is_turned else output
    if lse is None:
        return output
    if mean is not None:
        lse = lse + library.scores(library.widen(q), mean, group) * scale
    return output, lse


def sageattn_varlen(
    q: Any,
    k: Any,
    v: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any,
    max_seqlen_q: Optional[int] = None,
    max_seqlen_k: Optional[int] = None,
    is_causal: bool = False,
    sm_scale: Optional[float] = None,
    smooth_k: bool = True,
    *,
    query_block: int = QUERY_BLOCK,
    key_block: int = KEY_BLOCK,
    **options: Any,
) -> Any:
    """`sageattn` of sequences that lie behind each other, by SageAttention's names.

    q: [rows, Hq, D], k: [key rows, Hkv, D], v: [key rows, Hkv, Dv]; cu_seqlens_q, cu_seqlens_k: [B + 1], as of `varlen`, read on the host, as blocks of rows
    that share a scale begin with a sequence. max_seqlen_k is not needed. `options` are those of `varlen`: window, mask_mod, target, device, cache, ...

    Returns output [rows, Hq, Dv] of v's type, or with return_lse among the options (output, lse), lse [Hq, rows] f32; rows of no sequence are not written.
    """
    check_no_gradients(q=q, k=k, v=v)
    for name in ("score_mod", "soft_cap", "descale", "out"):
        if options.get(name) is not None:
            raise BindingError(f"expected no {name}, which integers have no room for, got one")
    for name, x in (("q", q), ("k", k), ("v", v)):
        if len(x.shape) != 3:
            raise BindingError(f"{name}: expected [rows, H, D], got rank {len(x.shape)}")
    scale = 1 / math.sqrt(q.shape[2]) if sm_scale is None else sm_scale
    library = Library(k)
    wide_q, wide_k = library.widen(q), library.widen(k)
    # Of all sequences: what is the same for all keys of a head changes no output.
    mean = wide_k.mean(0) if smooth_k and k.shape[0] else None
    query = quantize_packed(wide_q, "cu_seqlens_q", cu_seqlens_q, query_block)
    key = quantize_packed(wide_k if mean is None else wide_k - mean, "cu_seqlens_k", cu_seqlens_k, key_block)
    group = q.shape[1] // max(k.shape[1], 1)
    rows, keys = tensor(query.scales), tensor(key.scales)

    def dequantize(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return s * (rows[b, h, i // query_block] * keys[b, h // group, j // key_block])

    result = varlen(query.values, key.values, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, causal=is_causal, scale=scale, score_mod=dequantize, **options)
    if mean is None or not options.get("return_lse"):
        return result
    output, lse = result
    return output, lse + library.scores(wide_q.swapaxes(0, 1)[None], mean[None, :, None], group)[0] * scale


def quantize_packed(x: Any, name: str, offsets: Any, block: int) -> Quantized:
    """`quantize_int8` of the sequences of x, f32 [rows, H, D]: scales are [B, H, blocks of the longest]."""
    if not isinstance(block, int) or block < 1:
        raise BindingError(f"expected block to be a positive number of rows, got {block!r}")
    library = Library(x)
    if len(offsets.shape) != 1:
        raise BindingError(f"{name}: expected a vector of offsets, got rank {len(offsets.shape)}")
    ends = [int(end) for end in offsets.tolist()]
    check_offsets(name, view_of(HostArray.of("i64", (len(ends),), ends)), x.shape[0], None)
    sequences = list(zip(ends, ends[1:]))
    blocks = max((-(-(end - begin) // block) for begin, end in sequences), default=0)
    values, scales = library.round(x * 0), library.zeros((len(sequences), x.shape[1], max(blocks, 1)), x)
    for b, (begin, end) in enumerate(sequences):
        for number, first in enumerate(range(begin, end, block)):
            part = x[first : min(first + block, end)]
            scale = library.module.amax(library.module.abs(part), (0, 2)) / 127
            scales[b, :, number] = scale
            values[first : min(first + block, end)] = library.round(part / library.where(scale > 0, scale, 1.0)[:, None])
    return Quantized(values, scales, block)


class Library:
    """What NumPy and torch spell differently, of the library of an array."""

    def __init__(self, x: Any):
        import importlib

        name = type(x).__module__.split(".")[0]
        if name not in ("numpy", "torch"):
            raise BindingError(f"expected arrays of NumPy or torch, got {type(x).__module__}.{type(x).__name__}")
        self.module, self.is_torch = importlib.import_module(name), name == "torch"

    def widen(self, x: Any) -> Any:
        return x.float() if self.is_torch else x.astype("float32")

    def mean(self, x: Any) -> Any:
        return x.mean(2, keepdims=True) if not self.is_torch else x.mean(2, keepdim=True)

    def largest(self, x: Any) -> Any:
        """[B, H, N, D] to [B, H]."""
        size = self.module.abs(x)
        return self.module.amax(size, (2, 3))

    def stack(self, parts: list, like: Any) -> Any:
        """[B, H] of each block to [B, H, blocks]."""
        return self.module.stack(parts, -1) if parts else self.zeros((*like.shape[:2], 0), like)

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        return self.module.zeros(shape, dtype=like.dtype, **({"device": like.device} if self.is_torch else {}))

    def where(self, condition: Any, x: Any, otherwise: float) -> Any:
        return self.module.where(condition, x, self.module.ones_like(x) * otherwise)

    def repeat(self, x: Any, count: int) -> Any:
        return x.repeat_interleave(count, -1) if self.is_torch else x.repeat(count, -1)

    def round(self, x: Any) -> Any:
        """To the nearest integers, ties to even; NaN is 0."""
        nearest = self.module.clip(self.module.round(x), -127, 127)
        nearest = self.module.nan_to_num(nearest, nan=0.0)
        return nearest.to(self.module.int8) if self.is_torch else nearest.astype("int8")

    def scores(self, query: Any, mean: Any, group: int) -> Any:
        """[B, Hq, M] of [B, Hq, M, D] and [B, Hkv, 1, D]."""
        means = mean.repeat_interleave(group, 1) if self.is_torch else mean.repeat(group, 1)
        return (query * means).sum(-1)
