# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms of queries and keys (QK-norm): as a part of `attention`, where kernels divide rows, and of arrays by themselves."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Mapping, Optional

from .arrays import ArrayView
from .errors import BindingError
from .rotary import in_f32, rounded_as

WEIGHTS = ("query_norm", "key_norm")


def norm_arrays(qk_norm: Any, epsilon: Any) -> dict[str, Any]:
    """As arguments of a kernel: the weights that there are."""
    if qk_norm is None:
        return {}
    if not isinstance(qk_norm, (tuple, list)) or len(qk_norm) != 2:
        raise BindingError(f"expected qk_norm to be the weights of query and of key, either of which may be None, got {qk_norm!r}")
    if not isinstance(epsilon, Real) or not math.isfinite(epsilon) or epsilon < 0:
        raise BindingError(f"expected qk_norm_epsilon to be finite and at least 0, got {epsilon!r}")
    return {name: weight for name, weight in zip(WEIGHTS, qk_norm) if weight is not None}


def norm_field(named: Mapping[str, ArrayView], qk_norm: Any, epsilon: float) -> tuple:
    """Of an AttentionProblem: epsilon, and the types of the weights of query and key, None for one that there is not. Empty without a norm."""
    if qk_norm is None:
        return ()
    dim = named["query"].shape[-1]
    for name in ("query", "k_new"):
        if name in named and (dtype := named[name].dtype) not in ("f16", "bf16", "f32", "f64"):
            raise BindingError(f"{name}: expected dtype f16, bf16, f32 or f64 with qk_norm, got {dtype}")
    types: list[Optional[str]] = []
    for name in WEIGHTS:
        view = named.get(name)
        if view is not None and (view.dtype not in ("f16", "bf16", "f32", "f64") or tuple(view.shape) != (dim,)):
            raise BindingError(f"{name}: expected f16, bf16, f32 or f64 of ({dim},), got {view.dtype} of {tuple(view.shape)}")
        types.append(view.dtype if view else None)
    return ("qk_norm", (float(epsilon), *types))


def norm_line(result: str, source: str, name: str, types: Mapping[str, str], of: str, epsilon: str) -> str:
    """That norms rows of type `of`, by the weight `name` if `types` of arguments have one."""
    weight = f" weight(%{name} : {types[name]})" if name in types else ""
    return f"{result} = attn.qk_norm {source}{weight} epsilon({epsilon}) : {of}"


def norm_lines(field: tuple, dim: int, operands: Mapping[str, str], types: Mapping[str, str], text_of: Any) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """The types of more arguments, the lines that norm `operands`, query and keys, by names of arguments, and the names of what these give. `text_of` writes a float."""
    epsilon, *dtypes = field
    arguments = {name: f"tensor<{dim}x{dtype}>" for name, dtype in zip(WEIGHTS, dtypes) if dtype is not None}
    lines, normed = [], {}
    for operand, source in operands.items():
        normed[operand] = f"%{operand}_normed"
        lines.append(f"  {norm_line(normed[operand], source, WEIGHTS[operand != 'query'], arguments, types[operand], text_of(epsilon))}\n")
    return arguments, lines, normed


def norm(x: Any, weight: Any = None, *, epsilon: float = 1e-6) -> Any:
    """x [B, H, N, D] with each row divided by the root of the mean of its squares plus epsilon, times `weight` [D], computed in f32 (f64) and rounded once: an array of
    NumPy, torch or JAX. The latter two know its gradients."""
    _, (wide, *weights) = in_f32(x, x, *([] if weight is None else [weight]))
    result = wide * ((wide * wide).mean(axis=-1, keepdims=True) + epsilon) ** -0.5
    return rounded_as(result * weights[0] if weights else result, x)
