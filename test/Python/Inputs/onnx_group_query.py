"""GroupQueryAttention of ONNX Runtime: prompts and steps against float64, and against ONNX Runtime where it is installed; messages."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from onnx import helper

from attn_mlir import server
from attn_mlir.arrays import view_of
from attn_mlir.errors import AttnError
from attn_mlir.kernel import run_module
from attn_mlir.onnx import TensorType, import_group_query_attention, import_model, main
from group_query_reference import group_query

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

NAMES = (
    *("query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length", "cos_cache", "sin_cache", "position_ids"),
    *("attention_bias", "head_sink", "k_scale", "v_scale", "q_norm_weight", "k_norm_weight", "query_seqlens"),
)
OUTPUTS = ("output", "present_key", "present_value")
FULL = {"do_rotary": 1}
TOLERANCE = {"float32": 3e-6, "float16": 4e-3}


def make_inputs(
    length, keys, past=None, total=None, heads=(4, 2), dim=16, dtype=np.float32, packed=False, rotary=0, positions=None, bias=None, has_sink=False,
    has_norm=False, valid=None,
):  # fmt: skip
    """`length` rows of each batch, with which there are `keys` of it, and `past` rows of the caches, NaN in those that no key is in."""
    rng, (num, kv_num), batch = np.random.default_rng(7), heads, len(keys)
    normal = lambda *shape: rng.standard_normal(shape).astype(dtype)
    widths = {"query": num + 2 * kv_num} if packed else {"query": num, "key": kv_num, "value": kv_num}
    inputs = {name: normal(batch, length, width * dim) for name, width in widths.items()}
    begin = np.array(keys) - (np.minimum(length, keys) if valid is None else valid)
    if past is not None:
        for name in ("past_key", "past_value"):
            inputs[name] = normal(batch, kv_num, past, dim)
            for b, first in enumerate(begin):
                inputs[name][b, :, first:] = np.nan
    inputs["seqlens_k"] = np.array(keys, np.int32) - 1
    inputs["total_sequence_length"] = np.array([total or max(keys)], np.int32)
    if rotary:
        angles = np.arange(40)[:, None] * 0.3 ** np.arange(rotary // 2)
        inputs["cos_cache"], inputs["sin_cache"] = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
    if positions is not None:
        inputs["position_ids"] = np.array(positions, np.int64)
    if bias:
        inputs["attention_bias"] = normal(*bias)
    if has_sink:
        inputs["head_sink"] = normal(num)
    if has_norm:
        inputs["q_norm_weight"], inputs["k_norm_weight"] = normal(dim), normal(dim)
    if valid is not None:
        inputs["query_seqlens"] = np.array(valid, np.int32)
    return {name: inputs[name] for name in NAMES if name in inputs}, {"num_heads": num, "kv_num_heads": kv_num}


def make_model(inputs, attributes, present_rows="all"):
    """The node alone, with as many batches and rows as there are."""
    kind = helper.np_dtype_to_tensor_dtype
    names = [name if name in inputs else "" for name in NAMES]
    node = helper.make_node("GroupQueryAttention", names, OUTPUTS, domain="com.microsoft", **attributes)
    values = [helper.make_tensor_value_info(name, kind(x.dtype), x.shape) for name, x in inputs.items()]
    present = ["batch", attributes["kv_num_heads"], present_rows, "dim"]
    if isinstance(present_rows, int):
        present = list(inputs["past_key"].shape)
    shapes = zip(OUTPUTS, (["batch", "rows", "columns"], present, present))
    results = [helper.make_tensor_value_info(name, kind(inputs["query"].dtype), shape) for name, shape in shapes]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph([node], "step", values, results), opset_imports=opsets, ir_version=10)


def run(mlir, inputs, device):
    tensors = [view_of(x.copy()) for x in inputs.values()]
    if device != "cpu":
        results = run_module(mlir, [tensor.to_host() for tensor in tensors], device, ["--allow-tf32"])
    else:
        with server.results_of(mlir, tensors) as places:
            results = [place.to_host() for place in places]
    return [np.frombuffer(x.data, np.dtype(x.dtype.replace("f", "float"))).reshape(x.shape) for x in results]


class Steps(unittest.TestCase):
    def compare(self, results, expected, tolerance, what):
        """Where the operator says what is there, which NaN in `expected` is not."""
        for name, result, exact in zip(OUTPUTS, results, expected, strict=True):
            self.assertEqual(result.shape, exact.shape, (what, name))
            known = ~np.isnan(exact)
            error = np.abs(result[known].astype(np.float64) - exact[known]).max(initial=0.0)
            self.assertLess(error, tolerance, (what, name))
            key = f"{what}, {result.dtype}, {name}"
            self.largest[key] = max(self.largest.get(key, 0.0), error)

    def check(self, made, device="cpu", tolerance=None, share=None, by_runtime=True, **attributes):
        """The function against float64; ONNX Runtime's against it too."""
        inputs, heads = made
        attributes |= heads
        expected = group_query(inputs, attributes)
        tolerance = tolerance or TOLERANCE[inputs["query"].dtype.name]
        model = make_model(inputs, attributes)
        (node,) = import_model(model, share_buffer=share)
        self.assertEqual("tensor.pad" in node.mlir, "past_key" in inputs and not share)
        self.compare(run(node.mlir, inputs, device), expected, tolerance, "this project")
        if onnxruntime and by_runtime:
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            self.compare(session.run(None, inputs), expected, tolerance, "onnxruntime")

    largest: dict = {}

    @classmethod
    def tearDownClass(cls):
        for name, error in sorted(cls.largest.items()):
            print(f"largest error of {name}: {error:.1e}")

    def test_prompts(self):
        """All rows are new; batches that are shorter end with rows of padding."""
        for past in (None, 0, 12):
            self.check(make_inputs(5, [5, 1, 3], past), share=past == 12)
        self.check(make_inputs(1, [1, 1], None))
        self.check(make_inputs(5, [5, 5], 5), share=True)  # a buffer that is full

    def test_steps(self):
        """A row more of each, in buffers that have one left at least, and in longer ones that are made."""
        self.check(make_inputs(1, [5, 12, 1], 12, 12), share=True)
        self.check(make_inputs(1, [5, 12, 1], 12, 12), share=False)
        self.check(make_inputs(1, [5, 2, 1], 4))
        self.check(make_inputs(1, [12, 12], 12), share=True)
        inputs, heads = make_inputs(1, [5, 12, 1], 12)
        inputs |= {"seqlens_k": inputs["seqlens_k"].reshape(3, 1), "total_sequence_length": np.array(12, np.int32)}  # as exporters write them
        self.check((inputs, heads), share=True)

    def test_chunks(self):
        """Several rows behind others: of one batch, or with query_seqlens, which may be 0."""
        self.check(make_inputs(3, [8], 5))
        self.check(make_inputs(3, [8], 12), share=True)
        for share, past, total in ((True, 12, 12), (False, 6, 10)):
            self.check(make_inputs(4, [5, 9, 6], past, total, valid=[2, 4, 0], rotary=16), share=share, **FULL)
        self.check(make_inputs(1, [5, 9], 12, 12, valid=[0, 1]), share=True)

    def test_rotary(self):
        for made in (make_inputs(5, [5, 3], rotary=16), make_inputs(5, [5, 3], rotary=16, dim=32), make_inputs(1, [5, 12, 1], 12, 12, rotary=16, dim=32)):
            for interleaved in (0, 1):
                self.check(made, rotary_interleaved=interleaved, share="past_key" in made[0], **FULL)
        # With positions: each, but of a first prompt the first of all alone.
        self.check(make_inputs(1, [5, 12, 2], 12, 12, rotary=16, positions=[[3], [0], [39]]), share=True, **FULL)
        self.check(make_inputs(3, [8], 12, rotary=16, positions=[[2, 9, 4]]), share=True, **FULL)
        self.check(make_inputs(5, [5, 3], rotary=16, positions=[[2, 3, 4, 5, 6], [9, 1, 2, 3, 8]]), **FULL)
        self.check(make_inputs(4, [4, 6], 12, 12, rotary=16, valid=[4, 2], positions=[[2, 9, 4, 1], [7, 8, 0, 0]]), share=True, **FULL)
        self.check(make_inputs(5, [5, 3], rotary=16))  # tables that are not used

    def test_packed(self):
        self.check(make_inputs(5, [5, 3], packed=True, heads=(6, 2)))
        self.check(make_inputs(1, [5, 12, 2], 12, 12, packed=True, rotary=16, heads=(6, 1)), share=True, **FULL)

    def test_scores(self):
        prompt, step = make_inputs(5, [5, 3]), make_inputs(1, [5, 12, 1], 12, 12)
        for window in (1, 3, 20):
            self.check(prompt, local_window_size=window)
            self.check(step, local_window_size=window, share=True)
        self.check(prompt, local_window_size=0)
        self.check(prompt, softcap=0.7, scale=0.5)
        self.check(prompt, softcap=-1.0, scale=0.0, smooth_softmax=-1, local_window_size=-1)  # none of them
        self.check(prompt, smooth_softmax=1)
        self.check(make_inputs(5, [5, 3], has_sink=True), softcap=0.5, local_window_size=2)
        self.check(step, causal=0, share=True)
        self.check(prompt, causal=0)
        self.check(make_inputs(5, [5, 3], bias=(2, 4, 5, 5)), softcap=0.7)
        self.check(make_inputs(1, [5, 7, 1], 12, bias=(1, 1, 1, 7)), share=True, local_window_size=4)

    def test_norm(self):
        """Which ONNX Runtime has on GPUs alone."""
        made = make_inputs(5, [5, 3], has_norm=True, rotary=16)
        self.check(made, by_runtime=False, **FULL)
        self.check(made, by_runtime=False, qk_norm_epsilon=0.3, k_norm_epsilon=0.7)

    def test_half(self):
        self.check(make_inputs(5, [5, 3], rotary=16, dtype=np.float16), **FULL)
        step = make_inputs(1, [5, 12, 1], 12, 12, rotary=16, dtype=np.float16, has_sink=True)
        self.check(step, share=True, softcap=2.0, local_window_size=4, **FULL)
        self.check(step, "sim:sm_80", share=True, softcap=2.0, local_window_size=4, by_runtime=False, **FULL)
        self.check(make_inputs(5, [5, 3], 8, rotary=16, dtype=np.float16, packed=True, bias=(2, 1, 5, 5)), "sim:sm_80", by_runtime=False, **FULL)

    def test_tail(self):
        """What no key is in has no influence on a bit of the output, and stays."""
        inputs, heads = make_inputs(1, [5, 2], 12, 12)
        (node,) = import_model(make_model(inputs, heads), share_buffer=True)
        output, *present = run(node.mlir, inputs, "cpu")
        zeros = {name: np.nan_to_num(x, nan=0.0) for name, x in inputs.items()}
        np.testing.assert_array_equal(run(node.mlir, zeros, "cpu")[0], output)
        for cache in present:
            self.assertTrue(np.isnan(cache[0, :, 5:]).all() and np.isnan(cache[1, :, 2:]).all() and np.isfinite(cache[1, :, :2]).all())


