"""Arrays that are on a GPU already run there, in place: the GPU is the simulator behind a stand-in for libcuda."""

import sys
import unittest

import attn_mlir
from attn_mlir.runtime.cuda import Context, Memory
from attn_mlir.runtime.host_array import HostArray

TYPES = {"f16": "<f2", "f32": "<f4", "i32": "<i4"}


class GpuArray:
    """Memory on the device, by the CUDA array interface."""

    def __init__(self, tensor, strides=None):
        self.tensor, self.strides = tensor, strides
        data = tensor.spread(strides) if strides else tensor.data
        self.memory = Memory(Context(), len(data))
        self.memory.write(data)

    @property
    def __cuda_array_interface__(self):
        size = 2 if self.tensor.dtype == "f16" else 4
        strides = tuple(s * size for s in self.strides) if self.strides else None
        interface = {"shape": self.tensor.shape, "typestr": TYPES[self.tensor.dtype], "version": 3}
        return {**interface, "data": (self.memory.address, False), "strides": strides}

    def values(self):
        return HostArray(self.tensor.dtype, self.tensor.shape, self.memory.read()).values()


def ramp(*shape):
    count = 1
    for size in shape:
        count *= size
    return HostArray.of("f16", shape, [((37 * k) % 101 - 50) / 32 for k in range(count)])


class InPlace(unittest.TestCase):
    def test_results(self):
        for target, dim in (("sm_80", 32), ("sm_90a", 64)):
            q, k = ramp(1, 2, 30, dim), ramp(1, 1, 40, dim)
            expected, expected_lse = attn_mlir.attention(
                q, k, k, causal=True, return_lse=True, target=target, device="sim"
            )
            strided = GpuArray(q, (30 * 2 * dim, dim, 2 * dim, 1))
            out, lse = GpuArray(ramp(1, 2, 30, dim)), GpuArray(HostArray("f32", (1, 2, 30), bytearray(240)))
            arguments = dict(causal=True, return_lse=True, out=(out, lse), target=target)
            for _ in range(2):  # the second time from packed launches
                out.memory.fill(0xFF)
                attn_mlir.attention(strided, GpuArray(k), GpuArray(k), **arguments)
                self.assertEqual(out.values(), expected.values())
                self.assertEqual(lse.values(), expected_lse.values())

    def test_append(self):
        """Alone, to pools with heads behind rows; slots stay on the device."""
        pages, heads, page, dim = 3, 2, 4, 32
        pools, rows = [ramp(pages, heads, page, dim) for _ in range(2)], ramp(3, heads, dim)
        slots = HostArray.of("i32", (3,), [9, -1, 4])
        strides = (page * heads * dim, dim, heads * dim, 1)
        there = [GpuArray(pool, strides) for pool in pools]
        for target in ("sm_80", "sm_90a"):
            attn_mlir.append(GpuArray(rows), GpuArray(rows), *there, GpuArray(slots), target=target)
            for pool, array in zip(pools, there):
                values, row = pool.values(), rows.values()
                for token, slot in ((0, 9), (2, 4)):
                    for h in range(heads):
                        at = ((slot // page * heads + h) * page + slot % page) * dim
                        values[at : at + dim] = row[(token * heads + h) * dim :][:dim]
                expected = HostArray.of("f16", pool.shape, values).spread(strides)
                self.assertEqual(array.memory.read(), expected)
                array.memory.write(pool.spread(strides))

    def test_host_arrays_are_copied(self):
        q = ramp(1, 2, 30, 32)
        expected = attn_mlir.attention(q, q, q, target="sm_80", device="sim")
        result = attn_mlir.attention(q, q, q, target="sm_80", device="cuda")
        self.assertEqual(result.values(), expected.values())

    def test_target_of_the_device(self):
        """The stand-in is of compute capability 9.0."""
        q = GpuArray(ramp(1, 1, 8, 64))
        attn_mlir.attention(q, q, q, out=GpuArray(ramp(1, 1, 8, 64)))
        with self.assertRaisesRegex(
            attn_mlir.DeviceError, "expected a device for sm_100a, got attn-sim .sm_90.; compile for sm_90"
        ):
            kernel = attn_mlir.compile(KERNEL, target="sm_80")
            text = kernel.program.manifest_text.replace('"sm_80"', '"sm_100a"')
            kernel.program = type(kernel.program)(type(kernel.manifest).parse(text), text, kernel.ptx)
            kernel(q, q, q, out=GpuArray(ramp(1, 1, 8, 64)))

    def test_messages(self):
        q, host = GpuArray(ramp(1, 1, 8, 64)), ramp(1, 1, 8, 64)
        for message, function in {
            "expected all arrays on the CPU or all on a GPU, got both": lambda: attn_mlir.attention(q, host, host),
            "expected out= for results beside arrays of GpuArray, got none": lambda: attn_mlir.attention(q, q, q),
            "expected device cuda for arrays on a GPU, got sim": lambda: attn_mlir.attention(
                q, q, q, out=q, device="sim"
            ),
            "result 0: expected memory of its own, got some of argument 0": lambda: attn_mlir.attention(q, q, q, out=q),
            "operand query: expected alignment to 16 bytes": lambda: attn_mlir.attention(
                shifted(q), q, q, out=GpuArray(host)
            ),
        }.items():
            with self.assertRaises(attn_mlir.BindingError) as caught:
                function()
            self.assertIn(message, str(caught.exception))


def shifted(array):
    class Shifted:
        __cuda_array_interface__ = {**array.__cuda_array_interface__, "data": (array.memory.address + 2, False)}

    return Shifted()


KERNEL = """
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = attn.attention %q, %k, %v
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}
"""

if __name__ == "__main__":
    sys.exit(unittest.main())
