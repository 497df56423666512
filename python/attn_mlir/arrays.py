# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other libraries, seen without copying: by the array interface, the CUDA array interface, or DLPack.

DLPack's structures are those of dlpack.h 0.x, which every producer still gives; bf16 comes through it alone.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import importlib
import math
import sys
from typing import Any, NamedTuple, Optional, Sequence

from .errors import BindingError
from .runtime.binding import row_major_strides
from .runtime.host_array import HostArray, elements_before, strided_elements
from .runtime.manifest import DTYPE_BYTES

#: typestr of the array interfaces, without the byte order. Of ml_dtypes bfloat16 is a V2, float8_e4m3fn a V1, as others are.
INTERFACE_DTYPES = {
    "f2": "f16",
    "f4": "f32",
    "f8": "f64",
    "b1": "i1",
    "i1": "i8",
    "i4": "i32",
    "i8": "i64",
    "V2": "bf16",
    "V1": "f8E4M3FN",
    "f1": "f8E5M2",
}
#: (DLDataTypeCode, bits)
DLPACK_DTYPES = {
    (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16",
    (0, 8): "i8", (0, 32): "i32", (0, 64): "i64", (6, 8): "i1", (1, 8): "i1",
}  # fmt: skip
TORCH_DTYPES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2", "bool": "i1", "int8": "i8", "int32": "i32", "int64": "i64", "uint8": "i8",
}  # fmt: skip
DLPACK_CPU, DLPACK_CUDA, DLPACK_CUDA_HOST, DLPACK_MANAGED = 1, 2, 3, 13


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class ArrayView(NamedTuple):
    """An array: element type, sizes, strides in elements, address, and where it is ("cpu" or "cuda").

    `owner` keeps the memory; the view is valid as long as it lives. `is_writable`: as far as the array says.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    device: str
    device_id: int
    owner: Any
    is_writable: bool = True

    def extent(self) -> tuple[int, int]:
        """The addresses from the first to the last byte of an element."""
        size = DTYPE_BYTES[self.dtype]
        begin = self.address - elements_before(self.shape, self.strides) * size
        return begin, begin + strided_elements(self.shape, self.strides) * size

    @property
    def spare_elements(self) -> int:
        """Those between the elements; fewer than 0 only where elements share memory."""
        return strided_elements(self.shape, self.strides) - math.prod(self.shape)

    def overlaps(self, other: "ArrayView") -> bool:
        """Whether both surely share memory; arrays between each other's rows do not."""
        if 0 in self.shape or 0 in other.shape or (self.device, self.device_id) != (other.device, other.device_id):
            return False
        (begin, end), (other_begin, other_end) = self.extent(), other.extent()
        has_gaps = self.spare_elements > 0 or other.spare_elements > 0
        return begin < other_end and other_begin < end and (not has_gaps or self.address == other.address)

    @property
    def is_row_major(self) -> bool:
        return self.strides == row_major_strides(self.shape)

    def memory(self) -> tuple[Any, int]:
        """The bytes from the first to the last element, and how many elements lie before element (0, 0, ...)."""
        begin, end = self.extent()
        return (ctypes.c_char * (end - begin)).from_address(begin), elements_before(self.shape, self.strides)

    def to_host(self) -> HostArray:
        """A row-major copy of an array in host memory."""
        if 0 in self.shape:
            return HostArray(self.dtype, self.shape, bytearray())
        memory, before = self.memory()
        return HostArray.gather(self.dtype, self.shape, self.strides, memory, before)

    def write(self, tensor: HostArray):
        """Copies a row-major tensor of the same shape into an array in host memory; what lies between stays as it is."""
        if 0 not in self.shape:
            memory, before = self.memory()
            tensor.scatter(memoryview(memory).cast("B"), self.strides, before)


def copy_array(target: ArrayView, source: ArrayView):
    """Copies all elements between arrays in host memory of one type and shape; what lies between them stays as it is."""
    if 0 in source.shape:
        return
    if source.is_row_major and target.is_row_major:
        ctypes.memmove(target.address, source.address, math.prod(source.shape) * DTYPE_BYTES[source.dtype])
        return
    numpy = find_numpy()
    if numpy:
        numpy.copyto(view_by_numpy(target, numpy), view_by_numpy(source, numpy))
    else:
        target.write(source.to_host())


