# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""output_mods of torch: for the kernel that stores the output, and, where their gradients are wanted, by torch behind it."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..errors import BindingError
from ..mask.outputs import Output
from .tracing import traced_as_torch


class ReadsAtPositions(TorchFunctionMode):
    """In it tensors are read at tensors of rank 0 as at others: torch.vmap refuses to take these for numbers."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is Tensor.__getitem__:
            places = list(args[1]) if isinstance(args[1], tuple) else [args[1]]
            if any(isinstance(place, Tensor) for place in places) and all(isinstance(place, (int, Tensor)) for place in places):
                return torch.ops.aten.index(args[0], [torch.as_tensor(place, device=args[0].device) for place in places])
        return func(*args, **(kwargs or {}))


#: Of torch, where it meets the function while it compiles.
NOT_COMPILED = "attn_mlir.torch traces an output_mod by itself: without fullgraph=True the graph goes on behind it"


@torch.compiler.disable(reason=NOT_COMPILED)
def traced_output(function: Any, query: Tensor, value: Tensor) -> Output:
    """For attn_mlir.attention; a TraceError for what kernels cannot compute, wherever it is computed then."""
    if not callable(function) or isinstance(function, Output):
        raise BindingError(f"output_mod: expected a function of (x, b, h, i, c), of torch, got {type(function).__name__}")
    sizes = (*query.shape[:3], value.shape[3])
    output = Output(traced_as_torch(function, sizes, query.dtype == torch.float64))
    output.check_reads(sizes)
    return output


@torch.compiler.disable(reason=NOT_COMPILED)
def changed_output(output: Tensor, function: Callable[..., Any]) -> Tensor:
    """[B, H, M, C] with function(x, b, h, i, c) of each element in its place, in f32 (f64), rounded to the type of `output`."""
    if output.numel() == 0:
        return output
    wide = output.to(torch.float64 if output.dtype == torch.float64 else torch.float32)

    def each(x: Tensor, *place: Tensor) -> Tensor:
        result = function(x, *place)
        return result.to(x.dtype) if isinstance(result, Tensor) else torch.full_like(x, result)

    whole: Callable[..., Any] = each
    for dim in (4, 3, 2, 1):
        whole = torch.vmap(whole, in_dims=(0, *(0 if place == dim else None for place in range(1, 5))))
    positions: Sequence[Tensor] = [torch.arange(size, device=output.device) for size in output.shape]
    with ReadsAtPositions():
        return whole(wide, *positions).to(output.dtype)
