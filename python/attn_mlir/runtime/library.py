# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libattn-runtime-c (include/attn-c/Runtime.h), which reads manifests and binds tensors to them."""

from __future__ import annotations

import ctypes
import functools
import weakref

from ..errors import AttnError, BindingError, ManifestError
from ..tools import find_library

#: AttnLaunchCode
SUCCESS, INVALID_OPERANDS = 0, 5
#: The rank of an operand that is not given.
NOT_GIVEN = ctypes.c_size_t(-1).value


class Tensor(ctypes.Structure):
    """AttnTensor."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(find_library("attn-runtime-c"))
    except OSError as error:
        raise AttnError(f"expected to load the launcher, got: {error}") from None
    text, handle, place = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    for name, arguments in {
        "attnManifestRead": [text, text, place],
        "attnManifestCheckPtx": [handle, text],
        "attnManifestBind": [handle, ctypes.POINTER(Tensor), ctypes.c_size_t, ctypes.c_int64, place],
        "attnProblemGetLaunches": [handle, ctypes.POINTER(text)],
        "attnManifestGetText": [handle],
        "attnProblemGetText": [handle],
        "attnManifestDestroy": [handle],
        "attnProblemDestroy": [handle],
    }.items():
        getattr(loaded, name).argtypes = arguments
    for name in ("attnManifestGetText", "attnProblemGetText", "attnGetLaunchMessage"):
        getattr(loaded, name).restype = text
    loaded.attnManifestDestroy.restype = loaded.attnProblemDestroy.restype = None
    return loaded


def call(name: str, *arguments):
    """Calls a function that returns an AttnLaunchCode."""
    code = getattr(library(), name)(*arguments)
    if code != SUCCESS:
        message = library().attnGetLaunchMessage().decode(errors="replace")
        raise (BindingError if code == INVALID_OPERANDS else ManifestError)(message)


class Handle:
    """An object of the library, which is destroyed with this one."""

    def __init__(self, destroy: str):
        self.value = ctypes.c_void_p()
        weakref.finalize(self, getattr(library(), destroy), self.value)
