"""TensorScatter of keys and values before an Attention is an append: results and caches against onnx.reference."""

import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from attn_mlir.arrays import view_of
from attn_mlir.kernel import run_module
from attn_mlir.onnx import import_model

BATCH, HEADS, KEY_HEADS, ROOM, DIM, VALUE_DIM = 2, 4, 2, 12, 32, 48


def make_model(rows, mode="linear", has_indices=True, value_mode=None, axis=2):
    indices = ["write_indices"] if has_indices else []
    nodes = [
        helper.make_node("TensorScatter", [f"{name}_cache", f"{name}_new", *indices], [f"{name}_present"], mode=mode, axis=axis)
        for name, mode in (("k", mode), ("v", value_mode or mode))
    ]
    nodes.append(helper.make_node("Attention", ["q", "k_present", "v_present", "", "", "", "valid"], ["y"], is_causal=1))
    shapes = {
        "q": (BATCH, HEADS, rows, DIM), "k_cache": (BATCH, KEY_HEADS, ROOM, DIM), "v_cache": (BATCH, KEY_HEADS, ROOM, VALUE_DIM),
        "k_new": (BATCH, KEY_HEADS, rows, DIM), "v_new": (BATCH, KEY_HEADS, rows, VALUE_DIM),
    }  # fmt: skip
    make = helper.make_tensor_value_info
    inputs = [make(name, TensorProto.FLOAT16, shape) for name, shape in shapes.items()]
    inputs += [make(name, TensorProto.INT64, [BATCH]) for name in (*indices, "valid")]
    results = {"y": (BATCH, HEADS, rows, VALUE_DIM), "k_present": shapes["k_cache"], "v_present": shapes["v_cache"]}
    outputs = [make(name, TensorProto.FLOAT16, shape) for name, shape in results.items()]
    model = helper.make_model(helper.make_graph(nodes, "step", inputs, outputs), opset_imports=[helper.make_opsetid("", 24)])
    onnx.checker.check_model(model)
    rng = np.random.default_rng(rows)
    return model, {name: rng.standard_normal(shape).astype(np.float16) for name, shape in shapes.items()}


def run(mlir, arrays, device):
    results = run_module(mlir, [view_of(array).to_host() for array in arrays], device)
    return [np.frombuffer(result.data, np.float16).reshape(result.shape) for result in results]


def make_past_model(rows, heads=HEADS):
    """Attention with past and present of any number of rows."""
    node = helper.make_node("Attention", ["q", "k", "v", "", "past_key", "past_value"], ["y", "present_key", "present_value"], is_causal=1)
    make = helper.make_tensor_value_info
    shapes = {
        "q": (BATCH, heads, rows, DIM), "k": (BATCH, KEY_HEADS, rows, DIM), "v": (BATCH, KEY_HEADS, rows, VALUE_DIM),
        "past_key": (BATCH, KEY_HEADS, "past", DIM), "past_value": (BATCH, KEY_HEADS, "past", VALUE_DIM),
    }  # fmt: skip
    results = {"y": (BATCH, heads, rows, VALUE_DIM), "present_key": (BATCH, KEY_HEADS, "all", DIM), "present_value": (BATCH, KEY_HEADS, "all", VALUE_DIM)}
    inputs, outputs = ([make(name, TensorProto.FLOAT16, shape) for name, shape in of.items()] for of in (shapes, results))
    model = helper.make_model(helper.make_graph([node], "step", inputs, outputs), opset_imports=[helper.make_opsetid("", 24)])
    onnx.checker.check_model(model)
    return model, shapes


def share(mlir):
    """attn-opt --attn-share-past."""
    return subprocess.run(["attn-opt", "-", "--attn-share-past"], input=mlir, capture_output=True, text=True, check=True).stdout


class Cache(unittest.TestCase):
    def test_past_in_place(self):
        """The buffers of past and present are one, with NaN behind the rows that there are."""
        rng = np.random.default_rng(5)
        for rows, past, device in ((1, 5, "cpu"), (1, 0, "sim:sm_80"), (3, 8, "sim:sm_90a")):
            model, shapes = make_past_model(rows)
            arrays = {name: rng.standard_normal([past if size == "past" else size for size in shape]).astype(np.float16) for name, shape in shapes.items()}
            expected = ReferenceEvaluator(model).run(None, arrays)
            (node,) = import_model(model)
            mlir = share(node.mlir)
            self.assertIn("tensor.insert_slice", mlir)
            self.assertNotIn("tensor.concat", mlir)
            for name in ("past_key", "past_value"):
                room = np.full((BATCH, KEY_HEADS, ROOM - past, arrays[name].shape[-1]), np.nan, np.float16)
                arrays[name] = np.concatenate([arrays[name], room], axis=2)
            arrays["length"] = np.array(past, np.int64)
            y, *present = run(mlir, [arrays[name] for name in ("q", "k", "v", "past_key", "past_value", "length")], device)
            np.testing.assert_allclose(y.astype(float), expected[0].astype(float), atol=4e-3)
            for buffer, rows_of in zip(present, expected[1:]):
                np.testing.assert_array_equal(buffer[:, :, : past + rows], rows_of)

    def test_steps(self):
        for rows, mode, indices, device in (
            (1, "linear", (3, 11), "cpu"), (1, "linear", (3, 11), "sim:sm_90a"), (3, "linear", (0, 9), "sim:sm_80"),
            (3, "circular", (3, 11), "cpu"), (1, "linear", None, "sim:sm_80"),
        ):  # fmt: skip
            model, arrays = make_model(rows, mode, indices is not None)
            begin = np.array(indices or (0, 0), np.int64)
            arrays["valid"] = np.minimum(begin + rows, ROOM)
            arrays.update({"write_indices": begin} if indices else {})
            expected = ReferenceEvaluator(model).run(None, arrays)
            (node,) = import_model(model)
            self.assertIn("attn.append", node.mlir)
            order = ["q", "k_cache", "v_cache", "valid", "k_new", "v_new", *["write_indices"] * bool(indices)]
            y, *caches = run(node.mlir, [arrays[name] for name in order], device)
            np.testing.assert_allclose(y.astype(float), expected[0].astype(float), atol=4e-3)
            for cache, present in zip(caches, expected[1:]):
                np.testing.assert_array_equal(cache, present)
            # What the cache holds behind its valid keys has no influence.
            poisoned = {name: arrays[name].copy() for name in ("k_cache", "v_cache")}
            for cache in poisoned.values():
                for b, valid in enumerate(arrays["valid"]):
                    cache[b, :, valid:] = np.nan
            again = run(node.mlir, [poisoned.get(name, arrays[name]) for name in order], device)[0]
            np.testing.assert_array_equal(again, y)

    def test_others(self):
        """Updates that are not of the same rows, or of another dimension, are not part of the attention."""
        for options in ({"value_mode": "circular"}, {"axis": 1}):
            (node,) = import_model(make_model(3, **options)[0])
            self.assertNotIn("attn.append", node.mlir)


if __name__ == "__main__":
    unittest.main()
