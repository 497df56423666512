# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""output_mods: functions of an element of an attention's output, traced as scores are."""

from __future__ import annotations

from typing import Any, Callable, Union

from ..errors import BindingError
from .symbols import FLOAT
from .tracing import Mask, Traced


class Output(Traced):
    """A traced output_mod, a function of (x, b, h, i, c): an element of the output, batch, query head, query position and column."""

    kind, result = "output", FLOAT
    arguments = (("x", FLOAT), *Mask.arguments)
    sizes = ("B", "Hq", "M", "Dv", "tokens", "heads")

    def __call__(self, x, b, h, i, c):
        return self.function(x, b, h, i, c)


class Measured(Output):
    """One whose rows' largest magnitudes are a result."""

    kind = "measured"


def trace_output(function: Union[Output, Callable[..., Any]], kind: type[Output] = Output) -> Output:
    """An Output from a function of (x, b, h, i, c)."""
    if not callable(function):
        raise BindingError(f"expected a function of (x, b, h, i, c) as output_mod, got {type(function).__name__}")
    return function if isinstance(function, kind) else kind(function)