@functools.lru_cache(maxsize=None)
def find_numpy() -> Any:
    """The module; None where it is not installed."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def view_by_numpy(view: ArrayView, numpy: Any) -> Any:
    """The elements as unsigned integers of their size."""
    size = DTYPE_BYTES[view.dtype]
    memory, before = view.memory()
    strides = tuple([stride * size for stride in view.strides])
    return numpy.ndarray(view.shape, f"u{size}", memory, before * size, strides)


@dataclasses.dataclass(frozen=True)
class StreamArray:
    """A view as an array, with the CUstream that works on it."""

    view: ArrayView
    stream: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.view.shape


def check_results(results: Sequence[ArrayView], arguments: Sequence[ArrayView], in_place: frozenset[tuple[int, int]] = frozenset()):
    """Raises a BindingError unless the results have memory of their own that may be written; result r of a pair (r, a) in `in_place`
    may be argument a."""
    for i, result in enumerate(results):
        if not result.is_writable:
            raise BindingError(f"result {i}: expected a writable array, got a read-only one")
        if result.spare_elements < 0:
            raise BindingError(
                f"result {i}: expected elements that do not overlap, got shape {result.shape} with strides {result.strides}"
            )
        for name, others in (("argument", arguments), ("result", results[:i])):
            for k, other in enumerate(others):
                is_same = (result.address, result.shape, result.strides) == (other.address, other.shape, other.strides)
                if name == "argument" and is_same and (i, k) in in_place:
                    continue
                if result.overlaps(other):
                    raise BindingError(f"result {i}: expected memory of its own, got some of {name} {k}")


def view_of(array: Any, name: str = "array") -> ArrayView:
    """Sees an array; a BindingError says what was expected of `name`."""
    if isinstance(array, HostArray):
        buffer = (ctypes.c_char * max(len(array.data), 1)).from_buffer(array.data or bytearray(1))
        address = ctypes.addressof(buffer)
        return ArrayView(array.dtype, array.shape, row_major_strides(array.shape), address, "cpu", 0, (array, buffer))
    if isinstance(array, StreamArray):
        return array.view
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, getattr(torch, "Tensor", ())):
        return view_of_torch(array, torch, name)
    interface = interface_of(array, "__array_interface__")
    if type(array).__name__ == "MaskedArray":
        raise BindingError(f"{name}: expected an array without a mask, got a masked one")
    if interface is not None:
        return view_of_interface(array, interface, "cpu", name)
    if hasattr(array, "__dlpack__"):
        return view_of_dlpack(array, name)
    interface = interface_of(array, "__cuda_array_interface__")
    if interface is not None:
        return view_of_interface(array, interface, "cuda", name)
    raise BindingError(
        f"{name}: expected an array with __dlpack__, __array_interface__ or __cuda_array_interface__, "
        f"got {type(array).__name__}"
    )


def type_of(array: Any, name: str = "array") -> tuple[str, tuple[int, ...]]:
    """Element type and shape, of tensors of torch that have no memory too, as torch.compile traces them."""
    torch = sys.modules.get("torch")
    is_tensor = torch is not None and isinstance(array, getattr(torch, "Tensor", ()))
    if is_tensor:
        return dtype_of_torch(array, name), tuple(array.shape)
    view = view_of(array, name)
    return view.dtype, view.shape


def interface_of(array: Any, attribute: str) -> Optional[dict]:
    """None where there is none, or where the array says so by raising."""
    try:
        interface = getattr(array, attribute, None)
    except Exception:
        return None
    return interface if isinstance(interface, dict) else None


def view_of_interface(array: Any, interface: dict, device: str, name: str) -> ArrayView:
    typestr = interface["typestr"]
    dtype = INTERFACE_DTYPES.get(typestr[1:])
    spelling = getattr(getattr(array, "dtype", None), "name", "")
    if dtype == "f8E4M3FN" and spelling not in ("", "void8", "float8_e4m3fn"):
        raise BindingError(f"{name}: expected dtype {', '.join(INTERFACE_DTYPES.values())}, got {spelling}")
    if dtype is None or typestr[0] == ">":
        raise BindingError(f"{name}: expected dtype {', '.join(INTERFACE_DTYPES.values())}, got '{typestr}'")
    if interface.get("mask") is not None:
        raise BindingError(f"{name}: expected an array without a mask, got a masked one")
    shape, size = tuple(interface["shape"]), DTYPE_BYTES[dtype]
    strides = interface.get("strides")
    if strides is None:
        elements = row_major_strides(shape)
    else:
        elements = tuple([s // size for s in strides])
        if any([s % size for s in strides]):
            raise BindingError(f"{name}: expected strides that are multiples of {size} bytes, got {tuple(strides)}")
    address, is_read_only = interface["data"]
    return ArrayView(dtype, shape, elements, address or 0, device, 0, array, not is_read_only)


def view_of_torch(tensor: Any, torch: Any, name: str) -> ArrayView:
    """Without DLPack, whose capsules take longer than a launch; tensors that need gradients too."""
    dtype = dtype_of_torch(tensor, name)
    if tensor.layout is not torch.strided or tensor.is_nested:
        raise BindingError(f"{name}: expected a strided tensor, got {tensor.layout}")
    device = tensor.device
    if device.type not in ("cpu", "cuda"):
        raise BindingError(f"{name}: expected a tensor on the CPU or a CUDA device, got one on {device}")
    if tensor.is_neg() or tensor._is_zerotensor():
        raise BindingError(f"{name}: expected a tensor whose memory has its values, got a lazy one: pass {name}.clone()")
    shape, strides = tuple(tensor.shape), tensor.stride()
    return ArrayView(dtype, shape, strides, tensor.data_ptr(), device.type, device.index or 0, tensor)


def dtype_of_torch(tensor: Any, name: str) -> str:
    dtype = TORCH_DTYPES.get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None:
        raise BindingError(f"{name}: expected dtype {', '.join(dict.fromkeys(TORCH_DTYPES.values()))}, got {tensor.dtype}")
    return dtype


def view_of_dlpack(array: Any, name: str) -> ArrayView:
    capsule = array.__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    t = DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    dtype = DLPACK_DTYPES.get((t.code, t.bits))
    if dtype is None or t.lanes != 1:
        known = ", ".join(dict.fromkeys(DLPACK_DTYPES.values()))
        raise BindingError(
            f"{name}: expected dtype {known}, got DLPack type {t.code} of {t.bits} bits, {t.lanes} lanes"
        )
    if t.device_type not in (DLPACK_CPU, DLPACK_CUDA, DLPACK_CUDA_HOST, DLPACK_MANAGED):
        raise BindingError(f"{name}: expected an array on the CPU or a CUDA device, got DLPack device {t.device_type}")
    shape = tuple(t.shape[i] for i in range(t.ndim))
    strides = tuple(t.strides[i] for i in range(t.ndim)) if t.strides else row_major_strides(shape)
    device = "cuda" if t.device_type in (DLPACK_CUDA, DLPACK_MANAGED) else "cpu"
    is_writable = library_of(array) != "jax"  # its arrays do not change, which a capsule cannot say
    # The capsule is not consumed: when it goes, its producer lets go of the memory.
    return ArrayView(
        dtype, shape, strides, (t.data or 0) + t.byte_offset, device, t.device_id, (array, capsule), is_writable
    )


def library_of(array: Any) -> str:
    """ "torch", also of classes that users derive, "cupy", "numpy", "jax", or another package."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, getattr(torch, "Tensor", ())):
        return "torch"
    package = type(array).__module__.partition(".")[0]
    return "jax" if package == "jaxlib" else package


