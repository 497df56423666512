# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of the package: each is a message for the user, in the form 'expected X, got Y'."""

from __future__ import annotations

from typing import Any


def described(value: Any) -> str:
    """What a message says of a value that was got: of an array its class."""
    return type(value).__name__ if hasattr(value, "shape") else repr(value)


class AttnError(Exception):
    """Base of every error that this package raises on purpose."""


class ManifestError(AttnError):
    """A manifest that cannot be read; the message begins with the path in the file."""


class BindingError(AttnError):
    """Tensors that do not fit a kernel: rank, size, stride, alignment or a constraint between them."""


class CompileError(AttnError):
    """The compiler refused; `diagnostics` is what it printed."""

    def __init__(self, message: str, diagnostics: str = ""):
        super().__init__(message)
        self.diagnostics = diagnostics


class DeviceError(AttnError):
    """No such device, a call of its driver that failed, or a launch that went wrong."""
