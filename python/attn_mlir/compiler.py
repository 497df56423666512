# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler in this process, through its C API (libattn-c; include/attn-c/Compiler.h)."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from typing import Optional, Sequence

from .errors import AttnError, CompileError
from .tools import find_library, first_error, with_python_names

#: AttnArtifact, AttnSeverity
ARTIFACTS = ("mlir", "llvm", "ptx", "manifest", "header", "report")
SEVERITIES = ("note", "warning", "error", "remark")

Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


@dataclasses.dataclass(frozen=True)
class Options:
    """What `attn_mlir.compile` takes (kernel.py)."""

    target: str = "sm_90a"
    schedule: str = ""
    strict: bool = False
    allow_tf32: bool = False
    deterministic: bool = False
    device_asserts: bool = False
    assume_visible_rows: bool = False
    mask_threshold: float = 0
    programmatic_launch: bool = True


class CompileOptions(ctypes.Structure):
    """AttnCompileOptions."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("target_fields", ctypes.c_char_p),
        ("schedule", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("allow_tf32", ctypes.c_bool),
        ("deterministic", ctypes.c_bool),
        ("device_asserts", ctypes.c_bool),
        ("strict", ctypes.c_bool),
        ("assume_visible_rows", ctypes.c_bool),
        ("mask_threshold", ctypes.c_double),
        ("artifacts", ctypes.POINTER(ctypes.c_int)),
        ("artifact_count", ctypes.c_size_t),
        ("handler", Handler),
        ("user_data", ctypes.c_void_p),
        ("passes", ctypes.c_char_p),
        ("prove_barriers", ctypes.c_bool),
        ("bounded_waits", ctypes.c_uint32),
        ("no_programmatic_launch", ctypes.c_bool),
    ]


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    path = find_library("attn-c")
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise AttnError(f"expected to load the compiler, got: {error}") from None
    loaded.attnCompileSource.restype = ctypes.c_void_p
    loaded.attnCompileSource.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(CompileOptions)]
    loaded.attnCompilationGetArtifact.restype = ctypes.c_void_p
    loaded.attnCompilationGetArtifact.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_size_t)]
    loaded.attnCompilationDestroy.argtypes = [ctypes.c_void_p]
    return loaded


def compile_source(
    text: str, options: Options, artifacts: Sequence[str], source_name: str = "<text>", name: Optional[str] = None
) -> tuple[dict[str, str], str]:
    """(The artefacts by kind, the diagnostics); raises CompileError. `name` is that of the kernel's files."""
    said: list[str] = []

    def handle(severity: int, location: bytes, message: bytes, _):
        place = f"{location.decode(errors='replace')}: " if location else ""
        said.append(f"{place}{SEVERITIES[severity]}: {message.decode(errors='replace')}")

    kinds = (ctypes.c_int * len(artifacts))(*map(ARTIFACTS.index, artifacts))
    given = CompileOptions(
        size=ctypes.sizeof(CompileOptions), target=options.target.encode(), schedule=options.schedule.encode(),
        name=name.encode() if name else None, allow_tf32=options.allow_tf32, deterministic=options.deterministic,
        device_asserts=options.device_asserts, strict=options.strict, assume_visible_rows=options.assume_visible_rows,
        mask_threshold=options.mask_threshold, artifacts=kinds, artifact_count=len(artifacts), handler=Handler(handle),
        no_programmatic_launch=not options.programmatic_launch,
    )  # fmt: skip
    source = text.encode()
    compilation = library().attnCompileSource(source, len(source), source_name.encode(), ctypes.byref(given))
    diagnostics = with_python_names("\n".join(said))
    if not compilation:
        raise CompileError(first_error(diagnostics), diagnostics)
    try:
        return {kind: read_artifact(compilation, kind) for kind in artifacts}, diagnostics
    finally:
        library().attnCompilationDestroy(compilation)


def read_artifact(compilation: int, kind: str) -> str:
    length = ctypes.c_size_t()
    address = library().attnCompilationGetArtifact(compilation, ARTIFACTS.index(kind), ctypes.byref(length))
    return ctypes.string_at(address, length.value).decode()
