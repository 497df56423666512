# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of a linear attention, which are linear attentions, for torch and JAX (lib/Dialect/Attn/Transforms/LinearGrad.cpp has
the formulas)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional

from .errors import BindingError

#: (query, key, value, state, goes_back, wide, needs_state) -> (output, final state), with the decays and the scale of the forward; back is
#: the other way, and the output, if wide, in the type of states.
Attend = Callable[[Any, Any, Any, Optional[Any], bool, bool, bool], tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class Library:
    """torch or jax.numpy; `cast` gives an array the type of another one."""

    functions: Any
    cast: Callable[[Any, Any], Any]


@dataclasses.dataclass(frozen=True)
class Inputs:
    """What the forward read; scale, and whether it walked in reverse."""

    query: Any
    key: Any
    value: Any
    decay: Optional[Any]
    state: Optional[Any]
    scale: float
    reverse: bool


def gradients(
    library: Library, attend: Attend, inputs: Inputs, d_output: Any, d_state: Optional[Any], decay_gradient: bool, state_gradient: bool
) -> tuple[Any, Any, Any, Optional[Any], Optional[Any]]:
    """Of query, key and value, and of decay and state where asked for; `d_output` has the type of query, `d_state` is that of the final
    state or None."""
    query, key, value, state = inputs.query, inputs.key, inputs.value, inputs.state
    d_first: Any = None
    if d_state is not None and inputs.scale == 0:
        raise BindingError("expected a scale other than 0, by which the gradient of the final state is divided")
    last = None if d_state is None else d_state / inputs.scale
    grouped = query.shape[1] != key.shape[1]
    keys, values = (expand_heads(library.functions, array, query.shape[1]) for array in (key, value))
    ends_here = decay_gradient and d_state is not None and not inputs.reverse
    begins_here = decay_gradient and state is not None and inputs.reverse
    d_query, end = attend(d_output, value, key, turned(state), False, decay_gradient, ends_here)
    d_key, _ = attend(values, d_output, query, turned(last), True, decay_gradient or grouped, False)
    d_value, begin = attend(keys, query, d_output, last, True, grouped, state_gradient or begins_here)
    if state_gradient or begins_here:
        d_first = begin * inputs.scale
    d_decay = None
    if decay_gradient:
        at_end = None
        if ends_here:
            at_end = (turned(end) * d_state).sum((2, 3))
        elif state is not None and begins_here:
            at_end = (state * d_first).sum((2, 3))
        d_decay = decays(library, inputs, (query * d_query).sum(3) - (keys * d_key).sum(3), at_end)
    return (
        library.cast(d_query, query), *(library.cast(sum_heads(d, like), like) for d, like in ((d_key, key), (d_value, value))),
        d_decay, d_first if state_gradient else None,
    )  # fmt: skip


def decays(library: Library, inputs: Inputs, terms: Any, at_end: Optional[Any]) -> Any:
    """The sums of what crosses a decay; nothing crosses one of 0."""
    xp = library.functions
    sums = xp.flip(xp.cumsum(xp.flip(-terms if inputs.reverse else terms, (2,)), 2), (2,))
    sums = sums if at_end is None else sums + at_end[:, :, None]
    assert inputs.decay is not None
    logs = inputs.decay[None, :, None] if inputs.decay.ndim == 1 else inputs.decay
    sums = xp.where(logs == -math.inf, 0.0, sums)
    return sums.sum((0, 2)) if inputs.decay.ndim == 1 else sums


def turned(state: Any) -> Any:
    """[B, H, D, Dv] as [B, H, Dv, D]; None stays None."""
    return None if state is None else state.swapaxes(2, 3)


def expand_heads(xp: Any, array: Any, heads: int) -> Any:
    """The keys or values of each query head."""
    batch, key_heads, rows, dim = array.shape
    if heads == key_heads:
        return array
    return xp.broadcast_to(array[:, :, None], (batch, key_heads, heads // key_heads, rows, dim)).reshape(batch, heads, rows, dim)


def sum_heads(gradient: Any, like: Any) -> Any:
    """Of a key head's query heads."""
    batch, heads, rows, dim = gradient.shape
    key_heads = like.shape[1]
    return gradient if heads == key_heads else gradient.reshape(batch, key_heads, heads // key_heads, rows, dim).sum(2)
