# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of 8 bits: what they stand for, and what is rounded to them."""

from __future__ import annotations

from numbers import Real
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence

from .arrays import ArrayView, vector_like, view_of
from .checks import BYTES, DESCALES, FLOAT8
from .errors import BindingError
from .mask import Score, tensor
from .mask.tracing import Factor


def float8_output(query: Any, output_mod: Any, scale: Any, dtype: Optional[str]) -> Any:
    """The output_mod of a result of `dtype`: one of 8 bits is what an output_mod gives, times a scale."""
    if dtype not in FLOAT8:
        if scale is not None:
            raise BindingError(f"expected result_dtype f8E4M3FN or f8E5M2 with output_scale, got {dtype!r}")
        return output_mod
    own = output_mod or (lambda x, b, h, i, c: x)
    if scale is None:
        return own
    scale = vector_like(query, float(scale)) if isinstance(scale, Real) else scale
    view = view_of(scale, "output_scale")
    if view.dtype != "f32" or tuple(view.shape) != (1,):
        raise BindingError(f"output_scale: expected a number or f32 of (1,), got {view.dtype} of {tuple(view.shape)}")
    factor = tensor(scale)
    return lambda x, b, h, i, c: own(x, b, h, i, c) * factor[0]


def descale_arrays(descale: Optional[Sequence[Any]]) -> dict[str, Any]:
    """As arguments of a kernel."""
    if descale is None:
        return {}
    if not isinstance(descale, (tuple, list)) or len(descale) not in (2, 3):
        raise BindingError(f"expected descale to be three arrays, of query, key and value, or two, of 8-bit key and value, got {descale!r}")
    return dict(zip(DESCALES[-len(descale) :], descale))


class TokenScales(NamedTuple):
    """Descales of key and value of which one is of each token: factors of the scores and of the weights of a key, functions of (b, h, j)."""

    key: Callable[..., Any]
    value: Callable[..., Any]

    def change_score(self, score: Optional[Score]) -> Score:
        """The score_mod of what the bytes stand for, then `score`."""
        if score is None:
            return Score(lambda s, b, h, i, j: s * self.key(b, h, j))
        return Score(lambda s, b, h, i, j: score(s * self.key(b, h, j), b, h, i, j))

    def weights(self) -> Factor:
        return Factor(lambda p, b, h, i, j: p * self.value(b, h, j))


def token_scales(query: Any, key: Any, descale: Any, **others: Any) -> Optional[TokenScales]:
    """None where no descale is of each token. `others` are arguments that may not stand beside such."""
    if not isinstance(descale, (tuple, list)) or len(descale) != 2:
        return None
    views = [view_of(array, name) for array, name in zip(descale, DESCALES[1:])]
    if all(len(view.shape) != 3 for view in views):
        return None
    query, key = view_of(query, "query"), view_of(key, "key")
    if key.dtype not in BYTES or query.dtype in BYTES:
        raise BindingError(f"expected key of {', '.join(FLOAT8)} or i8 beside a query of more bits with a descale of each token, got {key.dtype} and {query.dtype}")
    for name, other in others.items():
        if other is not None:
            raise BindingError(f"expected no {name} with a descale of each token, got one")
    heads = (key.shape[0], key.shape[1])
    group = query.shape[1] // max(key.shape[1], 1)
    factors = []
    for array, view, name in zip(descale, views, DESCALES[1:]):
        shapes = ((1,), heads, (*heads, key.shape[2]))
        if view.dtype != "f32" or tuple(view.shape) not in shapes:
            raise BindingError(f"{name}: expected f32 of {', '.join(map(str, shapes[:2]))} or {shapes[2]}, got {view.dtype} of {tuple(view.shape)}")
        factors.append(factor_of(tensor(array), len(view.shape), group))
    return TokenScales(*factors)


def factor_of(scales: Any, rank: int, group: int) -> Callable[..., Any]:
    if rank == 1:
        return lambda b, h, j: scales[0]
    return lambda b, h, j: scales[(b, h // group, j)[:rank]]


def wide_field(named: Mapping[str, ArrayView], d_output: Any) -> tuple:
    """The field of an AttentionProblem that says what 8-bit inputs of a backward are made: the type of the query, or of d_output; none without such inputs."""
    query, key = named["query"].dtype, named["key"].dtype
    if key not in FLOAT8:
        return ()
    if "key_head_map" in named:
        raise BindingError(f"expected no head_map in a backward of inputs of {key}, got one: select the heads before")
    wide = query if query not in FLOAT8 else view_of(d_output, "d_output").dtype
    if wide not in ("f16", "bf16"):
        raise BindingError(f"expected {'d_output' if query in FLOAT8 else 'query'} of f16 or bf16 with inputs of {key}, got {wide}")
    return "wide_dtype", wide
