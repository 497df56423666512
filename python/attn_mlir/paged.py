# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`decode` and `append`: attention over keys and values in the pages of a cache, and new rows in it."""

from __future__ import annotations

import functools
import math
from numbers import Real
from typing import Any, Mapping, Optional, Sequence

from .arrays import ArrayView, copy_array, vector_like, view_of
from .cache import Cache
from .checks import BYTES, DESCALES, FLOATS, TABLE, Window, asserts_flag, check_arrays, check_no_gradients, check_signed
from .cpu import DirectKernel
from .errors import BindingError, DeviceError
from .float8 import pool_scales
from .functional import Call, default_target, make_score, mask_at_end
from .heads import head_map_arrays
from .kernel import Kernel, compile
from .norms import WEIGHTS, norm_arrays, norm_field, norm_line
from .page_contents import check_paged, check_turned
from .problem import float_text
from .rotary import POSITIONS, rotary_field, rotary_line, rows_of_tokens
from .runtime.host_array import HostArray
from .runtime.manifest import DTYPE_BYTES
from .splits import Splits


#: The types of rows that become those of pools of 8 bits.
QUANTISED = ("f16", "bf16", "f32")


def decode(
    query: Any,
    k_pool: Any,
    v_pool: Any,
    table: Any,
    lengths: Any,
    *,
    k_new: Any = None,
    v_new: Any = None,
    slots: Any = None,
    causal: bool = True,
    window: Window = None,
    k_scale: Any = None,
    v_scale: Any = None,
    sink: Any = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    mask_mod: Any = None,
    score_mod: Any = None,
    qk_norm: Any = None,
    qk_norm_epsilon: float = 1e-6,
    rotary: Any = None,
    rotary_interleaved: bool = False,
    rotary_positions: Any = None,
    return_lse: bool = False,
    result_dtype: Optional[str] = None,
    head_map: Any = None,
    out: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    allow_tf32: bool = False,
    fixed_split_size: Optional[int] = None,
    num_splits: Optional[int] = None,
    disable_split_kv: bool = False,
    balance: Optional[str] = None,
    invariance: str = "none",
    device_asserts: bool = False,
    cache: Optional[Cache] = None,
) -> Any:
    """Attention of new tokens over keys and values in the pages of a cache.

    Arguments:
      query: [B, Hq, M, D], f16, bf16 or f32: the last M tokens of each sequence, one or some that were guessed,
        or a chunk of a prompt.
      k_pool, v_pool: [pages, Hkv, page size, D or Dv], of query's type or 8 bits; Hkv divides Hq. Any strides with a contiguous head dim: a cache in NHD
        layout, [pages, page size, Hkv, D], is passed as its transposed view. Any page size.
        v_pool may be the first columns of k_pool, as of a latent cache (MLA): a kernel with more than 256 of both in 16 or 8 bits reads them once.
      table: [B, columns], i32 or i64: key j of sequence b is row j % page size of page table[b, j // page size] (FlashAttention's
        page_table, vLLM's block_table). Entries of pages without a key are not read. Or a pair (indices [entries], indptr [B + 1]): the page is
        indices[indptr[b] + j // page size] (FlashInfer's paged_kv_indices and paged_kv_indptr); there are no more keys than these pages hold.
        With fixed_split_size, balance="plan" or invariance a table with rows is the better one: the kernel has ranges for a sequence with all pages of the other.
      lengths: [B], i32 or i64: how many keys a sequence has, those of the new tokens among them (FlashAttention's cache_seqlens
        after its append). What lies behind them in the pages has no influence.
      k_new, v_new, slots: new rows that `append` writes to the pools, in place, before the attention, which sees them: on a GPU
        by a kernel of the same launch. None: the pools have them. Wider rows of pools of 8 bits are quantised, by k_scale and v_scale, of which
        pools of scales get those of new rows.
      causal: token i of M sees the keys up to its own position, length - M + i; False: all keys.
      window: as of `attention`, around that position. Pages that it has left behind may be used again; their entries stay pages,
        with finite values.
      k_scale, v_scale: of pools of 8 bits (f8E4M3FN, f8E5M2, i8), which stand for k_scale and v_scale times what they hold: a number, or f32
        arrays [1] or [B, Hkv] (FlashInfer's and vLLM's names; FlashAttention's k_descale, v_descale), or pools [pages, Hkv, page size], one for each
        row of the others (not with head_map), to which those of wider k_new and v_new are written. None: 1.
      mask_mod, score_mod: as of `varlen`, of tokens i of M and keys j of their sequence: attn_mlir.mask.tree_bits shows guessed tokens that form a tree.
      qk_norm, qk_norm_epsilon: as of `attention`, of query and of k_new, before they are turned; keys in pools are divided already.
      rotary, rotary_interleaved: as of `attention`, of query and of k_new [B, Hkv, M, D]; keys in pools are turned already (FlashAttention's rotary_cos,
        rotary_sin). New rows are turned and rounded to their type once, then appended, on a GPU by one kernel; pools of 8 bits get them quantised.
      rotary_positions: [1 or B, M], i32 or i64, of the new tokens; None: lengths - M + i for token i.
      head_map: [Hq], or a pair of such, as of `attention`: heads of the pools, of which k_pool and v_pool may have different numbers by two maps
        (not with k_new). Not with k_scale or v_scale.
      fixed_split_size, num_splits, disable_split_kv: of a GPU's kernels: pages of the ranges of keys that CTAs of their own take, or how many ranges each
        sequence has (FlashAttention's name), or none (FlashInfer's names). None, False: the compiler chooses a number of them.
      balance: of a GPU's kernels: "grid": a CTA for each range that the longest sequence may have. "plan": as many CTAs as run at once share out the ranges
        that there are, by a list that a kernel of each launch makes of the lengths: for sequences of very different ones. Ranges have fixed_split_size pages,
        or some 512 keys. "share": that kernel chooses how long ranges are, so that each of these CTAs has about one, whatever the batch and its lengths
        (FlashInfer's kv_chunk_size). None: the compiler chooses, for up to 16 tokens of a sequence "share" unless invariance asks for more.
      invariance: "batch": the bits of a sequence are the same whatever else is in its batch, how long tensors are and where pages lie,
        on every GPU of a target. The compiler divides keys by a length, if at all. "prefix": the bits of a token depend on its query and on the keys that it
        sees alone: they are those that it has in a prompt (`prefill`, `varlen`), however many tokens are computed at once, whatever comes behind it. By
        mma.sync alone, over ranges of 2048 keys or fixed_split_size pages; of inputs of 16 bits or more, caches of 8 bits among them. "none": the
        compiler's choice may depend on all.
      device_asserts: of a GPU: kernels look at lengths, tables, slots and positions before each launch, and one that is wrong is a DeviceError.
      sink, soft_cap, scale, return_lse, result_dtype, out, target, device, allow_tf32, cache: as of `attention`.

    Returns output [B, Hq, M, Dv], or (output, lse), of query's library; tokens that see no key give 0 and -inf. A kernel serves
    all lengths, tables and numbers of pages, so that a launch that a CUDA graph holds stays right when they change. Raises as
    `attention` does, and of lengths, tables and positions in host memory a BindingError where a sequence has more keys than its pages hold, an entry of a page with a
    key is no page of the pool, or a position is behind the tables of a rotation: those on a GPU are not looked at but with device_asserts.
    """
    check_no_gradients(query=query, key=k_pool, value=v_pool, sink=sink)
    scales_of_cache = cache_scales(query, k_scale, v_scale)
    tokens = pool_scales(query, view_of(query, "query").shape[0], k_pool, table, lengths, scales_of_cache, head_map=head_map)
    more = {**({} if tokens else scales_of_cache), **table_arrays(table), "key_lengths": lengths, **head_map_arrays(head_map)}
    fields: tuple = ("lse", return_lse)
    target = target or default_target(view_of(query, "query"), device)
    rows, scales = {}, {}
    if any(array is not None for array in (k_new, v_new, slots)):
        rows = check_new_rows(k_new, v_new, slots, k_pool, v_pool)
        if quantises(k_new, v_new, k_pool, v_pool):
            scales = append_scales(query, k_scale, v_scale, {**rows, "k_pool": k_pool})
            more.update({} if tokens else scales)
    tables = rows_of_tokens(rotary, rotary_positions, query, lengths, k_new)
    weights_of_norm = norm_arrays(qk_norm, qk_norm_epsilon)
    check_no_gradients(**weights_of_norm, **tables)
    given = {"query": query, **table_arrays(table), **weights_of_norm, **tables, **({"k_new": k_new} if rows else {})}
    named = {name: view_of(array, name) for name, array in given.items()}
    changes = (*norm_field(named, qk_norm, qk_norm_epsilon), *rotary_field(named, rotary_interleaved))
    fields += changes
    if rows and changes and target == "cpu":
        rows["k_new"] = changed_rows(k_new, {**weights_of_norm, **tables}, None if qk_norm is None else qk_norm_epsilon, rotary_interleaved)
    if rows and target != "cpu":
        more.update(rows)
        new = view_of(k_new, "k_new")
        fields += ("append", (len(new.shape), new.dtype, view_of(slots, "slots").dtype))
    more.update({**weights_of_norm, **tables})
    if tokens:
        soft_cap, score_mod = None, tokens.change_score(make_score(soft_cap, score_mod))
    call = Call(query, k_pool, v_pool, None, sink, more, causal, None, soft_cap, scale, mask_at_end(window, mask_mod), score_mod)
    weights = tokens.weights() if tokens else None
    weights_fields, read = call.change_weights(weights)
    if scales and tokens and target != "cpu":
        fields += ("row_scales", tuple(part.name_of(array) for part, array in zip((score_mod, weights), scales.values())))
    fields += (*call.result_field(result_dtype), *weights_fields)
    check_pages(call.named)
    check_turned(call.named)
    if target != "cpu" and head_map is None and is_latent(call.named["key"], call.named["value"]):
        fields += ("latent", True)
    splits = Splits(fixed_split_size, num_splits, disable_split_kv, balance, invariance)
    flags = {"allow_tf32": allow_tf32, **splits.flags(call.named["key"].shape[2], target), **asserts_flag(device_asserts, target)}
    if rows and target == "cpu":  # a kernel for the CPU would give copies of the pools back
        append_on_host({"k_pool": k_pool, "v_pool": v_pool, **rows}, device, scales)
    return call.run(read, fields, target, device, flags, cache, out)


