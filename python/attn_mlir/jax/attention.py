# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attention` on JAX arrays: a callback that runs the compiled kernel, and its gradients.

A callback works on arrays in host memory: on a GPU, XLA copies there and back. Kernels are then for that GPU.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Optional, Union

import jax
import numpy as np
from jax import Array

from .. import functional
from ..arrays import ArrayView
from ..errors import BindingError
from ..kernel import has_cuda
from ..mask import Mask, tensor
from ..problem import bias_shape
from ..runtime.binding import row_major_strides
from .lowering import DTYPES


@dataclasses.dataclass(frozen=True)
class Options:
    """What is no array: known while tracing."""

    causal: Union[bool, str] = False
    window: Union[int, tuple[int, int], None] = None
    soft_cap: Optional[float] = None
    scale: Optional[float] = None
    target: Optional[str] = None
    allow_tf32: bool = False

    def arguments(self, mask: Optional[np.ndarray]) -> dict[str, Any]:
        options = dataclasses.asdict(self)
        if self.target is None and jax.default_backend() == "gpu" and has_cuda():
            options.update(target=functional.target_of_gpu(0), device="cuda")
        return {**options, "mask_mod": mask_of(mask) if mask is not None else None}


def mask_of(mask: np.ndarray) -> Mask:
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
) -> Any:
    """attn_mlir.attention on JAX arrays, with gradients of query, key, value and bias, by output and LSE.

    query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv]; `bias` is added to the scores, `mask` (bool) says which
    keys are seen: both have rank 4 and broadcast to [B, Hq, M, N]. The other options are those of attn_mlir.attention, known
    while tracing. Returns output [B, Hq, M, Dv], or (output, lse). Works under jit, grad and vmap.
    """
    arrays = {"query": query, "key": key, "value": value, "bias": bias}
    functional.check_arrays({n: spec_of(a, n) for n, a in arrays.items() if n != "bias" or a is not None})
    if mask is not None:
        if spec_of(mask, "mask").dtype != "i1":
            raise BindingError(f"mask: expected dtype bool, got {mask.dtype}")
        bias_shape(mask.shape, (*query.shape[:3], key.shape[2]), "mask")
    functional.check_options(causal, window, soft_cap, scale)
    options = Options(causal, tuple(window) if isinstance(window, list) else window, soft_cap, scale, target, allow_tf32)
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


def host(*arrays: Optional[Array]) -> list[Optional[np.ndarray]]:
    return [None if array is None else np.ascontiguousarray(array) for array in arrays]


def run_forward(options: Options, query, key, value, bias, mask):
    query, key, value, bias, mask = host(query, key, value, bias, mask)
    return functional.attention(query, key, value, bias=bias, return_lse=True, **options.arguments(mask))


def run_backward(options: Options, query, key, value, bias, mask, output, lse, d_output, d_lse):
    tensors = host(query, key, value, output, lse, d_output)
    bias, mask, d_lse = host(bias, mask, d_lse)
    options_of_call = {**options.arguments(mask), "bias": bias, "bias_gradient": bias is not None, "d_lse": d_lse}
    return functional.attention_backward(*tensors, **options_of_call)


def call(function, results, *arguments):
    return jax.pure_callback(function, results, *arguments, vmap_method="sequential")


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def differentiable(query, key, value, bias, mask, options: Options):
    lse_dtype = "float64" if query.dtype == np.float64 else "float32"
    results = (
        jax.ShapeDtypeStruct((*query.shape[:3], value.shape[3]), query.dtype),
        jax.ShapeDtypeStruct(query.shape[:3], lse_dtype),
    )
    return call(functools.partial(run_forward, options), results, query, key, value, bias, mask)


def forward(query, key, value, bias, mask, options: Options):
    output, lse = differentiable(query, key, value, bias, mask, options)
    return (output, lse), (query, key, value, bias, mask, output, lse)


def backward(options: Options, saved, gradients):
    query, key, value, bias, mask, *_ = saved
    wanted = [query, key, value] + ([bias] if bias is not None else [])
    results = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in wanted)
    found = call(functools.partial(run_backward, options), results, *saved, *gradients)
    d_bias = found[3] if bias is not None else None
    d_mask = None if mask is None else np.zeros(mask.shape, jax.dtypes.float0)
    return *found[:3], d_bias, d_mask


differentiable.defvjp(forward, backward)
