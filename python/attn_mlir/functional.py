# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention` and its gradients on arrays, compiled on first use."""

from __future__ import annotations

import functools
import math
from numbers import Integral, Real
from typing import Any, Mapping, Optional, Sequence, Union

from .arrays import ArrayView, scalar_like, view_of
from .cache import Cache
from .checks import BYTES, DESCALES, FLOAT8, FLOATS, LENGTHS, TABLE, Causal, Window, check_arrays, check_causal, check_no_gradients, check_scale, check_signed, check_sizes, invariance_flag, sides_of
from .cpu import DirectKernel, has_contiguous_rows, keys_of_tensor
from .errors import BindingError, DeviceError
from .float8 import check_scales, descale_arrays, float8_output, rounded_gradient, stored_gradients, token_scales, wide_field
from .heads import head_map_arrays, map_types
from .kernel import Kernel, compile, cuda_device
from . import mask as masks, prepared
from .mask import Mask, Score, trace_mask, trace_score
from .mask.outputs import Measured, Output, trace_output
from .mask.tracing import Factor, Traced
from .probabilities import changed_attention
from .problem import AttentionProblem, bias_shape, float_text
from .rows import RowChanges

Normalization = Union[str, tuple[str, float]]


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    causal: Causal = False,
    window: Window = None,
    bias: Any = None,
    sink: Any = None,
    key_lengths: Any = None,
    query_lengths: Any = None,
    dropout: float = 0.0,
    seed: Any = None,
    offset: Any = 0,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    normalization: Normalization = "softmax",
    mask_mod: Union[Mask, Any] = None,
    block_mask: Any = None,
    score_mod: Union[Score, Any] = None,
    prob_mod: Any = None,
    output_mod: Any = None,
    return_lse: bool = False,
    return_amax: bool = False,
    out: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    allow_tf32: bool = False,
    invariance: str = "none",
    result_dtype: Optional[str] = None,
    output_scale: Any = None,
    descale: Optional[Sequence[Any]] = None,
    head_map: Any = None,
    qk_norm: Any = None,
    qk_norm_epsilon: float = 1e-6,
    rotary: Any = None,
    rotary_interleaved: bool = False,
    rotary_positions: Any = None,
    cache: Optional[Cache] = None,
) -> Any:
    """softmax(scale * query key^T + bias, masked) value.

    Arguments:
      query: [B, Hq, M, D], f16, bf16 or f32, or 8 bits (f8E4M3FN, f8E5M2: ml_dtypes.float8_e4m3fn, torch.float8_e5m2, ...; i8 of query and key beside a value of any of these);
        key: [B, Hkv, N, D]; value: [B, Hkv, N, Dv]; Hkv divides Hq. Any strides with a contiguous head dim: of arrays
        [B, M, H, D], pass the transposed view.
      descale: of those of query, key and value that have 8 bits, what they stand for divided by what they are: three arrays of f32, or those of key and value alone, where query has more bits,
        or of query and key, where value has; each [1] or [B, Hkv]. With it there is no bias. Beside a query of more bits also [B, Hkv, N], one for each token: factors of scores and weights in the same kernel.
      head_map: [Hq], i32 or i64: the head of key and value for each query head, in any order and groups; or a pair of such, of key and of value, which may then have
        different numbers of heads. Read when the kernel runs; an entry that is no head counts as the last one.
      qk_norm: (weight of query, weight of key), [D] of floats each, or None for ones: rows of query and key are divided by the root of the mean of their squares plus
        qk_norm_epsilon and multiplied by these, before rotary. In f32, rounded once.
      rotary: (cos, sin), [positions, r/2] each, of floats: rotary embedding of the first r columns of query and key, of which m and m + r/2 are a pair, with rotary_interleaved 2m and
        2m + 1. Key j is at position j, and the last query at that of the last key; or rotary_positions are (those of query [1 or B, M], those of key [1 or B, N]), i32 or i64, either None
        for 0, 1, ...; one that the tables do not have counts as the last. Turned in f32 and rounded once.
      causal: True or "bottom_right" (row i sees keys up to i + N - M, as FlashAttention and decoding do), "top_left" (up
        to i, as torch does), or False.
      window: (left, right): row i sees the keys i - left to i + right; a number is (left, 0).
      bias: [B, Hq, M, N] with any dimension 1, added to the scores.
      sink: [Hq], of query's type or f32: one more score in each row of a head, of a key without a value (attention sinks).
      key_lengths, query_lengths: [B], i32 or i64: how many keys and rows of each batch exist, from 0 to N and M. What is stored
        behind a length has no influence, whatever it is; rows behind it are 0. causal is aligned by sequence; window is around row i.
      dropout: the rate in [0, 1) at which probabilities are dropped as factors of value; what is kept is divided by 1 - rate.
        What is dropped is a function of seed, offset and the element's place alone (docs/Spec.md, "Dropout"): the same in the
        backward, on every target, in every run.
      seed, offset: numbers, or i64 arrays of rank 0 where query is, which are read when the kernel runs. Needed with
        dropout (offset is 0 by default).
      soft_cap: scores become soft_cap * tanh(score / soft_cap).
      scale: 1/sqrt(D) by default.
      normalization: "softmax"; "none", where score_mod gives the weights, which are 0 where masked; or ("sum", epsilon), where
        these are divided by their sum plus epsilon, and gradients are not derived. Only softmax has an LSE and a sink.
      mask_mod, score_mod: functions of (b, h, i, j) and (score, b, h, i, j), see attn_mlir.mask. A mask_mod holds beside
        `causal` and `window`; a score_mod takes the place of `soft_cap`.
      prob_mod: a function of (probability, b, h, i, j), as a score_mod: what it gives for keys that are seen are the factors of value, before
        dropout. By two kernels, one for the LSE, which is that of the softmax, or three with a bias or score_mod; f16, bf16 and f32.
      output_mod: a function of (x, b, h, i, c), traced as a score_mod: what it gives for element x of the output, of column c, is the output, rounded once. The
        kernels store it: gates, factors of heads, a mix with the values. The LSE does not see it.
      block_mask: lists of blocks outside of which nothing is seen, as attn_mlir.mask.block_mask or FlexAttention's BlockMask;
        holds beside the other masks.
      return_lse: also the logarithm of each row's sum of exponentials, [B, Hq, M] f32; -inf (the sink) in rows without keys.
      return_amax: also the largest magnitude of each row of the output, [B, Hq, M] f32, of what output_mod gives, before output_scale and rounding;
        NaN where a row has one. Its maximum is what a next step's output_scale follows from.
      out: an array for the output, or for each result.
      target: what to compile for; by default the GPU that the arrays are on, and the CPU for arrays in host memory.
      device: as for a kernel's call: "cuda" runs arrays in host memory on the GPU, "sim" a GPU's kernel in the simulator.
      allow_tf32: f32 on a GPU, where the factors of products are rounded to 10 bits of fraction; without it an error.
      invariance: of a GPU: "batch" or "prefix" as of `decode`, whose bits "prefix" gives; "none".
      result_dtype: of output: query's by default, or "f32" ("f64" of f64), the type of scores, of partial results to be merged.
        Of 8-bit inputs "bf16" by default, "f16" or "f32". "f8E4M3FN" or "f8E5M2", of inputs other than f64: the output is rounded to the nearest number,
        no further than the largest finite one.
      output_scale: of an output of 8 bits, by what it is multiplied before it is rounded: a number, or f32 [1].

    Returns output [B, Hq, M, Dv], or (output, lse), (output, amax) or (output, lse, amax), of query's library. Rows without keys are 0. Results
    carry no gradients, and tensors of torch that require them are an error while torch records them: attn_mlir.torch
    has functions that differentiate, attention_backward gives the gradients.

    A kernel is compiled once for each combination of types, head dims and options, and kept on disk; lengths, batch
    sizes, head counts and strides need no other, but for few rows: on a GPU each number of rows, up to 16, and of
    heads has its own, on a CPU one row, up to 16, 32 and 64 have, and up to 16, 32 and 64 keys. Raises BindingError for arrays that do not fit, CompileError with the
    compiler's diagnostics.
    """
    check_no_gradients(query=query, key=key, value=value, bias=bias, sink=sink)
    measured = (output_mod or (lambda x, b, h, i, c: x)) if return_amax else None
    output_mod = float8_output(query, None if return_amax else output_mod, output_scale, result_dtype)
    signature, others = None, (bias, sink, key_lengths, query_lengths, descale, head_map, qk_norm, rotary, rotary_positions)
    functions = (mask_mod, block_mask, score_mod, prob_mod, measured, output_mod, out, cache)
    if not dropout and all([other is None for other in others + functions]):
        options = (normalization, target, device, allow_tf32, invariance, result_dtype)
        signature = prepared.plain_signature((query, key, value), causal, window, soft_cap, scale, return_lse, options)
        known = prepared.find(signature)
        if known is not None:
            return known.run(query, key, value)
    rows = RowChanges(qk_norm, qk_norm_epsilon, rotary, rotary_interleaved, rotary_positions)
    rows.check_alone(prob_mod=prob_mod, head_map=head_map, descale=descale)
    changes = rows.arrays(query, key, key_lengths)
    check_no_gradients(**changes)
    mask_mod = with_blocks(mask_mod, block_mask)
    beside = {"bias": bias, "prob_mod": prob_mod, "head_map": head_map, "normalization": None if normalization == "softmax" else normalization}
    tokens = token_scales(query, key, descale, **beside)
    if tokens is not None:
        soft_cap, score_mod, descale = None, tokens.change_score(make_score(soft_cap, score_mod)), None
    if prob_mod is not None:
        if return_amax:
            raise BindingError("expected no return_amax with prob_mod, got both")
        if head_map is not None:
            raise BindingError("expected no head_map with prob_mod, got one: select the heads before")
        own = {"output_mod": output_mod, "dropout": dropout, "seed": seed, "offset": offset, "result_dtype": result_dtype, "out": out}
        score, more = make_score(soft_cap, score_mod), {"bias": bias, "key_lengths": key_lengths, "query_lengths": query_lengths}
        more.update(causal=causal, window=window, scale=scale, mask_mod=mask_mod, descale=descale)
        more.update(target=target, device=device, allow_tf32=allow_tf32, invariance=invariance, cache=cache)
        return changed_attention(attention, query, key, value, prob_mod, score, sink, normalization, return_lse, own, more)
    more = {**descale_arrays(descale, query, value), "key_lengths": key_lengths, "query_lengths": query_lengths}
    more.update(head_map_arrays(head_map))
    more.update(dropout_arrays(query, dropout, seed, offset))
    more.update(changes)
    call = Call(query, key, value, bias, sink, more, causal, window, soft_cap, scale, mask_mod, score_mod)
    check_arrays(call.named, BYTES + FLOATS, BYTES, mixes=True)
    text = normalization_text(normalization)
    for name, is_given in (("return_lse", return_lse), ("sink", sink is not None)):
        if is_given and text != "softmax":
            raise BindingError(f"expected no {name} with normalization {normalization!r}")
    fields = ("lse", return_lse, "dropout", float(dropout), "normalization", text, *call.result_field(result_dtype, takes_bytes=True))
    weights, output = call.change_weights(tokens.weights() if tokens else None), call.change_output(measured, output_mod)
    more_fields, read = (own + of_output for own, of_output in zip(weights, output))
    flags = {"allow_tf32": allow_tf32, **invariance_flag(invariance, target or default_target(call.views[0], device))}
    results = call.run(read, (*fields, *rows.fields(call.named), *more_fields), target, device, flags, cache, out)
    if signature is not None:
        prepared.remember(signature, call.prepare())
    return results


