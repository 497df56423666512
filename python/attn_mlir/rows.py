# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens to rows of queries and keys in front of an attention: a norm, then a rotation."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from .arrays import ArrayView
from .norms import WEIGHTS, norm, norm_arrays, norm_field
from .rotary import POSITIONS, TABLES, check_alone, rotary_arrays, rotary_field, rotate


class RowChanges(NamedTuple):
    """The arguments of attn_mlir.attention."""

    qk_norm: Any = None
    qk_norm_epsilon: float = 1e-6
    rotary: Any = None
    rotary_interleaved: bool = False
    rotary_positions: Any = None

    @property
    def is_some(self) -> bool:
        return self.qk_norm is not None or self.rotary is not None

    def arrays(self, query: Any, key: Any, lengths: Any = None) -> dict[str, Any]:
        """Arguments of a kernel: weights, tables, positions."""
        tables = rotary_arrays(query, key, self.rotary, self.rotary_positions, lengths)
        return {**norm_arrays(self.qk_norm, self.qk_norm_epsilon), **tables}

    def fields(self, named: Mapping[str, ArrayView]) -> tuple:
        """Names and values of an AttentionProblem. Raises BindingError for arrays that do not fit."""
        return (*norm_field(named, self.qk_norm, self.qk_norm_epsilon), *rotary_field(named, self.rotary_interleaved))

    def check_alone(self, **others: Any):
        for name, change in (("qk_norm", self.qk_norm), ("rotary", self.rotary)):
            check_alone(name, change, **others)

    def apply(self, query: Any, key: Any, arrays: Mapping[str, Any]) -> tuple[Any, Any]:
        """By the library of query and key, whose gradients that has; `arrays` as above."""
        pair = [query, key]
        if self.qk_norm is not None:
            pair = [norm(x, arrays.get(name), epsilon=self.qk_norm_epsilon) for x, name in zip(pair, WEIGHTS)]
        if self.rotary is not None:
            tables = [arrays[name] for name in TABLES]
            pair = [rotate(x, *tables, interleaved=self.rotary_interleaved, positions=arrays.get(name)) for x, name in zip(pair, POSITIONS)]
        return pair[0], pair[1]
