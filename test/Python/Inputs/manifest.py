"""The manifest in Python: reading, binding; the messages are those of the C++ side."""

import dataclasses
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from attn_mlir.errors import BindingError, ManifestError
from attn_mlir.runtime.binding import BoundProblem, TensorLayout, row_major_strides
from attn_mlir.runtime.host_array import HostArray, read_npy, round_to, write_npy
from attn_mlir.runtime.manifest import Manifest


class Reading(unittest.TestCase):
    def setUp(self):
        self.root = json.loads(MANIFEST.read_text())

    def rejects(self, message):
        with self.assertRaises(ManifestError) as caught:
            Manifest.parse(json.dumps(self.root))
        self.assertEqual(str(caught.exception), message)

    def test_what_the_compiler_writes(self):
        manifest = Manifest.load(COMPILED)
        self.assertEqual([o.name for o in manifest.operands], ["query", "key", "value", "output", "lse"])
        self.assertEqual(manifest.operands[0].shape, ("B", "Hq", "M", 64))
        self.assertEqual(manifest.operands[0].contiguous_dims, (3,))
        self.assertTrue(any(parameter.tensor_map for parameter in manifest.kernels[0].parameters))
        query, key = TensorLayout((2, 8, 300, 64)), TensorLayout((2, 4, 500, 64))
        self.assertTrue(BoundProblem(manifest, [query, key, key, None, None], 132).launches())

    def test_unknown_field(self):
        self.root["kernels"][0]["gird"] = 1
        self.rejects("kernels[0]: unknown field 'gird'")

    def test_missing_field(self):
        del self.root["kernels"][0]["entry"]
        self.rejects("kernels[0]: missing field 'entry'")

    def test_schema(self):
        self.root["schema"] = "attn-mlir/manifest/2"
        self.rejects("manifest: expected schema 'attn-mlir/manifest/1', got 'attn-mlir/manifest/2'")

    def test_expression(self):
        self.root["kernels"][0]["grid"] = [1, "(Hq"]
        self.rejects("kernels[0].grid[1]: column 4: expected ')' in '(Hq'")

    def test_name(self):
        self.root["kernels"][0]["shared_bytes"] = "Hx * 2"
        self.rejects("kernels[0].shared_bytes: unknown name 'Hx' in 'Hx * 2'")

    def test_enumeration(self):
        self.root["operands"][0]["role"] = "in"
        self.rejects("operands[0].role: expected one of input, output, inout, got 'in'")

    def test_limits(self):
        self.root["kernels"][0]["cluster"] = [17]
        self.rejects("kernels[0].cluster[0]: expected 1 to 16 CTAs, got 17")

    def test_base(self):
        self.root["kernels"][0]["parameters"][0] = {"kind": "pointer", "workspace": "w"}
        self.rejects("kernels[0].parameters[0].workspace: no workspace 'w'")

    def test_text(self):
        with self.assertRaisesRegex(ManifestError, "absent.json: .*No such file"):
            Manifest.load("absent.json")
        with self.assertRaisesRegex(ManifestError, "^manifest is not JSON"):
            Manifest.parse("{")


