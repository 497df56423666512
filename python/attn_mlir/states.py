# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`merge_state` and `merge_states`: attention over all keys from that over parts of them, as attn.merge of Spec.md, by the names of FlashInfer."""

from __future__ import annotations

import functools
import math
from typing import Any, Optional, Sequence

from .arrays import library_of, view_of
from .checks import FLOATS, check_no_gradients
from .errors import BindingError
from .rotary import in_f32, rounded_as


def merge_state(v_a: Any, s_a: Any, v_b: Any, s_b: Any, *, base: Optional[int] = None) -> tuple[Any, Any]:
    """Attention over two sets of keys that share none, from the outputs v_a and v_b [rows, Hq, Dv] and LSEs s_a and s_b [rows, Hq] over each.

    Arguments and results are as of `merge_states` with two parts; merging is associative up to rounding.
    """
    names = ("v_a", "s_a", "v_b", "s_b")
    views = {name: view_of(array, name) for name, array in zip(names, (v_a, s_a, v_b, s_b))}
    for a, b in (("v_a", "v_b"), ("s_a", "s_b")):
        if (views[a].dtype, views[a].shape) != (views[b].dtype, views[b].shape):
            raise BindingError(f"{b}: expected {views[a].dtype} of {views[a].shape}, as {a}, got {views[b].dtype} of {views[b].shape}")
    check_states(names[:2], v_a, s_a, 3)
    check_states(names[2:], v_b, s_b, 3)
    return merged_as(v_a, s_a, [(v_a, s_a), (v_b, s_b)], base)


def merge_states(v: Any, s: Any, *, base: Optional[int] = None) -> tuple[Any, Any]:
    """Attention over all keys, from that over sets of keys that share none.

    Arguments, of NumPy or torch, on any device:
      v: [rows, parts, Hq, Dv], f16, bf16, f32 or f64: the output of each part. Of one without keys, whose s is -inf, it may be anything, NaN too.
      s: [rows, parts, Hq], f32, of a v of f64 f64: the logarithm of the sum of exponentials of a part's scores, natural as all LSEs here.
      base: 2 for an s to base 2, as FlashInfer's are, and a result to that base; None: natural.

    Returns (v, s) of all, [rows, Hq, Dv] in v's type, rounded once, and [rows, Hq] in that of s; 0 and -inf where no part has keys. It is computed by NumPy
    or torch in f32 (f64), and carries no gradients. Raises BindingError for arrays that do not fit, and for an s in host memory that is +inf or NaN.
    """
    check_states(("v", "s"), v, s, 4)
    return merged_as(v, s, [(v[:, part], s[:, part]) for part in range(view_of(v, "v").shape[1])], base)


def merge_states_of(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """`merge_states` of parts that are arrays of their own: outputs [rows, Hq, Dv] and LSEs [rows, Hq], natural, of one type each."""
    for v, s in parts:
        check_states(("v", "s"), v, s, 3)
    return merged_as(*parts[0], parts, None)


def check_states(names: tuple[str, str], v: Any, s: Any, rank: int):
    """Types and shapes of outputs of a rank, and of their LSEs, and what these say in host memory."""
    check_no_gradients(**dict(zip(names, (v, s))))
    for name, array in zip(names, (v, s)):
        if library_of(array) not in ("numpy", "torch"):
            raise BindingError(f"{name}: expected an array of NumPy or torch, got {type(array).__name__}")
    output, lse = (view_of(array, name) for name, array in zip(names, (v, s)))
    if len(output.shape) != rank or output.dtype not in FLOATS:
        wanted = "[rows, parts, heads, head dim]" if rank == 4 else "[rows, heads, head dim]"
        raise BindingError(f"{names[0]}: expected {wanted} of {', '.join(FLOATS)}, got {output.dtype} of {output.shape}")
    if rank == 4 and output.shape[1] < 1:
        raise BindingError(f"{names[0]}: expected 1 part or more, got {output.shape[1]}")
    wide = "f64" if output.dtype == "f64" else "f32"
    if (lse.dtype, lse.shape) != (wide, output.shape[:-1]):
        raise BindingError(f"{names[1]}: expected {wide} of {output.shape[:-1]}, got {lse.dtype} of {lse.shape}")
    if lse.device == "cpu":
        wrong = s[~(s < math.inf)]
        if len(wrong):
            raise BindingError(f"{names[1]}: expected numbers, or -inf of parts without keys, got {float(wrong[0])}")


def merged_as(v: Any, s: Any, parts: Sequence[tuple[Any, Any]], base: Optional[int]) -> tuple[Any, Any]:
    """Of parts that fit, in the types of `v` and `s`."""
    if base not in (None, 2):
        raise BindingError(f"expected base None, for natural logarithms, or 2, got {base!r}")
    library, wide = in_f32(v, *(array for part in parts for array in part))
    output, lse = merged(library, list(zip(wide[::2], wide[1::2])), base)
    return rounded_as(output, v), rounded_as(lse, s)


def merged(library: Any, parts: Sequence[tuple[Any, Any]], base: Optional[int] = None) -> tuple[Any, Any]:
    """(output, LSE) over the keys of all parts, outputs [.., Dv] and LSEs [..] of f32 or f64, of a library's module: torch, NumPy or jax.numpy."""
    power, logarithm = (library.exp, library.log) if base is None else (library.exp2, library.log2)
    most = functools.reduce(library.maximum, (lse for _, lse in parts))
    # Rows that none sees: exp(-inf - 0) is 0.
    most = library.where(library.isinf(most), library.zeros_like(most), most)
    weights = [power(lse - most) for _, lse in parts]
    total = sum(weights[1:], weights[0])
    has_keys = total > 0
    divisor = library.where(has_keys, total, library.ones_like(total))
    # What a part without keys has as its output does not count.
    outputs = (library.where(library.isinf(lse)[..., None], library.zeros_like(output), output) for output, lse in parts)
    output = sum(output * (weight / divisor)[..., None] for output, weight in zip(outputs, weights))
    return output, library.where(has_keys, most + logarithm(divisor), library.full_like(most, -math.inf))
