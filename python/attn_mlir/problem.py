# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An attention as data, and the module that the compiler takes for it: one kernel for all batch sizes, head counts and
lengths, since only element types and head dims are fixed."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from .errors import BindingError
from .gradient_outputs import StoredGradients, store_gradients
from .heads import HEAD_MAPS, select_heads, sum_heads
from .norms import norm_lines
from .rotary import rotary_lines
from .runtime.manifest import DTYPE_BYTES
from .widen import dequantize_lines

#: What a dimension of a bias may be: its size in [B, Hq, M, N], or 1.
BIAS_DIMS = ("B", "Hq", "M", "N")


@dataclasses.dataclass(frozen=True)
class Capture:
    """A tensor that a region reads: its name in the module, and its type there."""

    name: str
    type: str


@dataclasses.dataclass(frozen=True)
class Region:
    """A mask_mod or score_mod: a named form such as causal(top_left), or the text of a region."""

    text: str
    captures: tuple[Capture, ...] = ()


def latent_lines(pool: str, columns: str) -> list[str]:
    """%latent: the first columns of the pool of the keys, of these types."""
    lines, sizes = [], columns.removeprefix("tensor<").split("x")[:4]
    for d, size in enumerate(sizes):
        if size == "?":
            lines += [f"  %latent_dim{d} = arith.constant {d} : index\n", f"  %latent_size{d} = tensor.dim %key, %latent_dim{d} : {pool}\n"]
            sizes[d] = f"%latent_size{d}"
    slice = f"%key[0, 0, 0, 0] [{', '.join(sizes)}] [1, 1, 1, 1] : {pool} to {columns}"
    return [*lines, f"  %latent = tensor.extract_slice {slice}\n"]


