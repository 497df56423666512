# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One node Attention as a function of MLIR."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Mapping, Optional, Sequence

from ..errors import AttnError
from ..mask.functions import key_length, query_length
from ..mask.ranges import NATURAL
from ..mask.symbols import INDEX, Value, minimum, tanh, where
from ..mask.tensors import Placeholder
from ..mask.tracing import Mask, Score
from ..problem import float_text
from . import scores
from .function import DTYPES, FLOATS, Function, TensorType

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
ATTRIBUTES = (
    *("is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap", "softmax_precision"),
    *("left_window_size", "right_window_size"),
)
#: The softmax is computed in f32, which is at least what these ask for.
SOFTMAX_PRECISIONS = (None, 1, 10, 16)


@dataclasses.dataclass(frozen=True)
class Update:
    """Nodes TensorScatter, one of which makes K and one V, from caches of their types: types of the new rows and of write_indices
    (None: absent)."""

    key: TensorType
    value: TensorType
    indices: Optional[TensorType]
    is_circular: bool = False


def import_attention(
    inputs: Sequence[Optional[TensorType]],
    attributes: Mapping[str, Any] = {},
    outputs: Sequence[bool] = (True,),
    name: str = "attention",
    head_multiple: int = 1,
    update: Optional[Update] = None,
) -> str:
    """The module for one node: types of its inputs (None: absent), its attributes, and which outputs are asked for.

    Head dims are padded by zeros to a multiple of `head_multiple`, in copies that are made before the attention: GPUs need
    one of 8. With an `update` of K and V these arguments are the caches, the new rows and write_indices follow the others, and
    the caches with the new rows the results.
    """
    return Importer(inputs, attributes, outputs, head_multiple, update).module(name)


