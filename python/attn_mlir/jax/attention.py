# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention` on JAX arrays: a custom call of XLA that runs the compiled kernel on XLA's own buffers, and its gradients."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .. import checks, functional
from ..arrays import ArrayView, StreamArray
from ..errors import BindingError
from ..heads import HEAD_MAPS, head_map_arrays
from ..mask import Mask, Score
from ..mask.outputs import Output
from ..mask.symbols import logic
from ..mask.tracing import Traced
from ..mask.weights import shifted, values_of_lse, weight_of
from ..problem import bias_shape
from ..rows import RowChanges
from ..runtime.binding import row_major_strides
from . import ffi
from .lowering import DTYPES
from .outputs import changed_output, check_output_mod, jaxpr_of_output, traced_output
from .partitioning import Tensors, partitioned
from .tracing import ArrayOfJax, trace_function


@dataclasses.dataclass(frozen=True)
class Options:
    """What is no array: known while tracing. `score` and `mask` are records of the score change and of all conditions."""

    scale: Optional[float] = None
    target: Optional[str] = None
    allow_tf32: bool = False
    deterministic: bool = False
    score: str = ""
    mask: str = ""
    #: Query, key, value, the output and their gradients are [B, rows, heads, head dim].
    heads_inside: bool = False
    normalization: str = "softmax"
    #: The record of an output_mod that the kernel computes.
    output: str = ""

    @property
    def results(self) -> tuple[str, ...]:
        """Of the forward."""
        return ("output", "lse") if self.normalization == "softmax" else ("output",)


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    bias: Optional[Array] = None,
    mask: Optional[Array] = None,
    causal: Union[bool, str] = False,
    window: Union[int, tuple[int, int], None] = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    mask_mod: Optional[Callable[..., Any]] = None,
    score_mod: Optional[Callable[..., Any]] = None,
    prob_mod: Optional[Callable[..., Any]] = None,
    head_map: Any = None,
    qk_norm: Optional[Sequence[Optional[Array]]] = None,
    qk_norm_epsilon: float = 1e-6,
    rotary: Optional[Sequence[Array]] = None,
    rotary_interleaved: bool = False,
    rotary_positions: Optional[Sequence[Optional[Array]]] = None,
    output_mod: Optional[Callable[..., Any]] = None,
    return_lse: bool = False,
    target: Optional[str] = None,
    allow_tf32: bool = False,
    deterministic: bool = False,
) -> Any:
    """attn_mlir.attention on JAX arrays, with gradients of query, key, value, bias and what score_mod reads, by output and LSE.

    query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv]; `bias` is added to the scores, `mask` (bool) says which
    keys are seen: both have rank 4 and broadcast to [B, Hq, M, N]. mask_mod(b, h, i, j) and score_mod(score, b, h, i, j) are
    functions of jax.numpy on numbers: the batch, the query head, and the positions of query and key. They are traced, and may
    read arrays at positions, as in slopes[h] or table[h, i - j + M - 1]; those of floats that score_mod reads have gradients.
    Masks of attn_mlir.mask do as well. prob_mod(probability, b, h, i, j), written as score_mod is, changes probabilities after the
    softmax: by two kernels, one for the LSE, one for the output, or three with a bias or score_mod; what it reads has gradients.
    head_map [Hq], i32 or i64, is the head of key and value for each query head, or a pair of such, of key and of value; not with prob_mod.
    qk_norm, rotary and their options are those of attn_mlir.attention, computed by XLA in front of the call, with gradients of weights
    and tables. output_mod(x, b, h, i, c), written as score_mod is, changes elements of the output: the kernel stores what it gives, or,
    where there are gradients, of what it reads too, prob_mod or several devices, XLA computes it behind the call.
    The other options are those of attn_mlir.attention and attention_backward, known while tracing. Returns output
    [B, Hq, M, Dv], or (output, lse). Works under jit, grad and vmap; of forward-mode derivatives (jvp) JAX says that there are
    none. Raises BindingError for arrays that do not fit, TraceError, with the line of the function, for what cannot be traced.
    """
    options = Options(scale, target, allow_tf32, deterministic)
    maps = head_map_arrays(head_map)
    query, key = changed_rows(query, key, value, RowChanges(qk_norm, qk_norm_epsilon, rotary, rotary_interleaved, rotary_positions), maps)
    if prob_mod is None:
        output, lse = attend(query, key, value, bias, mask, causal, window, mask_mod, soft_cap, score_mod, options, maps, output_mod)
    elif maps:
        raise BindingError("expected no head_map with prob_mod, got one: select the heads before")
    else:
        conditions = (bias, mask, causal, window, mask_mod)
        output, lse = attend_changed(query, key, value, conditions, soft_cap, score_mod, prob_mod, options)
        if output_mod is not None:
            check_output_mod(output_mod)
            traced_output(output_mod, output.shape)
            output = changed_output(output, *jaxpr_of_output(output_mod, output))
    return (output, lse) if return_lse else output


