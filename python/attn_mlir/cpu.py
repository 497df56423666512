# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on the CPU in Python's own process: no copies of arguments, and calls of any number at once.

A process of its own compiles (attn-run --emit-object), so that a fault of the compiler ends that alone; libattn-c loads what it
wrote, from the cache if any process has compiled it. Kernels whose reads are not all checked by their caller are kept in a
process instead (server.py): `docs/Rationale/CompileTime.md` says why.
"""

from __future__ import annotations

import base64
import ctypes
import functools
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from .arrays import ArrayView, check_results, copy_array, empty_like, finished, view_of
from .cache import Cache, Files, compiler_digest, digest_of
from .compiler import library as compiler_library
from .errors import AttnError, BindingError, CompileError, DeviceError
from .kernel import Kernel
from .runtime.binding import row_major_strides
from .runtime.manifest import DTYPE_BYTES
from .tools import find_tool, first_error, run_tool, with_python_names

#: Products and sums up to which waking a thread takes longer than what it does.
SMALL_WORK = 4 << 20
#: Layouts of arguments that a kernel keeps checked.
MAX_CALLS = 256


class Layout(ctypes.Structure):
    """AttnCpuLayout."""

    _fields_ = [
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """libattn-c, with the types of include/attn-c/Cpu.h."""
    loaded = compiler_library()
    handle, sizes, count = ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t
    for name, result, arguments in (
        ("GetMessage", ctypes.c_char_p, []),
        ("GetHost", ctypes.c_char_p, []),
        ("FunctionLoad", handle, [ctypes.c_char_p, count]),
        ("CallCreate", handle, [handle, ctypes.POINTER(Layout), count]),
        ("CallDestroy", None, [handle]),
        ("CallRun", handle, [handle, handle, count]),
        ("ResultsGetShape", sizes, [handle, count]),
        ("ResultsCopy", None, [handle, count, handle, handle]),
        ("ResultsDestroy", None, [handle]),
    ):
        function = getattr(loaded, f"attnCpu{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


def message() -> str:
    return library().attnCpuGetMessage().decode(errors="replace")


def compiled_file(text: str, options: tuple[str, ...], cache: Cache) -> tuple[bytes, str]:
    """What attnCpuFunctionLoad takes, and the diagnostics; raises CompileError."""
    program = find_tool("attn-run")
    host = library().attnCpuGetHost().decode()
    key = digest_of([compiler_digest(program), compiler_digest(library()._name), host, text, "in process", *options])
    files = cache.get_or_make(key, lambda: compile_object(text, options))
    return base64.b64decode(files["object"]), files["diagnostics"]


def compile_object(text: str, options: tuple[str, ...]) -> Files:
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        module, file = Path(folder) / "module.mlir", Path(folder) / "function"
        module.write_text(text)
        result = run_tool("attn-run", [module, f"--emit-object={file}", *options])
        diagnostics = with_python_names((result.stdout + result.stderr).strip().replace(str(module), "<text>"))
        if result.returncode != 0:
            ended = f"attn-run ended with status {result.returncode}"
            raise CompileError(first_error(diagnostics) or ended, diagnostics)
        return {"object": base64.b64encode(file.read_bytes()).decode(), "diagnostics": diagnostics}


class Call:
    """Arguments of types and layouts that fit the function."""

    def __init__(self, function: int, views: Sequence[ArrayView]):
        kept = [((ctypes.c_int64 * len(v.shape))(*v.shape), (ctypes.c_int64 * len(v.shape))(*v.strides)) for v in views]
        pairs = zip(views, kept)
        layouts = (Layout * len(views))(*[Layout(v.dtype.encode(), len(v.shape), *sizes) for v, sizes in pairs])
        self.handle = library().attnCpuCallCreate(function, layouts, len(views))
        if not self.handle:
            raise BindingError(message())
        #: Of each result, once they are known.
        self.shapes: list[tuple[int, ...]] = []

    def __del__(self):
        if getattr(self, "handle", None):
            library().attnCpuCallDestroy(self.handle)


class Results:
    """What a call returned, as long as this lives."""

    def __init__(self, handle: int):
        self.handle = handle

    def __enter__(self) -> "Results":
        return self

    def __exit__(self, *_):
        library().attnCpuResultsDestroy(self.handle)

    def shape(self, index: int, rank: int) -> tuple[int, ...]:
        return tuple(library().attnCpuResultsGetShape(self.handle, index)[:rank])

    def copy(self, index: int, view: ArrayView):
        library().attnCpuResultsCopy(self.handle, index, view.address, (ctypes.c_int64 * len(view.strides))(*view.strides))


def keys_of_tensor(views: Sequence[ArrayView]) -> int:
    return views[1].shape[2]


class DirectKernel(Kernel):
    """A module of an attention on the CPU, in this process. Its caller has checked that the arrays fit together.

    Query, key and value are the first arguments; `keys` says of all of them how many keys a row sees at most.
    """

    def __init__(self, text: str, cache: Optional[Cache] = None, keys: Callable[[Sequence[ArrayView]], int] = keys_of_tensor):
        self.mlir, self.keys = text, keys
        content, self.diagnostics = compiled_file(text, (), cache or Cache())
        head = json.loads(content[: content.index(b"\n")])
        #: Element type and rank of each result.
        self.types = [(result["dtype"], len(result["shape"])) for result in head["results"]]
        self.function = library().attnCpuFunctionLoad(content, len(content))
        if not self.function:
            raise AttnError(message())
        self.calls: dict[tuple, Call] = {}

    def run(self, arguments: Sequence[Any], views: Sequence[ArrayView], out: Any, device: Optional[str]) -> Any:
        if device not in (None, "cpu"):
            raise DeviceError(f"expected device cpu for a kernel for the CPU, got '{device}'")
        if any([view.device != "cpu" for view in views]):
            raise BindingError("expected arrays in host memory, got one on a GPU")
        views = [contiguous_rows(view) for view in views]
        call = self.checked(views)
        addresses = (ctypes.c_void_p * len(views))(*[view.address for view in views])
        given = None if out is None else list(out) if isinstance(out, (tuple, list)) else [out]
        result_views = self.check_out(given, views) if given is not None else []
        handle = library().attnCpuCallRun(call.handle, addresses, threads_for(work_of(self, views)))
        if not handle:
            raise AttnError(message())
        with Results(handle) as made:
            if not call.shapes:
                call.shapes = [made.shape(i, rank) for i, (_, rank) in enumerate(self.types)]
            if given is None:
                results = [empty_like(arguments[0], shape, t[0]) for shape, t in zip(call.shapes, self.types)]
                result_views = [view_of(result) for result in results]
            else:
                results = given
                self.check_shapes(result_views, call.shapes)
            for i, view in enumerate(result_views):
                made.copy(i, view)
        if given is None:
            results = [finished(arguments[0], result) for result in results]
        return results[0] if len(results) == 1 else tuple(results)

    def checked(self, views: Sequence[ArrayView]) -> Call:
        key = tuple([(v.dtype, v.shape, v.strides) for v in views])
        call = self.calls.get(key)
        if call is None:
            if len(self.calls) >= MAX_CALLS:
                self.calls = {}
            # Another thread may have been first: one call is for all, whose shapes the first run finds.
            call = self.calls.setdefault(key, Call(self.function, views))
        return call

    def check_out(self, results: Sequence[Any], arguments: Sequence[ArrayView]) -> list[ArrayView]:
        """The views of results that are given, whose shapes are not known yet."""
        if len(results) != len(self.types):
            raise BindingError(f"expected {len(self.types)} results in out, got {len(results)}")
        views = [view_of(result, f"result {i}") for i, result in enumerate(results)]
        for i, view in enumerate(views):
            if view.device != "cpu":
                raise BindingError(f"result {i}: expected an array in host memory, got one on a GPU")
        check_results(views, arguments, self.in_place)
        return views

    def check_shapes(self, views: Sequence[ArrayView], shapes: Sequence[tuple[int, ...]]):
        for i, (view, shape, (dtype, _)) in enumerate(zip(views, shapes, self.types)):
            if (view.dtype, view.shape) != (dtype, shape):
                raise BindingError(f"result {i}: expected {dtype} {shape}, got {view.dtype} {view.shape}")


def work_of(kernel: DirectKernel, views: Sequence[ArrayView]) -> int:
    """Products and sums, about."""
    return 2 * math.prod(views[0].shape) * kernel.keys(views)


def has_contiguous_rows(view: ArrayView) -> bool:
    """Whether the last dimension is not strided."""
    return len(view.shape) == 0 or view.shape[-1] <= 1 or view.strides[-1] == 1


def contiguous_rows(view: ArrayView) -> ArrayView:
    """The array, or a copy where its last dimension is strided."""
    if has_contiguous_rows(view):
        return view
    memory = (ctypes.c_char * max(1, math.prod(view.shape) * DTYPE_BYTES[view.dtype]))()
    copy = view._replace(strides=row_major_strides(view.shape), address=ctypes.addressof(memory), owner=memory)
    copy_array(copy, view)
    return copy


def threads_for(work: int) -> int:
    """As many as torch uses, where it is imported, or as OMP_NUM_THREADS asks for, else 0, for all cores; one for little work. `work` are products and sums."""
    if work <= SMALL_WORK:
        return 1
    torch = sys.modules.get("torch")
    given = torch.get_num_threads() if torch else os.environ.get("OMP_NUM_THREADS", "")
    text = str(given)
    return int(text) if text.isascii() and text.isdigit() else 0