class Importer(Function):
    """One node."""

    def __init__(
        self, inputs, attributes: Mapping[str, Any], outputs: Sequence[bool], head_multiple: int = 1, update: Optional[Update] = None
    ):
        super().__init__(head_multiple)
        self.update = update
        self.types = {name: t for name, t in zip(INPUTS, inputs) if t is not None}
        self.attributes = dict(attributes)
        self.outputs = [name for name, wanted in zip(OUTPUTS, outputs) if wanted]
        self.check()
        self.split = len(self.types["Q"].shape) == 3
        self.dtype = self.types["Q"].dtype
        self.softcap = float(self.attributes.get("softcap", 0.0))

    def check(self):
        for name in ("Q", "K", "V"):
            if name not in self.types:
                raise AttnError(f"expected the input {name}, got none")
            shape, rank = self.types[name].shape, len(self.types["Q"].shape)
            if rank not in (3, 4) or len(shape) != rank:
                raise AttnError(f"expected Q, K and V of rank 4, or all of rank 3, got {name} of rank {len(shape)}")
            if self.types[name].dtype not in FLOATS or self.types[name].dtype != self.types["Q"].dtype:
                raise AttnError(f"expected Q, K and V of one of f16, bf16, f32, got {name} of {self.types[name].dtype}")
            if not isinstance(shape[-1], int):
                raise AttnError(f"expected {name} with a known last dimension, got a dynamic one")
        for name in self.attributes:
            if name not in ATTRIBUTES:
                raise AttnError(f"unknown attribute '{name}'")
        if ("past_key" in self.types) != ("past_value" in self.types):
            raise AttnError("expected past_key and past_value, got one of them")
        if "nonpad_kv_seqlen" in self.types and "past_key" in self.types:
            raise AttnError("expected nonpad_kv_seqlen or past_key, got both")
        self.mode = self.attributes.get("qk_matmul_output_mode", scores.PRODUCTS)
        if self.mode not in range(4):
            raise AttnError(f"expected qk_matmul_output_mode to be 0, 1, 2 or 3, got {self.mode}")
        precision = self.attributes.get("softmax_precision")
        if precision not in SOFTMAX_PRECISIONS:
            raise AttnError(f"softmax_precision {DTYPES.get(precision, precision)}: the softmax is computed in f32")

    def module(self, name: str) -> str:
        more, caches = self.append(self.update) if self.update else ([], [])
        query, key, value = (self.heads(n, a) for n, a in (("Q", "q"), ("K", "kv"), ("V", "kv")))
        present_key, present_value = self.with_past("key", key), self.with_past("value", value)
        dim = query[1].shape[3]
        assert isinstance(dim, int)
        self.factor = self.attributes.get("scale", 1 / math.sqrt(dim))
        # Said, where padding would change the default.
        self.scale = self.factor if "scale" in self.attributes or self.head_multiple > 1 else None
        operands = [self.padded(*operand) for operand in (query, present_key, present_value)]
        clauses = self.clauses()
        types = ", ".join(t.mlir for _, t in operands)
        output = TensorType(self.dtype, (*operands[0][1].shape[:3], operands[2][1].shape[3]))
        lse = TensorType("f32", output.shape[:3])
        has_lse = "qk_matmul_output" in self.outputs and self.mode == scores.PROBABILITIES
        self.lines.append(
            f"%output{', %lse' * has_lse} = attn.attention {', '.join(n for n, _ in operands)} {' '.join(clauses)}\n"
            f"      : {types} -> {output.mlir}{f', {lse.mlir}' * has_lse}"
        )
        output_heads = self.unpadded("%output", output, present_value[1].shape[3])
        results = {"Y": self.merged_heads(*output_heads) if self.split else output_heads, "present_key": present_key, "present_value": present_value}
        if "qk_matmul_output" in self.outputs:
            results["qk_matmul_output"] = self.score_matrix(query, present_key, {"%lse": lse.mlir} if has_lse else {})
        returned = [results[name] for name in self.outputs] + caches
        cached = "_cache" if self.update else ""
        arguments = [f"%{n}{cached * (n in 'KV')}: {self.argument_type(n).mlir}" for n in self.types] + more
        return self.text(name, arguments, returned)

    def append(self, update: Update) -> tuple[list[str], list[tuple[str, TensorType]]]:
        """The caches with the new rows of each batch, from its index on, as %K and %V: further arguments, and results."""
        if self.split:
            raise AttnError("expected Q, K and V of rank 4 beside TensorScatter, got rank 3")
        key, value = self.argument_type("K"), self.argument_type("V")
        new = [TensorType(t.dtype, (None, None, None, t.shape[3])) for t in (update.key, update.value)]
        slots = self.slots(update, new[0], key)
        self.lines.append(
            f"%K, %V = attn.append %K_new, %V_new into %K_cache, %V_cache slots(%slots : {slots.mlir})\n"
            f"      : {new[0].mlir}, {new[1].mlir} into {key.mlir}, {value.mlir}"
        )
        more = [f"%{name}_new: {t.mlir}" for name, t in zip("KV", new)]
        more += ["%write_indices: tensor<?xi64>"] if update.indices else []
        return more, [("%K", key), ("%V", value)]

    def slots(self, update: Update, new: TensorType, cache: TensorType) -> TensorType:
        """Of row t of batch b: a cache is a pool with a page for each batch."""
        slots, begin = TensorType("i64", (None, None)), "%zero"
        inputs = {}
        if update.indices:
            inputs, begin = {"%write_indices": (TensorType("i64", (None,)), "b", "%begin")}, "%begin"
        place = "arith.remui %sum, %room" if update.is_circular else "arith.addi %sum, %zero"
        sizes = [self.dim("%K_new", new, 0), self.dim("%K_new", new, 2)]
        self.lines += [f"%room = arith.index_cast {self.dim('%K_cache', cache, 2)} : index to i64", "%zero = arith.constant 0 : i64"]
        body = (
            "%b_index = linalg.index 0 : index", "%t_index = linalg.index 1 : index",
            "%b = arith.index_cast %b_index : index to i64", "%t = arith.index_cast %t_index : index to i64",
            f"%sum = arith.addi {begin}, %t : i64", f"%place = {place} : i64",
            "%first = arith.muli %b, %room : i64", "%slot = arith.addi %first, %place : i64", "linalg.yield %slot : i64",
        )  # fmt: skip
        self.elementwise("%slots", slots, sizes, inputs, body)
        return slots

    def argument_type(self, name: str) -> TensorType:
        """Head dims and hidden sizes are fixed, the rest as far as it can be is dynamic."""
        given = self.types[name]
        if name == "attn_mask" and self.is_bias():
            return TensorType(given.dtype, tuple(1 if size == 1 else None for size in given.shape))
        shape = [None] * (len(given.shape) - 1) + [None if name in ("attn_mask", "nonpad_kv_seqlen") else given.shape[-1]]
        if name == "past_key" and not self.is_bottom_right():
            shape[2] = given.shape[2]  # where the queries begin among the keys
        return TensorType(given.dtype, tuple(shape))

    def heads(self, name: str, kind: str) -> tuple[str, TensorType]:
        """[B, H, S, D] of an input, which may be [B, S, H * D]."""
        value, type = f"%{name}", self.argument_type(name)
        if not self.split:
            return value, type
        heads, hidden = self.attributes.get(f"{kind}_num_heads"), type.shape[-1]
        if not heads or not isinstance(hidden, int) or hidden % heads:
            raise AttnError(f"expected {kind}_num_heads to divide the {hidden} columns of {name}, got {heads}")
        return self.split_heads(value, type, heads)

    def with_past(self, name: str, new: tuple[str, TensorType]) -> tuple[str, TensorType]:
        """The keys or values of earlier steps, then the new ones."""
        past = f"past_{name}"
        if past not in self.types:
            return new
        value, type = new
        past_type = self.argument_type(past)
        if past_type.dtype != self.dtype or past_type.shape[-1] != type.shape[-1]:
            raise AttnError(f"expected {past} of {self.dtype} and head dim {type.shape[-1]}, got {past_type.mlir}")
        result = TensorType(self.dtype, (None, type.shape[1], None, type.shape[-1]))
        self.lines.append(
            f"%present_{name} = tensor.concat dim(2) %{past}, {value} : ({past_type.mlir}, {type.mlir}) -> {result.mlir}"
        )
        return f"%present_{name}", result

    def score_matrix(
        self, query: tuple[str, TensorType], key: tuple[str, TensorType], lse: dict[str, str]
    ) -> tuple[str, TensorType]:
        """[B, Hq, M, N] as qk_matmul_output_mode asks for it; `lse` is that of the rows and its type, where it is needed."""
        (q, q_type), (k, k_type) = query, key
        for d, (value, type, dim) in enumerate([(q, q_type, 0), (q, q_type, 1), (q, q_type, 2), (k, k_type, 2)]):
            self.dim(value, type, dim, f"%qk_dim{d}")
        self.dim(k, k_type, 1, "%qk_key_heads")
        exact, matrix = (TensorType(dtype, (None,) * 4) for dtype in ("f32", self.dtype))
        for name, type in (("%qk_exact", exact), ("%qk_empty", matrix)):
            self.lines.append(f"{name} = tensor.empty(%qk_dim0, %qk_dim1, %qk_dim2, %qk_dim3) : {type.mlir}")
        self.lines += scores.products(q, q_type.mlir, k, k_type.mlir, self.dtype, "%qk_exact", exact.mlir)
        inputs = {"%qk_products": exact.mlir, **lse}
        self.lines.append(scores.changed(self.score_at_mode, inputs, self.dtype, ("%qk_empty", matrix.mlir)))
        return "%qk", matrix

    def score_at_mode(self, product: Value, at: Sequence[Value], lse: Value) -> Value:
        """What qk_matmul_output has of an element of Q K^T."""
        score = product * self.factor
        if self.softcap and self.mode >= scores.CAPPED:
            score = self.softcap * tanh(score / self.softcap)
        if self.mode < scores.MASKED:
            return score
        if "attn_mask" in self.types and self.types["attn_mask"].dtype != "i1":
            score = score + self.mask_at(*at)
        conditions = [condition(*at) for condition in self.conditions()]
        if conditions:
            score = where(all_of(conditions), score, -math.inf)
        return score if self.mode == scores.MASKED else scores.probability(score, lse)

    def is_bias(self) -> bool:
        """A float mask that is an operand of attn.attention: full in the keys, and added to what no soft cap bounds."""
        mask = self.types.get("attn_mask")
        return mask is not None and mask.dtype != "i1" and self.mask_is_full() and not self.attributes.get("softcap")

    def mask_is_full(self) -> bool:
        """Known to have as many columns as there are keys: a shorter mask ends with masked keys, one column too."""
        mask, key = self.types["attn_mask"], self.types["K"]
        length = key.shape[-2]
        if "past_key" in self.types:
            past = self.types["past_key"].shape[2]
            length = past + length if isinstance(past, int) and isinstance(length, int) else None
        return length is not None and mask.shape[-1] == length

    def clauses(self) -> list[str]:
        clauses = []
        mask = self.types.get("attn_mask")
        if mask is not None and not isinstance(mask.shape[-1], int):
            self.dim("%attn_mask", self.argument_type("attn_mask"), len(mask.shape) - 1, "%attn_mask_columns")
        if self.is_bias():
            clauses.append(self.bias())
        if "nonpad_kv_seqlen" in self.types:
            clauses.append(f"lengths(key %nonpad_kv_seqlen : {self.argument_type('nonpad_kv_seqlen').mlir})")
        if self.scale is not None:
            clauses.append(f"scale({float_text(self.scale)})")
        score = self.score()
        if score:
            clauses.append("score_mod " + self.region(Score(score)))
        conditions = self.conditions(has_lengths=True)
        if len(conditions) == 1 and self.is_top_left():
            clauses.append("mask_mod causal(top_left)")
        elif conditions:
            clauses.append("mask_mod " + self.region(Mask(lambda *at: all_of([c(*at) for c in conditions]))))
        return clauses

    def bias(self) -> str:
        type = self.argument_type("attn_mask")
        if len(type.shape) == 4:
            return f"bias(%attn_mask : {type.mlir})"
        missing = 4 - len(type.shape)
        wide = TensorType(type.dtype, (1,) * missing + type.shape)
        groups = [[*range(missing + 1)], *([d + missing] for d in range(1, len(type.shape)))]
        sizes = ["1"] * missing
        for d, size in enumerate(type.shape):
            sizes.append("1" if size == 1 else self.dim("%attn_mask", type, d))
        self.lines.append(
            f"%bias = tensor.expand_shape %attn_mask {groups} output_shape [{', '.join(sizes)}] "
            f": {type.mlir} into {wide.mlir}"
        )
        return f"bias(%bias : {wide.mlir})"

    def is_top_left(self) -> bool:
        others = ("past_key", "nonpad_kv_seqlen")
        return bool(self.attributes.get("is_causal")) and not any(name in self.types for name in others)

    def mask_at(self, b, h, i, j):
        """The mask's element for a score; beyond its last column, where it counts as masked, the last one."""
        mask = self.types["attn_mask"]
        column = j if self.mask_is_full() else minimum(j, self.mask_columns() - 1)
        position = [b, h, i, column][4 - len(mask.shape) :]
        rows = [0 if size == 1 else p for size, p in zip(mask.shape[:-1], position)]
        placeholder = Placeholder("attn_mask", mask.dtype, len(mask.shape))
        placeholder.dims = tuple("?" if size is None else str(size) for size in self.argument_type("attn_mask").shape)
        return placeholder[(*rows, position[-1])]

    def mask_columns(self):
        columns = self.types["attn_mask"].shape[-1]
        return columns if isinstance(columns, int) else Value("%attn_mask_columns", INDEX, NATURAL)

    def score(self) -> Optional[Callable]:
        """Soft cap, then the mask, as the operator orders them."""
        adds = "attn_mask" in self.types and self.types["attn_mask"].dtype != "i1" and not self.is_bias()
        if not self.softcap and not adds:
            return None

        def change(s, b, h, i, j):
            if self.softcap:
                s = self.softcap * tanh(s / self.softcap)
            return s + self.mask_at(b, h, i, j) if adds else s

        return change

    def conditions(self, has_lengths: bool = False) -> list[Callable]:
        """What a key must fulfil to be seen: functions of (b, h, i, j). In an attention nonpad_kv_seqlen is the lengths of its keys."""
        result: list[Callable] = []
        offset = self.offset(has_lengths)
        left, right = (self.attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
        if self.attributes.get("is_causal"):
            result.append(lambda b, h, i, j: j <= i + offset(b))
        if left >= 0:
            result.append(lambda b, h, i, j: j >= i + offset(b) - left)
        if right >= 0:
            result.append(lambda b, h, i, j: j <= i + offset(b) + right)
        if "nonpad_kv_seqlen" in self.types and not has_lengths:
            result.append(lambda b, h, i, j: j < self.valid_keys(b))
        mask = self.types.get("attn_mask")
        if mask is not None and mask.dtype == "i1":
            result.append(self.mask_at)
        if mask is not None and not self.mask_is_full():
            result.append(lambda b, h, i, j: j < self.mask_columns())
        return result

    def valid_keys(self, b):
        return Placeholder("nonpad_kv_seqlen", self.types["nonpad_kv_seqlen"].dtype, 1)[b]

    def offset(self, has_lengths: bool) -> Callable:
        """The position of query 0 among the keys, for batch b."""
        if "nonpad_kv_seqlen" in self.types:
            return lambda b: (key_length() if has_lengths else self.valid_keys(b)) - query_length()
        if "past_key" not in self.types:
            return lambda b: 0
        if self.is_bottom_right():
            return lambda b: key_length() - query_length()
        past = self.types["past_key"].shape[2]
        if isinstance(past, int):
            return lambda b: past
        name = self.dim("%past_key", self.argument_type("past_key"), 2)
        return lambda b: Value(name, INDEX, NATURAL)

    def is_bottom_right(self) -> bool:
        """As many new keys as queries: the last query is at the last key."""
        queries, keys = self.types["Q"].shape[-2], self.types["K"].shape[-2]
        return "past_key" in self.types and queries is not None and queries == keys


def all_of(conditions: Sequence[Value]) -> Value:
    result = conditions[0]
    for condition in conditions[1:]:
        result = result & condition
    return result
