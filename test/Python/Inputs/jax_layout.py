"""Prints C++ that compiles if the structures of attn_mlir.jax.ffi are those of XLA's header."""

import ctypes

from attn_mlir.jax import ffi

FIELDS = {
    "XLA_FFI_Api_Version": (ffi.Version, {"major": "major_version", "minor": "minor_version"}),
    "XLA_FFI_Metadata": (ffi.Metadata, {"version": "api_version", "traits": "traits"}),
    "XLA_FFI_Metadata_Extension": (
        ffi.MetadataExtension, {"type": "extension_base.type", "next": "extension_base.next", "metadata": "metadata"},
    ),
    "XLA_FFI_Buffer": (ffi.Buffer, {"dtype": "dtype", "data": "data", "rank": "rank", "dims": "dims"}),
    "XLA_FFI_Args": (ffi.Buffers, {"size": "size", "types": "types", "items": "args"}),
    "XLA_FFI_Rets": (ffi.Buffers, {"size": "size", "types": "types", "items": "rets"}),
    "XLA_FFI_ByteSpan": (ffi.ByteSpan, {"begin": "ptr", "size": "len"}),
    "XLA_FFI_Attrs": (ffi.Attributes, {"size": "size", "types": "types", "names": "names", "items": "attrs"}),
    "XLA_FFI_CallFrame": (
        ffi.CallFrame,
        {"extension": "extension_start", "api": "api", "context": "ctx", "stage": "stage", "arguments": "args",
         "results": "rets", "attributes": "attrs"},
    ),
    "XLA_FFI_Error_Create_Args": (ffi.ErrorArguments, {"message": "message", "code": "errc"}),
    "XLA_FFI_Stream_Get_Args": (ffi.StreamArguments, {"context": "ctx", "stream": "stream"}),
    "XLA_FFI_DeviceOrdinal_Get_Args": (ffi.OrdinalArguments, {"context": "ctx", "ordinal": "device_ordinal"}),
}  # fmt: skip
XLA_TYPES = {
    "i1": "PRED", "i8": "S8", "i32": "S32", "i64": "S64", "f16": "F16", "f32": "F32", "f64": "F64", "bf16": "BF16",
}  # fmt: skip

print("#include <cstddef>\n#include <cstdint>\n#include <xla/ffi/api/c_api.h>")
for name, (structure, fields) in FIELDS.items():
    for ours, theirs in fields.items():
        print(f"static_assert(offsetof({name}, {theirs}) == {getattr(structure, ours).offset});")
    if structure in (ffi.ErrorArguments, ffi.StreamArguments, ffi.OrdinalArguments):
        print(f"static_assert(sizeof({name}) == {ctypes.sizeof(structure)});")
for function, index in (
    ("Error_Create", ffi.ERROR_CREATE), ("Stream_Get", ffi.STREAM_GET), ("DeviceOrdinal_Get", ffi.DEVICE_ORDINAL_GET)
):  # fmt: skip
    print(f"static_assert(offsetof(XLA_FFI_Api, XLA_FFI_{function}) == {ffi.Api.functions.offset + 8 * index});")
for number, dtype in ffi.DTYPES.items():
    print(f"static_assert(XLA_FFI_DataType_{XLA_TYPES[dtype]} == {number});")
print(f"static_assert(XLA_FFI_Extension_Metadata == {ffi.EXTENSION_METADATA});")
print(f"static_assert(XLA_FFI_ExecutionStage_EXECUTE == {ffi.STAGE_EXECUTE});")
print(f"static_assert(XLA_FFI_AttrType_STRING == {ffi.ATTRIBUTE_STRING});")
print(f"static_assert(XLA_FFI_Error_Code_INTERNAL == {ffi.ERROR_INTERNAL});")