class Forms(unittest.TestCase):
    def test_buffers(self):
        """The model's types say whether past and present are one, or the command does."""
        inputs, heads = make_inputs(1, [5, 2], 12, 12)
        for present, share, is_shared in ((12, None, True), ("all", None, False), ("all", True, True), (12, False, False)):
            (node,) = import_model(make_model(inputs, heads, present), share_buffer=share)
            self.assertEqual("into %past_key, %past_value slots" in node.mlir, is_shared)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(make_model(inputs, heads).SerializeToString())
            main([str(path), "-o", folder, "--share-buffer"])
            self.assertIn("into %past_key, %past_value slots", (Path(folder) / "attention_0.mlir").read_text())

    def test_types(self):
        """Without the package onnx; names of sizes, and the first output alone."""
        types = [TensorType("bf16", ("B", "S", size)) for size in (128, 64, 64)]
        types += [TensorType("bf16", ("B", 2, "P", 32))] * 2 + [TensorType("i32", ("B",)), TensorType("i32", ())]
        text = import_group_query_attention(types, {"num_heads": 4, "kv_num_heads": 2}, (True,), "step", 64, True)
        result = subprocess.run(["attn-opt", "-", "--attn-to-tensor"], input=text, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("-> tensor<?x?x128xbf16>", result.stdout)
        self.assertIn("tensor<?x2x?x64xbf16>", result.stdout)


class Messages(unittest.TestCase):
    def refuses(self, message, changes={}, outputs=(True,), share=False, **attributes):
        types = {"query": (2, 5, 64), "key": (2, 5, 32), "value": (2, 5, 32), "past_key": (2, 2, 7, 16), "past_value": (2, 2, 7, 16)}
        types = {name: TensorType("f16", shape) for name, shape in types.items()}
        types |= {"seqlens_k": TensorType("i32", (2,)), "total_sequence_length": TensorType("i32", (1,))}
        types |= {name: TensorType(*change) if change else None for name, change in changes.items()}
        attributes = {"num_heads": 4, "kv_num_heads": 2} | attributes
        with self.subTest(message), self.assertRaises(AttnError) as caught:
            import_group_query_attention([types.get(name) for name in NAMES], attributes, outputs, share_buffer=share)
        self.assertEqual(message, str(caught.exception))

    def test_inputs(self):
        table, lengths, scale = ("f16", (9, 8)), ("i32", (2,)), ("f32", (1,))
        self.refuses("expected the input seqlens_k, got none", {"seqlens_k": None})
        self.refuses("expected keys and values that are not quantised, got the input k_scale", {"k_scale": scale})
        for pair in (("key", "value"), ("past_key", "past_value")):
            self.refuses(f"expected {pair[0]} and {pair[1]}, got one of them", {pair[1]: None})
        self.refuses("expected cos_cache and sin_cache, got one of them", {"cos_cache": table})
        self.refuses("expected q_norm_weight and k_norm_weight, got one of them", {"q_norm_weight": ("f16", (16,))})
        self.refuses("expected query of one of f16, bf16, f32, got f64", {"query": ("f64", (2, 5, 64))})
        self.refuses("expected past_key of f16, got i8", {"past_key": ("i8", (2, 2, 7, 16))})
        self.refuses("expected seqlens_k of i32, got i64", {"seqlens_k": ("i64", (2,))})
        self.refuses("expected query of rank 3, got rank 4", {"query": ("f16", (2, 4, 5, 16))})
        self.refuses("expected seqlens_k with an element for each batch, got tensor<2x5xi32>", {"seqlens_k": ("i32", (2, 5))})
        self.refuses("expected total_sequence_length of one element, got tensor<2xi32>", {"total_sequence_length": lengths})
        self.refuses("expected num_heads = 4 to divide the columns of query, got 66", {"query": ("f16", (2, 5, 66))})
        self.refuses("expected num_heads = 4 to divide the columns of query, got D", {"query": ("f16", (2, 5, "D"))})
        packed = {"query": ("f16", (2, 5, 64)), "key": None, "value": None}
        self.refuses("expected num_heads + 2 * kv_num_heads = 6 to divide the columns of query, got 64", packed, kv_num_heads=1)
        self.refuses("expected dimension 2 of value to be 32, got 48", {"value": ("f16", (2, 5, 48))})
        self.refuses("expected dimension 1 of past_key to be 2, got 4", {"past_key": ("f16", (2, 4, 7, 16))})
        self.refuses("expected dimension 0 of head_sink to be 4, got 2", {"head_sink": ("f16", (2,))})
        self.refuses("expected as many rows of key as of query, 5, got 3", {"key": ("f16", (2, 3, 32))})
        for columns in (16, "R"):
            message = f"expected cos_cache with a known number of columns from 1 to 8, half the head dim, got {columns}"
            self.refuses(message, {"cos_cache": ("f16", (9, columns)), "sin_cache": table})
        self.refuses("expected cos_cache and sin_cache of one number of columns, got two", {"cos_cache": table, "sin_cache": ("f16", (9, 4))})
        none = {"past_key": None, "past_value": None}
        self.refuses("expected past_key and past_value, the buffers that are shared, got none", none, share=True)
        self.refuses("expected causal to be 1, past_key and past_value beside query_seqlens, got others", {**none, "query_seqlens": lengths})
        self.refuses("expected causal to be 1, past_key and past_value beside query_seqlens, got others", {"query_seqlens": lengths}, causal=0)

    def test_attributes(self):
        self.refuses("unknown attribute 'unidirectional'", unidirectional=1)
        self.refuses("expected qk_output to be 0, got 1", qk_output=1)
        self.refuses("expected sliding_window_cache to be 0, got 1", sliding_window_cache=1)
        self.refuses("expected k_quant_type to be NONE, got PER_TENSOR", k_quant_type=b"PER_TENSOR")
        self.refuses("expected kv_cache_bit_width to be 0, got 8", kv_cache_bit_width=8)
        self.refuses("expected num_heads to be a multiple of kv_num_heads, got 4 and 3", kv_num_heads=3)
        self.refuses("expected causal to be 1 beside local_window_size, got 0", causal=0, local_window_size=4)
        self.refuses("expected cos_cache and sin_cache beside do_rotary, got none", do_rotary=1)
        outputs = (True, True, True, True)
        self.refuses("expected the outputs output, present_key and present_value, got output_qk", outputs=outputs)

    def test_quantised_model(self):
        inputs, heads = make_inputs(1, [5, 2], 12, 12)
        inputs |= {name: np.zeros(inputs[name].shape, np.int8) for name in ("past_key", "past_value")}
        with self.assertRaisesRegex(AttnError, "node 'attention_0': expected past_key of f32, got i8"):
            import_model(make_model(inputs, heads))


if __name__ == "__main__":
    unittest.main()