def table_arrays(table: Any) -> dict[str, Any]:
    """As arguments of a kernel: a table, or entries and offsets."""
    if not isinstance(table, (tuple, list)):
        return {"key_table": table}
    if len(table) != len(TABLE):
        raise BindingError(f"table: expected an array, or a pair of indices and indptr, got {len(table)}")
    return dict(zip(TABLE, table))


def check_table(views: Mapping[str, ArrayView], batch: int, name: str = "table"):
    """Types and shapes, and what offsets in host memory say."""
    table, offsets = (views.get(part) for part in TABLE)
    if table is None:
        return
    shape = f"[{batch}, columns]" if offsets is None else "[entries]"
    fits = len(table.shape) == 1 if offsets is not None else len(table.shape) == 2 and table.shape[0] == batch
    if table.dtype not in ("i32", "i64") or not fits:
        raise BindingError(f"{name}: expected {shape} of i32 or i64, got {table.dtype} of {tuple(table.shape)}")
    if offsets is None:
        return
    if offsets.dtype not in ("i32", "i64") or tuple(offsets.shape) != (batch + 1,):
        raise BindingError(f"indptr: expected [{batch + 1}] of i32 or i64, got {offsets.dtype} of {tuple(offsets.shape)}")
    check_offsets("indptr", offsets, table.shape[0], None)


