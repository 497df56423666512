# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The CUDA driver API by ctypes: modules, launches, tensor maps and memory, with errors that say what was asked.

Names, numbers and structures are those of cuda.h (CUDA 12 and 13). Needs libcuda.so.1 and nothing else; ATTN_LIBCUDA
names another library, such as the simulator's stand-in.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from typing import Any, Optional, Sequence, Union

from ..errors import DeviceError
from .binding import Launch, ParameterValue
from .manifest import TensorMap

MODULE_NOT_FOUND = "expected the CUDA driver (libcuda.so.1), got none: no GPU here, or no driver installed"

# CUdevice_attribute
MULTIPROCESSOR_COUNT, CC_MAJOR, CC_MINOR, MAX_SHARED_OPTIN = 16, 75, 76, 97
# CUfunction_attribute
FUNC_SHARED_BYTES, FUNC_LOCAL_BYTES, FUNC_REGISTERS = 1, 3, 4
FUNC_MAX_DYNAMIC_SHARED, FUNC_NON_PORTABLE_CLUSTER = 8, 14
# CUjit_option
JIT_INFO_LOG, JIT_INFO_LOG_BYTES, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_LOG_VERBOSE = 3, 4, 5, 6, 12
# CUlaunchAttributeID
LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, LAUNCH_ATTRIBUTE_PROGRAMMATIC = 4, 6
MAX_PORTABLE_CLUSTER = 8
# CUtensorMap enums
TENSOR_MAP_DTYPE = {"f8E4M3FN": 0, "f8E5M2": 0, "i1": 0, "i8": 0, "i32": 3, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
TENSOR_MAP_SWIZZLE = {0: 0, 32: 1, 64: 2, 128: 3}
TENSOR_MAP_FILL = {"zero": 0, "nan": 1}
INTERLEAVE_NONE, L2_PROMOTION_128B = 0, 2
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64
#: Shared memory that a kernel gets without asking.
DEFAULT_SHARED_BYTES = 48 * 1024

Pointer = ctypes.c_uint64
Handle = ctypes.c_void_p


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute: an id, padded to 8 bytes, and a union of 64 bytes."""

    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", Handle),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attribute_count", ctypes.c_uint),
    ]


class Driver:
    """The driver library. `Driver.get()` is the process's; a test hands its own library in."""

    _instance: Optional["Driver"] = None
    _lock = threading.Lock()

    def __init__(self, library):
        self.library = library
        self.call("cuInit", 0)

    @classmethod
    def get(cls) -> "Driver":
        with cls._lock:
            if cls._instance is None:
                path = os.environ.get("ATTN_LIBCUDA", "libcuda.so.1")
                try:
                    library = ctypes.CDLL(path)
                except OSError as error:
                    raise DeviceError(f"{MODULE_NOT_FOUND} ({error})") from None
                cls._instance = cls(library)
            return cls._instance

    def call(self, name: str, *arguments):
        """Calls a function of the driver; raises DeviceError unless it returns CUDA_SUCCESS."""
        try:
            function = getattr(self.library, name)
        except AttributeError:
            raise DeviceError(f"expected a CUDA driver with {name}, got an older one") from None
        code = function(*arguments)
        if code != 0:
            raise DeviceError(f"expected {name} to succeed, got {self.error_text(code)}")

    def error_text(self, code: int) -> str:
        """ "error 700 (CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered)"."""
        texts = []
        for function in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            if getattr(self.library, function)(code, ctypes.byref(text)) == 0 and text.value:
                texts.append(text.value.decode())
        return f"error {code}" + (f" ({': '.join(texts)})" if texts else "")

    def version(self) -> str:
        value = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(value))
        return f"{value.value // 1000}.{value.value % 1000 // 10}"


