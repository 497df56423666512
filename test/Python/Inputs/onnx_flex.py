"""FlexAttention's graphs: scales of heads, a mix with the identity and a mask by positions, against ONNX's own reference; messages."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import attn_mlir
from attn_mlir.errors import AttnError
from attn_mlir.onnx import import_model

B, H, HKV, M, N, D = 2, 4, 2, 9, 11, 16
SHAPES = (B, H, M, D), (B, HKV, N, D), (B, HKV, N, D)
SHARES = np.linspace(0.1, 0.7, H, dtype=np.float32).reshape(1, H, 1, 1)
#: Positions of queries and keys, from the sizes of %x.
POSITIONS = [
    helper.make_node("Shape", ["x"], ["sizes"]), helper.make_node("Gather", ["sizes", "two"], ["m"]),
    helper.make_node("Gather", ["sizes", "three"], ["n"]), helper.make_node("Range", ["zero", "m", "one"], ["rows"]),
    helper.make_node("Range", ["zero", "n", "one"], ["columns"]), helper.make_node("Unsqueeze", ["rows", "axes"], ["i"]),
    helper.make_node("Reshape", ["columns", "last"], ["j"]),
]  # fmt: skip
NUMBERS = {"zero": 0, "one": 1, "two": 2, "three": 3}


def graph(nodes, **constants):
    tensors = [helper.make_tensor(name, TensorProto.INT64, [], [x]) for name, x in NUMBERS.items()]
    tensors += [helper.make_tensor("axes", TensorProto.INT64, [3], [0, 1, 3]), helper.make_tensor("last", TensorProto.INT64, [4], [1, 1, 1, -1])]
    tensors += [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", "H", "L", "S"]) for name in "xy"]
    return helper.make_graph(nodes, "mod", info[:1], info[1:], tensors)


def model(**mods):
    node = helper.make_node("FlexAttention", ["Q", "K", "V"], ["Y"], domain="ai.onnx.preview")
    node.attribute.extend(helper.make_attribute(name, mod) for name, mod in mods.items())
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip("QKV", SHAPES)]
    outputs = [helper.make_tensor_value_info("Y", TensorProto.FLOAT, SHAPES[0])]
    opsets = [helper.make_opsetid("", 26), helper.make_opsetid("ai.onnx.preview", 1)]
    return helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=opsets)


MIX = graph(
    [
        *POSITIONS, helper.make_node("Equal", ["i", "j"], ["is"]), helper.make_node("Cast", ["is"], ["eye"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["whole", "shares"], ["rest"]), helper.make_node("Mul", ["x", "rest"], ["a"]),
        helper.make_node("Mul", ["eye", "shares"], ["b"]), helper.make_node("Add", ["a", "b"], ["y"]),
    ],
    shares=SHARES, whole=np.float32(1),
)  # fmt: skip
WINDOW = graph(
    [
        *POSITIONS, helper.make_node("Sub", ["i", "j"], ["d"]), helper.make_node("Abs", ["d"], ["away"]),
        helper.make_node("LessOrEqual", ["away", "three"], ["near"]), helper.make_node("Where", ["near", "x", "hidden"], ["y"]),
    ],
    hidden=np.float32(-np.inf),
)  # fmt: skip


class Flex(unittest.TestCase):
    def test_mix_and_window(self):
        random = np.random.default_rng(2)
        arrays = [random.standard_normal(shape, np.float32) for shape in SHAPES]
        (node,) = import_model(model(score_mod=WINDOW, prob_mod=MIX))
        output = attn_mlir.compile(node.mlir, target="cpu")(*arrays)
        i, j = np.arange(M)[:, None], np.arange(N)
        q, k, v = (array.astype(np.float64) for array in arrays)
        k, v = (np.repeat(array, H // HKV, 1) for array in (k, v))
        scores = np.where(abs(i - j) <= 3, np.einsum("bhid,bhjd->bhij", q, k) / 4, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = (1 - SHARES) * weights / weights.sum(-1, keepdims=True) + SHARES * (i == j)
        self.assertLess(np.abs(output - weights @ v).max(), 1e-5)

    def test_messages(self):
        softmax = graph([helper.make_node("Softmax", ["x"], ["y"])])
        sizes = graph([helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "one"], ["h"]), helper.make_node("Mul", ["x", "h"], ["y"])])
        outside = graph([helper.make_node("Mul", ["x", "other"], ["y"])])
        steps = graph([helper.make_node("Range", ["zero", "three", "two"], ["r"]), helper.make_node("Add", ["x", "r"], ["y"])])
        flat = graph([helper.make_node("Reshape", ["x", "last"], ["y"])])
        for message, mod in {
            "prob_mod: Softmax: expected an elementwise operator, or one of Shape, Gather, Range, Reshape, Unsqueeze for positions": softmax,
            "prob_mod: Gather: expected the sizes of queries and keys, dimensions 2 and 3 of what it is given, got another one": sizes,
            "prob_mod: expected 'other' to be made in the graph, got a value of another one": outside,
            "prob_mod: Range: expected a range from a constant on in steps of 1": steps,
            "prob_mod: Reshape: expected a vector, and a shape of which all but one size are 1": flat,
        }.items():
            with self.subTest(message), self.assertRaisesRegex(AttnError, message):
                import_model(model(prob_mod=mod))


if __name__ == "__main__":
    unittest.main()
