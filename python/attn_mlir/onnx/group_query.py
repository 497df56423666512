# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One node GroupQueryAttention (com.microsoft, of ONNX Runtime) as a function of MLIR.

Of batch b seqlens_k[b] + 1 keys exist, and the last of them are those of its rows of the query, of which there are query_seqlens[b], or as
many as there are keys: the others, at the end, are padding.
"""

from __future__ import annotations

import math
from typing import Any, Mapping, Optional, Sequence

from ..errors import AttnError
from ..mask.functions import key_length, query_length
from ..mask.ranges import NATURAL
from ..mask.symbols import INDEX, Value, minimum, tanh
from ..mask.tensors import Placeholder
from ..mask.tracing import Mask, Score
from ..problem import float_text
from .function import FLOATS, Function, TensorType

INPUTS = (
    *("query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length", "cos_cache", "sin_cache", "position_ids"),
    *("attention_bias", "head_sink", "k_scale", "v_scale", "q_norm_weight", "k_norm_weight", "query_seqlens"),
)
OUTPUTS = ("output", "present_key", "present_value", "output_qk")
#: Attributes and what they are where they are missing.
DEFAULTS: dict[str, Any] = {
    "num_heads": 0, "kv_num_heads": 0, "scale": 0.0, "softcap": 0.0, "causal": 1, "local_window_size": -1, "do_rotary": 0,
    "rotary_interleaved": 0, "smooth_softmax": 0, "qk_norm_epsilon": 1e-6, "q_norm_epsilon": None, "k_norm_epsilon": None,
    "qk_output": 0, "sliding_window_cache": 0, "k_quant_type": b"NONE", "v_quant_type": b"NONE", "kv_cache_bit_width": 0,
}  # fmt: skip
#: Those that are taken with one value alone.
FIXED = ("qk_output", "sliding_window_cache", "k_quant_type", "v_quant_type", "kv_cache_bit_width")
PAIRS = (("key", "value"), ("past_key", "past_value"), ("cos_cache", "sin_cache"), ("q_norm_weight", "k_norm_weight"))
RANKS = {
    "query": 3, "key": 3, "value": 3, "past_key": 4, "past_value": 4, "cos_cache": 2, "sin_cache": 2, "position_ids": 2,
    "attention_bias": 4, "head_sink": 1, "q_norm_weight": 1, "k_norm_weight": 1, "query_seqlens": 1,
}  # fmt: skip
INTEGERS = {"seqlens_k": "i32", "total_sequence_length": "i32", "position_ids": "i64", "query_seqlens": "i32"}
#: Of batches, and of their rows.
LENGTHS, ROWS = TensorType("i32", (None,)), TensorType("i64", (None, None))


def import_group_query_attention(
    inputs: Sequence[Optional[TensorType]],
    attributes: Mapping[str, Any],
    outputs: Sequence[bool] = (True, True, True),
    name: str = "attention",
    head_multiple: int = 1,
    share_buffer: bool = False,
) -> str:
    """As import_attention, of a node GroupQueryAttention. With `share_buffer` past and present are one buffer with room for all keys, and the
    new rows are appended to it in place; without it present is a copy of past, longer where total_sequence_length says so."""
    return GroupQueryImporter(inputs, attributes, outputs, head_multiple, share_buffer).module(name)


class GroupQueryImporter(Function):
    """One node GroupQueryAttention."""

    def __init__(
        self, inputs: Sequence[Optional[TensorType]], attributes: Mapping[str, Any], outputs: Sequence[bool], head_multiple: int, share_buffer: bool
    ):
        super().__init__(head_multiple)
        self.types = {name: t for name, t in zip(INPUTS, inputs) if t is not None}
        self.outputs = [name for name, wanted in zip(OUTPUTS, outputs) if wanted]
        self.share_buffer = share_buffer
        for name in attributes:
            if name not in DEFAULTS:
                raise AttnError(f"unknown attribute '{name}'")
        self.attributes = {**DEFAULTS, **attributes}
        for name in ("do_rotary", "rotary_interleaved", "smooth_softmax"):  # as its kernel has it: 1 alone is yes
            self.attributes[name] = self.attributes[name] == 1
        self.check_inputs()
        self.heads, self.key_heads = (self.attributes[name] for name in ("num_heads", "kv_num_heads"))
        self.dtype = self.types["query"].dtype
        self.check_attributes()
        self.dim_of_head = self.head_dim()
        self.check_sizes()

    def check_inputs(self):
        """Which there are, their ranks and element types."""
        for name in ("query", "seqlens_k", "total_sequence_length"):
            if name not in self.types:
                raise AttnError(f"expected the input {name}, got none")
        for name in ("k_scale", "v_scale"):
            if name in self.types:
                raise AttnError(f"expected keys and values that are not quantised, got the input {name}")
        for pair in PAIRS:
            if len([name for name in pair if name in self.types]) == 1:
                raise AttnError(f"expected {pair[0]} and {pair[1]}, got one of them")
        if self.types["query"].dtype not in FLOATS:
            raise AttnError(f"expected query of one of f16, bf16, f32, got {self.types['query'].dtype}")
        for name, type in self.types.items():
            dtype = INTEGERS.get(name, self.types["query"].dtype)
            if type.dtype != dtype:
                raise AttnError(f"expected {name} of {dtype}, got {type.dtype}")
            if len(type.shape) != RANKS.get(name, len(type.shape)):
                raise AttnError(f"expected {name} of rank {RANKS[name]}, got rank {len(type.shape)}")
        last, total = self.types["seqlens_k"], self.types["total_sequence_length"]
        if len(last.shape) != 1 and last.shape[1:] != (1,):
            raise AttnError(f"expected seqlens_k with an element for each batch, got {last.mlir}")
        if total.shape not in ((), (1,)):
            raise AttnError(f"expected total_sequence_length of one element, got {total.mlir}")

    def check_attributes(self):
        for name in FIXED:
            if self.attributes[name] != DEFAULTS[name]:
                expected, got = (x.decode() if isinstance(x, bytes) else x for x in (DEFAULTS[name], self.attributes[name]))
                raise AttnError(f"expected {name} to be {expected}, got {got}")
        if "output_qk" in self.outputs:
            raise AttnError("expected the outputs output, present_key and present_value, got output_qk")
        if self.heads <= 0 or self.key_heads <= 0 or self.heads % self.key_heads:
            raise AttnError(f"expected num_heads to be a multiple of kv_num_heads, got {self.heads} and {self.key_heads}")
        if not self.attributes["causal"] and self.attributes["local_window_size"] >= 0:
            raise AttnError(f"expected causal to be 1 beside local_window_size, got {self.attributes['causal']}")
        if self.attributes["do_rotary"] and "cos_cache" not in self.types:
            raise AttnError("expected cos_cache and sin_cache beside do_rotary, got none")
        if self.share_buffer and "past_key" not in self.types:
            raise AttnError("expected past_key and past_value, the buffers that are shared, got none")
        if "query_seqlens" in self.types and not (self.attributes["causal"] and "past_key" in self.types):
            raise AttnError("expected causal to be 1, past_key and past_value beside query_seqlens, got others")

    def head_dim(self) -> int:
        """Columns of a head, of a query with the keys and values in it or beside it."""
        columns = self.types["query"].shape[2]
        heads = self.heads if "key" in self.types else self.heads + 2 * self.key_heads
        if not isinstance(columns, int) or columns % heads or not columns:
            what = "num_heads" if "key" in self.types else "num_heads + 2 * kv_num_heads"
            raise AttnError(f"expected {what} = {heads} to divide the columns of query, got {columns}")
        return columns // heads

    def check_sizes(self):
        """Those of the types that are fixed by numbers of heads and the head dim."""
        dim, hidden = self.dim_of_head, self.key_heads * self.dim_of_head
        fixed = {
            "key": {2: hidden}, "value": {2: hidden}, "past_key": {1: self.key_heads, 3: dim}, "past_value": {1: self.key_heads, 3: dim},
            "head_sink": {0: self.heads}, "q_norm_weight": {0: dim}, "k_norm_weight": {0: dim},
        }  # fmt: skip
        for name, sizes in fixed.items():
            for axis, size in sizes.items():
                got = self.types[name].shape[axis] if name in self.types else size
                if isinstance(got, int) and got != size:
                    raise AttnError(f"expected dimension {axis} of {name} to be {size}, got {got}")
        for name in ("key", "value"):
            rows, length = (self.types[n].shape[1] if n in self.types else None for n in ("query", name))
            if isinstance(rows, int) and isinstance(length, int) and rows != length:
                raise AttnError(f"expected as many rows of {name} as of query, {rows}, got {length}")
        for name in ("cos_cache", "sin_cache"):
            columns = self.types[name].shape[1] if name in self.types else dim // 2
            if not isinstance(columns, int) or not 0 < columns <= dim // 2:
                raise AttnError(f"expected {name} with a known number of columns from 1 to {dim // 2}, half the head dim, got {columns}")
        if "cos_cache" in self.types and self.types["cos_cache"].shape[1] != self.types["sin_cache"].shape[1]:
            raise AttnError("expected cos_cache and sin_cache of one number of columns, got two")

    def argument_type(self, name: str) -> TensorType:
        """Numbers of heads and head dims are fixed; batch, lengths and the rows of the tables are dynamic."""
        dim, given = self.dim_of_head, self.types[name]
        if name.startswith("past_"):
            return TensorType(given.dtype, (None, self.key_heads, None, dim))
        if name == "attention_bias":
            return TensorType(given.dtype, tuple(1 if size == 1 else None for size in given.shape))
        if name in ("seqlens_k", "total_sequence_length"):
            return TensorType(given.dtype, (None, *given.shape[1:]) if name == "seqlens_k" else given.shape)
        last = {"query": given.shape[-1], "key": self.key_heads * dim, "value": self.key_heads * dim, "head_sink": self.heads}
        last |= dict.fromkeys(("q_norm_weight", "k_norm_weight"), dim)
        last |= {n: given.shape[-1] for n in ("cos_cache", "sin_cache")}
        return TensorType(given.dtype, (*[None] * (len(given.shape) - 1), last.get(name)))

    def module(self, name: str) -> str:
        query, key, value = self.projections()
        self.lengths()
        if "q_norm_weight" in self.types:
            query, key = self.normed("q", query), self.normed("k", key)
        if self.attributes["do_rotary"]:
            positions = self.positions()
            query, key = self.turned(query, positions), self.turned(key, positions)
        present_key, present_value = self.present(key, value)
        self.scale = self.attributes["scale"] or (1 / math.sqrt(self.dim_of_head) if self.head_multiple > 1 else None)
        operands = [self.padded(*operand) for operand in (query, present_key, present_value)]
        clauses = self.clauses()
        wide = operands[0][1]
        self.lines.append(
            f"%heads = attn.attention {', '.join(n for n, _ in operands)} {' '.join(clauses)}\n"
            f"      : {', '.join(t.mlir for _, t in operands)} -> {wide.mlir}"
        )
        output = self.merged_heads(*self.unpadded("%heads", wide, self.dim_of_head))
        results = {"output": output, "present_key": present_key, "present_value": present_value}
        arguments = [f"%{n}: {self.argument_type(n).mlir}" for n in self.types]
        return self.text(name, arguments, [results[name] for name in self.outputs])

    def projections(self) -> list[tuple[str, TensorType]]:
        """Query, key and value as [B, H, S, D]."""
        if "key" in self.types:
            return [self.split_heads(f"%{n}", self.argument_type(n), self.heads if n == "query" else self.key_heads) for n in INPUTS[:3]]
        type, result, begin = self.argument_type("query"), [], 0
        batch, length = (self.dim("%query", type, d) for d in (0, 1))
        for name, heads in (("%q", self.heads), ("%k", self.key_heads), ("%v", self.key_heads)):
            part = TensorType(self.dtype, (None, None, heads * self.dim_of_head))
            self.lines.append(
                f"{name} = tensor.extract_slice %query[0, 0, {begin}] [{batch}, {length}, {part.shape[2]}] [1, 1, 1] : {type.mlir} to {part.mlir}"
            )
            result.append(self.split_heads(name, part, heads))
            begin += heads * self.dim_of_head
        return result

    def lengths(self):
        """%key_lengths and %query_lengths, [B]: keys that exist, and rows that are no padding."""
        rows = self.dim("%query", self.argument_type("query"), 1)
        batch = self.dim("%query", self.argument_type("query"), 0)
        type = self.argument_type("seqlens_k")
        last = {"%seqlens_k": (type, ", ".join(["b", "0"][: len(type.shape)]), "%last")}
        self.lines += ["%one = arith.constant 1 : i32", f"%rows = arith.index_cast {rows} : index to i32"]
        self.elementwise("%key_lengths", LENGTHS, [batch], last, ["%keys = arith.addi %last, %one : i32", "linalg.yield %keys : i32"])
        self.query_lengths = "%query_seqlens"
        if "query_seqlens" not in self.types:
            self.query_lengths = "%query_lengths"
            keys = {"%key_lengths": (LENGTHS, "b", "%keys")}
            body = ["%valid = arith.minsi %keys, %rows : i32", "linalg.yield %valid : i32"]
            self.elementwise("%query_lengths", LENGTHS, [batch], keys, body)

    def of_rows(self, value: str, body: Sequence[str], inputs: Mapping[str, tuple[TensorType, str, str]] = {}):
        """Integers [B, S]: `body` may use %b, %t, the place %key_row of row t of batch b among the keys, and whether it %exists."""
        type = self.argument_type("query")
        lengths = {"%key_lengths": (LENGTHS, "b", "%keys"), self.query_lengths: (LENGTHS, "b", "%valid")}
        place = (
            "%b_index = linalg.index 0 : index", "%t_index = linalg.index 1 : index",
            "%b = arith.index_cast %b_index : index to i64", "%t = arith.index_cast %t_index : index to i64",
            "%keys_wide = arith.extsi %keys : i32 to i64", "%valid_wide = arith.extsi %valid : i32 to i64",
            "%begin = arith.subi %keys_wide, %valid_wide : i64", "%key_row = arith.addi %begin, %t : i64",
            "%exists = arith.cmpi slt, %t, %valid_wide : i64",
        )  # fmt: skip
        self.elementwise(value, ROWS, [self.dim("%query", type, d) for d in (0, 1)], {**lengths, **inputs}, (*place, *body))

    def total(self):
        """%total, a number of total_sequence_length."""
        type = self.argument_type("total_sequence_length")
        at = ", ".join(["%total_at"] * len(type.shape))
        lines = ["%total_at = arith.constant 0 : index", f"%total = tensor.extract %total_sequence_length[{at}] : {type.mlir}"]
        self.lines += [line for line in lines if line not in self.lines]

    def positions(self) -> str:
        """Rows of cos_cache [B, S]: where a row is among the keys, or position_ids. At a first prompt, which has all keys, those count
        from their first element on in each batch; of padding, without position_ids, 0."""
        if "position_ids" not in self.types:
            body = ("%zero = arith.constant 0 : i64", "%position = arith.select %exists, %key_row, %zero : i64", "linalg.yield %position : i64")
            self.of_rows("%positions", body)
            return "%positions"
        if "query_seqlens" in self.types:
            return "%position_ids"
        self.total()
        self.lines += [
            "%is_prompt = arith.cmpi eq, %total, %rows : i32", "%origin = arith.constant 0 : index",
            f"%first_position = tensor.extract %position_ids[%origin, %origin] : {ROWS.mlir}",
        ]  # fmt: skip
        body = (
            "%from_first = arith.addi %first_position, %t : i64",
            "%position = arith.select %is_prompt, %from_first, %given : i64", "linalg.yield %position : i64",
        )  # fmt: skip
        self.of_rows("%positions", body, {"%position_ids": (ROWS, "b, t", "%given")})
        return "%positions"

    def normed(self, name: str, heads: tuple[str, TensorType]) -> tuple[str, TensorType]:
        value, type = heads
        epsilon = self.attributes[f"{name}_norm_epsilon"]
        epsilon = self.attributes["qk_norm_epsilon"] if epsilon is None else epsilon
        weight = self.argument_type(f"{name}_norm_weight")
        self.lines.append(
            f"{value}_normed = attn.qk_norm {value} weight(%{name}_norm_weight : {weight.mlir}) epsilon({float_text(epsilon)}) : {type.mlir}"
        )
        return f"{value}_normed", type

    def turned(self, heads: tuple[str, TensorType], positions: str) -> tuple[str, TensorType]:
        """The first columns of each head, twice as many as the tables have."""
        value, type = heads
        table = self.argument_type("cos_cache")
        columns = table.shape[1]
        assert isinstance(columns, int)
        pairs = "interleaved" if self.attributes["rotary_interleaved"] else "halves"
        self.lines.append(
            f"{value}_turned = attn.rotary {value}, %cos_cache, %sin_cache {pairs} positions({positions} : {ROWS.mlir})\n"
            f"      columns [0, {2 * columns}] : {type.mlir}, {table.mlir}"
        )
        return f"{value}_turned", type

    def present(self, key: tuple[str, TensorType], value: tuple[str, TensorType]) -> list[tuple[str, TensorType]]:
        """The keys and values that exist: the past and the new rows, which without a past are all."""
        if "past_key" not in self.types:
            return [key, value]
        cache = self.argument_type("past_key")
        pools = ["%past_key", "%past_value"] if self.share_buffer else [self.grown(name, cache) for name in ("past_key", "past_value")]
        self.lines.append(f"%room = arith.index_cast {self.dim(pools[0], cache, 2)} : index to i64")
        body = (
            "%first = arith.muli %b, %room : i64", "%place = arith.addi %first, %key_row : i64", "%none = arith.constant -1 : i64",
            "%slot = arith.select %exists, %place, %none : i64", "linalg.yield %slot : i64",
        )  # fmt: skip
        self.of_rows("%slots", body)
        self.lines.append(
            f"%present_key, %present_value = attn.append {key[0]}, {value[0]} into {', '.join(pools)} slots(%slots : {ROWS.mlir})\n"
            f"      : {key[1].mlir}, {value[1].mlir} into {cache.mlir}, {cache.mlir}"
        )
        return [("%present_key", cache), ("%present_value", cache)]

    def grown(self, name: str, cache: TensorType) -> str:
        """A cache with at least total_sequence_length rows, the further ones zeros."""
        self.total()
        past = self.dim(f"%{name}", cache, 2)
        self.lines += [
            f"%{name}_total = arith.index_cast %total : i32 to index",
            f"%{name}_rows = arith.maxsi %{name}_total, {past} : index", f"%{name}_more = arith.subi %{name}_rows, {past} : index",
            f"%{name}_zero = arith.constant 0.0 : {cache.dtype}",
            f"%{name}_grown = tensor.pad %{name} low[0, 0, 0, 0] high[0, 0, %{name}_more, 0] {{\n"
            f"  ^bb0(%b: index, %h: index, %s: index, %d: index):\n"
            f"    tensor.yield %{name}_zero : {cache.dtype}\n  }} : {cache.mlir} to {cache.mlir}",
        ]  # fmt: skip
        return f"%{name}_grown"

    def clauses(self) -> list[str]:
        clauses = self.sink()
        clauses.append(f"lengths(key %key_lengths : {LENGTHS.mlir}, query {self.query_lengths} : {LENGTHS.mlir})")
        if self.scale is not None:
            clauses.append(f"scale({float_text(self.scale)})")
        softcap = max(self.attributes["softcap"], 0.0)
        if "attention_bias" in self.types:
            clauses.append("score_mod " + self.region(Score(self.biased(softcap))))
        elif softcap:
            clauses.append(f"score_mod soft_cap({float_text(softcap)})")
        window = self.attributes["local_window_size"]
        if self.attributes["causal"] and window >= 0:
            clauses.append("mask_mod " + self.region(Mask(lambda b, h, i, j: self.is_near(i, j, window))))
        elif self.attributes["causal"]:
            clauses.append("mask_mod causal(bottom_right)")
        return clauses

    def sink(self) -> list[str]:
        """What is added to the sum of a row's weights: exp of a number of each head."""
        type = TensorType(self.dtype, (self.heads,))
        if "head_sink" in self.types:
            return [f"sink(%head_sink : {type.mlir})"]
        if not self.attributes["smooth_softmax"]:
            return []
        self.lines.append(f"%sink = arith.constant dense<0.0> : {type.mlir}")
        return [f"sink(%sink : {type.mlir})"]

    def is_near(self, i: Value, j: Value, window: int) -> Value:
        """Key j is one of the last `window` up to that of row i."""
        own = i + (key_length() - query_length())
        return (j <= own) & (j > own - window)

    def biased(self, softcap: float):
        """The soft cap, then attention_bias, whose columns are the keys that exist."""
        type = self.argument_type("attention_bias")
        self.dim("%attention_bias", type, 3, "%bias_columns")

        def change(s, b, h, i, j):
            bias = Placeholder("attention_bias", type.dtype, 4)
            bias.dims = tuple("?" if size is None else str(size) for size in type.shape)
            column = minimum(j, Value("%bias_columns", INDEX, NATURAL) - 1)
            place = [0 if size == 1 else p for size, p in zip(type.shape[:3], (b, h, i))]
            if softcap:
                s = softcap * tanh(s / softcap)
            return s + bias[(*place, column)]

        return change
