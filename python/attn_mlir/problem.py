# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An attention as data, and the module that the compiler takes for it: one kernel for all batch sizes, head counts and
lengths, since only element types and head dims are fixed."""

from __future__ import annotations

import dataclasses
from typing import Mapping, Optional, Sequence, Union

from .errors import BindingError

#: What a dimension of a bias may be: its size in [B, Hq, M, N], or 1.
BIAS_DIMS = ("B", "Hq", "M", "N")


@dataclasses.dataclass(frozen=True)
class Capture:
    """A tensor that a region reads: its name in the module, and its type there."""

    name: str
    type: str


@dataclasses.dataclass(frozen=True)
class Region:
    """A mask_mod or score_mod: a named form such as causal(top_left), or the text of a region."""

    text: str
    captures: tuple[Capture, ...] = ()


@dataclasses.dataclass(frozen=True)
class AttentionProblem:
    """output [B, Hq, M, value_dim] = softmax(score_mod(scale * query key^T + bias), under mask_mod) value.

    query [B, Hq, M, head_dim], key [B, Hkv, N, head_dim], value [B, Hkv, N, value_dim]; Hkv divides Hq. `bias_shape` is
    None, or four of 1 and BIAS_DIMS; `scale` is 1/sqrt(head_dim) by default; `lse` adds the result lse [B, Hq, M] (f32,
    natural logarithm).
    """

    dtype: str = "bf16"
    head_dim: int = 128
    value_dim: int = 128
    mask: Optional[Region] = None
    score: Optional[Region] = None
    bias_shape: Optional[tuple[Union[int, str], ...]] = None
    bias_dtype: str = "f32"
    scale: Optional[float] = None
    lse: bool = False

    @property
    def captures(self) -> tuple[Capture, ...]:
        """Of the score, then of the mask: the function's arguments after query, key, value and bias."""
        regions = [region for region in (self.score, self.mask) if region]
        return tuple(capture for region in regions for capture in region.captures)

    def mlir(self, sizes: Mapping[str, int] = {}, name: str = "attention") -> str:
        """The module. `sizes` fixes B, Hq, Hkv, M, N; those that are not in it are dynamic."""

        def tensor(dims: Sequence[Union[int, str]], dtype: str) -> str:
            extents = (str(sizes.get(d, "?")) if isinstance(d, str) else str(d) for d in dims)
            return f"tensor<{'x'.join([*extents, dtype])}>"

        query, key = (tensor((*dims, self.head_dim), self.dtype) for dims in (("B", "Hq", "M"), ("B", "Hkv", "N")))
        value = tensor(("B", "Hkv", "N", self.value_dim), self.dtype)
        output = tensor(("B", "Hq", "M", self.value_dim), self.dtype)
        results = [("%output", output)] + ([("%lse", tensor(("B", "Hq", "M"), "f32"))] if self.lse else [])
        arguments = [("%query", query), ("%key", key), ("%value", value)]
        clauses = []
        if self.bias_shape is not None:
            arguments.append(("%bias", tensor(self.bias_shape, self.bias_dtype)))
            clauses.append(f"bias(%bias : {arguments[-1][1]})")
        arguments += [("%" + c.name, c.type) for c in self.captures]
        if self.scale is not None:
            clauses.append(f"scale({float(self.scale)!r})")
        clauses += [f"score_mod {self.score.text}"] if self.score else []
        clauses += [f"mask_mod {self.mask.text}"] if self.mask else []
        names, types = (", ".join(part) for part in zip(*results))
        return f"""func.func @{name}({", ".join(f"{n}: {t}" for n, t in arguments)}) -> ({types}) {{
  {names} = attn.attention %query, %key, %value {" ".join(clauses)}
      : {query}, {key}, {value} -> {types}
  return {names} : {types}
}}
"""


def bias_shape(bias: Sequence[int], sizes: Sequence[int]) -> tuple[Union[int, str], ...]:
    """How a bias of shape `bias` broadcasts to [B, Hq, M, N] of the given sizes."""
    if len(bias) != 4:
        raise BindingError(f"expected a bias of rank 4, got {len(bias)}")
    dims = []
    for d, (name, got, size) in enumerate(zip(BIAS_DIMS, bias, sizes)):
        if got not in (1, size):
            raise BindingError(f"expected dim {d} of bias to be 1 or {size} ({name}), got {got}")
        dims.append(1 if got == 1 else name)
    return tuple(dims)
