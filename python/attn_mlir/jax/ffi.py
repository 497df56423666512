# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python functions as custom calls of XLA, on its own buffers: on a GPU nothing is copied, and XLA's stream is used.

The interface is XLA's foreign function interface, by ctypes: structures and the order of functions are those of
xla/ffi/api/c_api.h, version 0 (jax.ffi.include_dir() has the header).
"""

from __future__ import annotations

import ctypes
import json
from typing import Any, Callable, Sequence

import jax

from ..arrays import ArrayView, StreamArray
from ..errors import AttnError
from ..runtime.binding import row_major_strides

if not hasattr(jax, "ffi"):
    raise AttnError(f"expected JAX 0.5 or later, got {jax.__version__}")

#: XLA_FFI_DataType
DTYPES = {1: "i1", 2: "i8", 4: "i32", 5: "i64", 10: "f16", 11: "f32", 12: "f64", 16: "bf16"}
EXTENSION_METADATA, STAGE_EXECUTE, ATTRIBUTE_STRING, ERROR_INTERNAL = 1, 3, 4, 13
#: Places of functions in XLA_FFI_Api.
ERROR_CREATE, STREAM_GET, DEVICE_ORDINAL_GET = 0, 4, 17

Pointer = ctypes.c_void_p
#: What every structure begins with: its size, and a list of extensions.
HEAD: list[tuple[str, Any]] = [("struct_size", ctypes.c_size_t), ("extension", Pointer)]


class Version(ctypes.Structure):
    _fields_ = [*HEAD, ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Api(ctypes.Structure):
    _fields_ = [*HEAD, ("version", Version), ("internal", Pointer), ("functions", Pointer * 18)]


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("version", Version), ("traits", ctypes.c_uint32)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", Pointer), ("metadata", ctypes.POINTER(Metadata)),
    ]  # fmt: skip


class Buffer(ctypes.Structure):
    _fields_ = [
        *HEAD, ("dtype", ctypes.c_int), ("data", Pointer), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class Buffers(ctypes.Structure):
    """XLA_FFI_Args and XLA_FFI_Rets."""

    _fields_ = [*HEAD, ("size", ctypes.c_int64), ("types", Pointer), ("items", ctypes.POINTER(ctypes.POINTER(Buffer)))]


class ByteSpan(ctypes.Structure):
    _fields_ = [("begin", Pointer), ("size", ctypes.c_size_t)]


class Attributes(ctypes.Structure):
    _fields_ = [
        *HEAD, ("size", ctypes.c_int64), ("types", ctypes.POINTER(ctypes.c_int)), ("names", Pointer),
        ("items", ctypes.POINTER(ctypes.POINTER(ByteSpan))),
    ]  # fmt: skip


class CallFrame(ctypes.Structure):
    _fields_ = [
        *HEAD, ("api", ctypes.POINTER(Api)), ("context", Pointer), ("stage", ctypes.c_int), ("arguments", Buffers),
        ("results", Buffers), ("attributes", Attributes),
    ]  # fmt: skip


class ErrorArguments(ctypes.Structure):
    _fields_ = [*HEAD, ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class StreamArguments(ctypes.Structure):
    _fields_ = [*HEAD, ("context", Pointer), ("stream", Pointer)]


class OrdinalArguments(ctypes.Structure):
    _fields_ = [*HEAD, ("context", Pointer), ("ordinal", ctypes.c_int32)]


#: (arguments, results, what `call` was given as `options`)
Function = Callable[[Sequence[StreamArray], Sequence[StreamArray], Any], None]
Handler = ctypes.CFUNCTYPE(Pointer, ctypes.POINTER(CallFrame))


def call_api(frame: CallFrame, index: int, arguments: ctypes.Structure) -> Any:
    arguments.struct_size = ctypes.sizeof(arguments)  # type: ignore[attr-defined]
    function = ctypes.CFUNCTYPE(Pointer, Pointer)(frame.api.contents.functions[index])
    return function(ctypes.addressof(arguments))


def place_of(frame: CallFrame) -> tuple[int, int]:
    """The stream, and the number of the device."""
    stream, ordinal = StreamArguments(context=frame.context), OrdinalArguments(context=frame.context)
    if call_api(frame, STREAM_GET, stream):
        raise AttnError("expected a stream from XLA, got an error")
    # Absent before JAX 0.7.
    is_known = frame.api.contents.struct_size >= Api.functions.offset + 8 * (DEVICE_ORDINAL_GET + 1)
    if is_known and call_api(frame, DEVICE_ORDINAL_GET, ordinal):
        raise AttnError("expected the number of a device from XLA, got an error")
    return stream.stream or 0, ordinal.ordinal


def arrays_of(buffers: Buffers, device: str, ordinal: int, stream: int) -> list[StreamArray]:
    arrays = []
    for i in range(buffers.size):
        buffer = buffers.items[i].contents
        shape = tuple(buffer.dims[d] for d in range(buffer.rank))
        if buffer.dtype not in DTYPES:
            raise AttnError(f"expected dtype {', '.join(DTYPES.values())}, got XLA's type {buffer.dtype}")
        view = ArrayView(DTYPES[buffer.dtype], shape, row_major_strides(shape), buffer.data or 0, device, ordinal, None)
        arrays.append(StreamArray(view, stream))
    return arrays


def text_of(attributes: Attributes) -> str:
    """The only attribute, a string."""
    if attributes.size != 1 or attributes.types[0] != ATTRIBUTE_STRING:
        raise AttnError(f"expected one attribute, a string, got {attributes.size} attributes")
    span = attributes.items[0].contents
    return ctypes.string_at(span.begin, span.size).decode()


def make_handler(function: Function, device: str) -> Any:
    """A handler of XLA for a function, on "cpu" or "cuda". XLA gets an exception as an error of its own."""

    def handle(pointer):
        frame = pointer.contents
        try:
            if frame.extension:  # XLA asks what the handler is, and calls nothing
                extension = MetadataExtension.from_address(frame.extension)
                if extension.type == EXTENSION_METADATA:
                    version, ours = frame.api.contents.version, extension.metadata.contents
                    ours.version.major, ours.version.minor, ours.traits = version.major, version.minor, 0
                    return None
            if frame.stage == STAGE_EXECUTE:
                stream, ordinal = place_of(frame) if device == "cuda" else (0, 0)
                arguments, results = (arrays_of(b, device, ordinal, stream) for b in (frame.arguments, frame.results))
                function(arguments, results, json.loads(text_of(frame.attributes)))
            return None
        except BaseException as error:
            message = f"{type(error).__name__}: {error}".encode()
            return call_api(frame, ERROR_CREATE, ErrorArguments(message=message, code=ERROR_INTERNAL))

    return Handler(handle)


_handlers: list[Any] = []  # XLA calls them as long as the process lives


def register(name: str, function: Function):
    """Makes a function known to XLA, for the CPU and for CUDA."""
    for platform, device in (("cpu", "cpu"), ("CUDA", "cuda")):
        _handlers.append(make_handler(function, device))
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(_handlers[-1]), platform=platform)


def call(name: str, results: Any, *arguments: Any, options: Any) -> Any:
    """A call of a registered function, traced: `results` are ShapeDtypeStructs, `options` what JSON has."""
    return jax.ffi.ffi_call(name, results, vmap_method="sequential")(*arguments, options=json.dumps(options))
