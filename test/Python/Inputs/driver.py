"""The driver layer against a library that records what it is asked: packing, tensor maps, attributes, errors."""

import ctypes
import dataclasses
import json
import os
import struct
import unittest
from pathlib import Path

from attn_mlir.errors import DeviceError
from attn_mlir.runtime import cuda
from attn_mlir.runtime.binding import TensorLayout
from attn_mlir.runtime.devices import CudaDevice, Program, open_device
from attn_mlir.runtime.manifest import Manifest

SM_COUNT, OPTIN_BYTES = 132, 232448
ATTRIBUTES = {
    cuda.MULTIPROCESSOR_COUNT: SM_COUNT,
    cuda.CC_MAJOR: 9,
    cuda.CC_MINOR: 0,
    cuda.MAX_SHARED_OPTIN: OPTIN_BYTES,
}


def read(array, kind, count):
    """Values of a ctypes array or of the memory that a pointer leads to."""
    return list((kind * count).from_address(ctypes.addressof(array)))


class Recorder:
    """libcuda in Python: each function appends to `calls` and succeeds, unless `failing` names it."""

    def __init__(self):
        self.calls, self.failing, self.next = [], {}, 0x1000_0000
        self.current = None  # context

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *arguments: self.answer(name, arguments)

    def answer(self, name, arguments):
        self.calls.append((name, arguments))
        handler = getattr(type(self), "on_" + name, None)
        if handler:
            handler(self, *arguments)
        return self.failing.get(name, 0)

    def on_cuDeviceGetCount(self, count):
        count._obj.value = 1

    def on_cuDeviceGetAttribute(self, value, attribute, device):
        value._obj.value = ATTRIBUTES[attribute]

    def on_cuDevicePrimaryCtxRetain(self, handle, device):
        handle._obj.value = 0x11

    def on_cuCtxGetCurrent(self, handle):
        handle._obj.value = self.current

    def on_cuCtxSetCurrent(self, handle):
        self.current = handle.value

    def on_cuDeviceGetName(self, text, length, device):
        text.value = b"recorder"

    def on_cuMemAlloc_v2(self, pointer, count):
        pointer._obj.value = self.next
        self.next += (count.value + 511) // 512 * 512

    def on_cuGetErrorName(self, code, text):
        text._obj.value = b"CUDA_ERROR_X"

    def on_cuGetErrorString(self, code, text):
        text._obj.value = b"something happened"

    def on_cuModuleLoadDataEx(self, module, image, count, options, values):
        if "cuModuleLoadDataEx" in self.failing:
            ctypes.memmove(values[2], b"ptxas error: line 3", 19)

    def on_cuTensorMapEncodeTiled(self, where, dtype, rank, address, dims, strides, box, steps, *enums):
        assert where.value % 64 == 0, "expected a CUtensorMap aligned to 64 bytes"
        ctypes.memmove(where.value, struct.pack("<Q", 0xABC0 + len(self.named("cuTensorMapEncodeTiled"))), 8)
        self.calls[-1] = (
            "cuTensorMapEncodeTiled",
            dict(
                dtype=dtype,
                rank=rank.value,
                address=address.value,
                dims=read(dims, ctypes.c_uint64, rank.value),
                strides=read(strides, ctypes.c_uint64, rank.value - 1),
                box=read(box, ctypes.c_uint32, rank.value),
                steps=read(steps, ctypes.c_uint32, rank.value),
                enums=enums,
            ),
        )

    def on_cuLaunchKernelEx(self, config, function, parameters, extra):
        c = config._obj
        attributes = [(c.attributes[k].id, list(c.attributes[k].value[0:3])) for k in range(c.attribute_count)]
        self.calls[-1] = (
            "cuLaunchKernelEx",
            dict(
                grid=list(c.grid),
                block=list(c.block),
                shared=c.shared_bytes,
                stream=c.stream,
                attributes=attributes,
                parameters=[p for p in parameters],
                extra=extra,
            ),
        )

    def named(self, name):
        return [arguments for called, arguments in self.calls if called == name]


