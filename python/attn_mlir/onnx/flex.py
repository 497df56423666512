# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One node FlexAttention (ai.onnx.preview) as a function of MLIR: its subgraphs, of tensors [B, Hq, M, N], become score_mod and prob_mod,
which have an element at a time."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Optional, Sequence

from .. import mask
from ..errors import AttnError
from ..mask import functions
from ..mask.symbols import FLOAT, Operand, Value, arithmetic, as_float, as_integer, compare, logic, modulo
from ..mask.tensors import Placeholder
from ..mask.tracing import Score
from ..problem import float_text
from .function import DTYPES, FLOATS, TensorType
from .importer import SOFTMAX_PRECISIONS, Importer
from . import scores

ATTRIBUTES = ("prob_mod", "scale", "score_mod", "softmax_precision")
INPUTS = ("Q", "K", "V")
SIZES = "the sizes of queries and keys, dimensions 2 and 3 of what it is given"


@dataclasses.dataclass(frozen=True)
class Grid:
    """A tensor of a subgraph: its sizes, None where one is not known, and its element at a position."""

    sizes: tuple[Any, ...]
    at: Callable[[Sequence[Any]], Operand]

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def elements(self) -> list[Operand]:
        """Of a vector or a number of known size."""
        if self.rank > 1 or any(not isinstance(size, int) for size in self.sizes):
            raise AttnError("expected sizes, positions and axes as a vector of a known size")
        return [self.at([k]) for k in range(self.sizes[0])] if self.rank else [self.at([])]


def vector(elements: Sequence[Operand]) -> Grid:
    return Grid((len(elements),), lambda position: elements[position[0]])


def number(element: Operand) -> Grid:
    return Grid((), lambda _: element)


def is_one(size: Any) -> bool:
    """A size that is known to be 1; others are symbols, or None."""
    return isinstance(size, int) and size == 1


def broadcast(function: Callable[..., Operand], *grids: Grid) -> Grid:
    """Element by element."""
    rank = max(grid.rank for grid in grids)
    sizes = []
    for d in range(-rank, 0):
        found = [grid.sizes[d] for grid in grids if -d <= grid.rank]
        sizes.append(next((size for size in found if not is_one(size)), 1))

    def at(position: Sequence[Any]) -> Operand:
        own = [list(position)[rank - grid.rank :] for grid in grids]
        return function(*(g.at([0 if is_one(size) else p for size, p in zip(g.sizes, place)]) for g, place in zip(grids, own)))

    return Grid(tuple(sizes), at)


def divided(a: Operand, b: Operand) -> Operand:
    """Of integers rounded to zero."""
    is_float = any(isinstance(x, float) or (isinstance(x, Value) and x.type == FLOAT) for x in (a, b))
    return arithmetic("div", a, b) if is_float else functions.truncated_quotient(a, b)


def remainder(a: Operand, b: Operand, fmod: int = 0) -> Operand:
    return functions.truncated_remainder(a, b) if fmod else modulo(a, b)


def converted(x: Operand, to: int) -> Operand:
    kind = DTYPES.get(to, "")
    if kind == "i1":
        return compare("ne", x, 0)
    if not isinstance(x, Value):
        return float(x) if kind.startswith(("f", "bf")) else int(x)
    return as_float(x) if kind.startswith(("f", "bf")) else as_integer(x)


ELEMENTWISE: dict[str, Callable[..., Operand]] = {
    "Add": lambda a, b: arithmetic("add", a, b), "Sub": lambda a, b: arithmetic("sub", a, b),
    "Mul": lambda a, b: arithmetic("mul", a, b), "Div": divided, "Mod": remainder, "Pow": functions.power, "Neg": lambda x: -x, "Abs": abs,
    "Equal": lambda a, b: compare("eq", a, b), "Greater": lambda a, b: compare("gt", a, b), "Less": lambda a, b: compare("lt", a, b),
    "GreaterOrEqual": lambda a, b: compare("ge", a, b), "LessOrEqual": lambda a, b: compare("le", a, b),
    "And": lambda a, b: logic("andi", a, b), "Or": lambda a, b: logic("ori", a, b), "Xor": lambda a, b: logic("xori", a, b),
    "Not": lambda x: ~x, "Where": mask.where, "Min": mask.minimum, "Max": mask.maximum, "Cast": converted, "Identity": lambda x: x,
    "Exp": mask.exp, "Log": mask.log, "Sqrt": mask.sqrt, "Tanh": mask.tanh, "Erf": mask.erf, "Sin": mask.sin, "Cos": mask.cos,
    "Sigmoid": functions.sigmoid, "Relu": lambda x: mask.maximum(x, 0.0), "Floor": mask.floor, "Ceil": mask.ceil,
    "Reciprocal": lambda x: arithmetic("div", 1.0, x),
}  # fmt: skip


