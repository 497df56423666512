# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`decode` and `prefill` by the names of FlashAttention's function of a cache."""

from __future__ import annotations

import sys
from numbers import Integral
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

from .arrays import library_of, view_of
from .checks import FLOAT8
from .errors import BindingError
from .flash_names import alibi_at_end, window_of, within_chunk
from .functional import default_target
from .mask import tensor
from .page_contents import check_keys
from .paged import decode
from .ragged import prefill
from .rotary import last_positions, lengths_of, positions_of_rows
from .runtime.manifest import DTYPE_BYTES

#: Options of `decode` and `prefill` that FlashAttention has no name for, and those of `decode` alone.
OPTIONS = (
    "allow_tf32", "balance", "cache", "device", "device_asserts", "disable_split_kv", "fixed_split_size", "invariance", "mask_mod", "out", "qk_norm",
    "qk_norm_epsilon", "score_mod", "sink", "target",
)  # fmt: skip
OPTIONS_OF_BATCHES = ("head_map", "result_dtype")


def flash_attn_with_kvcache(
    q: Any,
    k_cache: Any,
    v_cache: Any,
    k: Any = None,
    v: Any = None,
    rotary_cos: Any = None,
    rotary_sin: Any = None,
    cache_seqlens: Union[int, Any, None] = None,
    cache_batch_idx: Any = None,
    cache_leftpad: Any = None,
    block_table: Any = None,
    softmax_scale: Optional[float] = None,
    causal: bool = False,
    window_size: tuple[Optional[int], Optional[int]] = (-1, -1),
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    alibi_slopes: Any = None,
    num_splits: int = 0,
    return_softmax_lse: bool = False,
    *,
    page_table: Any = None,
    cu_seqlens_q: Any = None,
    cu_seqlens_k_new: Any = None,
    max_seqlen_q: Optional[int] = None,
    rotary_seqlens: Any = None,
    qv: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    attention_chunk: int = 0,
    scheduler_metadata: Any = None,
    pack_gqa: Optional[bool] = None,
    sm_margin: int = 0,
    **options: Any,
) -> Any:
    """Attention over a cache, to which new keys and values are appended before, by the names, order and defaults of FlashAttention's function; those behind
    the star are FlashAttention-3's.

    Arguments, of NumPy, torch, CuPy or JAX:
      q: [B, M, Hq, D], or with cu_seqlens_q [B + 1] and max_seqlen_q, as of `prefill`, [rows, Hq, D]. Of 8 bits, beside a cache of its type, it has q_descale.
      qv: [B, M, Hq, Dv]: what the values are multiplied by, which are a part of the keys (MLA, absorbed): a score is q k + qv v, and softmax_scale None is
        1/sqrt(D + Dv). v_cache and k_cache are neighbouring columns of one array then, values first, as [.., :512] and [.., 512:]; without new keys.
      k_cache, v_cache: [sequences, positions, Hkv, D or Dv], or with block_table or page_table [B, columns], of i32 or i64, pages [pages, page size, Hkv, D or Dv].
        Of 8 bits they have k_descale and v_descale, see `decode`. New rows are written to them, in place.
      k, v: [B, new tokens, Hkv, D or Dv], or with cu_seqlens_k_new [B + 1] [rows, Hkv, D or Dv].
      cache_seqlens: [B], i32 or i64, or a number: keys of each sequence before k is appended. None, without k: all positions.
      cache_batch_idx: [B]: the sequence of the cache for each of the batch, which differ; None: the first B.
      rotary_cos, rotary_sin: [positions, r/2]: k is turned by its position, cache_seqlens + i, and q, a row for each of k, alike; with several rows of q
        `causal` or a window is needed, without which FlashAttention turns all of them by the first's.
      rotary_seqlens: [B], i32 or i64: positions that new rows are turned from, where these are not those of cache_seqlens.
      cache_leftpad: [B], i32 or i64: positions of each sequence in front of its first key, not with pages. Keys keep their positions, and cache_seqlens counts from 0.
      num_splits, of a GPU: ranges of the keys of each sequence that CTAs of their own take; 0: the compiler chooses.
      window_size, softcap, alibi_slopes, attention_chunk: as of `flash_attn_varlen_func`.
      pack_gqa: True, False or None, without influence: the compiler chooses. scheduler_metadata is None, sm_margin 0: nothing is planned before, all SMs are used.
      options: those of `decode` and `prefill` alone: target, device, out, cache, allow_tf32, balance, invariance, device_asserts, qk_norm, fixed_split_size,
        disable_split_kv, mask_mod, score_mod, sink; of batches that are not packed head_map, result_dtype.

    Returns output [B, M, Hq, Dv], or with return_softmax_lse (output, lse [B, Hq, M]); of packed rows [rows, Hq, Dv] and [Hq, rows]. Raises what `decode` does, and
    a BindingError where cache_seqlens, block_table or cache_batch_idx in host memory are none of the cache; a TypeError for an unknown option.
    """
    is_packed = cu_seqlens_q is not None
    is_narrow = q_descale is not None or view_of(q, "q").dtype in FLOAT8
    check_options(options, is_packed or is_narrow)
    check_plan(scheduler_metadata, pack_gqa, sm_margin)
    expect_rank("q", q, "[rows, Hq, D]" if is_packed else "[B, M, Hq, D]")
    for name, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        expect_rank(name, cache, "[sequences or pages, positions, Hkv, D]")
    check_rotary(rotary_cos, rotary_sin, k, causal, window_size, max_seqlen_q if is_packed else view_of(q, "q").shape[1])
    batch = (view_of(cu_seqlens_q, "cu_seqlens_q").shape[0] - 1) if is_packed else view_of(q, "q").shape[0]
    places = Places.of(q, k_cache, page_table if block_table is None else block_table, cache_batch_idx, cache_seqlens, batch)
    lengths = places.lengths
    if num_splits < 0:
        raise BindingError(f"expected num_splits of 0 or more, got {num_splits}")
    if num_splits and (options.get("target") or default_target(view_of(q, "q"), options.get("device"))) != "cpu":
        options["num_splits"] = num_splits
    if rotary_seqlens is not None:
        if rotary_cos is None:
            raise BindingError("expected rotary_cos and rotary_sin with rotary_seqlens")
        expect_integers("rotary_seqlens", rotary_seqlens, (batch,))
        if is_packed:
            options["rotary_positions"] = positions_of_rows(cu_seqlens_q, rotary_seqlens + lengths_of(cu_seqlens_q), view_of(q, "q").shape[0])
        else:
            options["rotary_positions"] = last_positions(rotary_seqlens + view_of(q, "q").shape[1], view_of(q, "q").shape[1])
    if attention_chunk:
        options["mask_mod"] = within_chunk(attention_chunk, options.get("mask_mod"))
    if cache_leftpad is not None:
        options["mask_mod"] = behind_padding(cache_leftpad, options.get("mask_mod"), places, batch)
    if k is not None or v is not None:
        if cache_seqlens is None or k is None or v is None:
            raise BindingError("expected k, v and cache_seqlens together: where new rows go")
        if is_packed and cu_seqlens_k_new is None:
            raise BindingError("expected cu_seqlens_k_new beside cu_seqlens_q with k and v, whose rows are packed as those of q are")
        for name, new in (("k", k), ("v", v)):
            expect_rank(name, new, "[B, new tokens, Hkv, D]" if cu_seqlens_k_new is None else "[rows, Hkv, D]")
        slots, lengths = places.append(k, cu_seqlens_k_new)
        options.update(slots=slots, k_new=k if cu_seqlens_k_new is not None else k.swapaxes(1, 2), v_new=v if cu_seqlens_k_new is not None else v.swapaxes(1, 2))
    options.update(
        causal=causal, window=window_of(window_size), soft_cap=softcap or None, scale=softmax_scale, return_lse=return_softmax_lse, k_scale=k_descale, v_scale=v_descale,
        rotary=None if rotary_cos is None else (rotary_cos, rotary_sin), rotary_interleaved=rotary_interleaved,
    )  # fmt: skip
    if alibi_slopes is not None:
        options.update(soft_cap=None, score_mod=alibi_at_end(alibi_slopes, softcap))
    if qv is not None:
        if is_packed or k is not None:
            raise BindingError("expected neither cu_seqlens_q nor k and v with qv")
        expect_rank("qv", qv, "[B, M, Hq, Dv]")
        q, k_cache = joined_query(q, qv), joined_cache(k_cache, v_cache)
    pools = k_cache.swapaxes(1, 2), v_cache.swapaxes(1, 2)
    if is_narrow:
        options["q_scale"] = q_descale
        if not is_packed:
            return prefill_batches(q, pools, places.table, lengths, options)
    if is_packed:
        return prefill(q, *pools, places.table, lengths, cu_seqlens_q, max_seqlen_q, **options)
    if (out := options.pop("out", None)) is not None:
        options["out"] = (out[0].swapaxes(1, 2), *out[1:]) if isinstance(out, (tuple, list)) else out.swapaxes(1, 2)
    result = decode(q.swapaxes(1, 2), *pools, places.table, lengths, **options)
    return (result[0].swapaxes(1, 2), result[1]) if return_softmax_lse else result.swapaxes(1, 2)