def changed_rows(query: Array, key: Array, value: Array, rows: RowChanges, maps: Mapping[str, Array]) -> tuple[Array, Array]:
    """By XLA, in front of the attention."""
    if not rows.is_some:
        return query, key
    rows.check_alone(head_map=maps or None)
    specs = {name: spec_of(array, name) for name, array in (("query", query), ("key", key), ("value", value))}
    checks.check_arrays(specs)
    changes = rows.arrays(query, key)
    rows.fields({**specs, **{name: spec_of(array, name) for name, array in changes.items()}})
    return rows.apply(query, key, changes)


def attend_changed(query, key, value, conditions: tuple, soft_cap, score_mod, prob_mod, options: Options) -> tuple[Array, Array]:
    """Output and LSE, with probabilities as prob_mod changes them. JAX sees the LSE in the weights."""
    if spec_of(query, "query").dtype == "f64":
        raise BindingError("query: expected dtype float16, bfloat16 or float32 with prob_mod, got float64")
    if not callable(prob_mod):
        raise BindingError(f"expected a function of (probability, b, h, i, j) as prob_mod, got {type(prob_mod).__name__}")
    bias, mask, causal, window, mask_mod = conditions
    unread = values_of_lse(key, value)
    _, lse = attend(query, key, unread, bias, mask, causal, window, mask_mod, soft_cap, score_mod, options)
    sizes = (*query.shape[:3], key.shape[2])
    score, left = functional.make_score(soft_cap, None if score_mod is None else Score(traced(score_mod, sizes))), lse
    if score is not None or bias is not None:
        score = shifted(score, ArrayOfJax(jax.lax.stop_gradient(lse)))
        _, left = attend(query, key, unread, bias, mask, causal, window, mask_mod, None, score, options)
    weights = Score(weight_of(score, traced(prob_mod, sizes), ArrayOfJax(left)))
    options = dataclasses.replace(options, normalization="none")
    output, _ = attend(query, key, value, bias, mask, causal, window, mask_mod, None, weights, options)
    return output, lse


def attend(
    query, key, value, bias, mask, causal, window, mask_mod, soft_cap, score_mod, options: Options, maps: Mapping[str, Array] = {},
    output_mod: Optional[Callable[..., Any]] = None,
) -> tuple[Array, Any]:  # fmt: skip
    """Output and LSE, None without softmax; `options` have no records yet, `maps` are of heads."""
    arrays = {"query": query, "key": key, "value": value, "bias": bias, **maps}
    specs = {name: spec_of(array, name) for name, array in arrays.items() if name != "bias" or array is not None}
    if options.heads_inside:
        specs = {name: turned(spec) if name in TURNED else spec for name, spec in specs.items()}
    checks.check_arrays(specs)
    sizes = (*specs["query"].shape[:3], specs["key"].shape[2])
    if mask is not None:
        if spec_of(mask, "mask").dtype != "i1":
            raise BindingError(f"mask: expected dtype bool, got {mask.dtype}")
        bias_shape(mask.shape, sizes, "mask")
    checks.check_options(causal, window, soft_cap, options.scale)
    conditions = [] if mask_mod is None else [traced(mask_mod, sizes)]
    conditions += [] if mask is None else [reads_of(mask)]
    mask_mod = None if not conditions else Mask(lambda *at: functools.reduce(conjunction, (c(*at) for c in conditions)))
    parts = (
        functional.make_score(soft_cap, None if score_mod is None else Score(traced(score_mod, sizes))),
        functional.make_mask(causal, window, mask_mod),
    )
    reads = [tuple(map(jnp.asarray, part.arrays)) if part else () for part in parts]
    score, seen = (part.record if part else "" for part in parts)
    scale = None if options.scale is None else float(options.scale)
    options = dataclasses.replace(options, scale=scale, score=score, mask=seen)
    given = (query, key, value, bias, tuple(maps.values()), *reads)
    if output_mod is None:
        return differentiable(*given, options)
    check_output_mod(output_mod)
    output = traced_output(output_mod, (*sizes[:3], specs["value"].shape[3]))
    changed = jaxpr_of_output(output_mod, query)
    if jax.device_count() > 1:
        return behind(options, given, *changed)
    return stored(options, output.record, changed[0], given, tuple(map(jnp.asarray, output.arrays)), changed[1])


