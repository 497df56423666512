# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What arrays and options must be like, before a kernel is made for them: a BindingError says what was expected."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import Any, Mapping, Optional, Sequence, Union

from .arrays import ArrayView
from .errors import BindingError
from .heads import check_head_maps
from .mask.patterns import check_cap
from .problem import bias_shape

Causal = Union[bool, str]
Window = Union[int, tuple[int, int], None]

LENGTHS = ("key_lengths", "query_lengths")
TABLE = ("key_table", "key_table_offsets")
DESCALES = ("query_descale", "key_descale", "value_descale")
FLOATS = ("f16", "bf16", "f32", "f64")
FLOAT8 = ("f8E4M3FN", "f8E5M2")
#: What keys and values may be beside a query of more bits.
BYTES = (*FLOAT8, "i8")
#: What values may be beside a query and key of i8.
BESIDE_INTEGERS = (*FLOAT8, "f16", "bf16", "f32")


def check_no_gradients(*, instead: str = "attention", **arrays: Any):
    """Raises a BindingError where torch would record a gradient, which results do not carry; `instead`: what of attn_mlir.torch has them."""
    for name, array in arrays.items():
        if getattr(array, "requires_grad", False) is True and sys.modules["torch"].is_grad_enabled():
            raise BindingError(
                f"operand {name}: expected a tensor that requires no gradient, which this function does not record, got "
                f"one that does: call attn_mlir.torch.{instead}, or pass {name}.detach()"
            )


def check_signed(**arrays: Any):
    """Raises a BindingError for bytes without a sign, which are i8 to tensors of torch: what they hold is not said."""
    for name, array in arrays.items():
        if str(getattr(array, "dtype", "")).endswith("uint8"):
            raise BindingError(f"{name}: expected a signed or float dtype, got uint8: view the bytes as what they are, int8 or a float of 8 bits")


def check_arrays(named: Mapping[str, ArrayView], dtypes: Sequence[str] = FLOATS, cache_dtypes: Sequence[str] = (), mixes: bool = False):
    """Types and shapes of query, key and value, and of what there is of bias, sink, lengths, seed and offset, in the words of a manifest's binding.
    Key and value have the type of query, or one of `cache_dtypes`; beside a query of i8 the value has one of BESIDE_INTEGERS; with `mixes` all may have one of
    FLOAT8."""
    query, key, value = (named[name] for name in ("query", "key", "value"))
    if query.dtype not in dtypes:
        raise BindingError(f"query: expected dtype {', '.join(dtypes)}, got {query.dtype}")
    like = "key" if key.dtype in cache_dtypes and query.dtype in ("f16", "bf16", "f32") else "query"
    mixes = mixes and all(view.dtype in FLOAT8 for view in (query, key, value))
    for name, view in (("query", query), ("key", key), ("value", value)):
        if len(view.shape) != 4:
            raise BindingError(f"{name}: expected [batch, heads, rows, head dim], got rank {len(view.shape)}")
        if name == "value" and query.dtype == "i8":
            if view.dtype not in BESIDE_INTEGERS:
                raise BindingError(f"value: expected dtype {', '.join(BESIDE_INTEGERS)} beside a query of i8, got {view.dtype}")
        elif name != "query" and not mixes and view.dtype != named[like].dtype:
            raise BindingError(f"{name}: expected dtype {named[like].dtype}, that of {like}, got {view.dtype}")
    batch, heads, _, dim = query.shape
    key_heads, keys = key.shape[1], key.shape[2]
    check_sizes("key", key.shape, (batch, key_heads, keys, dim))
    value_heads = value.shape[1] if "value_head_map" in named else key_heads
    check_sizes("value", value.shape, (batch, value_heads, keys, value.shape[3]))
    check_head_maps(named)
    if "key_head_map" not in named and heads != key_heads and (not key_heads or heads % key_heads):
        raise BindingError(
            f"expected the number of query heads to be a multiple of the number of key heads, got {heads} and {key_heads}"
        )
    for name, view in (("query", query), ("value", value)):
        if view.shape[3] < 1:
            raise BindingError(f"operand {name}: expected dim 3 to be at least 1, got {view.shape[3]}")
    if bias := named.get("bias"):
        if bias.dtype not in FLOATS:
            raise BindingError(f"bias: expected dtype {', '.join(FLOATS)}, got {bias.dtype}; a bool mask is a mask_mod")
        if bias.dtype == "f64" and query.dtype != "f64":
            raise BindingError("bias: expected dtype f16, bf16 or f32, which scores of f32 have room for, got f64")
        bias_shape(bias.shape, (*query.shape[:3], keys))
    if sink := named.get("sink"):
        if sink.shape != (heads,):
            raise BindingError(f"sink: expected shape ({heads},), one for each query head, got {tuple(sink.shape)}")
        own = "f32" if query.dtype in BYTES else query.dtype
        if sink.dtype not in (own, "f32"):
            raise BindingError(f"sink: expected dtype {' or '.join(dict.fromkeys((own, 'f32')))}, got {sink.dtype}")
    check_descales(named, batch)
    check_lengths(named)
    for name in ("seed", "offset"):
        number = named.get(name)
        if number is not None and (number.dtype, tuple(number.shape)) != ("i64", ()):
            raise BindingError(f"{name}: expected a number or an i64 array of rank 0, got {number.dtype} of {tuple(number.shape)}")