def attention_backward(
    query: Any,
    key: Any,
    value: Any,
    output: Any,
    lse: Any,
    d_output: Any,
    *,
    d_lse: Any = None,
    causal: Causal = False,
    window: Window = None,
    bias: Any = None,
    dropout: float = 0.0,
    seed: Any = None,
    offset: Any = 0,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    normalization: Normalization = "softmax",
    mask_mod: Union[Mask, Any] = None,
    block_mask: Any = None,
    score_mod: Union[Score, Any] = None,
    bias_gradient: bool = False,
    capture_gradients: bool = False,
    out: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    allow_tf32: bool = False,
    deterministic: bool = False,
    result_dtype: Optional[str] = None,
    descale: Optional[Sequence[Any]] = None,
    scale_ds: Any = None,
    return_amax_ds: bool = False,
    scale_dq: Any = None,
    scale_dk: Any = None,
    scale_dv: Any = None,
    return_amax: bool = False,
    head_map: Any = None,
    cache: Optional[Cache] = None,
) -> tuple[Any, ...]:
    """The gradients (d_query, d_key, d_value), with bias_gradient d_bias too, of a function of `attention`'s results.

    With capture_gradients those of the arrays of floats that score_mod reads follow, in the order of its reads: slopes of
    heads, tables of relative positions, embeddings of tokens.

    Arguments: those of the forward, its `output` and `lse` (both None with normalization "none"), and the gradients d_output [B, Hq, M, Dv] and, if the function
    uses it, d_lse [B, Hq, M]. `result_dtype` is that of d_query, d_key and d_value. With `deterministic`, and on the CPU, they are the same bits in every run. A sink of the
    forward is in its lse; the sink's own gradient is the sum over B and M of -exp(sink - lse) * (rowsum(d_output * output) -
    d_lse). With head_map d_key and d_value of each query head, in the type of the results, are summed in f32 for the heads of key and
    value, in the order of query heads. Of 8-bit inputs with their `descale` the gradients are of what the numbers stand for, descale times what they are, in the
    type of d_output, f16 or bf16, to which kernels in front make them wider.

    With a d_output of 8 bits, too, products are of 8 bits where that is faster, as training in 8 bits has them: `descale` is of query, key, value and d_output, dS is rounded to the type of d_output times
    `scale_ds` (a number, or f32 [1]), and return_amax_ds adds the largest |dS| of each row, f32 [B, Hq, M], from which the next step's scale_ds follows. The gradients have the type of output, or bf16
    of one of f32; without bias, dropout, gradients of captures and head_map.

    With a `result_dtype` of 8 bits the kernels that store the three gradients round them, times `scale_dq`, `scale_dk` and `scale_dv` (each a number, or f32 [1]; 1 if not given) and saturated; on a GPU
    from sm_89 on. return_amax adds the largest magnitude of each row before scale and rounding, of d_query [B, Hq, M] and of d_key and d_value [B, Hkv, N], f32, behind all other results; of gradients of more
    bits, too. Neither goes with head_map.
    """
    mask_mod = with_blocks(mask_mod, block_mask)
    rounded = rounded_gradient(query, output, d_output, descale, scale_ds, return_amax_ds)
    if rounded:
        others = {"bias": bias is not None, "dropout": dropout != 0, "capture_gradients": capture_gradients, "head_map": head_map is not None, "normalization": normalization != "softmax"}
        for name in (name for name, given in others.items() if given):
            raise BindingError(f"expected no {name} with d_output of 8 bits, got one")
        descale = rounded.descale
    stored = stored_gradients(query, result_dtype, (scale_dq, scale_dk, scale_dv), return_amax, head_map)
    random = dropout_arrays(query, dropout, seed, offset)
    call = Call(query, key, value, bias, None, {**descale_arrays(descale, query, value), **head_map_arrays(head_map), **random}, causal, window, soft_cap, scale, mask_mod, score_mod)
    check_arrays(call.named, FLOAT8 + FLOATS, FLOAT8, mixes=rounded is None)
    wide = rounded.fields if rounded else wide_field(call.named, d_output)
    text = normalization_text(normalization)
    if text.startswith("sum"):
        raise BindingError(f"expected normalization 'softmax' or 'none' of a backward, got {normalization!r}")
    saved = {"output": output, "lse": lse, "d_lse": d_lse}
    if text == "none" and any(array is not None for array in saved.values()):
        raise BindingError("expected output, lse and d_lse to be None with normalization 'none'")
    more = {"output": output, "lse": lse} if text == "softmax" else {}
    more.update({"d_output": d_output, **({"d_lse": d_lse} if d_lse is not None else {})})
    call.check_saved(more)
    if rounded:
        check_scales(rounded.arrays, (call.views[1].shape[0], call.views[1].shape[1]))
        more.update(rounded.arrays)
    more.update(stored.arrays)
    own = rounded.own if rounded else wide[1] if wide else None
    fields = (
        "gradient", True, "dropout", float(dropout), "bias_gradient", bias_gradient, "capture_gradients", capture_gradients,
        "d_lse", d_lse is not None, "normalization", text, *wide, *stored.fields, *call.result_field(result_dtype, takes_bytes=True, own=own),
    )  # fmt: skip
    flags = {"allow_tf32": allow_tf32, "deterministic": deterministic}
    return call.run(tuple(more.values()), fields, target, device, flags, cache, out)