def behind(options: Options, arrays: tuple, jaxpr: Any, constants: tuple[Array, ...]) -> tuple[Array, Any]:
    """Output and LSE, the output changed by XLA."""
    output, lse = differentiable(*arrays, options)
    return changed_output(output, jaxpr, constants), lse


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def stored(options: Options, record: str, jaxpr: Any, arrays: tuple, reads: tuple[Array, ...], constants: tuple[Array, ...]):
    """The same by the kernel, which reads `reads`; with gradients by XLA."""
    del jaxpr, constants
    query, key, value, bias, maps, score_reads, mask_reads = arrays
    options = dataclasses.replace(options, output=record)
    found = call(
        FORWARD, options.results, options, maps, score_reads, mask_reads, reads, query=query, key=key, value=value, bias=bias
    )  # fmt: skip
    return found[0], found[1] if len(found) > 1 else None


def stored_forward(options: Options, record: str, jaxpr: Any, arrays: tuple, reads: tuple[Array, ...], constants: tuple[Array, ...]):
    del record, reads
    return jax.vjp(lambda *given: behind(options, given[0], jaxpr, given[1]), arrays, constants)


def stored_backward(options: Options, record: str, jaxpr: Any, pullback: Callable[..., Any], gradients: tuple):
    arrays, constants = pullback(gradients)
    return arrays, None, constants


stored.defvjp(stored_forward, stored_backward)


def traced(function: Callable[..., Any], sizes: Sequence[int]) -> Callable[..., Any]:
    """A function of jax.numpy, or a mask of attn_mlir.mask, as one of symbols; `sizes` are B, Hq, M, N."""
    if isinstance(function, Traced):
        return function
    ranges = [(0, max(size, 1) - 1) for size in sizes]
    return lambda *symbols: trace_function(function, symbols, ranges)


def reads_of(mask: Array) -> Callable[..., Any]:
    array = ArrayOfJax(mask)
    return lambda *at: array[tuple(0 if size == 1 else p for size, p in zip(mask.shape, at))]


def conjunction(a: Any, b: Any) -> Any:
    return logic("andi", a, b)


def dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Optional[Array] = None,
    mask: Optional[Array] = None,
    *,
    scale: Optional[float] = None,
    is_causal: bool = False,
    query_seq_lengths: Optional[Array] = None,
    key_value_seq_lengths: Optional[Array] = None,
    local_window_size: Union[int, tuple[int, int], None] = None,
    implementation: Optional[str] = None,
    return_residual: bool = False,
    allow_tf32: bool = False,
    deterministic: bool = False,
) -> Any:
    """jax.nn.dot_product_attention: query [B, T, N, H], key and value [B, S, K, H], or without B; bias and mask broadcast to
    [B, N, T, S].

    query_seq_lengths and key_value_seq_lengths are i32 [B]; rows behind them are 0. local_window_size is (left, right), a number
    both. is_causal and windows are aligned to the top left. `implementation` is one of JAX's names, and changes nothing. A row
    that sees no key is 0, where JAX gives the mean of all values. With return_residual also the LSE [B, T, N], in key's type,
    without a gradient. allow_tf32 and deterministic are as in `attention`.
    """
    if implementation not in (None, "xla", "cudnn"):
        raise BindingError(f"expected implementation to be None, 'xla' or 'cudnn', got {implementation!r}")
    has_batch = getattr(query, "ndim", 4) > 3
    query, key, value = (with_batch(t) for t in (query, key, value))
    bias, mask = (None if t is None else with_batch(t) for t in (bias, mask))
    lengths = {"query_seq_lengths": query_seq_lengths, "key_value_seq_lengths": key_value_seq_lengths}
    window = (local_window_size,) * 2 if isinstance(local_window_size, int) else local_window_size
    options, causal = Options(scale, None, allow_tf32, deterministic, heads_inside=True), "top_left" if is_causal else False
    sees = within(lengths, query.shape[0]) if any(x is not None for x in lengths.values()) else None
    output, lse = attend(query, key, value, bias, mask, causal, window, sees, None, None, options)
    residual = jax.lax.stop_gradient(jnp.swapaxes(lse, 1, 2).astype(key.dtype))
    output, residual = (output, residual) if has_batch else (output[0], residual[0])
    return (output, residual) if return_residual else output