def empty_like(array: Any, shape: Sequence[int], dtype: str) -> Any:
    """A new array of the library that `array` is of, on its device: torch, CuPy or NumPy, for JAX in host memory NumPy; a
    HostArray beside one. `finished` makes it one of the library's."""
    module = library_of(array)
    if module == "jax" and view_of(array).device == "cpu":
        module = "numpy"
    if module == "torch":
        torch = sys.modules["torch"]
        names = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
        names.update(f8E4M3FN=torch.float8_e4m3fn, f8E5M2=torch.float8_e5m2)
        return torch.empty(tuple(shape), dtype=names[dtype], device=array.device)
    if module in ("cupy", "numpy"):
        library = sys.modules[module]
        kinds = {"f16": "float16", "f32": "float32", "f64": "float64"}
        is_own = dtype not in kinds and view_of(array).dtype == dtype
        kind = array.dtype if is_own else kinds.get(dtype) or added_to_numpy(dtype)
        return library.empty(tuple(shape), dtype=kind)
    if isinstance(array, HostArray):
        return HostArray(dtype, tuple(shape), bytearray(math.prod(shape) * DTYPE_BYTES[dtype]))
    hint = ": use attn_mlir.jax.attention" if module == "jax" else ""
    raise BindingError(f"expected out= for results beside arrays of {type(array).__name__}, got none{hint}")


def added_to_numpy(dtype: str) -> Any:
    """The type that ml_dtypes adds."""
    names = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}
    try:
        return getattr(importlib.import_module("ml_dtypes"), names[dtype])
    except ImportError:
        raise BindingError(f"expected ml_dtypes for a {dtype} result, got none: give out=, or another result_dtype") from None


def finished(array: Any, result: Any) -> Any:
    """What empty_like made beside `array`, once it is written."""
    return sys.modules["jax"].numpy.asarray(result) if library_of(array) == "jax" else result


def scalar_like(array: Any, number: int) -> Any:
    """`number`, modulo 2^64, as an i64 of rank 0, of the library and on the device of `array`."""
    number = (number + 2**63) % 2**64 - 2**63
    module = library_of(array)
    if module == "torch":
        torch = sys.modules["torch"]
        return torch.full((), number, dtype=torch.int64, device=array.device)
    if module == "cupy":
        return sys.modules[module].full((), number, dtype="int64")
    if view_of(array).device == "cpu":
        return HostArray.of("i64", (), [number])
    raise BindingError(f"expected seed and offset in arrays beside arrays of {type(array).__name__}, got {number}")


def vector_like(array: Any, number: float) -> Any:
    """`number` as f32 [1], of the library and on the device of `array`."""
    module = library_of(array)
    if module == "torch":
        torch = sys.modules["torch"]
        return torch.full((1,), number, dtype=torch.float32, device=array.device)
    if module == "cupy":
        return sys.modules[module].full((1,), number, dtype="float32")
    if view_of(array).device == "cpu":
        return HostArray.of("f32", (1,), [number])
    raise BindingError(f"expected scales in arrays beside arrays of {type(array).__name__}, got {number}")


def current_stream(array: Any) -> int:
    """The CUstream that the array's library works on now; 0, the default stream, where it does not say."""
    if isinstance(array, StreamArray):
        return array.stream
    module = library_of(array)
    if module == "torch":
        return sys.modules["torch"].cuda.current_stream(array.device).cuda_stream
    if module == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0
