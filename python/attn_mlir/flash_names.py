# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`varlen` and `prefill` by the names of FlashAttention."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Callable, Optional

from .arrays import vector_like, view_of
from .checks import FLOAT8
from .errors import BindingError
from .mask import key_length, query_length, soft_cap, tensor
from .ragged import prefill, varlen


def flash_attn_varlen_func(
    q: Any,
    k: Any,
    v: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any,
    max_seqlen_q: Optional[int] = None,
    max_seqlen_k: Optional[int] = None,
    dropout_p: float = 0.0,
    softmax_scale: Optional[float] = None,
    causal: bool = False,
    window_size: tuple[Optional[int], Optional[int]] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Any = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: Any = None,
    seqused_k: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    attention_chunk: int = 0,
    **options: Any,
) -> Any:
    """`varlen` by the names, order and defaults of FlashAttention's function: -1 or None in window_size is no limit, softcap 0 none.

    alibi_slopes: f32 [Hq] or [B, Hq]: score i, j becomes less by slope * |i + N - M - j|. block_table: [B, columns]: k and v are pages [pages, page size, Hkv, D],
    see `prefill`, with seqused_k [B] keys of each sequence, or as many as cu_seqlens_k has. With return_attn_probs (output, softmax_lse, None) are
    returned: there are no probabilities. Dropout is an error; `deterministic` is so in any case; max_seqlen_k is not needed. `options` are
    those of `varlen` alone: target, device, out, cache, allow_tf32, invariance, mask_mod. attention_chunk (FlashAttention-3): a row sees keys of the chunk of so many
    positions that its own is in; 0: of all. With q_descale, k_descale or v_descale (FlashAttention-3), arrays [1] or [B, Hkv], inputs have 8 bits; one that is None beside others is 1.
    """
    if dropout_p != 0:
        raise BindingError("expected no dropout_p: it is not supported over packed sequences")
    options.update(
        window=window_of(window_size), causal=causal, soft_cap=softcap or None, scale=softmax_scale, return_lse=return_attn_probs,
    )  # fmt: skip
    if alibi_slopes is not None:
        options.update(soft_cap=None, score_mod=alibi_at_end(alibi_slopes, softcap))
    if attention_chunk:
        options["mask_mod"] = within_chunk(attention_chunk, options.get("mask_mod"))
    if block_table is None:
        if seqused_k is not None:
            raise BindingError("expected no seqused_k without block_table: cu_seqlens_k says how many keys there are")
        result = varlen(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, descale=descales_of(q, q_descale, k_descale, v_descale), **options)
    else:
        pools = k.swapaxes(1, 2), v.swapaxes(1, 2)
        lengths = cu_seqlens_k[1:] - cu_seqlens_k[:-1] if seqused_k is None else seqused_k
        options.update(q_scale=q_descale, k_scale=k_descale, v_scale=v_descale)
        result = prefill(q, *pools, block_table, lengths, cu_seqlens_q, max_seqlen_q, **options)
    return (*result, None) if return_attn_probs else result


def window_of(window_size: tuple[Optional[int], Optional[int]]) -> Optional[tuple[int, int]]:
    """The `window`, of which -1 or None is no limit."""
    left, right = (-1 if side is None else side for side in window_size)
    far = 1 << 30
    return None if (left, right) == (-1, -1) else (far if left < 0 else left, far if right < 0 else right)


def within_chunk(chunk: int, mask_mod: Optional[Callable[..., Any]]) -> Callable[..., Any]:
    """A mask_mod of the keys in the chunk of a row; the last row is where the last key is."""
    if not isinstance(chunk, Integral) or chunk < 0:
        raise BindingError(f"expected attention_chunk to be a number of positions, 0 for all, got {chunk!r}")

    def shown(b, h, i, j):
        sees = (i + key_length() - query_length()) // int(chunk) == j // int(chunk)
        return sees & mask_mod(b, h, i, j) if mask_mod else sees

    return shown


def alibi_at_end(slopes: Any, cap: float) -> Callable[..., Any]:
    """A score_mod, behind the cap of the scores: the last row is where the last key is."""
    numbers, capped = tensor(slopes), soft_cap(cap) if cap else None
    if numbers.dtype != "f32" or numbers.rank not in (1, 2):
        raise BindingError(f"alibi_slopes: expected f32 [Hq] or [B, Hq], got {numbers.dtype} of rank {numbers.rank}")

    def changed(s, b, h, i, j):
        slope = numbers[h] if numbers.rank == 1 else numbers[b, h]
        return (capped(s, b, h, i, j) if capped else s) - slope * abs(i + key_length() - query_length() - j)

    return changed


def descales_of(query: Any, q_descale: Any, *of_cache: Any) -> Optional[list[Any]]:
    """The `descale` of inputs whose descales are given by name, None for 1; that of the query is of one of 8 bits."""
    if q_descale is None and all(x is None for x in of_cache):
        return None
    dtype = view_of(query, "query").dtype
    if dtype not in FLOAT8 and q_descale is not None:
        raise BindingError(f"expected no q_descale beside a query of {dtype}, got one")
    given = [q_descale, *of_cache] if dtype in FLOAT8 else of_cache
    return [vector_like(query, 1.0) if x is None else x for x in given]
