# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The output qk_matmul_output: ops of linalg beside the attention, whose kernel never has the whole matrix."""

from __future__ import annotations

from typing import Callable, Sequence

from ..mask.ranges import NATURAL
from ..mask.symbols import FLOAT, INDEX, Tracer, Value, exp, where

#: qk_matmul_output_mode
PRODUCTS, CAPPED, MASKED, PROBABILITIES = range(4)

#: A batch, a query head, a query, a key, and a column of Q and K.
MAPS = {part: f"affine_map<(b, h, i, j, d) -> ({', '.join(part)})>" for part in ("bhid", "bhij")}
ELEMENT, ROW = "affine_map<(b, h, i, j) -> (b, h, i, j)>", "affine_map<(b, h, i, j) -> (b, h, i)>"
INFINITY = float("inf")


def generic(value: str, maps: Sequence[str], reductions: int, inputs: dict[str, str], output: tuple[str, str], body: str) -> str:
    """linalg.generic over b, h, i, j and `reductions` more; `inputs` and `output` are values and their types."""
    kinds = ['"parallel"'] * 4 + ['"reduction"'] * reductions
    return (
        f"{value} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(kinds)}]}}\n"
        f"    ins({', '.join(inputs)} : {', '.join(inputs.values())}) outs({output[0]} : {output[1]}) {{\n{body}"
        f"  }} -> {output[1]}"
    )


def indices(names: str) -> str:
    return "".join(f"    %{name} = linalg.index {'bhijd'.index(name)} : index\n" for name in names)


def converted(op: str, value: str, source: str, target: str) -> tuple[str, str]:
    """A line that converts a float, none within a type, and the result's name."""
    if source == target:
        return "", value
    name = f"%{target}_{value[1:]}"
    return f"    {name} = arith.{op} {value} : {source} to {target}\n", name


def products(query: str, query_type: str, key: str, key_type: str, dtype: str, empty: str, matrix: str) -> list[str]:
    """%qk_products, Q K^T in f32, where Hq / Hkv query heads share a key head. `empty` is a tensor of its type."""
    (q_line, q), (k_line, k) = (converted("extf", name, dtype, "f32") for name in ("%q", "%k"))
    body = (
        f"  ^bb0(%q: {dtype}, %sum: f32):\n{indices('bhjd')}"
        "    %group = arith.divui %qk_dim1, %qk_key_heads : index\n    %key_head = arith.divui %h, %group : index\n"
        f"    %k = tensor.extract {key}[%b, %key_head, %j, %d] : {key_type}\n{q_line}{k_line}"
        f"    %product = arith.mulf {q}, {k} : f32\n    %next = arith.addf %sum, %product : f32\n"
        "    linalg.yield %next : f32\n"
    )
    return [
        "%qk_zero = arith.constant 0.0 : f32",
        f"%qk_init = linalg.fill ins(%qk_zero : f32) outs({empty} : {matrix}) -> {matrix}",
        generic("%qk_products", [MAPS["bhid"], MAPS["bhij"]], 1, {query: query_type}, ("%qk_init", matrix), body),
    ]


def changed(
    change: Callable[[Value, Sequence[Value], Value], Value], inputs: dict[str, str], dtype: str, output: tuple[str, str]
) -> str:
    """%qk: `change` of each product, its position and the row's LSE, if `inputs` has it behind the products."""
    tracer = Tracer(indent="    ")
    for length, name in (("query", "%qk_dim2"), ("key", "%qk_dim3")):  # what the op of this name is in an attention
        tracer.known[f"attn.length {length}", ""] = Value(name, INDEX, NATURAL)
    with tracer.active():
        positions = [Value(f"%{name}", INDEX, NATURAL) for name in "bhij"]
        result = change(Value("%product", FLOAT), positions, Value("%row_lse", FLOAT))
    lines = "\n".join(tracer.lines)
    for k, tensor in enumerate(tracer.tensors):
        lines = lines.replace(f"%@{k}@", f"%{tensor.array}")
    line, name = converted("truncf", result.name, "f32", dtype)
    names = ["%product: f32", "%row_lse: f32"][: len(inputs)]
    head = f"  ^bb0({', '.join(names)}, %old: {dtype}):\n{indices('bhij')}"
    body = f"{head}{lines}\n{line}    linalg.yield {name} : {dtype}\n"
    return generic("%qk", [*[ELEMENT, ROW][: len(inputs)], ELEMENT], 0, inputs, output, body)


def probability(score: Value, lse: Value) -> Value:
    """Of a row whose keys are all hidden 0."""
    return where(score == -INFINITY, 0.0, exp(score - lse))
