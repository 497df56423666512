# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of tracing, and the place in the user's code that they name."""

from __future__ import annotations

import os
import sys
import traceback

from ..errors import AttnError


class TraceError(AttnError):
    """A predicate that cannot be traced; the message begins with the file and line of the predicate's own code."""


class MissingMethod(TraceError, AttributeError):
    """A method that symbols do not have; `hasattr` is false of it."""


def with_place(what: str) -> str:
    """The place in the user's code that led here, and `what`."""
    packages = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    if torch := sys.modules.get("torch"):
        packages.append(os.path.dirname(os.path.abspath(torch.__file__ or "torch")))
    for frame in reversed(traceback.extract_stack()):
        if not os.path.abspath(frame.filename).startswith(tuple(package + os.sep for package in packages)):
            return f"{frame.filename}:{frame.lineno}: {what}\n    {frame.line}"
    return what