def prefill_batches(q: Any, pools: tuple[Any, Any], table: Any, lengths: Any, options: dict[str, Any]) -> Any:
    """`prefill` of a query of 8 bits, which has no kernel in batches: q, [B, M, Hq, D], as packed rows."""
    batch, rows, heads, dim = view_of(q, "q").shape
    if "k_new" in options:
        options.update({name: options[name].swapaxes(1, 2) for name in ("k_new", "v_new")})
        options.update({name: options[name].reshape(-1, *options[name].shape[2:]) for name in ("k_new", "v_new", "slots")})
    out, offsets = options.pop("out", None), numbers_like(q, range(0, batch * rows + 1, rows))
    result = prefill(q.reshape(batch * rows, heads, dim), *pools, table, lengths, offsets, rows, **options)
    packed = result if options["return_lse"] else (result,)
    results = [packed[0].reshape(batch, rows, heads, -1), *(lse.reshape(heads, batch, rows).swapaxes(0, 1) for lse in packed[1:])]
    if out is not None:
        for own, made in zip(out if isinstance(out, (tuple, list)) else (out,), results):
            own[...] = made
        return out
    return tuple(results) if options["return_lse"] else results[0]


def joined_query(q: Any, qv: Any, names: tuple[str, str] = ("q", "qv")) -> Any:
    """What a latent cache is multiplied by, whose values come first: [.., Dv + D] of two arrays."""
    views = view_of(q, names[0]), view_of(qv, names[1])
    if views[0].shape[:-1] != views[1].shape[:-1] or views[0].dtype != views[1].dtype:
        wanted = ", ".join(map(str, views[0].shape[:-1]))
        raise BindingError(f"{names[1]}: expected {views[0].dtype} of [{wanted}, Dv], as {names[0]} is, got {views[1].dtype} of {list(views[1].shape)}")
    library, where = functions_of(q, names[0])
    return library.cat((qv, q), -1) if where else library.concatenate((qv, q), -1)


