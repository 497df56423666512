# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`linear_attention` on arrays, compiled on first use."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional

from .arrays import ArrayView, view_of
from .cache import Cache
from .checks import check_arrays, check_no_gradients, check_scale, check_sizes
from .cpu import DirectKernel
from .errors import BindingError
from .functional import default_target
from .kernel import Kernel, compile
from .problem import float_text


def linear_attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    decay: Any = None,
    state: Any = None,
    scale: Optional[float] = None,
    reverse: bool = False,
    full: bool = False,
    return_state: bool = False,
    return_states: bool = False,
    out: Any = None,
    target: Optional[str] = None,
    device: Optional[str] = None,
    result_dtype: Optional[str] = None,
    cache: Optional[Cache] = None,
) -> Any:
    """scale * query S of each position, with S = exp(decay) * (S of the position before) + key^T value.

    Arguments:
      query: [B, Hq, M, D]; key: [B, Hkv, M, D]; value: [B, Hkv, M, Dv]; Hkv divides Hq. f16 or bf16 on a GPU, where D and Dv are
        multiples of 8, any float on the CPU. Feature maps are applied to query and key before.
      decay: logarithms, at most 0, -inf included: [B, Hq, M] of each position or [Hq] of each head, f32 (f64 with f64 inputs). None for
        no decay.
      state: [B, Hq, D, Dv], f32 (f64): S before the first position, None for 0. With what `return_state` gave of the positions before, a
        sequence is continued.
      scale: 1/sqrt(D) by default.
      reverse: from the last position to the first, with the same decay between two positions: a position sees itself and those behind
        it, and `state` is what is behind the last.
      full: all positions see all keys, of which there may be another number: S = state + the sum of all key^T value, without decay.
      return_state: also S after the last position; in reverse, before the first, decayed by that one's.
      return_states: also [B, Hq, ceil(M / 64), D, Dv], what is carried into each 64 positions (docs/Spec.md); not with full. Gradients of
        decays are made of it.
      out, target, device, result_dtype, cache: as of `attention`; as a second result in `out`, state may be the one that is given: a
        decoding step updates it in place.

    Returns output [B, Hq, M, Dv], or a tuple of output, state and states, as asked for, of query's library, without gradients: attn_mlir.torch and attn_mlir.jax have
    functions that differentiate. Raises as `attention` does.
    """
    arrays = {"query": query, "key": key, "value": value, "decay": decay, "state": state}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    check_no_gradients(instead="linear_attention", **arrays)
    check_scale(scale)
    views = {name: view_of(array, name) for name, array in arrays.items()}
    check_arrays({name: views[name] for name in ("query", "key", "value")})
    check_recurrence(views, reverse, full)
    if full and return_states:
        raise BindingError("expected no return_states with full, which has one state")
    query_view, value_view = views["query"], views["value"]
    text = module_text(
        Form(query_view.dtype, query_view.shape[3], value_view.shape[3], result_type(query_view, result_dtype)),
        len(views["decay"].shape) if decay is not None else 0, state is not None, None if scale is None else float(scale),
        "reverse" if reverse else "full" if full else "", return_state, return_states,
    )  # fmt: skip
    kernel = compiled(text, target or default_target(views["query"], device), cache)
    if state is not None:
        # Each element of the state is read before the CTA that reads it writes that of the final state.
        kernel.in_place = frozenset({(1, len(arrays) - 1)})
    return kernel.run(tuple(arrays.values()), list(views.values()), out, device)


def number_type(query: ArrayView) -> str:
    """Of decays and states."""
    return "f64" if query.dtype == "f64" else "f32"


def result_type(query: ArrayView, dtype: Optional[str]) -> str:
    if dtype not in (None, query.dtype, number_type(query)):
        raise BindingError(f"expected result_dtype {query.dtype} or {number_type(query)}, got {dtype!r}")
    return dtype or query.dtype


def check_recurrence(views: dict[str, ArrayView], reverse: bool, full: bool):
    """As many keys as queries, unless full; shapes and types of decays and of the state."""
    batch, heads, rows, dim = views["query"].shape
    if full and (reverse or "decay" in views):
        raise BindingError(f"expected no {'reverse' if reverse else 'decay'} with full, where no position is before another")
    if not full and views["key"].shape[2] != rows:
        raise BindingError(f"key: expected {rows} positions, those of query, got {views['key'].shape[2]}")
    number = number_type(views["query"])
    for name in ("decay", "state"):
        if name in views and views[name].dtype != number:
            raise BindingError(f"{name}: expected dtype {number}, got {views[name].dtype}")
    if decay := views.get("decay"):
        if tuple(decay.shape) not in ((heads,), (batch, heads, rows)):
            raise BindingError(f"decay: expected shape ({heads},) or ({batch}, {heads}, {rows}), got {tuple(decay.shape)}")
    if state := views.get("state"):
        if len(state.shape) != 4:
            raise BindingError(f"state: expected [B, Hq, D, Dv], got rank {len(state.shape)}")
        check_sizes("state", state.shape, (batch, heads, dim, views["value"].shape[3]))


class Form(NamedTuple):
    """Types of query, key and value and of the output; D and Dv."""

    dtype: str
    dim: int
    value_dim: int
    result: str


def module_text(form: Form, decay_rank: int, has_state: bool, scale: Optional[float], walk: str, *returns: bool) -> str:
    """The module; batches, heads and lengths are dynamic. A decay of rank 1 is of heads, of rank 3 of positions, of rank 0 none; `walk` is
    "", "reverse" or "full"; `returns` says whether the final state is a result, and the states."""
    number = "f64" if form.dtype == "f64" else "f32"
    q, v, o = (f"tensor<?x?x?x{d}x{t}>" for d, t in ((form.dim, form.dtype), (form.value_dim, form.dtype), (form.value_dim, form.result)))
    types = {"q": q, "k": q, "v": v}
    clauses = f" {walk}"
    if decay_rank:
        types["g"] = f"tensor<{'?x' * decay_rank}{number}>"
        clauses += f" {'slope' if decay_rank == 1 else 'decay'}(%g : {types['g']})"
    if has_state:
        types["s"] = f"tensor<?x?x{form.dim}x{form.value_dim}x{number}>"
        clauses += f" state(%s : {types['s']})"
    if scale is not None:
        clauses += f" scale({float_text(scale)})"
    kinds = [f"tensor<{'?x' * rank}{form.dim}x{form.value_dim}x{number}>" for rank, wanted in zip((2, 3), returns) if wanted]
    made = f"{o}{f', {kinds[0]}' if returns[0] else ''}{f' states {kinds[-1]}' if returns[1] else ''}"
    names = ", ".join(("%o", "%e", "%c")[: 1 + len(kinds)])
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
    listed = ", ".join([o, *kinds])
    return (
        f"func.func @linear_attention({arguments}) -> ({listed}) {{\n"
        f"  {names} = attn.linear_attention %q, %k, %v{clauses} : {q}, {q}, {v} -> {made}\n"
        f"  return {names} : {listed}\n}}\n"
    )


@functools.lru_cache(maxsize=256)
def compiled(text: str, target: str, cache: Optional[Cache]) -> Kernel:
    """The kernel, from this process, the cache or the compiler."""
    if target == "cpu":
        return DirectKernel(text, cache, lambda views: views[2].shape[3])  # as many products as with that many keys
    return compile(text, target=target, cache=cache)
