# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""output_mods of JAX: for the kernel that stores the output, and, where their gradients are wanted, by XLA behind it."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend import core

from ..errors import BindingError
from ..mask.outputs import Output
from .tracing import jaxpr_of, trace_function


def check_output_mod(function: Any):
    if not callable(function) or isinstance(function, Output):
        raise BindingError(f"output_mod: expected a function of (x, b, h, i, c), of jax.numpy, got {type(function).__name__}")


def traced_output(function: Callable[..., Any], sizes: Sequence[int]) -> Output:
    """For attn_mlir.attention; `sizes` are B, Hq, M, Dv. A TraceError for what kernels cannot compute."""
    ranges = [(0, max(size, 1) - 1) for size in sizes]
    return Output(lambda *symbols: trace_function(function, symbols, ranges))


def jaxpr_of_output(function: Callable[..., Any], like: Array) -> tuple[Any, tuple[Array, ...]]:
    """What it computes of an element in f32 (f64), and the arrays that it closes over, apart."""
    x = jax.ShapeDtypeStruct((), jnp.float64 if like.dtype == jnp.float64 else jnp.float32)
    closed = jaxpr_of(function, [x, *[jax.ShapeDtypeStruct((), jnp.int32)] * 4])
    return closed.jaxpr, tuple(closed.consts)


def changed_output(output: Array, jaxpr: Any, constants: Sequence[Array]) -> Array:
    """[B, H, M, C] with the function of each element in its place, rounded to the type of `output`."""
    wide = output.astype(jnp.float64 if output.dtype == jnp.float64 else jnp.float32)
    compute = core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, list(constants)))

    def each(x: Array, *place: Array) -> Array:
        return jnp.asarray(compute(x, *place)[0]).astype(x.dtype)

    whole: Callable[..., Any] = each
    for dim in (4, 3, 2, 1):
        whole = jax.vmap(whole, in_axes=(0, *(0 if place == dim else None for place in range(1, 5))))
    positions = [jnp.arange(size, dtype=jnp.int32) for size in output.shape]
    return whole(wide, *positions).astype(output.dtype)