class Subgraph:
    """A graph of a node as a function of a score (or a probability) and its position, while it is traced. `constants` are those of the
    module that it reads, by name: their types and elements."""

    def __init__(self, graph: Any, prefix: str, constants: dict[str, tuple[TensorType, list[Any]]]):
        if len(graph.input) != 1 or len(graph.output) != 1:
            raise AttnError(f"{prefix}: expected one input and one output, got {len(graph.input)} and {len(graph.output)}")
        self.graph, self.prefix, self.constants = graph, prefix, constants

    def __call__(self, x: Value, b: Value, h: Value, i: Value, j: Value) -> Operand:
        place = [b, h, i, j]
        sizes = (None, None, functions.query_length(), functions.key_length())
        known = {self.graph.input[0].name: Grid(sizes, lambda _: x)}
        for tensor in self.graph.initializer:
            known[tensor.name] = self.constant(tensor.name, tensor)
        for node in self.graph.node:
            for name in node.input:
                if name not in known:
                    raise AttnError(f"{self.prefix}: expected '{name}' to be made in the graph, got a value of another one")
            try:
                known[node.output[0]] = self.evaluate(node, [known[name] for name in node.input])
            except AttnError as error:
                raise AttnError(f"{self.prefix}: {node.op_type}: {error}") from None
        result = known[self.graph.output[0].name]
        return broadcast(lambda y, _: y, result, Grid(sizes, lambda _: x)).at(place)

    def constant(self, name: str, tensor: Any) -> Grid:
        """One element is a number; more are a constant of the module."""
        from onnx import numpy_helper

        array = numpy_helper.to_array(tensor)
        if array.ndim < 2 and array.size <= 4:
            return number(array.item()) if array.ndim == 0 else vector(array.tolist())
        if array.size == 1:
            return Grid(tuple(array.shape), lambda _: array.item())
        dtype = DTYPES.get(tensor.data_type, "")
        dtype = "f32" if dtype in (*FLOATS, "f64") else dtype
        if dtype not in ("f32", "i64", "i1"):
            raise AttnError(f"{self.prefix}: expected constants of floats, int64 or bool, got '{name}' of type {tensor.data_type}")
        own = f"{self.prefix}_{len(self.constants)}"
        self.constants[own] = TensorType(dtype, tuple(array.shape)), array.reshape(-1).tolist()
        placeholder = Placeholder(own, dtype, array.ndim)
        placeholder.dims = tuple(map(str, array.shape))
        return Grid(tuple(array.shape), lambda position: placeholder[tuple(position)])

    def evaluate(self, node: Any, inputs: list[Grid]) -> Grid:
        from onnx import helper

        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type in ELEMENTWISE:
            options = {name: attributes[name] for name in ("to", "fmod") if name in attributes}
            return broadcast(lambda *x: ELEMENTWISE[node.op_type](*x, **options), *inputs)
        if node.op_type == "Constant":
            if "value" not in attributes:
                raise AttnError("expected a value that is a tensor")
            return self.constant(node.output[0], attributes["value"])
        shaped = {"Shape": shape_of, "Gather": gathered, "Range": ranged, "Reshape": reshaped, "Unsqueeze": unsqueezed}
        if node.op_type not in shaped:
            raise AttnError(f"expected an elementwise operator, or one of {', '.join(shaped)} for positions")
        return shaped[node.op_type](inputs, attributes)


def shape_of(inputs: list[Grid], attributes: Mapping[str, Any]) -> Grid:
    (x,) = inputs
    return vector([*x.sizes[attributes.get("start", 0) : attributes.get("end", x.rank)]])


