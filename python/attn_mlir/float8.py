# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of 8 bits: what they stand for, and what is rounded to them."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence

from .arrays import ArrayView, vector_like, view_of
from .checks import BYTES, DESCALES, FLOAT8
from .errors import BindingError
from .gradient_outputs import GRADIENT_SCALES
from .mask import Score, tensor, where
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


def descale_arrays(descale: Optional[Sequence[Any]], query: Any, value: Any) -> dict[str, Any]:
    """As arguments of a kernel: of query, key and value, or two where one of query and value has more than 8 bits."""
    if descale is None:
        return {}
    if not isinstance(descale, (tuple, list)) or len(descale) not in (2, 3):
        raise BindingError(f"expected descale to be three arrays, of query, key and value, or two where query or value have more than 8 bits, got {descale!r}")
    is_of_keys = view_of(query, "query").dtype == "i8" and view_of(value, "value").dtype not in BYTES
    names = DESCALES[:2] if is_of_keys and len(descale) == 2 else DESCALES[-len(descale) :]
    return dict(zip(names, descale))


class TokenScales(NamedTuple):
    """Descales of key and value of which one is of each token: factors of the scores and of the weights of a key, functions of (b, h, j)."""

    key: Callable[..., Any]
    value: Callable[..., Any]

    def change_score(self, score: Optional[Score]) -> Score:
        """The score_mod of what the bytes stand for, then `score`."""
        changed = Score(lambda s, b, h, i, j: (score or (lambda x, *_: x))(s * self.key(b, h, j), b, h, i, j))
        changed.is_temporary = True
        return changed

    def weights(self) -> Factor:
        return Factor(lambda p, b, h, i, j: p * self.value(b, h, j))


def token_scales(query: Any, key: Any, descale: Any, **others: Any) -> Optional[TokenScales]:
    """None where no descale is of each token: [B, Hkv, N]. `others` are arguments that may not stand beside such."""
    if not isinstance(descale, (tuple, list)) or len(descale) != 2:
        return None
    shape = view_of(key, "key").shape
    if not are_of_tokens(descale, query, shape[:3], key, others):
        return None
    group = group_of(query, key)
    return TokenScales(*(factor_of(array, shape[:3], group, lambda scales, b, h, j: scales[b, h, j], name) for array, name in zip(descale, DESCALES[1:])))