def normalization_text(normalization: Any) -> str:
    """As an AttentionProblem has it."""
    if normalization in ("softmax", "none"):
        return normalization
    if isinstance(normalization, tuple) and len(normalization) == 2 and normalization[0] == "sum":
        epsilon = float(normalization[1]) if isinstance(normalization[1], Real) else math.nan
        if math.isfinite(epsilon) and epsilon >= 0:
            return f"sum<{float_text(epsilon)}>"
    raise BindingError(f"expected normalization 'softmax', 'none' or ('sum', epsilon), got {normalization!r}")


def dropout_arrays(query: Any, rate: Any, seed: Any, offset: Any) -> dict[str, Any]:
    """Seed and offset as arguments of a kernel; none where nothing is dropped."""
    if not isinstance(rate, Real) or not 0 <= float(rate) < 1:
        raise BindingError(f"expected dropout to be at least 0 and below 1, got {rate!r}")
    if rate == 0:
        return {}
    if seed is None:
        raise BindingError("expected a seed with dropout, got none")
    given = {"seed": seed, "offset": offset}
    return {name: scalar_like(query, int(x)) if isinstance(x, Integral) else x for name, x in given.items()}


def with_blocks(mask_mod: Any, block_mask: Any) -> Any:
    """Both conditions; either may be None."""
    if block_mask is None:
        return mask_mod
    blocks = masks.as_block_mask(block_mask)
    return blocks if mask_mod is None else blocks & trace_mask(mask_mod)


