# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`linear_attention` on JAX arrays, whose gradients, first and further ones, are calls of itself."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Optional, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .. import checks, linear
from ..arrays import StreamArray
from ..linear_gradients import STRIDE, Inputs, Library, gradients
from . import ffi
from .attention import spec_of

LIBRARY = Library(jnp, lambda array, like: array.astype(like.dtype), jax.lax.stop_gradient)


@dataclasses.dataclass(frozen=True)
class Options:
    """What is no array: known while tracing."""

    scale: float
    reverse: bool = False
    full: bool = False
    result_dtype: Optional[str] = None
    return_state: bool = False
    return_states: bool = False
    target: Optional[str] = None


def linear_attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    decay: Optional[Array] = None,
    state: Optional[Array] = None,
    scale: Optional[float] = None,
    reverse: bool = False,
    full: bool = False,
    return_state: bool = False,
    target: Optional[str] = None,
) -> Any:
    """attn_mlir.linear_attention on JAX arrays, with gradients of query, key, value, decay and state, by output and final state, and
    theirs in turn.

    Feature maps are functions of jax.numpy on query and key. Works under jit, grad and vmap; there are no forward-mode derivatives (jvp). A
    gradient of the output is rounded to query's type.
    """
    arrays = {"query": query, "key": key, "value": value, "decay": decay, "state": state}
    views = {name: spec_of(array, name) for name, array in arrays.items() if array is not None}
    checks.check_arrays({name: views[name] for name in ("query", "key", "value")})
    checks.check_scale(scale)
    linear.check_recurrence(views, reverse, full)
    scale = 1 / math.sqrt(query.shape[3]) if scale is None else float(scale)
    options = Options(scale, reverse, full, None, return_state, target=target)
    output, last, _ = differentiable(query, key, value, decay, state, options)
    return (output, last) if return_state else output


def run(arguments: Sequence[StreamArray], results: Sequence[StreamArray], call: dict[str, Any]):
    linear.linear_attention(**dict(zip(call["names"], arguments)), **call["options"], out=list(results))


LINEAR = "attn_mlir_linear_attention"
ffi.register(LINEAR, run)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def differentiable(query, key, value, decay, state, options: Options):
    """Output, final state and states, None unless asked for; by states there is no gradient."""
    number = "float64" if query.dtype == np.float64 else "float32"
    dtype = number if options.result_dtype else query.dtype
    results = [jax.ShapeDtypeStruct((*query.shape[:3], value.shape[3]), dtype)]
    if options.return_state:
        results.append(jax.ShapeDtypeStruct((*query.shape[:2], query.shape[3], value.shape[3]), number))
    if options.return_states:
        chunks = -(-query.shape[2] // STRIDE)
        results.append(jax.ShapeDtypeStruct((*query.shape[:2], chunks, query.shape[3], value.shape[3]), number))
    arrays = {"query": query, "key": key, "value": value, "decay": decay, "state": state}
    given = {name: array for name, array in arrays.items() if array is not None}
    made = ffi.call(
        LINEAR, tuple(results), *given.values(), options={"names": list(given), "options": dataclasses.asdict(options)}
    )  # fmt: skip
    return made[0], made[1] if options.return_state else None, made[-1] if options.return_states else None


def forward(query, key, value, decay, state, options: Options):
    return differentiable(query, key, value, decay, state, options), (query, key, value, decay, state)


def backward(options: Options, saved, given):
    query, key, value, decay, state = saved
    d_output, d_state, _ = given
    wide = "f64" if query.dtype == np.float64 else "f32"

    def attend(q, k, v, first, goes_back, is_wide, needs_state, needs_states):
        reverse = not options.full and options.reverse != goes_back
        change: dict[str, Any] = {"reverse": reverse, "result_dtype": wide if is_wide else None}
        returns = {"return_state": needs_state, "return_states": needs_states}
        return differentiable(q, k, v, decay, first, dataclasses.replace(options, **change, **returns))

    inputs = Inputs(query, key, value, decay, state, options.scale, options.reverse)
    return gradients(
        LIBRARY, attend, inputs, d_output.astype(query.dtype), d_state, decay is not None, state is not None
    )  # fmt: skip


differentiable.defvjp(forward, backward)
