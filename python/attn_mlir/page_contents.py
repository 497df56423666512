# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lengths, tables and positions of a paged cache say: looked at where they are in host memory. Of others kernels compiled with device_asserts report the same."""

from __future__ import annotations

from typing import Mapping, Optional

from .arrays import ArrayView
from .errors import BindingError
from .rotary import POSITIONS, TABLES


def integers_of(view: Optional[ArrayView]) -> Optional[list[int]]:
    """None of an array that is on a device."""
    return list(map(int, view.to_host().values())) if view is not None and view.device == "cpu" else None


def check_keys(
    lengths: ArrayView, table: ArrayView, offsets: Optional[ArrayView], sizes: tuple[int, int], names: tuple[str, str] = ("lengths", "table")
):  # fmt: skip
    """That a sequence has no more keys than its pages, and that these are pages, of arrays of right types and shapes. `sizes`: how many pages there are, and rows of
    one; `names`: what messages call lengths and table."""
    counts, entries, starts = (integers_of(view) for view in (lengths, table, offsets))
    pages, page = sizes
    columns, has_offsets = table.shape[-1], offsets is not None
    for b, count in enumerate(counts or ()):
        begin, end = (0, columns) if has_offsets else (b * columns, (b + 1) * columns)
        if starts is not None:
            begin, end = starts[b : b + 2]
        if not 0 <= count <= (end - begin) * page:
            raise BindingError(f"{names[0]}: expected 0 to {(end - begin) * page} keys, which its pages hold, got {count} of sequence {b}")
        if entries is None or (has_offsets and starts is None):
            continue
        used = entries[begin : begin - (-count // page)]
        if used and not 0 <= min(used) <= max(used) < pages:
            column, entry = next((column, entry) for column, entry in enumerate(used) if not 0 <= entry < pages)
            raise BindingError(f"{names[1]}: expected pages from 0 to {pages - 1} where there are keys, got {entry} in column {column} of sequence {b}")


def check_paged(named: Mapping[str, ArrayView]):
    """As check_keys, of the arguments of a kernel by name."""
    pages, _, page, _ = named["key"].shape
    check_keys(named["key_lengths"], named["key_table"], named.get("key_table_offsets"), (pages, page))


def check_turned(named: Mapping[str, ArrayView]):
    """That tables of a rotation have rows for the positions of queries, [rows] or [1 or B, M], which `decode` and `prefill` append keys at, too."""
    positions = integers_of(named.get(POSITIONS[0])) if TABLES[0] in named else None
    rows = named[TABLES[0]].shape[0] if positions else 0
    if positions and max(positions) >= rows:
        number, position = next((number, position) for number, position in enumerate(positions) if position >= rows)
        shape = named[POSITIONS[0]].shape
        token = f"row {number}" if len(shape) == 1 else f"token {number % shape[1]} of sequence {number // shape[1]}"
        raise BindingError(f"rotary: expected positions from 0 to {rows - 1}, for which cos and sin have rows, got {position} of {token}")
