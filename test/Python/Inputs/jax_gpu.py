"""XLA's calls as they come on a GPU: frames made by hand, with memory of the simulator behind a stand-in for libcuda."""

import ctypes
import dataclasses
import json
import math
import sys
import unittest
from unittest import mock

import attn_mlir
from attn_mlir.functional import make_mask
from attn_mlir.jax import ffi
from attn_mlir.jax.attention import Options, run_backward, run_forward
from attn_mlir.runtime import cuda
from attn_mlir.runtime.host_array import HostArray

STREAM = 77
NO_OPTIONS = dataclasses.asdict(Options())
TYPES = {dtype: number for number, dtype in ffi.DTYPES.items()}


class Xla:
    """What XLA does around a call; `error` is the message of the last one that failed."""

    def __init__(self):
        self.error, self.kept, self.api = None, [], ffi.Api()
        self.api.struct_size = ctypes.sizeof(ffi.Api)
        self.api.version.major, self.api.version.minor = 0, 3
        for index, kind, function in (
            (ffi.ERROR_CREATE, ffi.ErrorArguments, self.create_error),
            (ffi.STREAM_GET, ffi.StreamArguments, lambda arguments: setattr(arguments, "stream", STREAM)),
            (ffi.DEVICE_ORDINAL_GET, ffi.OrdinalArguments, lambda arguments: setattr(arguments, "ordinal", 0)),
        ):
            pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(kind))(self.with_size(kind, function))
            self.kept.append(pointer)
            self.api.functions[index] = ctypes.cast(pointer, ctypes.c_void_p).value

    @staticmethod
    def with_size(kind, function):
        def checked(pointer):
            assert pointer.contents.struct_size == ctypes.sizeof(kind)
            return function(pointer.contents)

        return checked

    def create_error(self, arguments):
        self.error = arguments.message.decode()
        return 1

    def buffers(self, tensors):
        items = (ctypes.POINTER(ffi.Buffer) * len(tensors))()
        for i, (tensor, memory) in enumerate(tensors):
            dims = (ctypes.c_int64 * len(tensor.shape))(*tensor.shape)
            buffer = ffi.Buffer(dtype=TYPES[tensor.dtype], data=memory.address, rank=len(tensor.shape), dims=dims)
            items[i] = ctypes.pointer(buffer)
        self.kept.append(items)
        return ffi.Buffers(size=len(tensors), items=items)

    def call(self, function, arguments, results, options, stage=ffi.STAGE_EXECUTE):
        text = json.dumps(options).encode()
        span = ffi.ByteSpan(ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p), len(text))
        items = (ctypes.POINTER(ffi.ByteSpan) * 1)(ctypes.pointer(span))
        kinds = (ctypes.c_int * 1)(ffi.ATTRIBUTE_STRING)
        frame = ffi.CallFrame(
            api=ctypes.pointer(self.api), stage=stage, arguments=self.buffers(arguments), results=self.buffers(results),
            attributes=ffi.Attributes(size=1, types=kinds, items=items),
        )  # fmt: skip
        return ffi.make_handler(function, "cuda")(ctypes.pointer(frame))


def ramp(dtype, *shape):
    return HostArray.of(dtype, shape, [((37 * k) % 101 - 50) / 32 for k in range(math.prod(shape))])


def upload(tensor):
    memory = cuda.Memory(cuda.Context(), len(tensor.data))
    memory.write(tensor.data)
    return tensor, memory


def values(tensor, memory):
    return HostArray(tensor.dtype, tensor.shape, memory.read()).values()


class Calls(unittest.TestCase):
    def setUp(self):
        self.xla = Xla()
        self.q, self.k = ramp("f16", 1, 2, 30, 64), ramp("f16", 1, 1, 40, 64)
        self.output, self.lse = upload(ramp("f16", 1, 2, 30, 64)), upload(ramp("f32", 1, 2, 30))
        self.options = {"names": ["query", "key", "value"], "options": {**NO_OPTIONS, "mask": make_mask(True, 20, None).record}}

    def test_in_place_on_its_stream(self):
        expected, lse = attn_mlir.attention(self.q, self.k, self.k, causal=True, window=20, return_lse=True, device="sim")
        arguments, streams, run = [upload(t) for t in (self.q, self.k, self.k)], [], cuda.PreparedLaunch.run

        def noted(launch, stream=0):
            streams.append(stream)
            run(launch, stream)

        with mock.patch.object(cuda.PreparedLaunch, "run", noted):
            code = self.xla.call(run_forward, arguments, [self.output, self.lse], self.options)
        self.assertEqual((code, self.xla.error), (None, None))
        self.assertEqual(set(streams), {STREAM})
        self.assertEqual(values(*self.output), expected.values())
        self.assertEqual(values(*self.lse), lse.values())

    def test_gradients(self):
        output, lse = attn_mlir.attention(self.q, self.k, self.k, return_lse=True, device="sim")
        expected = attn_mlir.attention_backward(self.q, self.k, self.k, output, lse, self.q, device="sim")
        names = ["query", "key", "value", "output", "lse", "d_output"]
        results = [upload(ramp("f16", *t.shape)) for t in expected]
        arguments = [upload(t) for t in (self.q, self.k, self.k, output, lse, self.q)]
        code = self.xla.call(run_backward, arguments, results, {"names": names, "options": NO_OPTIONS})
        self.assertEqual((code, self.xla.error), (None, None))
        for result, tensor in zip(results, expected):
            self.assertEqual(values(*result), tensor.values())

    def test_errors(self):
        arguments = [upload(t) for t in (self.q, self.k, ramp("f32", 1, 1, 40, 64))]
        self.assertEqual(self.xla.call(run_forward, arguments, [self.output, self.lse], self.options), 1)
        self.assertEqual(self.xla.error, "BindingError: value: expected dtype f16, that of query, got f32")
        unknown = ffi.Buffers(size=1, items=(ctypes.POINTER(ffi.Buffer) * 1)(ctypes.pointer(ffi.Buffer(dtype=6))))
        with self.assertRaisesRegex(attn_mlir.AttnError, "expected dtype i1, .*, got XLA's type 6"):
            ffi.arrays_of(unknown, "cuda", 0, 0)

    def test_stages_before_the_execution(self):
        self.assertIsNone(self.xla.call(lambda *_: self.fail("called"), [], [], {}, stage=0))
        self.assertIsNone(self.xla.error)


if __name__ == "__main__":
    sys.exit(unittest.main())