def check_offsets(name: str, offsets: ArrayView, rows: int, most: Optional[int]):
    """Of an array in host memory: no other is looked at."""
    if offsets.device != "cpu":
        return
    before: float = 0
    for number, offset in enumerate(offsets.to_host().values()):
        if not before <= offset <= rows:
            raise BindingError(f"{name}: expected ascending offsets from 0 to {rows}, got {offset} at position {number}")
        if number and most is not None and offset - before > most:
            raise BindingError(f"{name}: expected at most max_seqlen_q = {most} rows of a sequence, got {offset - before} of sequence {number - 1}")
        before = offset


def is_latent(key: ArrayView, value: ArrayView) -> bool:
    """True if a kernel reads values, which are columns of the keys, in the tiles of these (the compiler's haveLatentRows): rows of whole
    panels (128 bytes, or 64) of 16 or 8 bits, wider than those of a kernel that has a schedule for both, with slices of 256 of the values in them."""
    dims, width = (key.shape[3], value.shape[3]), DTYPE_BYTES[key.dtype]
    panel = (64 if dims[0] * width % 128 else 128) // width
    return (
        (key.address, key.strides, key.dtype, key.shape[:3]) == (value.address, value.strides, value.dtype, value.shape[:3])
        and width <= 2 and -(-dims[1] // 256) * 256 <= dims[0] > 256 and not any(dim % panel for dim in dims)
    )  # fmt: skip


def changed_rows(rows: Any, arrays: Mapping[str, Any], epsilon: Optional[float], interleaved: bool) -> Any:
    """New keys [B, Hkv, M, D] or [rows, Hkv, D] as kernels append them, in host memory: divided, if epsilon is that of a norm, and turned, if `arrays`, of
    arguments by name, have tables; rounded once."""
    kept = {"x": rows, **{name: array for name, array in arrays.items() if name != WEIGHTS[0]}}
    views = {name: view_of(array, name) for name, array in kept.items()}
    if any(view.device != "cpu" for view in views.values()):
        raise BindingError("expected arrays in host memory, got one on a GPU")
    types = {name: f"tensor<{'?x' * (len(v.shape) - 1)}{'?' if name in POSITIONS else v.shape[-1]}x{v.dtype}>" for name, v in views.items()}
    return row_kernel(tuple(types.items()), epsilon, interleaved).run(list(kept.values()), list(views.values()), None, None)


@functools.lru_cache(maxsize=256)
def row_kernel(arguments: tuple[tuple[str, str], ...], epsilon: Optional[float], interleaved: bool) -> Kernel:
    """Of changed_rows, on the CPU."""
    types = dict(arguments)
    rows, lines, last = types["x"], "", "%x"
    if epsilon is not None:
        lines, last = f"  {norm_line('%normed', last, WEIGHTS[1], types, rows, float_text(epsilon))}\n", "%normed"
    if "cos" in types:
        lines += f"  {rotary_line('%turned', last, POSITIONS[0], types, rows, int(types['cos'].split('x')[1]), interleaved)}\n"
        last = "%turned"
    parameters = ", ".join(f"%{name}: {type}" for name, type in arguments)
    return DirectKernel(f"func.func @change({parameters}) -> {rows} {{\n{lines}  return {last} : {rows}\n}}\n", None, lambda _: 0)


def cache_scales(query: Any, k_scale: Any, v_scale: Any, q_scale: Any = None) -> dict[str, Any]:
    """The descales of keys and values of a cache, and that of a query if one is given; a number, or one that is not given beside another, becomes an array."""
    if k_scale is None and v_scale is None and q_scale is None:
        return {}
    given = (1.0 if scale is None else scale for scale in (q_scale, k_scale, v_scale))
    found = {name: vector_like(query, float(x)) if isinstance(x, Real) else x for name, x in zip(DESCALES, given)}
    if q_scale is None:
        del found[DESCALES[0]]
    return found


def append(
    k_new: Any,
    v_new: Any,
    k_pool: Any,
    v_pool: Any,
    slots: Any,
    *,
    k_scale: Any = None,
    v_scale: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    device_asserts: bool = False,
    cache: Optional[Cache] = None,
):
    """Writes new keys and values to a paged cache, in place.

    Arguments:
      k_new, v_new: [tokens, Hkv, D or Dv] with slots [tokens], or [B, Hkv, M, D or Dv] with slots [B, M]; rounded to the type of
        the pools, of 8 bits for pools of the same.
      k_pool, v_pool: [pages, Hkv, page size, D or Dv], as of `decode`, alike but for the last dimension.
      slots: i32 or i64: token t goes to row slots[t] % page size of page slots[t] // page size (vLLM's slot_mapping); -1 is
        skipped. Slots differ.
      k_scale, v_scale: of wider rows for pools of 8 bits, as of `decode`: row / scale is what a pool gets, no further than the largest
        finite number (vLLM's reshape_and_cache). Numbers, or f32 arrays [1], or [B, Hkv] with slots [B, M]. None: 1. Or pools
        [pages, Hkv, page size] of both, to which the scale of each row is written: its largest magnitude over that of the type.
      device_asserts: as of `decode`, of slots, which are looked at where they are in host memory.
      target, device, cache: as of `attention`.

    `decode` does it in the launch of its attention: pass it k_new, v_new and slots. Raises BindingError for arrays that do not fit.
    """
    arrays = {**check_new_rows(k_new, v_new, slots, k_pool, v_pool), "k_pool": k_pool, "v_pool": v_pool}
    scales = {}
    if quantises(k_new, v_new, k_pool, v_pool):
        scales = append_scales(k_new, k_scale, v_scale, arrays)
    elif k_scale is not None or v_scale is not None:
        raise BindingError("expected no k_scale or v_scale but with pools of 8 bits and wider rows")
    views = {name: view_of(array, name) for name, array in arrays.items()}
    target = target or default_target(views["k_pool"], device)
    flags = asserts_flag(device_asserts, target)
    if target == "cpu":
        return append_on_host(arrays, device, scales)
    arrays.update(scales)
    views.update({name: view_of(array, name) for name, array in scales.items()})
    kernel = append_kernel(tuple(type_of_append(name, view) for name, view in views.items()), target, cache, tuple(flags.items()))
    kernel.run(tuple(arrays.values()), list(views.values()), None, device)


def type_of_append(name: str, view: ArrayView) -> str:
    """Of an argument: columns of a pool are as many as the kernel is made for, a descale of all is one number."""
    is_static = name.endswith("pool") or (name in DESCALES and len(view.shape) == 1)
    last = view.shape[-1:] if is_static else ("?",)
    return f"tensor<{'?x' * (len(view.shape) - 1)}{last[0]}x{view.dtype}>"


@functools.lru_cache(maxsize=256)
def append_kernel(types: tuple[str, ...], target: str, cache: Optional[Cache], flags: tuple = ()) -> Kernel:
    """Of k_new, v_new, slots, k_pool, v_pool, and two descales, or pools of scales, where rows are quantised."""
    k_new, v_new, slots, k_pool, v_pool, *scales = types
    of_rows = bool(scales) and scales[0].count("x") == 3
    clause = f" {'scales' if of_rows else 'descale'}(%a5, %a6 : {', '.join(scales)})" if scales else ""
    parameters = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    results = ", ".join([k_pool, v_pool, *(scales if of_rows else ())])
    names = ", ".join(f"%{i}" for i in range(4 if of_rows else 2))
    text = f"""func.func @append({parameters}) -> ({results}) {{
  {names} = attn.append %a0, %a1 into %a3, %a4 slots(%a2 : {slots}){clause} : {k_new}, {v_new} into {k_pool}, {v_pool}
  return {names} : {results}
}}
"""
    return DirectKernel(text, cache, lambda _: 0) if target == "cpu" else compile(text, target=target, cache=cache, **dict(flags))


def append_on_host(arrays: Mapping[str, Any], device: Optional[str], scales: Mapping[str, Any]):
    """Of arrays by name: each row is copied to its place, rounded before by a kernel where types differ."""
    if device not in (None, "cpu"):
        raise DeviceError(f"expected device cpu for target cpu, got '{device}'")
    views = {name: view_of(array, name) for name, array in arrays.items()}
    if any(view.device != "cpu" for view in views.values()):
        raise BindingError("expected arrays in host memory, got one on a GPU")
    pools, rows = ([views[f"{name}_{kind}"] for name in "kv"] for kind in ("pool", "new"))
    divisors = [view_of(array, name) for name, array in scales.items()]
    if any(new.dtype != pool.dtype for new, pool in zip(rows, pools)):
        rows = rounded(rows, [pool.dtype for pool in pools], views["slots"].shape, divisors)
        pools += divisors[: len(rows) - 2]
    for number, (pool, new) in enumerate(zip(pools, rows)):
        has_tokens = len(new.shape) == 4 or number >= 2
        together = new.shape[2] if has_tokens else 1
        for token, slot in enumerate(views["slots"].to_host().values()):
            if slot >= 0:
                source = {0: token // together, 2: token % together} if has_tokens else {0: token}
                place = {0: int(slot) // pool.shape[2], 2: int(slot) % pool.shape[2]}
                copy_array(part_of(pool, place), part_of(new, source))


def rounded(rows: Sequence[ArrayView], dtypes: Sequence[str], shape: Sequence[int], scales: Sequence[ArrayView]) -> list[ArrayView]:
    """Keys and values of slots of a shape, as [tokens, Hkv, 1, D]: each in a page of its own. Then their scales, where these are of rows."""
    pools = []
    for new, dtype in zip(rows, dtypes):
        sizes = (math.prod(shape), new.shape[1], 1, new.shape[-1])
        pools.append(HostArray(dtype, sizes, bytearray(math.prod(sizes) * DTYPE_BYTES[dtype])))
    of_rows = len(scales) == 2 and len(scales[0].shape) == 3
    if of_rows:
        ones = (math.prod(shape), rows[0].shape[1], 1)
        scales = [view_of(HostArray("f32", ones, bytearray(4 * math.prod(ones)))) for _ in scales]
    views = [*rows, view_of(HostArray.of("i64", shape, range(math.prod(shape)))), *map(view_of, pools), *scales]
    types = [type_of_append(name, view) for name, view in zip(("k_new", "v_new", "slots", "k_pool", "v_pool", *DESCALES[1:]), views)]
    return [view_of(result) for result in append_kernel(tuple(types), "cpu", None).run(pools, views, None, None)]


def part_of(view: ArrayView, at: Mapping[int, int]) -> ArrayView:
    """The elements at positions of some dimensions."""
    offset = sum(view.strides[dim] * position for dim, position in at.items())
    rest = [dim for dim in range(len(view.shape)) if dim not in at]
    shape, strides = (tuple(sizes[dim] for dim in rest) for sizes in (view.shape, view.strides))
    return view._replace(shape=shape, strides=strides, address=view.address + offset * DTYPE_BYTES[view.dtype])


def quantises(k_new: Any, v_new: Any, k_pool: Any, v_pool: Any) -> bool:
    """True if wider rows become those of pools of 8 bits."""
    pools = [view_of(pool, "pool").dtype for pool in (k_pool, v_pool)]
    rows = [view_of(new, "rows").dtype for new in (k_new, v_new)]
    return all(dtype in BYTES for dtype in pools) and rows != pools


def append_scales(like: Any, k_scale: Any, v_scale: Any, rows: Mapping[str, Any]) -> dict[str, Any]:
    """What new rows are divided by, by the names of descales."""
    given = {"k_scale": 1.0 if k_scale is None else k_scale, "v_scale": 1.0 if v_scale is None else v_scale}
    slots, new = view_of(rows["slots"], "slots"), view_of(rows["k_new"], "k_new")
    scales = {}
    pool = tuple(view_of(rows["k_pool"], "k_pool").shape[:3])
    of_rows = any(len(getattr(scale, "shape", ())) == 3 for scale in given.values())
    for name, (argument, scale) in zip(DESCALES[1:], given.items()):
        scales[name] = vector_like(like, float(scale)) if isinstance(scale, Real) else scale
        view = view_of(scales[name], argument)
        allowed = [pool] if of_rows else [(1,)] + [tuple(new.shape[:2])] * (len(slots.shape) == 2)
        if of_rows and not view.is_writable:
            raise BindingError(f"{argument}: expected a writable array, got a read-only one")
        if view.dtype != "f32" or tuple(view.shape) not in allowed:
            wanted = " or ".join(str(list(shape)) for shape in allowed)
            raise BindingError(f"{argument}: expected f32 of shape {wanted} for slots of rank {len(slots.shape)}, got {view.dtype} of {list(view.shape)}")
    return scales


def check_new_rows(k_new: Any, v_new: Any, slots: Any, k_pool: Any, v_pool: Any) -> dict[str, Any]:
    """The arguments of an append by name, if they fit; slots are looked at, where they are in host memory."""
    arrays = {"k_new": k_new, "v_new": v_new, "slots": slots}
    for name, array in arrays.items():
        if array is None:
            raise BindingError(f"expected k_new, v_new and slots together, got no {name}")
    check_no_gradients(**arrays)
    check_signed(k_new=k_new, v_new=v_new, k_pool=k_pool, v_pool=v_pool)
    places = view_of(slots, "slots")
    if places.dtype not in ("i32", "i64") or len(places.shape) not in (1, 2):
        raise BindingError(f"slots: expected [tokens] or [B, M] of i32 or i64, got {places.dtype} of {tuple(places.shape)}")
    for name, pool_name, pool in (("k_new", "k_pool", k_pool), ("v_new", "v_pool", v_pool)):
        rows, cache = view_of(arrays[name], name), view_of(pool, pool_name)
        if len(cache.shape) != 4 or cache.shape[2] < 1:
            raise BindingError(f"{pool_name}: expected [pages, heads, page size, head dim], got {tuple(cache.shape)}")
        if cache.shape[:3] != (like := view_of(k_pool, "k_pool").shape)[:3]:
            raise BindingError(f"{pool_name}: expected pages, heads and page size {tuple(like[:3])}, as of k_pool, got {tuple(cache.shape[:3])}")
        if not cache.is_writable:
            raise BindingError(f"{pool_name}: expected a writable array, got a read-only one")
        if cache.spare_elements < 0:
            raise BindingError(f"{pool_name}: expected elements that do not overlap, got strides {cache.strides}")
        if cache.dtype in BYTES:
            if rows.dtype != cache.dtype and rows.dtype not in QUANTISED:
                raise BindingError(f"{name}: expected dtype {cache.dtype}, that of {pool_name}, or one of {', '.join(QUANTISED)}, got {rows.dtype}")
            if (rows.dtype == cache.dtype) != (view_of(k_new, "k_new").dtype == view_of(k_pool, "k_pool").dtype):
                raise BindingError("expected k_new and v_new of their pools' types, or both wider")
        elif rows.dtype not in FLOATS or rows.dtype != view_of(k_new, "k_new").dtype:
            raise BindingError(f"{name}: expected one dtype of {', '.join(FLOATS)} for k_new and v_new, got {rows.dtype}")
        leading, trailing = tuple(places.shape[:1]), tuple(places.shape[1:])
        wanted = (*leading, cache.shape[1], *trailing, cache.shape[3])
        if tuple(rows.shape) != wanted:
            raise BindingError(f"{name}: expected shape {wanted}, a row for each slot and head, got {tuple(rows.shape)}")
    if view_of(v_pool, "v_pool").overlaps(view_of(k_pool, "k_pool")):
        raise BindingError("v_pool: expected memory of its own, got some of k_pool")
    if places.device == "cpu":
        check_slots(places, view_of(k_pool, "k_pool"))
    return arrays


def check_slots(slots: ArrayView, pool: ArrayView):
    rows, seen = pool.shape[0] * pool.shape[2], set()
    for token, slot in enumerate(slots.to_host().values()):
        if not -1 <= slot < rows:
            raise BindingError(f"slots: expected -1 or one of the {rows} rows of the pool, got {slot} of token {token}")
        if slot >= 0 and slot in seen:
            raise BindingError(f"slots: expected slots that differ, got {slot} again of token {token}")
        seen.add(slot)


def check_pages(named: Mapping[str, ArrayView]):
    """Types and shapes of query, pools, table, lengths and sink, and what lengths and table in host memory say."""
    query, key = (named[name] for name in ("query", "key"))
    check_table(named, query.shape[0])
    for name, pool in (("k_pool", key), ("v_pool", named["value"])):
        if len(pool.shape) != 4 or pool.shape[2] < 1:
            raise BindingError(f"{name}: expected [pages, heads, page size, head dim], got {tuple(pool.shape)}")
    # As of keys and values of as many batches: what a pool shares with them.
    keys, values = (named[name]._replace(shape=(query.shape[0], *named[name].shape[1:])) for name in ("key", "value"))
    check_arrays({**named, "key": keys, "value": values}, cache_dtypes=BYTES)
    check_paged(named)