class Call:
    """What `attention` and `attention_backward` share: arrays, options, and the kernel for them."""

    factor: Optional[Traced] = None
    outputs: tuple[Output, ...] = ()  # behind the attention
    made: Optional[Kernel] = None

    def __init__(self, query, key, value, bias, sink, more, causal, window, soft_cap, scale, mask_mod, score_mod):
        check_signed(query=query, key=key, value=value)
        arrays = {"query": query, "key": key, "value": value, "bias": bias, "sink": sink, **more}
        arrays = {name: array for name, array in arrays.items() if array is not None or name in ("query", "key", "value")}
        self.arguments = list(arrays.values())
        self.views = [view_of(array, name) for name, array in arrays.items()]
        self.named = dict(zip(arrays, self.views))
        window = tuple(window) if isinstance(window, list) else window
        self.options = (causal, window, soft_cap, scale, mask_mod, score_mod)

    def result_field(self, dtype: Optional[str], takes_bytes: bool = False, own: Optional[str] = None) -> tuple:
        """Of an AttentionProblem; none for the default, `own` or the query's. `takes_bytes`: 8 bits are a type, too."""
        # That of the weights: an integer is none.
        own = own or self.views[2 if self.views[0].dtype == "i8" else 0].dtype
        if takes_bytes and dtype in FLOAT8 and own != "f64":
            return "result_dtype", dtype
        if own in FLOAT8:
            if dtype not in (None, "f16", "bf16", "f32"):
                raise BindingError(f"expected result_dtype f16, bf16 or f32 of inputs of {own}, got {dtype!r}")
            return "result_dtype", dtype or "bf16"
        if dtype in (None, own):
            return ()
        scores = "f64" if own == "f64" else "f32"
        if dtype != scores:
            raise BindingError(f"expected result_dtype {' or '.join(dict.fromkeys((own, scores)))}, got {dtype!r}")
        return "result_dtype", dtype

    def change_weights(self, factor: Optional[Factor]) -> tuple[tuple, tuple]:
        """Fields of an AttentionProblem with this factor, and the arrays that it reads."""
        if factor is None:
            return (), ()
        query = self.views[0]
        factor.check_reads((*query.shape[:3], number_of_keys(self.named)))
        self.factor = factor
        return ("factor", factor.region), tuple(factor.arrays)

    def change_output(self, measured: Any, output_mod: Any) -> tuple[tuple, tuple]:
        """Fields of an AttentionProblem with these output_mods, of which the first has an amax, and the arrays that they read."""
        query, value = self.views[0], self.views[2]
        fields: tuple = ()
        self.outputs = ()
        for name, kind, function in (("measured", Measured, measured), ("output", Output, output_mod)):
            if function is None:
                continue
            output = trace_output(function, kind)
            output.check_reads((*query.shape[:3], value.shape[3]))
            self.outputs += (output,)
            fields += (name, output.region)
        return fields, tuple(array for output in self.outputs for array in output.arrays)

    def check_saved(self, saved: dict[str, Any]):
        """Shapes of the forward's results and of their gradients."""
        query, value = self.views[0], self.views[2]
        rows = query.shape[:3]
        for name, array in saved.items():
            view = view_of(array, name)
            shape = rows if name.endswith("lse") else (*rows, value.shape[3])
            if len(view.shape) != len(shape):
                raise BindingError(f"operand {name}: expected rank {len(shape)}, got {len(view.shape)}")
            check_sizes(name, view.shape, shape)

    def run(
        self, more: tuple[Any, ...], fields: tuple, target: Optional[str], device: Optional[str],
        flags: Mapping[str, Any], cache: Optional[Cache], out: Any,
    ) -> Any:  # fmt: skip
        """`more` are arguments after the captures, `fields` names and values of an AttentionProblem, `flags` of `compile`."""
        query = self.views[0]
        target = target or default_target(query, device)
        kernel, readers = self.kernel(fields, target, tuple(flags.items()), cache)
        sizes = (*query.shape[:3], number_of_keys(self.named))
        captures: list[Any] = []
        for part in readers:
            part.check_reads(sizes)
            if target == "cpu":
                part.check_lists(sizes[3])
            captures += part.arrays
        arguments = (*self.arguments, *captures, *more)
        views = [*self.views, *(view_of(array, f"argument {i}") for i, array in enumerate((*captures, *more)))]
        results = kernel.run(arguments, views, out, device)
        self.made = kernel
        return results

    def prepare(self) -> Optional[prepared.Prepared]:
        """For further calls on arrays alone, after `run`; None where a call has more to do than to pass them."""
        kernel = self.made
        if not isinstance(kernel, DirectKernel) or not all(map(has_contiguous_rows, self.views)):
            return None
        call = kernel.checked(self.views)
        # Another thread may have put a new one in the place of the call that has run.
        return prepared.Prepared(kernel, call, self.views, self.arguments[0]) if call.shapes else None

    def kernel(self, fields: tuple, target: str, flags: tuple, cache: Optional[Cache]) -> tuple[Kernel, list[Traced]]:
        """The kernel, and what of score and mask there is. Functions that are not traced yet are traced in each call:
        what they close over may have changed."""
        causal, window, soft_cap, scale, mask_mod, score_mod = self.options
        query, cached, value = self.views[:3]
        bias, sink = self.bias(), self.named.get("sink")
        sink_dtype = sink.dtype if sink else None
        tables = tuple(self.named[name].dtype for name in TABLE if name in self.named)
        pages = (self.views[1].shape[2], *tables) if tables else None
        lengths = tuple((name, self.named[name].dtype) for name in LENGTHS if name in self.named)
        descales = tuple(len(self.named[name].shape) for name in DESCALES if name in self.named)
        maps = map_types(self.named)
        cache_dtype = cached.dtype if cached.dtype != query.dtype else None
        value_dtype = value.dtype if value.dtype != cached.dtype else None
        check_scale(scale)
        sizes: tuple[tuple[str, int], ...] = ()
        if "gradient" not in fields:
            sizes = self.sizes_of_decoding(target) if self.is_decoding() else ()
            fields += self.tile_of_few_rows(target)
        key = (query.dtype, query.shape[3], value.shape[3], bias, sink_dtype, pages, lengths, maps, cache_dtype, value_dtype, descales, self.options, fields, sizes, target, flags, cache)
        is_traced = all(part is None or (isinstance(part, Traced) and not part.is_temporary) for part in (mask_mod, score_mod))
        known = _kernels.get(key) if is_traced else None
        if known is not None:
            return known
        mask, score = make_mask(causal, window, mask_mod), make_score(soft_cap, score_mod)
        problem = AttentionProblem(
            query.dtype, query.shape[3], value.shape[3], mask.region if mask else None, score.region if score else None,
            **(dict(zip(("bias_shape", "bias_dtype"), bias)) if bias else {}), sink_dtype=sink_dtype, pages=pages, lengths=lengths,
            head_maps=maps, cache_dtype=cache_dtype, value_dtype=value_dtype, descales=descales, scale=scale,
            **dict(zip(fields[::2], fields[1::2])),
        )  # fmt: skip
        if problem.capture_gradients and not problem.learned:
            raise BindingError("expected a score_mod that reads an array of floats, since capture_gradients are asked for")
        readers: list[Traced] = [part for part in (score, mask) if part]
        checked = [*readers, *(part for part in (self.factor, *self.outputs) if part)]
        is_direct = target == "cpu" and all(part.reads_are_checked for part in checked)
        make = direct if is_direct else compiled
        result = make(problem, sizes, target, flags, cache), readers
        if is_traced:
            if len(_kernels) >= MAX_KERNELS:
                _kernels.clear()
            _kernels[key] = result
        return result

    def is_decoding(self) -> bool:
        """Few rows over, as a rule, many keys."""
        return 0 < self.views[0].shape[2] <= MOST_ROWS_OF_DECODING

    def sizes_of_decoding(self, target: str) -> tuple[tuple[str, int], ...]:
        """Sizes that a GPU's kernel is made for: those of a query's heads, so that ranges of keys are computed apart, and the heads
        of a group share them."""
        _, heads, rows, _ = self.views[0].shape
        sizes = (("Hq", heads), ("Hkv", self.views[1].shape[1]), ("M", rows))
        return () if target == "cpu" else sizes[:: 2 if map_types(self.named) else 1]

    def tile_of_few_rows(self, target: str) -> tuple:
        """Of an AttentionProblem: on a CPU a tile is computed whole, however few rows and keys there are, and those of the cost model,
        which knows no M and N, are of 128."""
        if target != "cpu":
            return ()
        rows, keys = self.views[0].shape[2], self.views[1].shape[2]
        tiles = {"tile_m": [tile for most, tile in CPU_TILES if 0 < rows <= most]}
        if "key_table" not in self.named:
            tiles["tile_n"] = [tile for tile in CPU_KEY_TILES if 0 < keys <= tile]
        return tuple([part for name, fitting in tiles.items() if fitting for part in (name, fitting[0])])

    def bias(self) -> Optional[tuple]:
        """Its shape in sizes of the problem, and its type."""
        if "bias" not in self.named:
            return None
        query, key, bias = (self.named[name] for name in ("query", "key", "bias"))
        return bias_shape(bias.shape, (*query.shape[:3], key.shape[2])), bias.dtype


