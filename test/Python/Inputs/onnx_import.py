"""Modules for ONNX's Attention from types alone, without the package onnx: each form is verified by attn-opt."""

import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from attn_mlir import onnx
from attn_mlir.errors import AttnError
from attn_mlir.kernel import run_module
from attn_mlir.onnx import TensorType, Update, import_attention
from attn_mlir.runtime.host_array import HostArray

Q, K, V = (TensorType("f16", shape) for shape in ((2, 9, 4, 32), (2, 3, 6, 32), (2, 3, 6, 48)))
PAST = (TensorType("f16", (2, 3, 12, 32)), TensorType("f16", (2, 3, 12, 48)))


def recognised(inputs, attributes={}, outputs=(True,), **options):
    """The module, as attn-opt prints it."""
    text = import_attention(inputs, attributes, outputs, **options)
    result = subprocess.run(["attn-opt", "-", "--attn-to-tensor"], input=text, capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(result.stderr + text)
    return result.stdout


class Forms(unittest.TestCase):
    def test_sizes_are_dynamic(self):
        text = recognised([Q, K, V])
        self.assertIn("attn.attention", text)
        self.assertIn("tensor<?x?x?x32xf16>, tensor<?x?x?x32xf16>, tensor<?x?x?x48xf16>", text)

    def test_causal_is_named(self):
        self.assertIn("mask_mod causal(top_left)", recognised([Q, K, V], {"is_causal": 1}))

    def test_hidden_sizes(self):
        flat = [TensorType("f32", shape) for shape in ((2, 4, 72), (2, 6, 24), (2, 6, 30))]
        text = recognised(flat, {"q_num_heads": 9, "kv_num_heads": 3})
        self.assertIn("tensor<?x9x?x8xf32>, tensor<?x3x?x8xf32>, tensor<?x3x?x10xf32>", text)
        self.assertIn("-> tensor<?x?x90xf32>", text)

    def test_float_mask_is_a_bias(self):
        for shape, bias in (((4, 6), "1x1x?x?"), ((1, 6), "1x1x1x?"), ((9, 4, 6), "1x?x?x?"), ((2, 1, 4, 6), "?x1x?x?")):
            text = recognised([Q, K, V, TensorType("f16", shape)])
            self.assertIn(f": tensor<{bias}xf16>)", text)
            self.assertNotIn("score_mod", text)

    def test_mask_after_a_soft_cap(self):
        text = recognised([Q, K, V, TensorType("f32", (4, 6))], {"softcap": 2.0})
        self.assertIn("math.tanh", text)
        self.assertNotIn("bias(", text)

    def test_short_mask(self):
        """Of one column too: what it does not have is masked."""
        for columns in (1, 4, None, "L"):
            text = recognised([Q, K, V, TensorType("i1", (4, columns))])
            self.assertIn("arith.minsi", text)

    def test_named_lengths_agree(self):
        key, value = (TensorType("f16", (None, 3, "N", size)) for size in (32, 48))
        self.assertIn("bias(", recognised([Q, key, value, TensorType("f16", (4, "N"))]))
        self.assertNotIn("bias(", recognised([Q, key, value, TensorType("f16", (4, "L"))]))

    def test_past(self):
        text = recognised([Q, K, V, None, *PAST], {"is_causal": 1}, (True, True, True))
        self.assertEqual(text.count("tensor.concat dim(2)"), 2)
        # Lengths differ, so that the mask depends on that of the past.
        self.assertIn("tensor<?x?x12x32xf16>", text)
        same = TensorType("f16", (2, 9, 6, 32))
        self.assertIn("tensor<?x?x?x32xf16>, ", recognised([same, K, V, None, *PAST], {"is_causal": 1}))

    def test_padding(self):
        narrow = [TensorType("f32", (2, 3, 4, 6))] * 3
        text = recognised(narrow, head_multiple=8)
        self.assertEqual(text.count("tensor.pad"), 3)
        self.assertIn("scale(0.4082482904638630", text)
        self.assertIn("tensor.extract_slice", text)

    def test_lengths(self):
        """nonpad_kv_seqlen says which keys exist: NaN behind it, of keys and values, has no influence."""
        lengths = TensorType("i64", (2,))
        text = recognised([Q, K, V, None, None, None, lengths], {"is_causal": 1})
        self.assertIn("lengths(key %arg3 : tensor<?xi64>) mask_mod", text)
        self.assertIn("attn.length key", text)
        self.assertNotIn("tensor.extract", text)
        self.assertNotIn("mask_mod", recognised([Q, K, V, None, None, None, lengths]))
        exists = [j < n for n in (4, 0) for _ in range(3) for j in range(6)]
        arrays = [HostArray.of("f16", Q.shape, [((7 * k) % 11 - 5) / 8 for k in range(2 * 9 * 4 * 32)])]
        for shape in (K.shape, V.shape):
            rows = ([((5 * k + j) % 13 - 6) / 8 for j in range(shape[3])] if there else [math.nan] * shape[3] for k, there in enumerate(exists))
            arrays.append(HostArray.of("f16", shape, [x for row in rows for x in row]))
        arrays.append(HostArray.of("i64", (2,), [4, 0]))
        module = import_attention([Q, K, V, None, None, None, lengths])
        for device in ("cpu", "sim:sm_80", "sim:sm_90a"):
            output = run_module(module, arrays, device)[0].values()
            half = len(output) // 2
            self.assertTrue(all(math.isfinite(x) for x in output) and any(output[:half]), device)
            self.assertEqual(set(output[half:]), {0.0})

    def test_update(self):
        """K and V that TensorScatter makes: the caches are arguments and results."""
        rows = [TensorType("f16", (2, 3, 1, size)) for size in (32, 48)]
        for circular, indices in ((False, TensorType("i64", (2,))), (True, None)):
            text = recognised([Q, K, V], update=Update(*rows, indices, circular))
            self.assertEqual("arith.remui" in text, circular)
            self.assertIn("-> (tensor<?x?x?x48xf16>, tensor<?x?x?x32xf16>, tensor<?x?x?x48xf16>)", text)
            self.assertRegex(text, r"attn.append %arg3, %arg4 into %arg1, %arg2 slots\(%\d+ : tensor<\?x\?xi64>\)")
        flat = [TensorType("f16", (2, 4, 96))] * 3
        with self.assertRaisesRegex(AttnError, "expected Q, K and V of rank 4 beside TensorScatter, got rank 3"):
            import_attention(flat, {"q_num_heads": 3, "kv_num_heads": 3}, update=Update(*rows, None))

    def test_matrix_of_scores(self):
        """By ops of linalg behind the attention, with the LSE of the kernel where these are probabilities."""
        mask, lengths = TensorType("f16", (4, 6)), TensorType("i64", (2,))
        for mode, more in enumerate(("arith.truncf", "math.tanh", "tensor.extract %arg3", "math.exp")):
            attributes = {"qk_matmul_output_mode": mode, "softcap": 2.0, "is_causal": 1, "right_window_size": 2}
            text = recognised([Q, K, V, mask, None, None, lengths], attributes, (True, False, False, True))
            attention, matrix = text.split("linalg.generic", 1)
            self.assertIn(more, matrix)
            self.assertEqual("math.tanh" in matrix, mode > 0)
            self.assertEqual("arith.select" in matrix, mode > 1)
            self.assertEqual("tensor<?x?x?xf32>" in attention, mode == 3)
            self.assertIn("-> (tensor<?x?x?x48xf16>, tensor<?x?x?x?xf16>)", text)
        past = [TensorType("f16", (2, 3, "P", size)) for size in (32, 48)]
        text = recognised([Q, K, V, None, *past], {"is_causal": 1, "qk_matmul_output_mode": 2}, (True, False, False, True))
        self.assertIn("math.", recognised([Q, K, V], {"qk_matmul_output_mode": 3}, (True, False, False, True)))
        self.assertIn("arith.select", text)


class Messages(unittest.TestCase):
    def refuses(self, message, inputs, attributes={}, outputs=(True,)):
        with self.assertRaises(AttnError) as caught:
            import_attention(inputs, attributes, outputs)
        self.assertIn(message, str(caught.exception))

    def test_messages(self):
        f64 = TensorType("f64", Q.shape)
        self.refuses("expected the input V, got none", [Q, K])
        self.refuses("expected Q, K and V of rank 4, or all of rank 3, got K of rank 3", [Q, TensorType("f16", (1, 2, 3)), V])
        self.refuses("expected Q, K and V of one of f16, bf16, f32, got Q of f64", [f64, f64, f64])
        self.refuses("got K of f32", [Q, TensorType("f32", K.shape), V])
        self.refuses("expected V with a known last dimension", [Q, K, TensorType("f16", (2, 3, 6, "D"))])
        self.refuses("unknown attribute 'dropout'", [Q, K, V], {"dropout": 0.1})
        self.refuses("expected past_key and past_value, got one of them", [Q, K, V, None, PAST[0]])
        self.refuses("expected nonpad_kv_seqlen or past_key, got both", [Q, K, V, None, *PAST, TensorType("i64", (2,))])
        self.refuses("expected qk_matmul_output_mode to be 0, 1, 2 or 3, got 4", [Q, K, V], {"qk_matmul_output_mode": 4})
        self.refuses("the softmax is computed in f32", [Q, K, V], {"softmax_precision": 11})
        flat = [TensorType("f16", (2, 4, 72))] * 3
        self.refuses("expected q_num_heads to divide the 72 columns of Q, got None", flat)
        self.refuses("expected kv_num_heads to divide the 72 columns of K, got 5", flat, {"q_num_heads": 9, "kv_num_heads": 5})
        wrong = TensorType("f16", (2, 3, 12, 16))
        self.refuses("expected past_key of f16 and head dim 32, got", [Q, K, V, None, wrong, PAST[1]])

    def test_without_the_package(self):
        with mock.patch.dict(sys.modules, {"onnx": None}), self.assertRaisesRegex(AttnError, "pip install onnx"):
            onnx.import_model("model.onnx")


class Models(unittest.TestCase):
    """With the package: a graph's nodes, by the command."""

    def setUp(self):
        try:
            import onnx as package
        except ImportError:
            self.skipTest("needs the package onnx")
        self.package = package
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def save(self, nodes):
        helper, kind = self.package.helper, self.package.TensorProto.FLOAT16
        values = [helper.make_tensor_value_info(n, kind, t.shape) for n, t in (("q", Q), ("k", K), ("v", V))]
        graph = helper.make_graph(nodes, "g", values, [helper.make_empty_tensor_value_info("y")])
        path = self.folder / "model.onnx"
        self.package.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]), path)
        return str(path)

    def test_command(self):
        node = self.package.helper.make_node
        model = self.save([node("Relu", ["q"], ["r"]), node("Attention", ["r", "k", "v"], ["y"], name="layer.0/attn", is_causal=1)])
        onnx.main([model, "-o", str(self.folder / "out")])
        text = (self.folder / "out" / "layer_0_attn.mlir").read_text()
        self.assertIn("func.func @layer_0_attn(", text)
        self.assertIn("causal(top_left)", text)

    def test_messages(self):
        node = self.package.helper.make_node
        for message, argument in {
            "expected a graph with an Attention (opset 23 or later), FlexAttention or GroupQueryAttention, got 1 nodes: Relu": self.save([node("Relu", ["q"], ["y"])]),
            "cannot read the model": str(self.folder / "absent.onnx"),
        }.items():
            with self.assertRaises(SystemExit) as caught:
                onnx.main([argument, "-o", str(self.folder / "out")])
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    sys.exit(unittest.main())