def pool_scales(
    query: Any, batch: int, k_pool: Any, table: Any, lengths: Any, scales: Mapping[str, Any], **others: Any,
) -> Optional[TokenScales]:  # fmt: skip
    """The same of a cache in pages of `batch` sequences, where no scale is of each row of the pools: [pages, Hkv, page size]. Entries of pages without a key
    are not read."""
    pages, heads, page, _ = view_of(k_pool, "k_pool").shape
    if not scales or not are_of_tokens(tuple(scales.values()), query, (pages, heads, page), k_pool, others):
        return None
    entries, *starts = (tensor(array) for array in (table if isinstance(table, (tuple, list)) else (table,)))
    ends = tensor(lengths)

    def read(pool: Any, b: Any, h: Any, j: Any) -> Any:
        at = (starts[0][b] + j // page,) if starts else (b, j // page)
        return pool[where(j < ends[b], entries[at], 0), h, j % page]

    group = group_of(query, k_pool)
    return TokenScales(*(factor_of(array, (batch, heads), group, read, name, (pages, heads, page)) for name, array in scales.items()))


def are_of_tokens(scales: Sequence[Any], query: Any, shape: Sequence[int], key: Any, others: Mapping[str, Any]) -> bool:
    """Whether one of them has three dimensions. Raises BindingError where one may not."""
    if all(len(view_of(array, name).shape) != 3 for array, name in zip(scales, DESCALES[1:])):
        return False
    types = view_of(key, "key").dtype, view_of(query, "query").dtype
    if types[0] not in BYTES or types[1] in BYTES:
        raise BindingError(f"expected key of {', '.join(FLOAT8)} or i8 beside a query of more bits with a descale of each token, got {types[0]} and {types[1]}")
    for name, other in others.items():
        if other is not None:
            raise BindingError(f"expected no {name} with a descale of each token, got one")
    return True


def group_of(query: Any, key: Any) -> int:
    """Query heads of a key head."""
    return view_of(query, "query").shape[1] // max(view_of(key, "key").shape[1], 1)


def factor_of(
    array: Any, heads: Sequence[int], group: int, read: Callable[..., Any], name: str, tokens: Optional[Sequence[int]] = None,
) -> Callable[..., Any]:  # fmt: skip
    """A function of (b, h, j) of scales [1], [B, Hkv], or `tokens`, by default `heads` with N, of which `read` gives that of a token."""
    view, scales = view_of(array, name), tensor(array)
    shapes = ((1,), tuple(heads[:2]), tuple(tokens or heads))
    if view.dtype != "f32" or tuple(view.shape) not in shapes:
        raise BindingError(f"{name}: expected f32 of {', '.join(map(str, shapes[:2]))} or {shapes[2]}, got {view.dtype} of {tuple(view.shape)}")
    if len(view.shape) == 1:
        return lambda b, h, j: scales[0]
    if len(view.shape) == 2:
        return lambda b, h, j: scales[b, h // group]
    return lambda b, h, j: read(scales, b, h // group, j)


class RoundedGradient(NamedTuple):
    """What a backward that rounds to 8 bits takes and gives beyond another."""

    descale: Optional[Sequence[Any]]  #: of query, key and value
    arrays: dict[str, Any]  #: those of d_output and dS, in the order of the kernel's arguments
    fields: tuple  #: of an AttentionProblem
    own: str  #: the type of gradients, unless another is asked for


def scale_array(query: Any, name: str, scale: Any) -> Any:
    """f32 [1] of a number, which is to be one that a gradient may be scaled by; an array stays."""
    if not isinstance(scale, Real):
        return scale
    if not 0 < float(scale) < math.inf:
        raise BindingError(f"expected {name} to be positive and finite, got {scale}")
    return vector_like(query, float(scale))


def rounded_gradient(query: Any, output: Any, d_output: Any, descale: Any, scale_ds: Any, return_amax_ds: bool) -> Optional[RoundedGradient]:
    """None where d_output has more than 8 bits."""
    gradient = view_of(d_output, "d_output").dtype
    if gradient not in FLOAT8:
        for name, given in (("scale_ds", scale_ds is not None), ("return_amax_ds", return_amax_ds)):
            if given:
                raise BindingError(f"expected d_output of {' or '.join(FLOAT8)} with {name}, got {gradient}")
        return None
    if (own := view_of(query, "query").dtype) not in FLOAT8:
        raise BindingError(f"expected query of {' or '.join(FLOAT8)} with d_output of {gradient}, got {own}")
    if descale is not None and (not isinstance(descale, (tuple, list)) or len(descale) != 4):
        raise BindingError(f"expected descale to be four arrays, of query, key, value and d_output, with d_output of {gradient}, got {descale!r}")
    arrays = {} if descale is None else {"d_output_descale": descale[3]}
    if scale_ds is not None:
        arrays["scale_ds"] = scale_array(query, "scale_ds", scale_ds)
    wide = view_of(output, "output").dtype
    if wide not in ("f16", "bf16", "f32"):
        raise BindingError(f"expected output of f16, bf16 or f32 with inputs of {own}, got {wide}")
    rank = len(view_of(descale[3], "d_output_descale").shape) if descale is not None else 0
    fields = ("wide_dtype", wide, "gradient_dtype", gradient, "gradient_descale", rank, "scale_ds", scale_ds is not None, "amax_ds", bool(return_amax_ds))
    return RoundedGradient(None if descale is None else descale[:3], arrays, fields, "bf16" if wide == "f32" else wide)


class StoredGradients(NamedTuple):
    """What a backward takes to store its gradients in 8 bits, or to measure them."""

    arrays: dict[str, Any]  #: the scales that there are, the last arguments of the kernel
    fields: tuple  #: of an AttentionProblem


def stored_gradients(query: Any, dtype: Optional[str], scales: Sequence[Any], return_amax: bool, head_map: Any) -> StoredGradients:
    """Of gradients of `dtype`; `scales` are those of GRADIENT_SCALES, or None."""
    given = {name: scale for name, scale in zip(GRADIENT_SCALES, scales) if scale is not None}
    for name in given if dtype not in FLOAT8 else ():
        raise BindingError(f"expected result_dtype {' or '.join(FLOAT8)} with {name}, got {dtype!r}")
    if head_map is not None and (return_amax or dtype in FLOAT8):
        what = "return_amax" if return_amax else f"gradients of {dtype}"
        raise BindingError(f"expected no head_map with {what}, got one: select the heads before")
    arrays = {name: scale_array(query, name, scale) for name, scale in given.items()}
    check_scales(arrays, ())
    return StoredGradients(arrays, ("gradient_scales", tuple(given), "gradient_amax", bool(return_amax)))


def check_scales(arrays: Mapping[str, Any], heads: Sequence[int]) -> None:
    """f32 of [1], or of d_output [B, Hkv], which are `heads`."""
    for name, array in arrays.items():
        view = view_of(array, name)
        shapes = [(1,)] + [tuple(heads)] * (name == "d_output_descale")
        if view.dtype != "f32" or tuple(view.shape) not in shapes:
            raise BindingError(f"{name}: expected f32 of {' or '.join(map(str, shapes))}, got {view.dtype} of {tuple(view.shape)}")


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
