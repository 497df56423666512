# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`varlen` and `prefill`: attention over sequences that are packed behind each other, and over a paged cache of them."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from .arrays import ArrayView, view_of
from .cache import Cache
from .checks import BYTES, DESCALES, FLOAT8, Causal, Window, asserts_flag, check_no_gradients, check_options, check_signed, descaled_names
from .cpu import DirectKernel
from .errors import BindingError
from .float8 import TokenScales, descale_arrays, pool_scales
from .functional import MOST_ROWS_OF_DECODING, default_target, keys_of_pool, make_mask, make_score, mask_at_end, number_of_keys
from .kernel import Kernel, compile
from .mask.tracing import ROW, Traced
from .paged import (
    append_on_host, append_scales, cache_scales, changed_rows, check_new_rows, quantises, table_arrays,
)  # fmt: skip
from .norms import WEIGHTS, norm_arrays, norm_field, norm_line
from .page_contents import check_turned
from .problem import Region, float_text, in_f64
from .ragged_checks import check_last_positions, check_ragged, check_sequences
from .rotary import POSITIONS, TABLES, check_packed_rotary, rotary_line, rows_of_both, rows_of_sequences
from .runtime.host_array import HostArray
from .runtime.manifest import DTYPE_BYTES
from .splits import Splits


def varlen(
    query: Any,
    key: Any,
    value: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any,
    max_seqlen_q: Optional[int] = None,
    *,
    causal: Causal = False,
    window: Window = None,
    descale: Optional[Sequence[Any]] = None,
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
    out: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    allow_tf32: bool = False,
    invariance: str = "none",
    device_asserts: bool = False,
    cache: Optional[Cache] = None,
) -> Any:
    """Attention of each of several sequences that lie behind each other, without padding.

    Arguments:
      query: [rows, Hq, D], f16, bf16, f32 or 8 bits (f8E4M3FN, f8E5M2; i8 of query and key beside a value of any of these); key: [key rows, Hkv, D];
        value: [key rows, Hkv, Dv], of query's type, or of 8 bits; Hkv divides Hq. Any strides with a contiguous head dim. No row is copied to a padded tensor.
      cu_seqlens_q, cu_seqlens_k: [B + 1], i32 or i64: sequence b has the rows [cu_seqlens[b], cu_seqlens[b + 1]) (FlashInfer's qo_indptr
        and kv_indptr). A sequence may be empty. Arrays in host memory are checked.
      max_seqlen_q: as many rows as a sequence has at most, from which a GPU's grid follows; rows of a sequence past it are left out. Its
        next power of two counts, so that there are few kernels, but where an array is read at i. None: all rows, so that most CTAs of a batch find nothing to do.
      causal, window: as of `attention`, aligned by sequence: row i of M is at position i + N - M among the keys.
      descale: as of `attention`, [1] or [B, Hkv].
      mask_mod, score_mod: as of `attention`: functions of b, a sequence, h, a query head, i and j, a row and a key counted from the first of their
        sequence; query_length() and key_length() of attn_mlir.mask are those of the sequence. Beside causal and window, a key is seen that all of them show.
        An array that is read at i has max_seqlen_q places, one that is read at j as many as there are rows of key, or in pages of a table's row.
      qk_norm, qk_norm_epsilon, rotary, rotary_interleaved: as of `attention`, of query and key, not of 8 bits: rows are normalised and turned as they lie, by the same launch.
      rotary_positions: those of query, [rows], and of key, [key rows], i32 or i64, either of which may be None: key j of a sequence is at j then, and its last query at its last key.
      invariance: as of `decode`; "prefix" with as many heads gives the bits of `prefill` and `decode`.
      device_asserts: as of `decode`, of offsets.
      sink, soft_cap, scale, return_lse, out, target, device, allow_tf32, cache: as of `attention`.

    Returns output [rows, Hq, Dv], bf16 of an 8-bit query, or (output, lse) with lse [Hq, rows] f32 (FlashAttention's softmax_lse of varlen, natural logarithm), of
    query's library. Rows of no sequence are not written. A kernel serves all offsets and numbers of rows.
    """
    more = {"query_offsets": cu_seqlens_q, "key_offsets": cu_seqlens_k, **descale_arrays(descale, query, value)}
    arrays = {"query": query, "key": key, "value": value, "sink": sink, **more}
    views = {name: view_of(array, name) for name, array in arrays.items() if array is not None}
    if rotary is not None:  # before positions are computed of them
        check_ragged(views, max_seqlen_q)
    tables = rows_of_both(rotary, rotary_positions, query, key, cu_seqlens_q, cu_seqlens_k)
    weights = norm_arrays(qk_norm, qk_norm_epsilon)
    views.update((name, view_of(array, name)) for name, array in {**weights, **tables}.items())
    norm_field(views, qk_norm, qk_norm_epsilon)
    if tables:
        check_packed_rotary(views)
        if rotary_positions is None or rotary_positions[0] is None:
            check_last_positions(views)
    if (tables or qk_norm is not None) and views["key"].dtype in BYTES:
        raise BindingError(f"key: expected dtype f16, bf16, f32 or f64 with {'rotary' if tables else 'qk_norm'}, got {views['key'].dtype}")
    rules = Rules(causal, window, soft_cap, scale, mask_mod, score_mod)
    changes = None if qk_norm is None else float(qk_norm_epsilon), rotary_interleaved
    splits, flags = Splits(invariance=invariance), {"allow_tf32": allow_tf32, "device_asserts": device_asserts}
    return run({**arrays, **weights, **tables}, max_seqlen_q, rules, return_lse, out, target, device, flags, cache, splits, changes=changes)