class Context:
    """The primary context of a device, which torch, CuPy and JAX use too."""

    def __init__(self, driver: Optional[Driver] = None, ordinal: int = 0):
        self.driver = driver or Driver.get()
        count = ctypes.c_int()
        self.driver.call("cuDeviceGetCount", ctypes.byref(count))
        if not 0 <= ordinal < count.value:
            raise DeviceError(f"expected a CUDA device {ordinal}, got {count.value} devices")
        self.device = ctypes.c_int()
        self.driver.call("cuDeviceGet", ctypes.byref(self.device), ordinal)
        self.handle = Handle()
        self.driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.handle), self.device)
        # Another context of the thread stays current: an application may work on another device.
        if self.current() is None:
            self.make_current()
        self.sm_count = self.attribute(MULTIPROCESSOR_COUNT)
        self.capability = (self.attribute(CC_MAJOR), self.attribute(CC_MINOR))

    def make_current(self):
        self.driver.call("cuCtxSetCurrent", self.handle)

    def current(self) -> Optional[int]:
        """The thread's context, by its address."""
        handle = Handle()
        self.driver.call("cuCtxGetCurrent", ctypes.byref(handle))
        return handle.value

    def enter(self) -> Optional[int]:
        """Makes this context current; returns what `leave` needs: the one that was, if another."""
        previous = self.current()
        if previous == self.handle.value:
            return None
        self.make_current()
        return previous

    def leave(self, previous: Optional[int]):
        if previous is not None:
            self.driver.call("cuCtxSetCurrent", Handle(previous))

    def attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.driver.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.driver.call("cuDeviceGetName", text, 256, self.device)
        return text.value.decode()

    def require_target(self, target: str):
        """Raises unless the device runs PTX for `target` ("sm_80", "sm_90a")."""
        digits = target.removeprefix("sm_").rstrip("af")
        wanted = (int(digits[:-1]), int(digits[-1]))
        have = f"sm_{self.capability[0]}{self.capability[1]}"
        # PTX with a suffix runs on that architecture alone; other PTX on later ones too.
        runs = self.capability == wanted if target[-1] in "af" else self.capability >= wanted
        if not runs:
            raise DeviceError(f"expected a device for {target}, got {self.name} ({have}); compile for {have}")

    def synchronize(self):
        self.driver.call("cuCtxSynchronize")

    @functools.cached_property
    def wait_report(self) -> "WaitReport":
        """Shared by the modules of the context."""
        return WaitReport(self)

    def lost_wait(self) -> str:
        """What kernels that were compiled with --bounded-waits have reported; "" where no wait gave up."""
        return self.wait_report.text() if "wait_report" in self.__dict__ else ""


class WaitReport:
    """Where a kernel says which of its waits gave up (attn_tile.give_up): mapped host memory, which is there when the context
    is lost. It is never freed, since kernels may still be running."""

    SYMBOL = "attn_wait_report"
    WORDS = 10
    HOST_ALLOC_PORTABLE, HOST_ALLOC_DEVICEMAP = 1, 2

    def __init__(self, context: Context):
        self.context = context
        flags, pointer, seen = self.HOST_ALLOC_PORTABLE | self.HOST_ALLOC_DEVICEMAP, ctypes.c_void_p(), Pointer()
        size = ctypes.c_size_t(4 * self.WORDS)
        context.driver.call("cuMemHostAlloc", ctypes.byref(pointer), size, flags)
        context.driver.call("cuMemHostGetDevicePointer_v2", ctypes.byref(seen), pointer, 0)
        self.address = seen.value
        self.words = (ctypes.c_uint32 * self.WORDS).from_address(pointer.value or 0)
        self.words[0] = 0

    def attach(self, module: Handle):
        """Tells the kernels of a module where to write."""
        place, cells = Pointer(), (ctypes.c_uint64 * 2)(self.address, 0)
        call = self.context.driver.call
        call("cuModuleGetGlobal_v2", ctypes.byref(place), None, module, self.SYMBOL.encode())
        call("cuMemcpyHtoD_v2", place, cells, ctypes.c_size_t(ctypes.sizeof(cells)))

    def text(self) -> str:
        written, number, address, stage, parity, turn, *where = self.words
        if not written:
            return ""
        return (
            f"wait {number} gave up: mbarrier at shared address {address}, stage {stage}, parity {parity}, "
            f"loop at {turn}, CTA ({where[0]}, {where[1]}, {where[2]}), thread {where[3]}"
        )


