# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention` on JAX arrays: a custom call of XLA that runs the compiled kernel on XLA's own buffers, and its gradients."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Optional, Sequence, Union

import jax
import numpy as np
from jax import Array

from .. import functional
from ..arrays import ArrayView, StreamArray
from ..errors import BindingError
from ..mask import Mask, tensor
from ..problem import bias_shape
from ..runtime.binding import row_major_strides
from . import ffi
from .lowering import DTYPES


@dataclasses.dataclass(frozen=True)
class Options:
    """What is no array: known while tracing."""

    causal: Union[bool, str] = False
    window: Optional[tuple[int, int]] = None
    soft_cap: Optional[float] = None
    scale: Optional[float] = None
    target: Optional[str] = None
    allow_tf32: bool = False
    deterministic: bool = False


def mask_of(mask: StreamArray) -> Mask:
    seen, sizes = tensor(mask), mask.shape
    return Mask(lambda *at: seen[tuple(0 if size == 1 else p for size, p in zip(sizes, at))])


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
    return_lse: bool = False,
    target: Optional[str] = None,
    allow_tf32: bool = False,
    deterministic: bool = False,
) -> Any:
    """attn_mlir.attention on JAX arrays, with gradients of query, key, value and bias, by output and LSE.

    query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv]; `bias` is added to the scores, `mask` (bool) says which
    keys are seen: both have rank 4 and broadcast to [B, Hq, M, N]. The other options are those of attn_mlir.attention and
    attention_backward, known while tracing. Returns output [B, Hq, M, Dv], or (output, lse). Works under jit, grad and vmap.
    """
    arrays = {"query": query, "key": key, "value": value, "bias": bias}
    functional.check_arrays({n: spec_of(a, n) for n, a in arrays.items() if n != "bias" or a is not None})
    if mask is not None:
        if spec_of(mask, "mask").dtype != "i1":
            raise BindingError(f"mask: expected dtype bool, got {mask.dtype}")
        bias_shape(mask.shape, (*query.shape[:3], key.shape[2]), "mask")
    functional.check_options(causal, window, soft_cap, scale)
    options = Options(
        causal if isinstance(causal, str) else bool(causal),
        None if window is None else functional.sides_of(window),
        None if soft_cap is None else float(soft_cap),
        None if scale is None else float(scale),
        target,
        allow_tf32,
        deterministic,
    )
    output, lse = differentiable(query, key, value, bias, mask, options)
    return (output, lse) if return_lse else output


def spec_of(array: Any, name: str) -> ArrayView:
    """Its type and shape, known while tracing."""
    if not isinstance(array, (jax.Array, np.ndarray)):
        raise BindingError(f"{name}: expected a JAX array, got {type(array).__name__}")
    dtype = DTYPES.get(str(array.dtype))
    if dtype is None:
        raise BindingError(f"{name}: expected dtype {', '.join(DTYPES)}, got {array.dtype}")
    return ArrayView(dtype, tuple(array.shape), row_major_strides(array.shape), 0, "cpu", 0, None)


def named(arguments: Sequence[StreamArray], names: Sequence[str]) -> dict[str, Any]:
    """The arguments by the names that the call has them by; `mask` as a mask_mod."""
    arrays: dict[str, Any] = dict(zip(names, arguments))
    mask = arrays.pop("mask", None)
    return {**arrays, "mask_mod": mask_of(mask) if mask is not None else None}


def run_forward(arguments: Sequence[StreamArray], results: Sequence[StreamArray], call: dict[str, Any]):
    options = {name: value for name, value in call["options"].items() if name != "deterministic"}
    functional.attention(**named(arguments, call["names"]), out=results, return_lse=True, **options)


def run_backward(arguments: Sequence[StreamArray], results: Sequence[StreamArray], call: dict[str, Any]):
    arrays = named(arguments, call["names"])
    functional.attention_backward(**arrays, out=results, bias_gradient="bias" in arrays, **call["options"])


FORWARD, BACKWARD = "attn_mlir_attention", "attn_mlir_attention_backward"
ffi.register(FORWARD, run_forward)
ffi.register(BACKWARD, run_backward)


def call(name: str, results: Any, options: Options, **arrays: Optional[Array]) -> Any:
    """A call with the arrays that there are."""
    given = {key: array for key, array in arrays.items() if array is not None}
    return ffi.call(name, results, *given.values(), options={"names": list(given), "options": dataclasses.asdict(options)})


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def differentiable(query, key, value, bias, mask, options: Options):
    lse_dtype = "float64" if query.dtype == np.float64 else "float32"
    results = (
        jax.ShapeDtypeStruct((*query.shape[:3], value.shape[3]), query.dtype),
        jax.ShapeDtypeStruct(query.shape[:3], lse_dtype),
    )
    return call(FORWARD, results, options, query=query, key=key, value=value, bias=bias, mask=mask)


def forward(query, key, value, bias, mask, options: Options):
    output, lse = differentiable(query, key, value, bias, mask, options)
    return (output, lse), (query, key, value, bias, mask, output, lse)


def backward(options: Options, saved, gradients):
    query, key, value, bias, mask, output, lse = saved
    d_output, d_lse = gradients
    wanted = [query, key, value] + ([bias] if bias is not None else [])
    results = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in wanted)
    found = call(
        BACKWARD, results, options, query=query, key=key, value=value, output=output, lse=lse, d_output=d_output,
        d_lse=d_lse, bias=bias, mask=mask,
    )  # fmt: skip
    d_bias = found[3] if bias is not None else None
    d_mask = None if mask is None else np.zeros(mask.shape, jax.dtypes.float0)
    return *found[:3], d_bias, d_mask


differentiable.defvjp(forward, backward)