def with_batch(array: Array) -> Array:
    return array[None] if getattr(array, "ndim", 4) == 3 else array


def within(lengths: dict[str, Optional[Array]], batch: int) -> Callable[..., Any]:
    """A mask_mod: query and key lie in the sequences' lengths."""
    given = [None if x is None else jnp.asarray(x) for x in lengths.values()]
    for name, x in zip(lengths, given):
        if x is not None and (x.shape, x.dtype) != ((batch,), jnp.int32):
            raise BindingError(f"{name}: expected int32 of shape ({batch},), got {x.dtype} of shape {x.shape}")

    def sees(b, h, i, j):
        inside = [position < length[b] for position, length in zip((i, j), given) if length is not None]
        return functools.reduce(jnp.logical_and, inside)

    return sees


def spec_of(array: Any, name: str) -> ArrayView:
    """Its type and shape, known while tracing."""
    if not isinstance(array, (jax.Array, np.ndarray)):
        raise BindingError(f"{name}: expected a JAX array, got {type(array).__name__}")
    dtype = DTYPES.get(str(array.dtype))
    if dtype is None:
        raise BindingError(f"{name}: expected dtype {', '.join(DTYPES)}, got {array.dtype}")
    return ArrayView(dtype, tuple(array.shape), row_major_strides(array.shape), 0, "cpu", 0, None)


def turned(view: ArrayView) -> ArrayView:
    """[B, rows, heads, head dim] as [B, heads, rows, head dim]."""
    shape, strides = ((t[0], t[2], t[1], *t[3:]) if len(t) == 4 else t for t in (view.shape, view.strides))
    return view._replace(shape=shape, strides=strides)


def by_heads(arrays: Sequence[StreamArray], call: dict[str, Any]) -> list[StreamArray]:
    """Query, key, value, the output and their gradients with the heads before the rows, without a copy."""
    if not call["options"]["heads_inside"]:
        return list(arrays)
    return [dataclasses.replace(array, view=turned(array.view)) for array in arrays]


def arguments_of(arguments: Sequence[StreamArray], call: dict[str, Any]) -> dict[str, Any]:
    """Those of attn_mlir.attention and attention_backward, as what JAX gave for the names in `call`."""
    names, options = call["names"], dict(call["options"])
    turn = [name in TURNED for name in names]
    arrays = {name: by_heads([a], call)[0] if t else a for name, a, t in zip(names, arguments, turn)}
    reads = {kind: [a for name, a in arrays.items() if name.startswith(f"{kind}_")] for kind in KINDS}
    score, mask, output = (options.pop(kind) for kind in KINDS)
    del options["heads_inside"]
    return {
        **{name: array for name, array in arrays.items() if not name.startswith((*(f"{kind}_" for kind in KINDS), *HEAD_MAPS))},
        "head_map": [arrays[name] for name in HEAD_MAPS if name in arrays] or None,
        "score_mod": Score.from_record(score, reads["score"]) if score else None,
        **({"output_mod": Output.from_record(output, reads["output"])} if output else {}),
        "mask_mod": Mask.from_record(mask, reads["mask"]) if mask else None,
        **options,
    }


#: Of records, and of names of the arrays that each reads.
KINDS = ("score", "mask", "output")
#: What has the layout of query.
TURNED = ("query", "key", "value", "output", "d_output")


def run_forward(arguments: Sequence[StreamArray], results: Sequence[StreamArray], call: dict[str, Any]):
    given = arguments_of(arguments, call)
    del given["deterministic"]
    output, has_lse = by_heads(results[:1], call), len(results) > 1
    functional.attention(**given, out=[*output, results[1]] if has_lse else output[0], return_lse=has_lse)


def run_backward(arguments: Sequence[StreamArray], results: Sequence[StreamArray], call: dict[str, Any]):
    given = {"output": None, "lse": None, **arguments_of(arguments, call)}
    out = [*by_heads(results[:3], call), *results[3:]]
    learned = len(results) > 3 + ("bias" in given)
    functional.attention_backward(**given, out=out, bias_gradient="bias" in given, capture_gradients=learned)


FORWARD, BACKWARD = "attn_mlir_attention", "attn_mlir_attention_backward"
ffi.register(FORWARD, run_forward)
ffi.register(BACKWARD, run_backward)