class Memory:
    """Device memory; freed with the object."""

    def __init__(self, context: Context, count: int):
        self.context, self.bytes = context, count
        self.address = 0
        pointer = Pointer()
        try:
            context.driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(count, 1)))
        except DeviceError as error:
            raise DeviceError(f"{error}; asked for {count} bytes") from None
        self.address = pointer.value

    def fill(self, byte: int):
        if self.bytes:
            self.context.driver.call("cuMemsetD8_v2", Pointer(self.address), byte, ctypes.c_size_t(self.bytes))

    def write(self, data: Union[bytes, bytearray]):
        source = (ctypes.c_char * len(data)).from_buffer_copy(data)
        self.context.driver.call("cuMemcpyHtoD_v2", Pointer(self.address), source, ctypes.c_size_t(len(data)))

    def read(self) -> bytearray:
        data = bytearray(self.bytes)
        if data:
            target = (ctypes.c_char * len(data)).from_buffer(data)
            self.context.driver.call("cuMemcpyDtoH_v2", target, Pointer(self.address), ctypes.c_size_t(len(data)))
        return data

    def __del__(self):
        if self.address:
            self.context.driver.library.cuMemFree_v2(Pointer(self.address))


class Module:
    """PTX, assembled by the driver for the context's device, or beforehand: a cubin that the driver does not take (of a later
    ptxas, say) is not used."""

    def __init__(self, context: Context, ptx: str, cubin: Optional[bytes] = None):
        self.context = context
        self.handle = Handle()
        self.log = self.load(ptx.encode()) if cubin is None else self.load_either(cubin, ptx)
        self.functions: dict[tuple[str, int], Handle] = {}
        if WaitReport.SYMBOL in ptx:
            context.wait_report.attach(self.handle)

    def load_either(self, cubin: bytes, ptx: str) -> str:
        try:
            return self.load(cubin)
        except DeviceError as error:
            return f"cubin not used: {error}\n" + self.load(ptx.encode())

    def load(self, image: bytes) -> str:
        """Returns what the driver's assembler prints (registers and spills of each kernel)."""
        size = 1 << 14
        info, errors = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
        options = (ctypes.c_int * 5)(
            JIT_INFO_LOG, JIT_INFO_LOG_BYTES, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_LOG_VERBOSE
        )
        values = (ctypes.c_void_p * 5)(ctypes.addressof(info), size, ctypes.addressof(errors), size, 1)
        try:
            self.context.driver.call(
                "cuModuleLoadDataEx", ctypes.byref(self.handle), ctypes.c_char_p(image), 5, options, values
            )
        except DeviceError as error:
            raise DeviceError(f"{error}\n{errors.value.decode(errors='replace')}".rstrip()) from None
        return info.value.decode(errors="replace")

    def function(self, entry: str, shared_bytes: int, cluster_ctas: int) -> Handle:
        """The kernel `entry`, allowed to have that much dynamic shared memory."""
        known = self.functions.get((entry, shared_bytes))
        if known is not None:
            return known
        call = self.context.driver.call
        function = Handle()
        call("cuModuleGetFunction", ctypes.byref(function), self.handle, entry.encode())
        limit = self.context.attribute(MAX_SHARED_OPTIN)
        if shared_bytes > limit:
            raise DeviceError(
                f"kernel {entry} needs {shared_bytes} bytes of shared memory, {self.context.name} gives {limit}"
            )
        if shared_bytes > DEFAULT_SHARED_BYTES:
            call("cuFuncSetAttribute", function, FUNC_MAX_DYNAMIC_SHARED, shared_bytes)
        if cluster_ctas > MAX_PORTABLE_CLUSTER:
            call("cuFuncSetAttribute", function, FUNC_NON_PORTABLE_CLUSTER, 1)
        self.functions[(entry, shared_bytes)] = function
        return function

    def resources(self, entry: str) -> dict[str, int]:
        """Registers a thread, and bytes of local memory a thread: 0 unless it spills."""
        function = Handle()
        self.context.driver.call("cuModuleGetFunction", ctypes.byref(function), self.handle, entry.encode())
        result = {}
        for name, attribute in (("registers", FUNC_REGISTERS), ("local_bytes", FUNC_LOCAL_BYTES)):
            value = ctypes.c_int()
            self.context.driver.call("cuFuncGetAttribute", ctypes.byref(value), attribute, function)
            result[name] = value.value
        return result

    def unload(self):
        self.context.driver.call("cuModuleUnload", self.handle)