class Binding(unittest.TestCase):
    def setUp(self):
        self.manifest = Manifest.load(MANIFEST)
        query, key = (2, 8, 300, 64), (2, 4, 500, 64)
        self.layouts = [TensorLayout(query), TensorLayout(key), TensorLayout(key), None, None]

    def test_launch(self):
        problem = BoundProblem(self.manifest, self.layouts, 132)
        self.assertEqual(problem.symbols, {"B": 2, "Hq": 8, "M": 300, "Hkv": 4, "N": 500})
        self.assertEqual(problem.operands[3].shape, (2, 8, 300, 64))
        (launch,) = problem.launches()
        self.assertEqual(launch.grid[1:], (8, 2))
        maps = {p.parameter.base: p for p in launch.parameters if p.parameter.tensor_map}
        self.assertEqual(maps["key"].dims, (64, 500, 4, 2))
        self.assertEqual(maps["key"].strides_bytes, (128, 64000, 256000))

    def test_repeat(self):
        root = json.loads(MANIFEST.read_text())
        root["repeat"] = "ceildiv(M, 128)"
        root["kernels"][0]["parameters"][1] = {"kind": "i32", "value": "iteration * 128"}
        problem = BoundProblem(Manifest.parse(json.dumps(root)), self.layouts)
        self.assertEqual([launch.parameters[1].value for launch in problem.launches()], [0, 128, 256])

    def rejects(self, message, **layouts):
        names = [operand.name for operand in self.manifest.operands]
        for name, layout in layouts.items():
            self.layouts[names.index(name)] = layout
        with self.assertRaises(BindingError) as caught:
            BoundProblem(self.manifest, self.layouts).launches()
        self.assertIn(message, str(caught.exception))

    def test_errors(self):
        key = self.layouts[1]
        for message, layout in {
            "operand key: expected rank 4, got 3": TensorLayout((4, 500, 64)),
            "operand key: expected dim 3 to be 64, got 32": TensorLayout((2, 4, 500, 32)),
            "operand key: expected dim 0 (B) to be 2, got 3": TensorLayout((3, 4, 500, 64)),
            "operand key: expected stride 3 to be 1, got 2": TensorLayout(key.shape, (256000, 64000, 128, 2)),
            "operand key: expected stride 2 to be a multiple of 8, got 65": TensorLayout(
                key.shape, (256000, 64000, 65, 1)
            ),
            "operand key: expected stride 0 to be at least 0, got -8": TensorLayout(key.shape, (-8, 64000, 64, 1)),
            "operand key: expected 4 strides, got 1": TensorLayout(key.shape, (1,)),
            "operand key: expected alignment to 16 bytes, got address 8": dataclasses.replace(key, address=8),
            "number of key heads: expected mod(dim(query, 1), dim(key, 1)) to be 0, got 2": TensorLayout(
                (2, 3, 500, 64)
            ),
            "operand key: not given": None,
        }.items():
            self.layouts[1] = self.layouts[2] = key
            value = TensorLayout((2, 3, 500, 64)) if message.startswith("number") else key
            self.rejects(message, key=layout, value=value)

    def test_grid_limit(self):
        shape = (65536, 8, 1, 64)
        self.rejects(
            "kernels[0].grid[2]: expected 0 to 65535, got 65536",
            query=TensorLayout(shape),
            key=TensorLayout(shape),
            value=TensorLayout(shape),
        )

    def test_same_words_as_attn_sim(self):
        """attn-sim binds by lib/Runtime."""
        with tempfile.TemporaryDirectory() as folder:
            command = ["attn-sim", str(COMPILED.with_suffix(".ptx"))]
            for i, shape in enumerate([(1, 2, 3, 64), (1, 2, 5, 64), (1, 2, 4, 64)]):
                path = Path(folder) / f"{i}.npy"
                write_npy(path, HostArray("bf16", shape, bytearray(2 * shape[1] * shape[2] * 64)))
                command += ["--input", str(path)]
            said = subprocess.run(command, capture_output=True, text=True).stderr
        layouts = [TensorLayout(s) for s in [(1, 2, 3, 64), (1, 2, 5, 64), (1, 2, 4, 64)]] + [None, None]
        with self.assertRaises(BindingError) as caught:
            BoundProblem(Manifest.load(COMPILED), layouts)
        self.assertEqual(said.strip(), f"attn-sim: error: {caught.exception}")


class HostArrays(unittest.TestCase):
    def test_rounding(self):
        self.assertEqual(round_to(1 + 2**-8, "bf16"), 1.0)  # a tie, to even
        self.assertEqual(round_to(1 + 3 * 2**-8, "bf16"), 1 + 2**-6)
        self.assertEqual(round_to(1 + 2**-11, "f16"), 1.0)

    def test_layouts(self):
        tensor = HostArray.of("bf16", (2, 3), [1, 2, 3, 4, 5, 6])
        strides = (8, 2)
        data = tensor.spread(strides)
        self.assertEqual(len(data), 2 * (8 + 4 + 1))
        self.assertEqual(data[2:4], b"\xff\xff")
        self.assertEqual(HostArray.gather("bf16", (2, 3), strides, data).values(), [1, 2, 3, 4, 5, 6])
        self.assertEqual(row_major_strides((2, 3, 0, 5)), (15, 5, 5, 1))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.npy"
            for dtype, values in {
                "bf16": [1.5, -2],
                "f16": [0.5, 65504],
                "f32": [0.25, -1],
                "i64": [2**40, -1],
            }.items():
                write_npy(path, HostArray.of(dtype, (2, 1), values))
                again = read_npy(path)
                self.assertEqual((again.dtype, again.shape, again.values()), (dtype, (2, 1), values))


COMPILED = Path(sys.argv.pop(1))
MANIFEST = Path(__file__).parent / "launch.json"
unittest.main()