def joined_cache(keys: Any, values: Any, names: tuple[str, str] = ("k_cache", "v_cache")) -> Any:
    """The columns of values and of the rest of the keys, which are neighbours in memory, as one array: no copy."""
    key, value = view_of(keys, names[0]), view_of(values, names[1])
    is_joined = (key.shape[:-1], key.dtype, key.strides) == (value.shape[:-1], value.dtype, value.strides)
    if not is_joined or key.address != value.address + value.shape[-1] * DTYPE_BYTES[value.dtype]:
        raise BindingError(f"expected {names[1]} and {names[0]} to be neighbouring columns of one array, values first")
    shape = (*value.shape[:-1], value.shape[-1] + key.shape[-1])
    library, where = functions_of(values, names[1])
    if where:
        return values.as_strided(shape, values.stride())
    if library.__name__.startswith("jax"):
        raise BindingError("expected caches of NumPy, torch or CuPy, in columns of one array: JAX has no views")
    return library.lib.stride_tricks.as_strided(values, shape, values.strides)


def behind_padding(padding: Any, mask_mod: Any, places: Places, batch: int) -> Callable[..., Any]:
    """A mask_mod of the keys from those of `padding` on."""
    if places.is_paged:
        raise BindingError("expected no cache_leftpad with block_table: a sequence begins where its first page does")
    expect_integers("cache_leftpad", padding, (batch,))
    first = tensor(padding)
    return lambda b, h, i, j: (j >= first[b]) & mask_mod(b, h, i, j) if mask_mod else j >= first[b]


def check_options(options: Mapping[str, Any], is_prefill: bool):
    """As Python does of arguments that a function does not have."""
    for name in options:
        if name not in (OPTIONS if is_prefill else OPTIONS + OPTIONS_OF_BATCHES):
            raise TypeError(f"flash_attn_with_kvcache() got an unexpected keyword argument {name!r}")


def check_plan(metadata: Any, pack_gqa: Optional[bool], margin: int):
    """FlashAttention-3's arguments of how work is divided."""
    if metadata is not None:
        raise BindingError(f"scheduler_metadata: expected None, for kernels plan by themselves, got {type(metadata).__name__}")
    if pack_gqa not in (None, True, False):
        raise BindingError(f"pack_gqa: expected None, True or False, got {pack_gqa!r}")
    if margin != 0:
        raise BindingError(f"sm_margin: expected 0, since all SMs are used, got {margin!r}")


def expect_rank(name: str, array: Any, shape: str):
    got = view_of(array, name).shape
    if len(got) != shape.count(",") + 1:
        raise BindingError(f"{name}: expected {shape}, got {tuple(got)}")