@dataclasses.dataclass(frozen=True)
class AttentionProblem:
    """output [B, Hq, M, value_dim] = softmax(score_mod(scale * query key^T + bias), under mask_mod) value.

    query [B, Hq, M, head_dim], key [B, Hkv, N, head_dim], value [B, Hkv, N, value_dim]; Hkv divides Hq. `bias_shape` is
    None, or four of 1 and BIAS_DIMS; `sink_dtype` is that of a sink [Hq], None without; `pages` are the size of a page and the type of the entries of a table [B, columns], or with a third that of the offsets [B + 1] of a table [entries], with which key and value are pools [pages, Hkv, page size, dim]; with `latent` the pool of the values is not read, which are the first columns of that of the keys; `append` are the rank and type of new rows and the type of their slots: the pools are results, too, after lse; `row_scales` are the names of two captures that get the scales of new rows, results behind the pools; `cache_dtype` is the type of key and value, if they have fewer bits than query; `value_dtype` that of value, beside a query and key of i8; `descales` are the ranks of those of what has 8 bits of query, key and value: 1 for [1], 2 for [B, Hkv]; `lengths` are names ("key_lengths", "query_lengths") and types (i32, i64) of lengths [B]; `head_maps` are the types of the entries of maps [Hq], one of the heads of key and value or one of each, with which Hkv need not divide Hq; `qk_norm` and `rotary` are what attn_mlir.norms.norm_field and attn_mlir.rotary.rotary_field give, of which the norm is first, and the latter turns no pages; `dropout` is its rate, with which
    seed and offset (i64, rank 0) are arguments; `normalization` is the row reduction as `#attn.` spells it: softmax, none
    or sum<epsilon>, of which the first alone has an LSE and a sink; `scale` is 1/sqrt(head_dim) by default; `lse` adds the result lse [B, Hq, M] (f32, of f64 inputs f64; natural logarithm); `result_dtype`
    is the type of output, or of d_query, d_key and d_value: `dtype` by default, or that of lse. `tile_m` and `tile_n` are the numbers of rows and keys
    that are computed together, which the cost model chooses by default.

    `factor` is a prob_mod that is a factor of the weights, whose captures follow the others; `measured` an output_mod behind the attention whose rows' largest magnitudes, amax [B, Hq, M] of the type of lse, are a result, after lse; `output` one behind that. Their captures follow these.

    With `gradient` it is the backward: arguments then go on with output and lse, where there is an LSE, and d_output, and with `d_lse` d_lse; results
    are d_query, d_key, d_value, with `bias_gradient` d_bias, with `capture_gradients` those of `learned`. `wide_dtype` is then what inputs of 8 bits are made, and
    the type of output and d_output. With a `gradient_dtype` of 8 bits d_output has that, nothing is made wider, and the backward rounds to 8 bits: arguments end with the descale of
    d_output, of rank `gradient_descale`, if there are `descales`, and with `scale_ds` that; with `amax_ds` it is the last result.
    The arguments of any backward end with `gradient_scales`, f32 [1] by which gradients of a `result_dtype` of 8 bits are multiplied, and its results, with `gradient_amax`, with the largest magnitudes of their rows.
    """

    dtype: str = "bf16"
    head_dim: int = 128
    value_dim: int = 128
    mask: Optional[Region] = None
    score: Optional[Region] = None
    factor: Optional[Region] = None
    measured: Optional[Region] = None
    output: Optional[Region] = None
    bias_shape: Optional[tuple[Union[int, str], ...]] = None
    bias_dtype: str = "f32"
    sink_dtype: Optional[str] = None
    pages: Optional[tuple[Any, ...]] = None
    latent: bool = False
    append: Optional[tuple[int, str, str]] = None
    row_scales: tuple[str, ...] = ()
    cache_dtype: Optional[str] = None
    value_dtype: Optional[str] = None
    descales: tuple[int, ...] = ()
    lengths: tuple[tuple[str, str], ...] = ()
    head_maps: tuple[str, ...] = ()
    qk_norm: tuple = ()
    rotary: tuple = ()
    dropout: float = 0.0
    scale: Optional[float] = None
    normalization: str = "softmax"
    lse: bool = False
    gradient: bool = False
    bias_gradient: bool = False
    capture_gradients: bool = False
    d_lse: bool = False
    result_dtype: Optional[str] = None
    wide_dtype: Optional[str] = None
    gradient_dtype: Optional[str] = None
    gradient_descale: int = 0
    scale_ds: bool = False
    amax_ds: bool = False
    gradient_scales: tuple[str, ...] = ()
    gradient_amax: bool = False
    tile_m: Optional[int] = None
    tile_n: Optional[int] = None
    promote: Optional[bool] = None

    @property
    def captures(self) -> tuple[Capture, ...]:
        """Of the score, then of the mask: the function's arguments after query, key, value, bias, sink, table, lengths, seed and offset."""
        regions = [region for region in (self.score, self.mask) if region]
        return tuple(capture for region in regions for capture in region.captures)

    def text_of(self, region: Region) -> str:
        """A region, which reads scales of rows as they are after the append."""
        text = region.text
        for name in self.row_scales:
            text = text.replace(f"%{name}[", f"%{name}_written[")
        return in_f64(text) if self.dtype == "f64" else text

    @property
    def learned(self) -> tuple[Capture, ...]:
        """The captures of the score that have gradients: of float types."""
        return tuple(c for c in (self.score.captures if self.score else ()) if c.type.endswith(("f16>", "f32>", "f64>")))

    def mlir(self, sizes: Mapping[str, int] = {}, name: str = "attention") -> str:
        """The module. `sizes` fixes B, Hq, Hkv, M, N; those that are not in it are dynamic."""

        def tensor(dims: Sequence[Union[int, str]], dtype: str) -> str:
            extents = (str(sizes.get(d, "?")) if isinstance(d, str) else str(d) for d in dims)
            return f"tensor<{'x'.join([*extents, dtype])}>"

        rows = ("B", "Hq", "M")
        stored = self.cache_dtype or self.dtype
        columns = ((self.head_dim, stored), (self.value_dim, self.value_dtype or stored))
        query = tensor((*rows, self.head_dim), self.dtype)
        key, value = (tensor(("B", "Hkv", "N", dim), dtype) for dim, dtype in columns)
        wide = self.wide_dtype or self.value_dtype or self.dtype
        output, lse = tensor((*rows, self.value_dim), wide), tensor(rows, "f64" if self.dtype == "f64" else "f32")

        def result(type: str) -> str:
            if self.gradient_dtype:
                return type.replace(f"x{self.dtype}>", f"x{self.result_dtype or ('bf16' if wide == 'f32' else wide)}>")
            return type.replace(f"x{wide}>", f"x{self.result_dtype or wide}>")

        arguments = {"query": query, "key": key, "value": value}
        clauses: list[str] = []
        if self.bias_shape is not None:
            arguments["bias"] = tensor(self.bias_shape, self.bias_dtype)
            clauses.append(f"bias(%bias : {arguments['bias']})")
        if self.sink_dtype is not None:
            arguments["sink"] = tensor(("Hq",), self.sink_dtype)
            clauses.append(f"sink(%sink : {arguments['sink']})")
        if self.descales:
            stored_types = (self.dtype, *(dtype for _, dtype in columns))
            ranks = zip([name for name, dtype in zip(("query", "key", "value"), stored_types) if DTYPE_BYTES[dtype] == 1], self.descales)
            scales = {f"{n}_descale": tensor(("B", "Hkv") if rank == 2 else (1,), "f32") for n, rank in ranks}
            arguments.update(scales)
            if not self.gradient:
                clauses.append(f"descale({', '.join(f'%{n}' for n in scales)} : {', '.join(scales.values())})")
        views, names = [], "%query, %key, %value"
        pools: list[str] = []
        sources = ("Hkv", "Hv" if len(self.head_maps) == 2 else "Hkv")
        if self.head_maps:
            key, value = (tensor(("B", h, "N", dim), dtype) for h, (dim, dtype) in zip(sources, columns))
            arguments.update(key=key, value=value)
        if self.pages:
            page, entry, *offsets = self.pages
            arguments["key_table"] = table = tensor(("T",) if offsets else ("B", "T"), entry)
            by = "%key_table"
            if offsets:
                arguments["key_table_offsets"] = tensor(("offsets",), offsets[0])
                table, by = f"{table}, {arguments['key_table_offsets']}", f"{by}, %key_table_offsets"
            pools = [tensor(("P", h, page, dim), dtype) for h, (dim, dtype) in zip(sources, columns)]
            arguments.update(zip(("key", "value"), pools))
            if self.latent:
                views += latent_lines(*pools)
            for rows_of, view, pool in (("key", key, pools[0]), ("value", value, pools[1])):
                cache, kind = rows_of + "_cache" * bool(self.append), "pages" if self.head_maps else "rows"
                cache = "latent" if self.latent and rows_of == "value" else cache
                views.append(f"  %{rows_of}_{kind} = attn.paged %{cache}[{by}] : {pool}[{table}] -> {view}\n")
            names = "%query, %key_rows, %value_rows"
        if self.lengths:
            arguments.update((name, tensor(("B",), dtype)) for name, dtype in self.lengths)
            parts = (f"{name.removesuffix('_lengths')} %{name} : {arguments[name]}" for name, _ in self.lengths)
            clauses.append(f"lengths({', '.join(parts)})")
        if self.head_maps:
            arguments.update((n, tensor(("Hq",), entry)) for n, entry in zip(HEAD_MAPS, self.head_maps))
            selecting = {"key" + "_pages" * bool(self.pages): key, "value" + "_pages" * bool(self.pages): value}
            key, value = (tensor(("B", "Hq", "N", dim), dtype) for dim, dtype in columns)
            selected, names = select_heads(self.head_maps, selecting, {**arguments, "key_rows": key, "value_rows": value})
            views += selected
        if self.append:
            rank, dtype, entry = self.append
            batches, tokens = ((), ("tokens",)) if rank == 3 else (("Bnew",), ("Mnew",))
            heads = ("tokens", "Hkv") if rank == 3 else ("Bnew", "Hkv", "Mnew")
            news = [tensor((*heads, dim), dtype) for dim in (self.head_dim, self.value_dim)]
            arguments.update({"k_new": news[0], "v_new": news[1], "slots": tensor((*batches, *tokens), entry)})
            append = f"%k_new{'_turned' if self.rotary else '_normed' if self.qk_norm else ''}, %v_new into %key, %value slots(%slots : {arguments['slots']})"
            if self.descales and dtype != stored:
                append += f" descale(%key_descale, %value_descale : {arguments['key_descale']}, {arguments['value_descale']})"
            into = f"{', '.join(news)} into {', '.join(pools)}"
            readers = (region for region in (self.score, self.factor) if region)
            types_of = {capture.name: capture.type for region in readers for capture in region.captures}
            if self.row_scales:
                scale_types = [types_of[name] for name in self.row_scales]
                append += f" scales({', '.join(f'%{name}' for name in self.row_scales)} : {', '.join(scale_types)})"
                pools += scale_types
            written = ["%key_cache", "%value_cache", *(f"%{name}_written" for name in self.row_scales)]
            views.insert(0, f"  {', '.join(written)} = attn.append {append} : {into}\n")
        reads, dropout = [], []
        if self.dropout:
            arguments.update({"seed": "tensor<i64>", "offset": "tensor<i64>"})
            reads = [f"  %dropout_{name} = tensor.extract %{name}[] : tensor<i64>\n" for name in ("seed", "offset")]
            dropout = [f"dropout(%dropout_seed, %dropout_offset) rate({float_text(self.dropout)})"]
        # Keys in pages are changed already, but for new ones.
        read = ("query", *(("key",) if not self.pages else ("k_new",) if self.append else ()))
        current, changes = {name: f"%{name}" for name in read}, []
        if self.qk_norm:
            weights, lines, current = norm_lines(self.qk_norm, self.head_dim, current, arguments, float_text)
            arguments.update(weights)
            changes += lines
        if self.rotary:
            operands = {name: (of, "key_positions", "N") if name == "key" else (of, "query_positions", "M") for name, of in current.items()}
            tables, lines, current = rotary_lines(self.rotary, tensor, operands, arguments)
            arguments.update(tables)
            changes += lines
        views = changes + views if self.pages else views + changes
        if self.pages:
            names = names.replace("%query", current["query"])
        elif changes:
            names = f"{current['query']}, {current['key']}, %value"
        if self.wide_dtype and not self.gradient_dtype:
            lines, wider = dequantize_lines(arguments, self.wide_dtype)
            views += lines
            names = ", ".join(f"%{n}{'_wide' if wider[n] != arguments[n] else ''}" for n in wider)
            query, key, value = wider.values()
        arguments.update((c.name, c.type) for c in self.captures)
        for part in (self.factor, self.measured, self.output):
            arguments.update((c.name, c.type) for c in (part.captures if part else ()))
        if self.gradient:
            saved = {"output": output, "lse": lse} if self.normalization == "softmax" else {}
            d_output = tensor((*rows, self.value_dim), self.gradient_dtype or wide)
            saved.update({"d_output": d_output, **({"d_lse": lse} if self.d_lse else {})})
            arguments.update(saved)
            clauses += [f"{operand}(%{operand} : {type})" for operand, type in saved.items()]
            clauses += self.scale_clauses(arguments, tensor) if self.gradient_dtype else []
            arguments.update((name, tensor((1,), "f32")) for name in self.gradient_scales)
        learned = self.learned if self.capture_gradients else ()
        learned_types = ", ".join(c.type for c in learned)
        if learned:
            clauses.append(f"captures({', '.join(f'%{c.name}' for c in learned)} : {learned_types})")
        clauses += dropout
        if self.scale is not None:
            clauses.append(f"scale({float_text(self.scale)})")
        if self.normalization != "softmax":
            clauses.append(f"normalization(#attn.{self.normalization})")
        clauses += [f"score_mod {self.text_of(self.score)}"] if self.score else []
        clauses += [f"mask_mod {self.mask.text}"] if self.mask else []
        clauses += [f"prob_mod {self.text_of(self.factor)}"] if self.factor else []
        fields = [f"{name} = {size}" for name, size in (("tile_m", self.tile_m), ("tile_n", self.tile_n)) if size]
        fields += [f"promote = {str(self.promote).lower()}"] if self.promote is not None else []
        clauses += [f"{{schedule = #attn.schedule<{', '.join(fields)}>}}"] if fields else []
        if self.gradient:
            op, results, types = "attention_backward", ["%d_query", "%d_key", "%d_value"], [result(query), result(key), result(value)]
        else:
            op, results, types = "attention", ["%output"] + ["%lse"] * self.lse, [result(output)] + [lse] * self.lse
        result_types, sums = ", ".join(types), []
        if self.gradient and self.head_maps:
            gradients = {"d_key_rows": types[1], "d_value_rows": types[2], **{f"d_{n}": result(arguments[n]) for n in ("key", "value")}}
            sums = sum_heads(self.head_maps, {**arguments, **gradients})
            types[1:] = gradients["d_key"], gradients["d_value"]
        whole = tensor((*rows, self.value_dim), "f64" if self.dtype == "f64" else "f32")
        changed = self.output_lines(whole, types[0], lse)
        if changed:
            result_types = ", ".join([whole, *types[1:]])
            types += [lse] * bool(self.measured)
        kept = self.stored_gradients(results, types)
        if kept:
            result_types = ", ".join(kept.given)
        caches = written if self.append else []
        returned = ", ".join([*types, *pools]) if self.append else ""
        if self.bias_gradient:
            results, types = [*results, "%d_bias"], [*types, arguments["bias"]]
            result_types += f" d_bias({types[-1]})"
        if learned:
            results, types = [*results, *(f"%d_{c.name}" for c in learned)], [*types, *(c.type for c in learned)]
            result_types += f" d_captures({learned_types})"
        if self.amax_ds:
            results, types = [*results, "%amax_ds"], [*types, lse]
            result_types += f" amax_ds({lse})"
        types += kept.maxima if kept else []
        parameters = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
        returned = returned or ", ".join(types)
        if kept:
            changed, last = kept.lines, [*kept.values[:3], *results[3:], *kept.values[3:]]
        else:
            last = [*(["%changed" if self.output else "%measured", *results[1:], *["%amax"] * bool(self.measured)] if changed else results), *caches]
        made = [r + "_rows" if sums and r in ("%d_key", "%d_value") else r for r in results]
        return f"""func.func @{name}({parameters}) -> ({returned}) {{
{"".join([*reads, *views])}  {", ".join(made)} = attn.{op} {names} {" ".join(clauses)}
      : {query}, {key}, {value} -> {result_types}
{changed}{"".join(sums)}  return {", ".join(last)} : {returned}
}}
"""

    def stored_gradients(self, gradients: Sequence[str], types: Sequence[str]) -> Optional[StoredGradients]:
        """Of a backward; None where it gives what is returned."""
        has_bytes = self.result_dtype is not None and DTYPE_BYTES[self.result_dtype] == 1
        if not self.gradient or not (has_bytes or self.gradient_amax):
            return None
        return store_gradients(gradients, types, self.gradient_scales, self.gradient_amax, "f64" if self.dtype == "f64" else "f32")

    def scale_clauses(self, arguments: dict[str, str], tensor: Callable[[Sequence[Any], str], str]) -> list[str]:
        """Of a backward that rounds to 8 bits; adds what only it has to the arguments."""
        clauses = []
        if self.descales:
            arguments["d_output_descale"] = tensor(("B", "Hkv") if self.gradient_descale == 2 else (1,), "f32")
            names = [f"{name}_descale" for name in ("query", "key", "value", "d_output")]
            clauses.append(f"descale({', '.join(f'%{n}' for n in names)} : {', '.join(arguments[n] for n in names)})")
        if self.scale_ds:
            arguments["scale_ds"] = tensor((1,), "f32")
            clauses.append(f"scale_ds(%scale_ds : {arguments['scale_ds']})")
        return clauses

    def output_lines(self, whole: str, result: str, rows: str) -> str:
        """The output_mods behind an attention whose output is `whole`: the last gives `result`, that which is measured `rows`, too."""
        parts = [part for part in (self.measured, self.output) if part]
        texts = [self.text_of(part) for part in parts]
        types = [whole, result][-len(texts) :]
        lines = ""
        if self.measured:
            lines += f"  %measured, %amax = attn.output_mod %output {texts[0]} : {whole} -> {types[0]}, {rows}\n"
        if self.output:
            lines += f"  %changed = attn.output_mod {'%measured' if self.measured else '%output'} {texts[-1]} : {whole} -> {result}\n"
        return lines