#: Kernels by everything that they follow from, so that a call need not describe its problem again.
_kernels: dict[tuple, tuple[Kernel, list[Traced]]] = {}
MAX_KERNELS = 256
#: Rows up to which an attention has a kernel of its own for their number: a token, or some that were guessed.
MOST_ROWS_OF_DECODING = 16
#: On a CPU: up to how many rows a tile is of how many.
CPU_TILES = ((1, 1), (2, 2), (4, 4), (16, 8), (32, 32), (64, 64))
#: Keys of a tile, where there are no more.
CPU_KEY_TILES = (16, 32, 64)


def keys_of_pool(views: Sequence[ArrayView]) -> int:
    """As many as a row sees at most."""
    return views[1].shape[0] * views[1].shape[2]


def number_of_keys(named: Mapping[str, ArrayView]) -> int:
    """N: of pages those that the table has columns for."""
    rows = named["key"].shape[2]
    return rows * named["key_table"].shape[-1] if "key_table" in named else rows


def make_mask(causal: Causal, window: Window, mask_mod) -> Optional[Mask]:
    """All of the conditions at once."""
    check_causal(causal)
    parts = []
    if causal:
        parts.append(masks.causal(causal if isinstance(causal, str) else "bottom_right"))
    if window is not None:
        parts.append(masks.sliding_window(*sides_of(window)))
    if mask_mod is not None:
        parts.append(trace_mask(mask_mod))
    return functools.reduce(lambda a, b: a & b, parts) if parts else None