def prefill(
    query: Any,
    k_pool: Any,
    v_pool: Any,
    table: Any,
    lengths: Any,
    cu_seqlens_q: Any,
    max_seqlen_q: Optional[int] = None,
    *,
    k_new: Any = None,
    v_new: Any = None,
    slots: Any = None,
    causal: Causal = True,
    window: Window = None,
    q_scale: Any = None,
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
    """Attention of new rows of several sequences, behind each other, over keys and values in the pages of a cache: chunks of prompts,
    and decoded tokens beside them.

    Arguments:
      query: [rows, Hq, D]: the last rows of each sequence, whose keys and values the cache has (`append`), or gets before.
      k_new, v_new, slots: new rows [tokens, Hkv, D or Dv] with slots [tokens], as a rule those of query, that `append` writes to the pools first, as of `decode`: on a
        GPU by a kernel of the same launch.
      k_pool, v_pool, k_scale, v_scale, table, lengths: as of `decode`: lengths are all keys of a sequence, those of the new rows among them.
        Pools of scales, one for each row, are not for a query of 8 bits.
      q_scale: of a query of 8 bits beside pools of its type, as k_scale. One that is None beside others is 1.
      qk_norm, qk_norm_epsilon, rotary, rotary_interleaved: as of `decode`, of query and of k_new, which has a row for each of query where it is turned; not of a query of 8 bits.
      rotary_positions: [rows], i32 or i64 (vLLM's positions); None: where a row is in its sequence, lengths - M + i of M new rows.
      fixed_split_size, num_splits, disable_split_kv, balance: as of `decode`; a plan shares out the row tiles that sequences have, too.
      invariance: as of `decode`; the bits do not depend on max_seqlen_q then, and with "prefix" a token's are those that `decode` gives it.
      device_asserts: as of `decode`.
      cu_seqlens_q, max_seqlen_q and the others: as of `varlen`.

    Returns what `varlen` does. Lengths, tables and positions in host memory are looked at as `decode` does.
    """
    if q_scale is None and (k_scale is not None or v_scale is not None) and view_of(query, "query").dtype in FLOAT8:
        q_scale = 1.0
    scales = cache_scales(query, k_scale, v_scale, q_scale)
    tokens = pool_scales(query, sequences_of(cu_seqlens_q), k_pool, table, lengths, scales) if q_scale is None else None
    more = {"query_offsets": cu_seqlens_q, **table_arrays(table), "key_lengths": lengths, **({} if tokens else scales)}
    if rotary is not None:  # before positions are computed of them
        check_sequences({"query": view_of(query, "query"), "query_offsets": view_of(cu_seqlens_q, "query_offsets"), "key_lengths": view_of(lengths, "key_lengths")}, max_seqlen_q)
    tables = rows_of_sequences(rotary, rotary_positions, query, cu_seqlens_q, lengths, k_new)
    weights = norm_arrays(qk_norm, qk_norm_epsilon)
    epsilon = None if qk_norm is None else float(qk_norm_epsilon)
    changed = {"query": query, **weights, **({} if k_new is None else {"k_new": k_new})}
    norm_field({name: view_of(array, name) for name, array in changed.items()}, qk_norm, qk_norm_epsilon)
    if tables:
        turned = {name: view_of(array, name) for name, array in {"query": query, **tables}.items()}
        check_packed_rotary(turned)
        check_turned(turned)
    more.update({**weights, **tables})
    target = target or default_target(view_of(query, "query"), device)
    row_scales: tuple[Any, ...] = ()
    arrays = {"query": query, "key": k_pool, "value": v_pool, "sink": sink, **more}
    if any(array is not None for array in (k_new, v_new, slots)):
        rows = check_new_rows(k_new, v_new, slots, k_pool, v_pool)
        # Nothing is written where the others do not fit.
        check_ragged({name: view_of(array, name) for name, array in arrays.items() if array is not None}, max_seqlen_q)
        if len(view_of(slots, "slots").shape) != 1:
            raise BindingError(f"slots: expected [tokens], as packed rows have them, got {tuple(view_of(slots, 'slots').shape)}")
        is_narrowed = quantises(k_new, v_new, k_pool, v_pool)
        quantising = append_scales(query, k_scale, v_scale, {**rows, "k_pool": k_pool}) if is_narrowed else {}
        if target == "cpu":  # a kernel for the CPU would give copies of the pools back
            if tables or qk_norm is not None:
                rows["k_new"] = changed_rows(k_new, {**weights, **tables}, epsilon, rotary_interleaved)
            append_on_host({"k_pool": k_pool, "v_pool": v_pool, **rows}, device, quantising)
        elif tokens:
            row_scales = tuple(quantising.values())
            arrays.update(rows)
        else:
            arrays.update({**rows, **quantising})
    rules = Rules(causal, window, soft_cap, scale, mask_mod, score_mod, tokens)
    splits = Splits(fixed_split_size, num_splits, disable_split_kv, balance, invariance)
    flags = {"allow_tf32": allow_tf32, "device_asserts": device_asserts}
    return run(arrays, max_seqlen_q, rules, return_lse, out, target, device, flags, cache, splits, row_scales, (epsilon, rotary_interleaved))


@dataclasses.dataclass(frozen=True)
class RaggedProblem:
    """What a kernel is made for. `dtype` is of the query; `room`: rows of a sequence at most, None for all; `page`: rows of a page of keys, None for keys behind
    each other; `types` are those of sink, offsets, table and lengths, by name; `descales` are the ranks of those of what has 8 bits, 1 or 2; `heads`: (Hq, Hkv) where they are fixed.
    What the regions read are the last arguments: of the mask, the score and the factor, a prob_mod. `new` is the type of rows that are appended first, from arguments k_new, v_new and slots;
    `row_scales` the names of those of score and factor that are pools of scales to which those of wider new rows are written. `epsilon`: of the norm of
    query and the keys that come with it, None for none; `rotary`: the columns of the tables cos and sin that these are turned by, and whether its pairs are interleaved."""

    dtype: str
    key_dtype: str
    value_dtype: str
    descales: tuple[int, ...]
    head_dim: int
    value_dim: int
    room: Optional[int]
    page: Optional[int]
    types: tuple[tuple[str, str], ...]
    mask: Optional[Region]
    score: Optional[Region]
    factor: Optional[Region]
    scale: Optional[float]
    lse: bool
    heads: Optional[tuple[int, int]]
    new: Optional[str] = None
    row_scales: tuple[str, ...] = ()
    epsilon: Optional[float] = None
    rotary: Optional[tuple[int, bool]] = None

    @property
    def result_dtype(self) -> str:
        # That of the weights: an integer is none.
        own = self.value_dtype if self.dtype == "i8" else self.dtype
        return "bf16" if own in FLOAT8 else own

    @property
    def stored(self) -> tuple[tuple[str, int, str], ...]:
        """Name, columns and type of key and value."""
        return ("key", self.head_dim, self.key_dtype), ("value", self.value_dim, self.value_dtype)

    @property
    def scaled(self) -> list[str]:
        """The descales that there are."""
        return descaled_names(self.dtype, self.key_dtype, self.value_dtype) if self.descales else []

    @property
    def has_table_offsets(self) -> bool:
        return "key_table_offsets" in dict(self.types)

    def tensor(self, *dims: Any, dtype: Optional[str] = None) -> str:
        return f"tensor<{'x'.join([*map(str, dims), dtype or self.dtype])}>"

    def arguments(self) -> dict[str, str]:
        """Types by name."""
        hq, hkv = self.heads or ("?", "?")
        page = [self.page] * bool(self.page)
        found = {"query": self.tensor("?", hq, self.head_dim)}
        found.update((name, self.tensor("?", hkv, *page, dim, dtype=dtype)) for name, dim, dtype in self.stored)
        ranks: dict[str, tuple[Any, ...]] = {"key_table": ("?",) if self.has_table_offsets else ("?", "?"), "sink": (hq,)}
        ranks.update((name, ("?", hkv) if rank == 2 else (1,)) for name, rank in zip(self.scaled, self.descales))
        ranks.update(k_new=("?", hkv, self.head_dim), v_new=("?", hkv, self.value_dim))
        ranks.update(dict.fromkeys(WEIGHTS, (self.head_dim,)))
        if self.rotary:
            ranks.update(dict.fromkeys(TABLES, ("?", self.rotary[0])))
        found.update((name, self.tensor(*ranks.get(name, "?"), dtype=dtype)) for name, dtype in self.types)
        found.update((capture.name, capture.type) for region in (self.mask, self.score, self.factor) if region for capture in region.captures)
        return found

    def mlir(self) -> str:
        """The module."""
        hq, hkv = self.heads or ("?", "?")
        room = "?" if self.room is None else self.room
        arguments = self.arguments()
        views = {"query": self.tensor("?", hq, room, self.head_dim)}
        views.update((name, self.tensor("?", hkv, "?", dim, dtype=dtype)) for name, dim, dtype in self.stored)
        of_keys = "key_table" if self.page else "key_offsets"
        lines, changed = self.row_lines(arguments)
        lines, written = lines + self.append_lines(arguments, changed), self.written()
        for name, by in (("query", "query_offsets"), ("key", of_keys), ("value", of_keys)):
            op = "paged" if by == "key_table" else "ragged"
            places = [by, f"{by}_offsets"] if op == "paged" and self.has_table_offsets else [by]
            operands, types = (", ".join(parts) for parts in zip(*((f"%{place}", arguments[place]) for place in places)))
            lines.append(f"%{name}_rows = attn.{op} {written.get(name) or changed.get(name, '%' + name)}[{operands}] : {arguments[name]}[{types}] -> {views[name]}")
        lengths = []
        for name in ("key", "query"):
            offsets = arguments.get(f"{name}_offsets")
            if offsets:
                lines.append(f"%{name}_lengths = attn.sequence_lengths %{name}_offsets : {offsets} -> {offsets}")
            lengths.append(f"{name} %{name}_lengths : {offsets or arguments['key_lengths']}")
        clauses = [f"sink(%sink : {arguments['sink']})"] if "sink" in arguments else []
        if self.descales:
            clauses.append(f"descale({', '.join(f'%{name}' for name in self.scaled)} : {', '.join(arguments[name] for name in self.scaled)})")
        clauses.append(f"lengths({', '.join(lengths)})")
        clauses += [f"scale({float_text(self.scale)})"] if self.scale is not None else []
        regions = (("score_mod", self.score), ("mask_mod", self.mask), ("prob_mod", self.factor))
        clauses += [f"{name} {self.text_of(region, written)}" for name, region in regions if region]
        statistic = "f64" if self.dtype == "f64" else "f32"
        own = self.result_dtype
        results = {"output": (self.tensor("?", hq, room, self.value_dim, dtype=own), self.tensor("?", hq, self.value_dim, dtype=own), ("rows", "heads"))}
        if self.lse:
            results["lse"] = (self.tensor("?", hq, room, dtype=statistic), self.tensor(hq, "?", dtype=statistic), ("heads", "rows"))
        lines.append(f"{', '.join('%' + name for name in results)} = attn.attention %query_rows, %key_rows, %value_rows {' '.join(clauses)}")
        lines[-1] += f"\n      : {', '.join(views.values())} -> {', '.join(batches for batches, _, _ in results.values())}"
        for i, name in enumerate(("rows", "heads")):
            lines += [f"%c{i} = arith.constant {i} : index", f"%{name} = tensor.dim %query, %c{i} : {arguments['query']}"]
        for name, (batches, packed, sizes) in results.items():
            dynamic = [f"%{size}" for size in sizes if size == "rows" or self.heads is None]
            lines.append(f"%{name}_empty = tensor.empty({', '.join(dynamic)}) : {packed}")
            lines.append(f"%{name}_packed = attn.pack %{name}[%query_offsets] into %{name}_empty : {batches}[{arguments['query_offsets']}] into {packed}")
        types = ", ".join([packed for _, packed, _ in results.values()] + [arguments[name] for name in written])
        lines.append(f"return {', '.join([*(f'%{name}_packed' for name in results), *written.values()])} : {types}")
        parameters = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
        body = "".join(f"  {line}\n" for line in lines)
        return f"func.func @ragged({parameters}) -> ({types}) {{\n{body}}}\n"

    def row_lines(self, arguments: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """Lines that change rows of the query, and of keys that come with it, and what these are after it, by the names of arguments."""
        changed, lines = {name: f"%{name}" for name in ("query", "k_new" if self.page else "key") if name in arguments}, []
        if self.epsilon is not None:
            for name, source in changed.items():
                changed[name] = f"%{name}_normed"
                lines.append(norm_line(changed[name], source, WEIGHTS[name != "query"], arguments, arguments[name], float_text(self.epsilon)))
        if self.rotary:
            for name, source in changed.items():
                changed[name] = f"%{name}_turned"
                lines.append(rotary_line(changed[name], source, POSITIONS[name == "key"], arguments, arguments[name], *self.rotary))
        return lines, changed

    def written(self) -> dict[str, str]:
        """What pools, and pools of scales, are after new rows are appended, by the names of arguments."""
        return {name: f"%{name}_written" for name in ("key", "value", *self.row_scales)} if self.new else {}

    def append_lines(self, arguments: Mapping[str, str], changed: Mapping[str, str]) -> list[str]:
        """Lines that append to the pools."""
        if self.new is None:
            return []
        clause = ""
        if self.new != self.key_dtype and self.key_dtype in BYTES:
            kind, scales = ("scales", self.row_scales) if self.row_scales else ("descale", DESCALES[1:])
            clause = f" {kind}({', '.join(f'%{name}' for name in scales)} : {', '.join(arguments[name] for name in scales)})"
        rows, pools = (", ".join(arguments[name] for name in pair) for pair in (("k_new", "v_new"), ("key", "value")))
        new = changed["k_new"]
        line = f"{', '.join(self.written().values())} = attn.append {new}, %v_new into %key, %value slots(%slots : {arguments['slots']}){clause} : {rows} into {pools}"
        return [line]

    def text_of(self, region: Region, written: Mapping[str, str]) -> str:
        """A region, which reads pools of scales as they are after the append."""
        text = region.text
        for name in self.row_scales:
            text = text.replace(f"%{name}[", f"{written[name]}[")
        return in_f64(text) if self.dtype == "f64" else text


class Rules(NamedTuple):
    """What is seen of a sequence, and how it counts: options of `varlen` and `prefill`, and scales of the keys and values of a cache."""

    causal: Causal
    window: Window
    soft_cap: Optional[float]
    scale: Optional[float]
    mask_mod: Any
    score_mod: Any
    tokens: Optional[TokenScales] = None

    def regions(self) -> tuple[Optional[Traced], ...]:
        """Mask, score and factor of the weights."""
        check_options(self.causal, self.window, self.soft_cap, self.scale)
        score = make_score(self.soft_cap, self.score_mod)
        if self.tokens:
            score = self.tokens.change_score(score)
        return make_mask(self.causal, None, mask_at_end(self.window, self.mask_mod)), score, self.tokens.weights() if self.tokens else None


def sequences_of(offsets: Any) -> int:
    """B, of [B + 1] offsets."""
    return max(view_of(offsets, "cu_seqlens_q").shape[0] - 1, 0)


def run(arrays, max_rows, rules, return_lse, out, target, device, flags, cache, splits=Splits(), row_scales=(), changes=(None, False)) -> Any:
    """Of arrays by the names of a RaggedProblem's arguments, in their order; `flags` allow_tf32 and device_asserts of `compile`, `row_scales` pools of scales that an append writes,
    `changes` the epsilon of a norm and whether the pairs of a rotation are interleaved."""
    check_no_gradients(**{name: arrays.get(name) for name in ("query", "key", "value", "sink", *WEIGHTS, *TABLES)})
    check_signed(**{name: arrays[name] for name in ("query", "key", "value")})
    arrays = {name: array for name, array in arrays.items() if array is not None or name in ("query", "key", "value")}
    views = {name: view_of(array, name) for name, array in arrays.items()}
    check_ragged(views, max_rows)
    epsilon, interleaved = changes
    regions = rules.regions()
    query, key, value = (views[name] for name in ("query", "key", "value"))
    target = target or default_target(query, device)
    reads = [part for part in regions if part]
    sizes = views["query_offsets"].shape[0] - 1, query.shape[1], max_rows or query.shape[0], number_of_keys(views) if "key_table" in views else key.shape[0]
    for part in reads:
        part.check_reads(sizes, longest_of(views["query_offsets"]))
    # An array that is read at i has as many elements as a sequence has rows, and need not have more.
    is_read_at_rows = any(need.position == ROW for part in reads for need in part.needs)
    room = max_rows if max_rows is None or is_read_at_rows else 1 << (max_rows - 1).bit_length()
    page = key.shape[2] if "key_table" in views else 1
    flags = {"allow_tf32": flags["allow_tf32"], **splits.flags(page, target), **asserts_flag(flags["device_asserts"], target)}
    # Rows of a batch whose bits depend on none beside them have one kernel, however many there are.
    is_decoding = target != "cpu" and (splits.invariance != "none" or room is not None and room <= MOST_ROWS_OF_DECODING)
    mask, score, factor = (part.region if part else None for part in regions)
    problem = RaggedProblem(
        query.dtype, key.dtype, value.dtype, tuple(len(views[name].shape) for name in DESCALES if name in views), query.shape[2], value.shape[-1], room,
        key.shape[2] if "key_table" in views else None,
        tuple((name, view.dtype) for name, view in views.items() if name not in ("query", "key", "value")),
        mask, score, factor, rules.scale, return_lse, (query.shape[1], key.shape[1]) if is_decoding else None,
        views["k_new"].dtype if "k_new" in views else None,
        tuple(part.name_of(array) for part, array in zip(regions[1:], row_scales) if part),
        epsilon, (views["cos"].shape[1], bool(interleaved)) if "cos" in views else None,
    )  # fmt: skip
    kernel = compiled(problem, target, all(part.reads_are_checked for part in reads), tuple(flags.items()), cache)
    captures = [array for part in reads for array in part.arrays]
    kept = [] if out is None else rows_of_no_sequence(out, views["query_offsets"])
    arguments = (*arrays.values(), *captures)
    results = kernel.run(arguments, [*views.values(), *(view_of(array, f"capture {i}") for i, array in enumerate(captures))], out, device)
    for view, content in kept:
        view.write(content)
    return results


def longest_of(offsets: ArrayView) -> int:
    """Rows of the longest sequence, by offsets in host memory; 0 of others, which nobody looks at."""
    entries = offsets.to_host().values() if offsets.device == "cpu" else []
    return max((int(end - begin) for begin, end in zip(entries, entries[1:])), default=0)


def rows_of_no_sequence(out: Any, offsets: ArrayView) -> list[tuple[ArrayView, HostArray]]:
    """Those of results in host memory, which are copied whole, and what they hold."""
    if offsets.device != "cpu":
        return []
    entries = offsets.to_host().values()
    first, end = int(entries[0]), int(entries[-1])
    found = []
    for number, array in enumerate(out if isinstance(out, (tuple, list)) else (out,)):
        view, dim = view_of(array, f"result {number}"), number  # output [rows, Hq, Dv], lse [Hq, rows]
        if view.device != "cpu" or len(view.shape) != 3 - number:
            continue
        for begin, stop in ((0, first), (end, view.shape[dim])):
            if begin < stop:
                part = rows_between(view, dim, begin, stop)
                found.append((part, part.to_host()))
    return found


def rows_between(view: ArrayView, dim: int, begin: int, end: int) -> ArrayView:
    shape = (*view.shape[:dim], end - begin, *view.shape[dim + 1 :])
    return view._replace(shape=shape, address=view.address + begin * view.strides[dim] * DTYPE_BYTES[view.dtype])


@functools.lru_cache(maxsize=256)
def compiled(problem: RaggedProblem, target: str, is_checked: bool, flags: tuple, cache: Optional[Cache]) -> Kernel:
    """`is_checked`: nothing outside of arrays can be read, so that a kernel for the CPU may run in this process."""
    if target == "cpu" and is_checked:
        return DirectKernel(problem.mlir(), cache, keys_of_pool if problem.page else lambda views: views[1].shape[0])
    return compile(problem.mlir(), target=target, cache=cache, **dict(flags))
