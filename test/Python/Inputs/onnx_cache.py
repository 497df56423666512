"""TensorScatter of keys and values before an Attention is an append: results and caches against onnx.reference."""

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


class Cache(unittest.TestCase):
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