#: What has no decimal form, in f32 and in f64.
SPECIAL = {"0x7F800000": "0x7FF0000000000000", "0xFF800000": "0xFFF0000000000000", "0x7FC00000": "0x7FF8000000000000"}


def in_f64(region: str) -> str:
    """A score's region that computes in f64 what it computes in f32, also with what it reads from tensors."""
    lines = []
    for line in region.splitlines():
        if "tensor.extract" in line:
            if line.endswith(("xf32>", "<f32>")):
                name, _, read = line.partition(" = ")
                narrow = "%f32_" + name.strip()[1:]
                line = f"{narrow} = {read}\n{name} = arith.extf {narrow} : f32 to f64"
        else:
            line = re.sub(r"\bf32\b", "f64", re.sub("0x[7F]F?[0-9A-F]+", lambda bits: SPECIAL[bits[0]], line))
        lines.append(line)
    return "\n".join(lines)


def float_text(number: float) -> str:
    """As MLIR reads floats: with a point."""
    text = repr(float(number))
    mantissa, exponent, power = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{exponent}{power}"


def bias_shape(bias: Sequence[int], sizes: Sequence[int], what: str = "bias") -> tuple[Union[int, str], ...]:
    """How a bias (or `what`) of shape `bias` broadcasts to [B, Hq, M, N] of the given sizes."""
    if len(bias) != 4:
        raise BindingError(f"expected a {what} of rank 4, got {len(bias)}")
    dims = []
    for d, (name, got, size) in enumerate(zip(BIAS_DIMS, bias, sizes)):
        if got not in (1, size):
            raise BindingError(f"expected dim {d} of {what} to be 1 or {size} ({name}), got {got}")
        dims.append(1 if got == 1 else name)
    return tuple(dims)