def gathered(inputs: list[Grid], attributes: Mapping[str, Any]) -> Grid:
    """Of a vector, by a number."""
    x, index = inputs
    if x.rank != 1 or index.rank or attributes.get("axis", 0):
        raise AttnError("expected a vector and the number of its element")
    element = x.elements[int(index.elements[0])]
    if element is None:
        raise AttnError(f"expected {SIZES}, got another one")
    return number(element)


def ranged(inputs: list[Grid], _: Mapping[str, Any]) -> Grid:
    start, limit, step = (x.elements[0] for x in inputs)
    if not is_one(step) or not isinstance(start, int):
        raise AttnError("expected a range from a constant on in steps of 1")
    size = limit if start == 0 else None
    return Grid((size,), lambda position: position[0] + start if start else position[0])


def reshaped(inputs: list[Grid], _: Mapping[str, Any]) -> Grid:
    """A vector along one dimension of several."""
    x, shape = inputs[0], [*inputs[1].elements]
    axes = [d for d, size in enumerate(shape) if not is_one(size)]
    if x.rank > 1 or len(axes) != x.rank:
        raise AttnError("expected a vector, and a shape of which all but one size are 1")
    return along(x, axes, len(shape))


def unsqueezed(inputs: list[Grid], attributes: Mapping[str, Any]) -> Grid:
    x = inputs[0]
    axes = [int(axis) for axis in (inputs[1].elements if len(inputs) > 1 else attributes.get("axes", []))]
    rank = x.rank + len(axes)
    added = {axis % rank for axis in axes}
    return along(x, [d for d in range(rank) if d not in added], rank)


def along(x: Grid, axes: Sequence[int], rank: int) -> Grid:
    """The dimensions of `x` at `axes` among others of size 1."""
    sizes: list[Any] = [1] * rank
    for axis, size in zip(axes, x.sizes):
        sizes[axis] = size
    return Grid(tuple(sizes), lambda position: x.at([position[axis] for axis in axes]))


def literal(elements: Sequence[Any], shape: Sequence[Any]) -> str:
    """Elements in row-major order as MLIR nests them."""
    if not shape:
        (element,) = elements
        return float_text(element) if isinstance(element, float) else str(element).lower()
    part = len(elements) // shape[0]
    return f"[{', '.join(literal(elements[k * part : (k + 1) * part], shape[1:]) for k in range(shape[0]))}]"


class FlexImporter(Importer):
    """One node FlexAttention."""

    def check(self):
        for name in INPUTS:
            if name not in self.types:
                raise AttnError(f"expected the input {name}, got none")
            type = self.types[name]
            if len(type.shape) != 4:
                raise AttnError(f"expected Q, K and V of rank 4, got {name} of rank {len(type.shape)}")
            if type.dtype not in FLOATS or type.dtype != self.types["Q"].dtype:
                raise AttnError(f"expected Q, K and V of one of f16, bf16, f32, got {name} of {type.dtype}")
            if not isinstance(type.shape[-1], int):
                raise AttnError(f"expected {name} with a known last dimension, got a dynamic one")
        for name in self.attributes:
            if name not in ATTRIBUTES:
                raise AttnError(f"unknown attribute '{name}'")
        precision = self.attributes.get("softmax_precision")
        if precision not in SOFTMAX_PRECISIONS:
            raise AttnError(f"softmax_precision {DTYPES.get(precision, precision)}: the softmax is computed in f32")
        self.mode = scores.PRODUCTS

    def clauses(self) -> list[str]:
        clauses = [] if self.scale is None else [f"scale({float_text(self.scale)})"]
        constants: dict[str, tuple[TensorType, list[Any]]] = {}
        for name in ("score_mod", "prob_mod"):
            if name in self.attributes:
                subgraph = Subgraph(self.attributes[name], name, constants)
                clauses.append(f"{name} {self.region(Score(subgraph))}")
        for name, (type, elements) in constants.items():
            self.lines.append(f"%{name} = arith.constant dense<{literal(elements, type.shape)}> : {type.mlir}")
        return clauses


def import_flex_attention(
    inputs: Sequence[Optional[TensorType]], attributes: Mapping[str, Any], name: str = "attention", head_multiple: int = 1
) -> str:
    """As import_attention, of a node FlexAttention; score_mod and prob_mod are onnx.GraphProto."""
    return FlexImporter(inputs, attributes, (True,), head_multiple).module(name)