def call(
    name: str, results: Sequence[str], options: Options, maps, score_reads, mask_reads, output_reads: Sequence[Array] = (),
    **arrays: Optional[Array],
) -> Any:  # fmt: skip
    """A call with the arrays that there are; `results` are "output" and "lse", or names of the arguments whose gradients they are."""
    given = {key: array for key, array in arrays.items() if array is not None}
    given.update(zip(HEAD_MAPS, maps))
    for kind, reads in zip(KINDS, (score_reads, mask_reads, output_reads)):
        given.update((f"{kind}_{k}", array) for k, array in enumerate(reads))
    names, shapes = tuple(given), tuple(array.shape for array in given.values())
    run = runner(name, tuple(results), dataclasses.replace(options, score="", mask=""))
    records = (options.score, options.mask)
    has_sizes = all(isinstance(size, int) for shape in shapes for size in shape)
    if jax.device_count() == 1 or not has_sizes:
        return run(names, records, tuple(given.values()))
    tensors = Tensors(names, shapes, tuple(results), options.heads_inside)
    return partitioned(run, tensors, records)(*given.values())


@functools.lru_cache(maxsize=256)
def runner(name: str, results: tuple[str, ...], options: Options) -> Callable[..., Any]:
    """What makes the custom call for arrays of any size, with the records of score and mask."""

    def run(names: Sequence[str], records: Sequence[str], arrays: Sequence[Array]) -> Any:
        given = dict(zip(names, arrays))
        specs = tuple(result_of(result, given, options.heads_inside) for result in results)
        own = dataclasses.asdict(dataclasses.replace(options, score=records[0], mask=records[1]))
        return ffi.call(name, specs, *arrays, options={"names": list(names), "options": own})

    return run


def result_of(name: str, given: dict[str, Array], heads_inside: bool) -> jax.ShapeDtypeStruct:
    """Shape and type of output, of LSE, or of the gradient of an argument."""
    query, value = given["query"], given["value"]
    if name == "output" and "output" not in given:
        return jax.ShapeDtypeStruct((*query.shape[:3], value.shape[3]), query.dtype)
    if name == "lse" and "lse" not in given:
        batch, *middle, _ = query.shape
        rows = (batch, *(middle[::-1] if heads_inside else middle))
        return jax.ShapeDtypeStruct(rows, "float64" if query.dtype == np.float64 else "float32")
    return jax.ShapeDtypeStruct(given[name].shape, given[name].dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(7,))
def differentiable(query, key, value, bias, maps, score_reads, mask_reads, options: Options):
    found = call(FORWARD, options.results, options, maps, score_reads, mask_reads, query=query, key=key, value=value, bias=bias)
    return found[0], found[1] if len(found) > 1 else None


def forward(query, key, value, bias, maps, score_reads, mask_reads, options: Options):
    output, lse = differentiable(query, key, value, bias, maps, score_reads, mask_reads, options)
    return (output, lse), (query, key, value, bias, maps, score_reads, mask_reads, output, lse)


def backward(options: Options, saved, gradients):
    query, key, value, bias, maps, score_reads, mask_reads, *results_of_forward = saved
    output, lse = results_of_forward if options.normalization == "softmax" else (None, None)
    d_output, d_lse = gradients
    learned = [f"score_{k}" for k, array in enumerate(score_reads) if is_float(array)]
    results = ["query", "key", "value", *([] if bias is None else ["bias"]), *learned]
    found = call(
        BACKWARD, results, options, maps, score_reads, mask_reads, query=query, key=key, value=value, output=output, lse=lse,
        d_output=d_output, d_lse=d_lse, bias=bias,
    )  # fmt: skip
    d_bias = found[3] if bias is not None else None
    rest = iter(found[len(results) - len(learned) :])
    d_reads = tuple(next(rest) if is_float(array) else no_gradient(array) for array in score_reads)
    return *found[:3], d_bias, tuple(map(no_gradient, maps)), d_reads, tuple(map(no_gradient_of_mask, mask_reads))


def is_float(array: Array) -> bool:
    return jnp.issubdtype(array.dtype, jnp.floating)


def no_gradient(array: Array) -> Any:
    """Of integers and conditions, as JAX has it."""
    return np.zeros(array.shape, jax.dtypes.float0)


def no_gradient_of_mask(array: Array) -> Any:
    """A condition is constant between its steps."""
    return jnp.zeros_like(array) if is_float(array) else no_gradient(array)


differentiable.defvjp(forward, backward)
