# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear attention of one long sequence on several ranks, each with consecutive tokens (LASP-2, arXiv 2502.07563).

A rank computes what its own tokens add to the state, all ranks send each other that and the decay of their tokens, and each
runs one kernel from the state before its tokens. The bytes do not depend on the number of tokens.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Optional, Sequence

from .. import linear
from ..arrays import type_of
from ..errors import BindingError
from .communicator import Communicator, agree_on
from .tokens import Library, size_of, split

#: Sends this rank's flat array to all ranks, and returns those of all.
Gather = Callable[[Any], Sequence[Any]]


class Segment(NamedTuple):
    """What some consecutive tokens do to a state S: exp(decay) S + added. [B, H, D, Dv], and [B, Hq], or None for no decay."""

    added: Any
    decay: Any

    def after(self, state: Any, library: Library) -> Any:
        """Of S before the tokens, None for 0."""
        if state is None:
            return self.added
        return self.added + (state if self.decay is None else state * library.module.exp(self.decay)[..., None, None])


def linear_attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    communicator: Communicator,
    decay: Any = None,
    state: Any = None,
    scale: Optional[float] = None,
    return_state: bool = False,
    gather: Optional[Gather] = None,
    attend: Callable[..., Any] = linear.linear_attention,
    **options: Any,
) -> Any:
    """attn_mlir.linear_attention over the tokens of all ranks, rank 0's first: the part of this rank's tokens.

    Arguments:
      query, key, value, decay, scale: of this rank's tokens, as of attn_mlir.linear_attention, in arrays of NumPy or torch. Ranks
        may have different numbers of tokens, none too.
      communicator: of the ranks, all of which call this. Each sends every other one B H (D Dv + 1) numbers of the state's type, H
        those of the query, or without decay those of the key.
      state: [B, Hq, D, Dv] before the first token of all, the same on all ranks; None for 0.
      return_state: also the state after the last token of all, on each rank.
      gather, attend: how arrays travel and what computes a rank's part, where they have gradients.
      options: target, device and cache of attn_mlir.linear_attention.

    Raises what attn_mlir.linear_attention does; a PlanError on all ranks where arrays do not fit on one, or types or options
    differ; a DeviceError where a rank does not come.
    """
    agree_on(communicator, lambda: facts(query, key, value, decay, state, scale))
    library = Library(query)
    wide = library.dtype("f64" if type_of(query, "query")[0] == "f64" else "f32")
    own = segment_of(library, key, value, decay, wide)
    segments = exchange(library, own, gather or functools.partial(send_to_all, communicator))
    group = query.shape[1] // own.added.shape[1]
    states = [state]
    for added, log in segments:
        states.append(Segment(library.repeat(added, group, 1), log).after(states[-1], library))
    before, last = states[communicator.rank], states[-1]
    if query.shape[2]:
        output = attend(query, key, value, decay=decay, state=before, scale=scale, **options)
    else:
        output = library.full((*query.shape[:3], value.shape[3]), 0.0, query.dtype)
    return (output, last) if return_state else output


def facts(query: Any, key: Any, value: Any, decay: Any, state: Any, scale: Optional[float]) -> str:
    """What all ranks have alike; raises an error where arrays do not fit."""
    types = {name: type_of(array, name) for name, array in (("query", query), ("key", key), ("value", value))}
    for name, (_, shape) in types.items():
        if len(shape) != 4:
            raise BindingError(f"{name}: expected [batch, heads, tokens, head dim], got rank {len(shape)}")
    (batch, heads, tokens, dim), (_, key_heads, *_), (*_, value_dim) = (shape for _, shape in types.values())
    for name, (_, shape) in types.items():
        if shape[2] != tokens:
            raise BindingError(f"{name}: expected {tokens} tokens, those of query, got {shape[2]}")
    if key_heads < 1 or heads % key_heads:
        raise BindingError(f"expected a number of query heads that {key_heads} key heads divide, got {heads}")
    kinds = {"decay": None if decay is None else len(decay.shape), "state": state is not None, "scale": scale}
    return f"linear_attention {types['query'][0]} {[batch, heads, key_heads, dim, value_dim]} {sorted(kinds.items())}"


def segment_of(library: Library, key: Any, value: Any, decay: Any, wide: Any) -> Segment:
    """What this rank's tokens do, in the type `wide`."""
    key, value = library.convert(key, wide), library.convert(value, wide)
    if decay is None:
        return Segment(key.swapaxes(2, 3) @ value, None)
    tokens = key.shape[2]
    if len(decay.shape) == 1:
        decay = decay[None, :, None] + library.full((key.shape[0], decay.shape[0], tokens), 0.0, wide)
    # Sums from the end, which know no difference of -inf and -inf.
    module = library.module
    sums = module.flip(module.cumsum(module.flip(decay, (2,)), 2), (2,))
    nothing = library.full((*decay.shape[:2], 1), 0.0, wide)
    sums = module.concatenate((sums, nothing), 2)
    weights = module.exp(sums[..., 1:])[..., None]
    group = decay.shape[1] // key.shape[1]
    by_group = (key.shape[0], key.shape[1], group, tokens, key.shape[3])
    weighted = (key[:, :, None] * weights.reshape(*by_group[:4], 1)).swapaxes(3, 4) @ value[:, :, None]
    return Segment(weighted.reshape(key.shape[0], decay.shape[1], key.shape[3], value.shape[3]), sums[..., 0])


def exchange(library: Library, own: Segment, gather: Gather) -> list[Segment]:
    """The segments of all ranks."""
    shapes = [own.added.shape] if own.decay is None else [own.added.shape, own.decay.shape]
    parts = [own.added] if own.decay is None else [own.added, own.decay]
    received = [split(flat, shapes) for flat in gather(library.flatten(parts))]
    return [Segment(arrays[0], arrays[1] if len(arrays) > 1 else None) for arrays in received]


def send_to_all(communicator: Communicator, flat: Any) -> Sequence[Any]:
    """A `Gather` without gradients."""
    return communicator.exchange([flat] * communicator.size, [size_of(flat.shape)] * communicator.size)()