def descaled_names(*dtypes: str) -> list[str]:
    """The descales of a query, key and value of these types: of those of 8 bits."""
    return [name for name, dtype in zip(DESCALES, dtypes) if dtype in BYTES]


def check_descales(named: Mapping[str, ArrayView], batch: int):
    query, key = named["query"], named["key"]
    scaled = descaled_names(named["query"].dtype, named["key"].dtype, named["value"].dtype)
    given = [name for name in DESCALES if name in named]
    for name in given:
        descale = named[name]
        if key.dtype not in BYTES:
            raise BindingError(f"expected inputs of {', '.join(FLOAT8)} or i8 with descale, got {key.dtype}")
        if given != scaled:
            *others, last = (name.removesuffix("_descale") for name in scaled)
            operands = " and ".join(filter(None, (", ".join(others), last)))
            types = ", ".join(named[name].dtype for name in ("query", "key", "value"))
            raise BindingError(f"expected a descale of {operands}, with inputs of {types}, got {len(given)}")
        if "bias" in named:
            raise BindingError("expected no bias with descale, got one: add it in score_mod")
        heads = (batch, key.shape[1])
        if descale.dtype != "f32" or tuple(descale.shape) not in ((1,), heads):
            raise BindingError(f"{name}: expected f32 of (1,) or {heads}, got {descale.dtype} of {tuple(descale.shape)}")


def check_lengths(named: Mapping[str, ArrayView]):
    batch = named["query"].shape[0]
    for name in LENGTHS:
        lengths = named.get(name)
        if lengths is not None and (lengths.dtype not in ("i32", "i64") or tuple(lengths.shape) != (batch,)):
            raise BindingError(
                f"{name}: expected {batch} lengths, i32 or i64, one for each batch, got {lengths.dtype} of {tuple(lengths.shape)}"
            )


def check_sizes(name: str, got: Sequence[int], expected: Sequence[int]):
    for d, (size, wanted) in enumerate(zip(got, expected)):
        if size != wanted:
            names = {"key": ("B",), "value": ("B", "Hkv", "N")}.get(name, ("B", "Hq", "M"))
            origin = f" ({names[d]})" if d < len(names) else ""
            raise BindingError(f"operand {name}: expected dim {d}{origin} to be {wanted}, got {size}")


def sides_of(window: Any) -> tuple[int, int]:
    sides = (window, 0) if isinstance(window, Integral) else window
    if not (isinstance(sides, (tuple, list)) and len(sides) == 2 and all(isinstance(side, Integral) for side in sides)):
        raise BindingError(f"expected window to be a number or (left, right), got {window!r}")
    # Farther than two positions ever are is no limit, whatever the number, and its sum with a position has 32 bits.
    return min(int(sides[0]), 1 << 30), min(int(sides[1]), 1 << 30)


def check_options(causal: Causal, window: Window, soft_cap: Optional[float], scale: Optional[float]):
    """Raises what a kernel with these options would raise when it is made."""
    check_causal(causal)
    if window is not None:
        sides_of(window)
    if soft_cap is not None:
        check_cap(soft_cap)
    check_scale(scale)


def check_causal(causal: Any):
    if causal not in (True, False, "top_left", "bottom_right"):
        raise BindingError(f"expected causal to be a bool, 'top_left' or 'bottom_right', got {causal!r}")


def check_scale(scale: Any):
    if scale is not None and not (isinstance(scale, Real) and math.isfinite(scale)):
        raise BindingError(f"expected scale to be a finite number, got {scale!r}")


def asserts_flag(device_asserts: bool, target: str) -> dict[str, bool]:
    """Of `compile`, if there is one."""
    if device_asserts and target == "cpu":
        raise BindingError("expected no device_asserts for target cpu, whose arrays are looked at before")
    return {"device_asserts": True} if device_asserts else {}


#: What the bits of a sequence may depend on.
INVARIANCES = ("none", "batch", "prefix")


def invariance_flag(invariance: str, target: str) -> dict[str, str]:
    """Of `compile`, if there is one."""
    if invariance not in INVARIANCES:
        raise BindingError(f"expected invariance {' or '.join(INVARIANCES)}, got {invariance!r}")
    if invariance != "none" and target == "cpu":
        raise BindingError(f"expected invariance none for target cpu, of whose bits nothing is said, got {invariance!r}")
    return {"invariance": invariance} if invariance != "none" else {}