def aligned_buffer(count: int, alignment: int) -> tuple[ctypes.Array, int]:
    """Zeroed host memory and the aligned address in it."""
    buffer = ctypes.create_string_buffer(count + alignment)
    return buffer, (ctypes.addressof(buffer) + alignment - 1) // alignment * alignment


def encode_tensor_map(driver: Driver, tensor_map: TensorMap, value: ParameterValue, address: int):
    """A CUtensorMap over the tensor at `address`: (the buffer that owns it, its address)."""
    rank = len(value.dims)
    owner, where = aligned_buffer(TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT)

    def array(kind, values: Sequence[int]):
        return (kind * max(len(values), 1))(*values)

    try:
        driver.call(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(where),
            TENSOR_MAP_DTYPE[tensor_map.dtype],
            ctypes.c_uint32(rank),
            ctypes.c_void_p(address),
            array(ctypes.c_uint64, value.dims),
            array(ctypes.c_uint64, value.strides_bytes),
            array(ctypes.c_uint32, tensor_map.box),
            array(ctypes.c_uint32, tensor_map.element_strides),
            INTERLEAVE_NONE,
            TENSOR_MAP_SWIZZLE[tensor_map.swizzle],
            L2_PROMOTION_128B,
            TENSOR_MAP_FILL[tensor_map.fill],
        )
    except DeviceError as error:
        raise DeviceError(
            f"{error}: tensor map of {value.parameter.base}: address {address:#x}, dims {list(value.dims)}, "
            f"strides {list(value.strides_bytes)} bytes, box {list(tensor_map.box)}, swizzle {tensor_map.swizzle}"
        ) from None
    return owner, where


SCALARS: dict[str, Any] = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}


class PreparedLaunch:
    """A launch with parameters packed and tensor maps made; `run` is one call of the driver."""

    def __init__(self, module: Module, launch: Launch, addresses: dict[str, int]):
        self.driver = module.context.driver
        kernel = launch.kernel
        cluster_ctas = kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2]
        self.function = module.function(kernel.entry, launch.shared_bytes, cluster_ctas)
        self.values = [self.pack(value, addresses) for value in launch.parameters]
        self.parameters = (ctypes.c_void_p * len(self.values))(*(address for _, address in self.values))
        self.config = LaunchConfig(
            grid=launch.grid, block=kernel.block, shared_bytes=launch.shared_bytes, attribute_count=0
        )
        self.attributes = (LaunchAttribute * 2)()
        self.config.attributes = self.attributes
        if cluster_ctas > 1:
            self.add_attribute(LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, kernel.cluster)
        if launch.is_programmatic:
            self.add_attribute(LAUNCH_ATTRIBUTE_PROGRAMMATIC, (1,))

    def add_attribute(self, number: int, value: Sequence[int]):
        attribute = self.attributes[self.config.attribute_count]
        attribute.id = number
        attribute.value[0 : len(value)] = value
        self.config.attribute_count += 1

    def pack(self, value: ParameterValue, addresses: dict[str, int]):
        """(owner, address in host memory) of the parameter's bytes."""
        parameter = value.parameter
        if parameter.tensor_map:
            base = addresses[parameter.base] + value.byte_offset
            return encode_tensor_map(self.driver, parameter.tensor_map, value, base)
        cell: Any
        if parameter.kind == "pointer":
            # Wraps like the machine's addresses: a negative offset may lead below an address of 0.
            cell = Pointer((addresses[parameter.base] + value.byte_offset) % 2**64)
        else:
            cell = SCALARS[parameter.kind](value.value)
        return cell, ctypes.addressof(cell)

    def run(self, stream: int = 0):
        config = LaunchConfig.from_buffer_copy(self.config)  # its own: threads may launch on different streams
        config.stream = stream
        self.driver.call("cuLaunchKernelEx", ctypes.byref(config), self.function, self.parameters, None)
