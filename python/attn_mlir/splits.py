# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the kernels of `decode` and `prefill` divide keys."""

from __future__ import annotations

import math
from typing import NamedTuple, Optional

from .checks import invariance_flag
from .errors import BindingError

BALANCES = ("grid", "plan", "share")
#: Ranges of a size begin at multiples of a tile of keys, whichever the compiler takes.
KEYS_OF_TILE = 64
#: Keys of a planned range, at least, of which no size is given.
PLANNED_KEYS = 512


class Splits(NamedTuple):
    """How kernels of a GPU divide keys, by the arguments of `decode`."""

    fixed_split_size: Optional[int] = None
    num_splits: Optional[int] = None
    disable_split_kv: bool = False
    balance: Optional[str] = None
    invariance: str = "none"

    def flags(self, page: int, target: str) -> dict[str, str]:
        """Those of `compile`, if there are any."""
        flags = invariance_flag(self.invariance, target)
        if schedule := self.schedule(page):
            if target == "cpu":
                raise BindingError("expected no fixed_split_size, num_splits, disable_split_kv or balance for target cpu, whose kernels do not split keys")
            flags["schedule"] = schedule
        return flags

    def schedule(self, page: int) -> str:
        size, number = self.fixed_split_size, self.num_splits
        if (size is not None) + (number is not None) + self.disable_split_kv > 1:
            raise BindingError(f"expected one of fixed_split_size, num_splits and disable_split_kv, got {size}, {number} and {self.disable_split_kv}")
        if size is not None and size < 1:
            raise BindingError(f"expected fixed_split_size from 1 page on, got {size}")
        if number is not None and number < 1:
            raise BindingError(f"expected num_splits from 1 on, got {number}")
        if self.balance not in (None, *BALANCES):
            raise BindingError(f"expected balance {' or '.join(BALANCES)}, got {self.balance!r}")
        if self.balance in ("plan", "share") and (number is not None or self.disable_split_kv):
            raise BindingError("expected balance 'grid' with num_splits or disable_split_kv: a plan is of ranges of one size")
        if self.balance == "share":
            if size is not None:
                raise BindingError(f"expected no fixed_split_size with balance 'share', which chooses one, got {size}")
            return "kind=split_kv balance=share"
        if self.balance == "plan":
            step = KEYS_OF_TILE // math.gcd(page, KEYS_OF_TILE)  # pages that are whole tiles
            pages = size or -(-PLANNED_KEYS // (page * step)) * step
            return f"kind=split_kv split_keys={pages * page} balance=plan"
        if size is not None:
            return f"kind=split_kv split_keys={size * page}"
        if self.disable_split_kv or number == 1:
            return "kind=large_cache"
        if number is not None:
            return f"kind=split_kv splits={number}"
        return "" if self.balance is None else f"balance={self.balance}"