def window_of(window: Window) -> Optional[Mask]:
    """Around the position of a row among the keys of its sequence."""
    return None if window is None else masks.sliding_window(*sides_of(window), alignment="bottom_right")


def mask_at_end(window: Window, mask_mod: Any) -> Any:
    """Both conditions, of which the window is as of `window_of`."""
    at_end = window_of(window)
    if at_end is None or mask_mod is None:
        return mask_mod if at_end is None else at_end
    both = at_end & trace_mask(mask_mod)
    both.is_temporary = True
    return both


def make_score(soft_cap: Optional[float], score_mod) -> Optional[Score]:
    if soft_cap is not None and score_mod is not None:
        raise BindingError("expected soft_cap or score_mod, got both")
    if soft_cap is not None:
        return masks.soft_cap(soft_cap)
    return trace_score(score_mod) if score_mod is not None else None


def default_target(query: ArrayView, device: Optional[str]) -> str:
    if device not in (None, "cpu", "cuda", "sim"):
        raise DeviceError(f"expected device cpu, cuda or sim, got {device!r}")
    if query.device == "cuda" or device == "cuda":
        return target_of_gpu(query.device_id)
    return "sm_90a" if device == "sim" else "cpu"


@functools.lru_cache(maxsize=None)
def target_of_gpu(ordinal: int) -> str:
    """What to compile for."""
    return "sm_90a" if cuda_device(ordinal).context.capability == (9, 0) else "sm_80"


@functools.lru_cache(maxsize=256)
def compiled(problem: AttentionProblem, sizes: tuple, target: str, flags: tuple, cache: Optional[Cache]) -> Kernel:
    """The kernel, from this process, the cache or the compiler."""
    return compile(problem.mlir(dict(sizes)), target=target, cache=cache, **dict(flags))


@functools.lru_cache(maxsize=256)
def direct(problem: AttentionProblem, sizes: tuple, target: str, flags: tuple, cache: Optional[Cache]) -> Kernel:
    """The same for the CPU, in this process."""
    return DirectKernel(problem.mlir(dict(sizes)), cache, keys_of_pool if problem.pages else keys_of_tensor)
