# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small attentions in host memory take less time than the checks of their arguments: a call whose arrays are of types, sizes and
strides, and whose options are, as those of an earlier call takes that one's kernel with other addresses.

What is remembered here was checked when it was first computed, by all of the checks that there are. What those may see beside types
and layouts (gradients, other classes of arrays) is no signature, and goes their way.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any, Optional, Sequence

from .arrays import ArrayView, empty_like
from .cpu import Call as CpuCall, DirectKernel, Results, library, message, threads_for, work_of
from .errors import AttnError
from .runtime.binding import row_major_strides

#: What an option without an order or a length of its own may be.
SCALARS = frozenset((type(None), bool, int, float, str))
MAX_PREPARED = 256

_prepared: dict[tuple, "Prepared"] = {}


def signature_of(arrays: Sequence[Any], options: Sequence[Any]) -> Optional[tuple]:
    """What decides which kernel computes the call and whether its arguments fit; None where that is not known."""
    types = tuple(map(type, options))
    if not SCALARS.issuperset(types):
        return None
    kind, module = type(arrays[0]), sys.modules.get
    if any([type(array) is not kind for array in arrays]):
        return None
    parts: list[Any] = [kind, types, *options]
    if kind is getattr(module("torch"), "Tensor", None):
        torch: Any = module("torch")
        if torch.compiler.is_compiling():
            return None
        # These tell a tensor that is its memory from all other kinds.
        strided, keys_of = torch.strided, torch._C._dispatch_keys
        for a in arrays:
            if not a.is_cpu or a.layout is not strided or a.is_nested:
                return None
            parts += (a.dtype, a.shape, a.stride(), keys_of(a).raw_repr())
    elif kind is getattr(module("numpy"), "ndarray", None):
        for a in arrays:
            parts += (a.dtype, a.shape, a.strides)
    else:
        return None
    return tuple(parts)


def plain_signature(
    arrays: Sequence[Any], causal: Any, window: Any, soft_cap: Any, scale: Any, return_lse: bool,
    others: Sequence[Any] = ("softmax", None, None, False, None),
) -> Optional[tuple]:  # fmt: skip
    """Of a call that has no other arrays than query, key and value, no functions, and drops nothing; `others` are its
    normalization, target, device, allow_tf32 and result_dtype."""
    sides = window if type(window) is tuple else (window,)
    return signature_of(arrays, (causal, soft_cap, scale, return_lse, *others, *sides))


def find(signature: Optional[tuple]) -> Optional["Prepared"]:
    return _prepared.get(signature) if signature is not None else None


def remember(signature: Optional[tuple], call: Optional["Prepared"]):
    """For calls of that signature; neither need be there."""
    if signature is None or call is None:
        return
    if len(_prepared) >= MAX_PREPARED:
        _prepared.clear()
    _prepared[signature] = call


class Prepared:
    """A kernel's call on arrays of known layouts, which gives new arrays of the first one's library."""

    def __init__(self, kernel: DirectKernel, call: CpuCall, views: Sequence[ArrayView], array: Any):
        self.kernel, self.call = kernel, call
        self.pack = struct.Struct(f"{len(views)}P").pack
        self.work = work_of(kernel, views)
        self.call_run, self.copy = library().attnCpuCallRun, library().attnCpuResultsCopy
        is_torch = type(array) is not getattr(sys.modules.get("numpy"), "ndarray", None)
        self.empty: Any = sys.modules["torch" if is_torch else "numpy"].empty
        self.address = address_of_tensor if is_torch else address_of_numpy
        dtypes = [empty_like(array, (0,), dtype).dtype for dtype, _ in kernel.types]
        self.results = list(zip(call.shapes, dtypes))
        self.strides = [(ctypes.c_int64 * len(shape))(*row_major_strides(shape)) for shape in call.shapes]

    def run(self, *arrays: Any) -> Any:
        """The result, or a tuple of all."""
        address, empty = self.address, self.empty
        handle = self.call_run(self.call.handle, self.pack(*[address(a) for a in arrays]), threads_for(self.work))
        if not handle:
            raise AttnError(message())
        with Results(handle):
            results = [empty(shape, dtype=dtype) for shape, dtype in self.results]
            for i, result in enumerate(results):
                self.copy(handle, i, address(result), self.strides[i])
        return results[0] if len(results) == 1 else tuple(results)


def address_of_tensor(tensor: Any) -> int:
    return tensor.data_ptr()


def address_of_numpy(array: Any) -> int:
    return array.__array_interface__["data"][0]