class Driver(unittest.TestCase):
    def setUp(self):
        self.library = Recorder()
        self.device = CudaDevice(context=cuda.Context(cuda.Driver(self.library)))
        self.root = json.loads(MANIFEST.read_text())

    def prepare(self, ptx="// PTX"):
        program = Program(Manifest.parse(json.dumps(self.root)), json.dumps(self.root), ptx)
        query, key = (2, 8, 300, 64), (2, 4, 500, 64)
        # Query [B, M, H, D] in memory; addresses far apart.
        layouts = [TensorLayout(query, (153600, 64, 512, 1), 0x7000_0000_0000), TensorLayout(key, None, 0x7100_0000_0000),
                   TensorLayout(key, None, 0x7200_0000_0000), TensorLayout(query, None, 0x7300_0000_0000),
                   TensorLayout((2, 8, 300), None, 0x7400_0000_0000)]  # fmt: skip
        self.program, self.layouts = program, layouts
        return self.device.prepare(program, layouts)

    def test_launch(self):
        self.prepare().run(stream=77)
        (launch,) = self.library.named("cuLaunchKernelEx")
        kernel = self.root["kernels"][0]
        self.assertEqual(launch["grid"][1:], [8, 2])
        self.assertEqual(launch["block"], kernel["block"])
        self.assertEqual(launch["shared"], kernel["shared_bytes"])
        self.assertEqual((launch["stream"], launch["attributes"], launch["extra"]), (77, [], None))
        attributes = [arguments[1:] for arguments in self.library.named("cuFuncSetAttribute")]
        self.assertEqual(attributes, [(cuda.FUNC_MAX_DYNAMIC_SHARED, kernel["shared_bytes"])])

    def test_context_of_the_application(self):
        """Another device's context is current again after a launch, and where there was none ours stays."""
        self.assertEqual(self.library.current, 0x11)
        context = self.device.context
        self.assertIsNone(context.enter())
        self.library.current = 0x22
        previous = context.enter()
        self.assertEqual((self.library.current, previous), (0x11, 0x22))
        context.leave(previous)
        self.assertEqual(self.library.current, 0x22)
        cuda.Context(cuda.Driver(self.library))
        self.assertEqual(self.library.current, 0x22)

    def test_structures(self):
        """cuda.h: CUlaunchAttribute has 72 bytes, its value at 8; CUlaunchConfig 56, its stream at 32."""
        self.assertEqual((ctypes.sizeof(cuda.LaunchAttribute), cuda.LaunchAttribute.value.offset), (72, 8))
        self.assertEqual((ctypes.sizeof(cuda.LaunchConfig), cuda.LaunchConfig.stream.offset), (56, 32))
        self.assertEqual((cuda.LaunchConfig.attributes.offset, cuda.LaunchConfig.attribute_count.offset), (40, 48))

    def test_parameters(self):
        prepared = self.prepare()
        prepared.run()
        (launch,) = self.library.named("cuLaunchKernelEx")
        maps = 0
        for parameter, where in zip(self.root["kernels"][0]["parameters"], launch["parameters"]):
            kind = parameter["kind"]
            if kind == "tensor_map":
                maps += 1
                self.assertEqual(ctypes.c_uint64.from_address(where).value, 0xABC0 + maps)
            elif kind == "pointer":
                names = [o["name"] for o in self.root["operands"]]
                expected = self.layouts[names.index(parameter["operand"])].address
                self.assertEqual(ctypes.c_uint64.from_address(where).value, expected)
            elif parameter["value"] == "stride(query, 1)":
                self.assertEqual(ctypes.c_int64.from_address(where).value, 64)
            elif parameter["value"] == "dim(key, 2)":
                self.assertEqual(ctypes.c_int32.from_address(where).value, 500)
        self.assertEqual(maps, 4)

    def test_tensor_maps(self):
        self.prepare()
        query, key = self.library.named("cuTensorMapEncodeTiled")[:2]
        bf16, swizzle_128 = 9, 3
        self.assertEqual((query["dtype"], query["rank"], query["address"]), (bf16, 4, 0x7000_0000_0000))
        self.assertEqual(query["dims"], [64, 300, 8, 2])
        self.assertEqual(query["strides"], [1024, 128, 307200])
        self.assertEqual(key["strides"], [128, 64000, 256000])
        self.assertEqual(key["steps"], [1, 1, 1, 1])
        self.assertEqual(key["enums"], (0, swizzle_128, cuda.L2_PROMOTION_128B, 0))

    def test_cluster(self):
        self.root["kernels"][0]["cluster"] = [2, 1, 1]
        self.root["kernels"][0]["grid"][0] = "2 * ceildiv(M, 256)"
        self.prepare().run()
        self.assertEqual(self.library.named("cuLaunchKernelEx")[0]["attributes"], [(4, [2, 1, 1])])

    def test_programmatic(self):
        """A launch behind another one of the problem may start early; the first has no attribute, whatever the manifest says."""
        kernel = self.root["kernels"][0]
        self.root["kernels"] = [kernel, {**kernel, "after": "programmatic", "cluster": [2, 1, 1], "grid": [2, "Hq", "B"]}]
        self.prepare().run()
        first, second = (launch["attributes"] for launch in self.library.named("cuLaunchKernelEx"))
        self.assertEqual((first, second), ([], [(4, [2, 1, 1]), (6, [1, 0, 0])]))
        self.root["kernels"][0] = {**kernel, "grid": [0]}
        self.library.calls.clear()
        self.prepare().run()
        (only,) = self.library.named("cuLaunchKernelEx")
        self.assertEqual(only["attributes"], [(4, [2, 1, 1])])

    def test_workspace_and_repeat(self):
        kernel = self.root["kernels"][0]
        self.root["workspaces"] = [{"name": "sums", "bytes": "4 * M", "fill": "zero"}]
        self.root["repeat"] = 3
        kernel["parameters"][0] = {"kind": "pointer", "workspace": "sums", "byte_offset": "-64 * iteration"}
        prepared = self.prepare()  # owns the memory that the recorded pointers lead to
        prepared.run(stream=5)
        (fill,) = self.library.named("cuMemsetD8Async")
        base = fill[0].value
        self.assertEqual((fill[1], fill[2].value, fill[3].value), (0, 1200, 5))
        pointers = [
            ctypes.c_uint64.from_address(launch["parameters"][0]).value
            for launch in self.library.named("cuLaunchKernelEx")
        ]
        self.assertEqual(pointers, [base, base - 64, base - 128])

    def test_empty_grid(self):
        self.root["kernels"][0]["grid"][0] = "0 * M"
        self.prepare().run()
        self.assertEqual(self.library.named("cuLaunchKernelEx"), [])

    def test_tensor_without_elements(self):
        """torch gives it the address 0; the map needs one."""
        root = json.dumps(self.root)
        empty, query = TensorLayout((1, 2, 0, 64)), TensorLayout((1, 2, 5, 64), None, 0x7000_0000_0000)
        program = Program(Manifest.parse(root), root, "// PTX")
        lse, output = TensorLayout((1, 2, 5), None, 0x7100_0000_0000), dataclasses.replace(query, address=0x7200_0000_0000)
        prepared = self.device.prepare(program, [query, empty, empty, output, lse])
        key = self.library.named("cuTensorMapEncodeTiled")[1]
        self.assertEqual((key["address"], key["dims"]), (prepared.placeholder.address, [64, 1, 2, 1]))
        self.assertNotEqual(key["address"], 0)

    def rejects(self, message):
        with self.assertRaises(DeviceError) as caught:
            self.prepare().run()
        self.assertIn(message, str(caught.exception))

    def test_errors(self):
        self.library.failing = {"cuLaunchKernelEx": 700}
        self.rejects("expected cuLaunchKernelEx to succeed, got error 700 (CUDA_ERROR_X: something happened)")
        self.library.failing = {"cuTensorMapEncodeTiled": 1}
        self.rejects(
            "tensor map of query: address 0x700000000000, dims [64, 300, 8, 2], strides [1024, 128, 307200] bytes"
        )
        self.library.failing = {"cuModuleLoadDataEx": 218}
        self.rejects("got error 218 (CUDA_ERROR_X: something happened)\nptxas error: line 3")

    def test_shared_memory(self):
        self.root["kernels"][0]["shared_bytes"] = 300000
        self.rejects("kernel attention needs 300000 bytes of shared memory, recorder gives 232448")

    def test_target(self):
        self.root["target"] = "sm_100a"
        self.rejects("expected a device for sm_100a, got recorder (sm_90); compile for sm_90")
        for target in ("sm_80", "sm_89", "sm_90", "sm_90a"):
            self.device.context.require_target(target)

    def test_no_driver(self):
        os.environ["ATTN_LIBCUDA"] = "/absent/libcuda.so"
        with self.assertRaisesRegex(DeviceError, r"expected the CUDA driver \(libcuda.so.1\), got none"):
            open_device("cuda")
        with self.assertRaisesRegex(DeviceError, "expected a device sim, cuda or cuda:N, got 'gpu'"):
            open_device("gpu")

    def test_no_device(self):
        with self.assertRaisesRegex(DeviceError, "expected a CUDA device 3, got 1 devices"):
            cuda.Context(cuda.Driver(self.library), ordinal=3)


MANIFEST = Path(__file__).parent / "launch.json"
unittest.main()
