# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.func for the ops: their gradients under its transforms, batches by vmap, and what there is not."""

from __future__ import annotations

from typing import Any, Callable, NoReturn, Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..errors import BindingError

PLAIN = (Tensor, torch.nn.Parameter)
NO_TANGENT = (
    "expected a tensor without a tangent, got one with: attention has no forward-mode derivatives (jvp, jacfwd), only gradients "
    "(grad, vjp, jacrev)"
)


def refuse_tangents(ctx: Any, *tangents: Any) -> NoReturn:
    raise BindingError(NO_TANGENT)


def refuse_second_derivatives(ctx: Any, *gradients: Any) -> NoReturn:
    raise BindingError("expected first derivatives of attention, got a request for second ones, which it does not have")


def save_nothing(ctx: Any, inputs: Any, output: Any):
    """For a backward that is none."""


def refuse_forward_mode(name: str, t: Tensor):
    """Raises a BindingError for a tensor with a tangent, which would be lost."""
    if torch.compiler.is_compiling() or forward_ad._current_level < 0:
        return
    if forward_ad.unpack_dual(t).tangent is not None:
        raise BindingError(f"{name}: {NO_TANGENT}")


def has_transforms() -> bool:
    """Of torch.func, which do not see the gradients of an op, but those of an autograd.Function."""
    return not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active()


def call(function: type[torch.autograd.Function], op: Any, *inputs: Any) -> Any:
    """op(*inputs), under transforms of torch.func by `function`; without torch's dispatcher, which takes longer than a small
    attention, where nobody looks on."""
    if has_transforms():
        return function.apply(*inputs)
    return op._init_fn(*inputs) if is_plain(inputs) else op(*inputs)


def is_watched() -> bool:
    """Whether a graph, a mode or a profile wants to see ops."""
    c = torch._C
    if torch.compiler.is_compiling() or c._get_tracing_state() is not None or torch.autograd._profiler_enabled():
        return True
    return bool(c._len_torch_dispatch_stack() or c._len_torch_function_stack())


def is_plain(inputs: Sequence[Any]) -> bool:
    """Whether an op is no more than its function: no gradient, graph, transform, mode, profile or class of tensors wants to see it."""
    if is_watched() or has_transforms():
        return False
    is_recorded = torch.is_grad_enabled()
    for t in inputs:
        if isinstance(t, Tensor) and (type(t) not in PLAIN or t.device.type not in ("cpu", "cuda") or (is_recorded and t.requires_grad) or t.is_neg()):
            return False
    return True


def function_of(op: Callable[..., Any], setup_context: Callable[..., None], backward: Callable[..., Any]) -> Any:
    """The op with its gradients, as torch.func takes it."""
    methods = {"forward": op, "setup_context": setup_context, "backward": backward, "jvp": refuse_tangents}
    members = {name: staticmethod(method) for name, method in methods.items()}
    return type("Attention", (torch.autograd.Function,), {**members, "generate_vmap_rule": True})


def item(argument: Any, dim: Any, k: int) -> Any:
    """Number k of a batch; of a list of tensors, that of each."""
    if isinstance(argument, (list, tuple)) and isinstance(dim, (list, tuple)):
        return [item(a, d, k) for a, d in zip(argument, dim)]
    return argument if dim is None or not isinstance(argument, Tensor) else argument.select(dim, k)


def looped(op: Any, info: Any, in_dims: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, Any]:
    """One call for each of a batch."""
    results = [op(*(item(a, d, k) for a, d in zip(inputs, in_dims))) for k in range(info.batch_size)]
    stacked = type(results[0])(torch.stack(parts) for parts in zip(*results))
    return stacked, type(stacked)(0 for _ in stacked)


def register_vmap(op: Any, batched: Sequence[str] = (), names: Sequence[str] = ()):
    """One call for a whole batch, which becomes part of the first dimension of the arguments `batched`, where the others
    are the same for all of it; else one for each. `names` are those of the arguments."""

    def rule(info: Any, in_dims: Sequence[Any], *inputs: Any) -> tuple[Any, Any]:
        others = [a for name, a in zip(names, inputs) if name not in batched]
        if not batched or any(isinstance(a, Tensor) for a in others):
            return looped(op, info, in_dims, inputs)

        def folded(t: Any, dim: Any) -> Any:
            t = t.expand(info.batch_size, *t.shape) if dim is None else t.movedim(dim, 0)
            return t.reshape(-1, *t.shape[2:])

        arguments = [folded(a, d) if isinstance(a, Tensor) else a for a, d in zip(inputs, in_dims)]
        results = tuple(r if r.dim() == 1 else r.unflatten(0, (info.batch_size, -1)) for r in op(*arguments))
        return results, tuple(None if r.dim() == 1 else 0 for r in results)

    op.register_vmap(rule)