def expect_integers(name: str, array: Any, shape: tuple[Optional[int], ...]):
    """None: any size."""
    view = view_of(array, name)
    if view.dtype not in ("i32", "i64") or len(view.shape) != len(shape) or any(wanted not in (None, size) for wanted, size in zip(shape, view.shape)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise BindingError(f"{name}: expected i32 or i64 of [{wanted}], got {view.dtype} of {list(view.shape)}")


def check_rotary(cos: Any, sin: Any, k: Any, causal: bool, window: tuple[Optional[int], Optional[int]], rows: Optional[int]):
    if (cos is None) != (sin is None):
        raise BindingError("expected rotary_cos and rotary_sin together")
    if cos is not None and k is None:
        raise BindingError("expected k and v with rotary_cos: keys in the cache are turned already")
    if cos is not None and not causal and window_of(window) is None and rows != 1:
        raise BindingError("expected causal or a window_size with rotary_cos of several rows of q: each is turned by a position of its own")


def functions_of(array: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Those of its library, and arguments of those that make an array on its device."""
    module = library_of(array)
    if module not in ("torch", "cupy", "jax", "numpy"):
        raise BindingError(f"{name}: expected an array of NumPy, torch, CuPy or JAX, got {type(array).__name__}")
    if module == "torch":
        return sys.modules[module], {"device": array.device}
    return (sys.modules["jax"].numpy if module == "jax" else sys.modules[module]), {}


def numbers_like(q: Any, numbers: Sequence[int]) -> Any:
    """i32, of the library and on the device of q."""
    library, where = functions_of(q, "q")
    return (library.tensor if where else library.asarray)(list(numbers), dtype=library.int32, **where)


class Places(NamedTuple):
    """Where the keys of sequences are: a table [B, columns] of `pages` pages of `page` positions, and how many there are [B]."""

    table: Any
    lengths: Any
    pages: int
    page: int
    is_paged: bool  #: else a sequence of the cache is a page

    @staticmethod
    def of(q: Any, k_cache: Any, table: Any, sequences: Any, lengths: Any, batch: int) -> "Places":
        pages, page = view_of(k_cache, "k_cache").shape[:2]
        is_paged = table is not None
        if table is not None and sequences is not None:
            raise BindingError("expected no cache_batch_idx with block_table")
        if table is None and sequences is None and batch > pages:
            raise BindingError(f"k_cache: expected {batch} sequences, one for each of q, got {pages}")
        if table is not None:
            expect_integers("block_table", table, (batch, None))
        if sequences is not None:
            expect_integers("cache_batch_idx", sequences, (batch,))
        if table is None:
            table = numbers_like(q, range(batch))[:, None] if sequences is None else sequences[:, None]
        if lengths is not None and not isinstance(lengths, Integral):
            expect_integers("cache_seqlens", lengths, (batch,))
        else:
            room = table.shape[1] * page
            lengths = numbers_like(q, [room if lengths is None else int(lengths)] * batch)
        places = Places(table, lengths, pages, page, is_paged)
        places.check(lengths)
        return places

    def append(self, k: Any, offsets: Any) -> tuple[Any, Any]:
        """Slots of the rows of k, and the lengths with them."""
        library, where = functions_of(self.lengths, "cache_seqlens")
        batch, rows = self.table.shape[0], view_of(k, "k").shape[0 if offsets is not None else 1]
        if offsets is not None:
            expect_integers("cu_seqlens_k_new", offsets, (batch + 1,))
        row = library.arange(rows, **where)
        if offsets is None:
            lengths, sequence = self.lengths + rows, library.arange(batch, **where)[:, None]
            at, is_new = self.lengths[:, None] + row, row >= 0
        else:
            lengths = self.lengths + (offsets[1:] - offsets[:-1])
            ends = offsets[1:] + 0 * row[:1]  # of the type of row
            sequence = library.searchsorted(ends, row, side="right").clip(0, batch - 1)
            at, is_new = row - offsets[sequence] + self.lengths[sequence], (row >= offsets[0]) & (row < offsets[-1])
        self.check_room(lengths)
        self.check(lengths)
        column = (at // self.page).clip(0, self.table.shape[1] - 1)
        slots = self.table[sequence, column] * self.page + at % self.page
        return library.where(is_new, slots, 0 * slots - 1), lengths

    def check(self, lengths: Any):
        """Of what is in host memory."""
        views = view_of(lengths, "cache_seqlens"), view_of(self.table, "block_table")
        check_keys(*views, None, (self.pages, self.page), ("cache_seqlens", "block_table" if self.is_paged else "cache_batch_idx"))

    def check_room(self, lengths: Any):
        """Of lengths in host memory: no others are looked at."""
        view, room = view_of(lengths, "cache_seqlens"), self.table.shape[1] * self.page
        longest = max(view.to_host().values(), default=0) if view.device == "cpu" else 0
        if longest > room:
            raise BindingError(f"cache_seqlens: expected room for new keys in {room} positions of the cache, got {longest} keys with them")
