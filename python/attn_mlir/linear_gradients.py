# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of a linear attention, which are linear attentions, for torch and JAX (lib/Dialect/Attn/Transforms/LinearGrad.cpp has
the formulas)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional

from .errors import BindingError

#: (query, key, value, state, goes_back, wide, needs_state, needs_states) -> (output, final state, states), with the decays and the scale of
#: the forward; back is the other way, and the output, if wide, in the type of states. Of the last no gradient is needed.
Attend = Callable[[Any, Any, Any, Optional[Any], bool, bool, bool, bool], tuple[Any, Any, Any]]
#: The positions that each of the states is carried into.
STRIDE = 64


@dataclasses.dataclass(frozen=True)
class Library:
    """torch or jax.numpy; `cast` gives an array the type of another one, `constant` is an array without gradients."""

    functions: Any
    cast: Callable[[Any, Any], Any]
    constant: Callable[[Any], Any]


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
    if d_state is not None and not 1e-30 <= abs(inputs.scale) <= 1e30:
        raise BindingError(
            "expected a scale from 1e-30 to 1e30, or from -1e30 to -1e-30, by which the gradient of the final state is divided, "
            f"got {inputs.scale:g}"
        )
    last = None if d_state is None else d_state / inputs.scale
    grouped = query.shape[1] != key.shape[1]
    keys, values = (expand_heads(library.functions, array, query.shape[1]) for array in (key, value))
    ends_here = decay_gradient and d_state is not None and not inputs.reverse
    begins_here = decay_gradient and state is not None and inputs.reverse
    crosses = decay_gradient and query.shape[2] > STRIDE // 2
    d_query, end, before = attend(d_output, value, key, turned(state), False, decay_gradient, ends_here, crosses)
    d_key, _, after = attend(values, d_output, query, turned(last), True, decay_gradient or grouped, False, crosses)
    d_value, begin, _ = attend(keys, query, d_output, last, True, grouped, state_gradient or begins_here, False)
    if state_gradient or begins_here:
        d_first = begin * inputs.scale
    d_decay = None
    if decay_gradient:
        at_end = None
        if ends_here:
            at_end = (turned(end) * d_state).sum((2, 3))
        elif state is not None and begins_here:
            at_end = (state * d_first).sum((2, 3))
        states = ((after, before) if inputs.reverse else (before, after)) if crosses else None
        d_decay = decays(library, inputs, (query * d_query).sum(3) - (keys * d_key).sum(3), states, at_end)
    return (
        library.cast(d_query, query), *(library.cast(sum_heads(d, like), like) for d, like in ((d_key, key), (d_value, value))),
        d_decay, d_first if state_gradient else None,
    )  # fmt: skip


def decays(library: Library, inputs: Inputs, terms: Any, states: Optional[tuple[Any, Any]], at_end: Optional[Any]) -> Any:
    """The sums of what crosses a decay; nothing crosses one of 0. `states` are those carried forward and back."""
    xp = library.functions
    assert inputs.decay is not None
    terms = -terms if inputs.reverse else terms
    sums = sums_from_end(xp, terms, 2)
    sums = sums if at_end is None else sums + at_end[:, :, None]
    if states is not None:
        # The value is that of sums of 64 terms, which are more exact; the gradient, which has no states, that of the long sums.
        before, after = map(library.constant, states)
        crossing = inputs.scale * (before[:, :, 1:] * after[:, :, :-1]).sum((3, 4))
        last = xp.zeros_like(sums[:, :, :1]) if at_end is None else at_end[:, :, None]
        near = sums_of_chunks(xp, library.constant(terms), xp.concatenate([crossing, library.constant(last)], 2))
        sums = sums + library.constant(near - sums)
    logs = inputs.decay[None, :, None] if inputs.decay.ndim == 1 else inputs.decay
    sums = xp.where(logs == -math.inf, 0.0, sums)
    return sums.sum((0, 2)) if inputs.decay.ndim == 1 else sums


def sums_from_end(xp: Any, terms: Any, axis: int) -> Any:
    return xp.flip(xp.cumsum(xp.flip(terms, (axis,)), axis), (axis,))


def sums_of_chunks(xp: Any, terms: Any, behind: Any) -> Any:
    """[B, Hq, M]: of each position the sum to the end of its 64, and what is `behind` them, [B, Hq, ceil(M / 64)]."""
    batch, heads, rows = terms.shape
    chunks = behind.shape[2]
    padding = xp.broadcast_to(xp.zeros_like(terms[:, :, :1]), (batch, heads, chunks * STRIDE - rows))
    padded = xp.concatenate([terms, padding], 2)
    sums = sums_from_end(xp, padded.reshape(batch, heads, chunks, STRIDE), 3) + behind[..., None]
    return sums.reshape(batch, heads, chunks * STRIDE)[:, :, :rows]


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
