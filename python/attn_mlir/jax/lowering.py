# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A jaxpr as linalg, in the form in which StableHLO's lowering leaves it, so that the compiler recognises attention in it.

What there is: arithmetic, comparisons, reductions, dot_general, broadcasts, reshapes, transposes, slices and calls of
functions. Another primitive is an AttnError that names it and its place.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Optional, Sequence

import jax
import numpy as np
from jax.extend import core

from ..errors import AttnError, CompileError
from ..problem import float_text
from ..tools import first_error, run_tool

DTYPES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "bool": "i1", "int8": "i8", "int32": "i32", "int64": "i64",
}  # fmt: skip
#: A bit pattern for what has no decimal form.
SPECIAL = {
    "f16": ("0x7C00", "0xFC00", "0x7E00"), "bf16": ("0x7F80", "0xFF80", "0x7FC0"),
    "f32": ("0x7F800000", "0xFF800000", "0x7FC00000"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
}  # fmt: skip
#: (float, integer, bool) ops; None: not for that type.
BINARY = {
    "add": ("arith.addf", "arith.addi", None), "sub": ("arith.subf", "arith.subi", None),
    "mul": ("arith.mulf", "arith.muli", "arith.andi"), "div": ("arith.divf", "arith.divsi", None),
    "max": ("arith.maximumf", "arith.maxsi", "arith.ori"), "min": ("arith.minimumf", "arith.minsi", "arith.andi"),
    "rem": ("arith.remf", "arith.remsi", None), "pow": ("math.powf", None, None),
    "and": (None, "arith.andi", "arith.andi"), "or": (None, "arith.ori", "arith.ori"),
    "xor": (None, "arith.xori", "arith.xori"), "add_any": ("arith.addf", "arith.addi", None),
}  # fmt: skip
UNARY = {
    "exp": "math.exp", "exp2": "math.exp2", "log": "math.log", "tanh": "math.tanh", "sqrt": "math.sqrt",
    "rsqrt": "math.rsqrt", "neg": "arith.negf", "sin": "math.sin", "cos": "math.cos", "erf": "math.erf", "erfc": "math.erfc",
    "abs": "math.absf", "log1p": "math.log1p",
}  # fmt: skip
COMPARISONS = {
    "eq": ("oeq", "eq"), "ne": ("une", "ne"), "lt": ("olt", "slt"), "le": ("ole", "sle"), "gt": ("ogt", "sgt"),
    "ge": ("oge", "sge"),
}  # fmt: skip
REDUCTIONS = {"reduce_max": "max", "reduce_sum": "add", "reduce_min": "min", "reduce_and": "and", "reduce_or": "or"}
IDENTITIES = ("stop_gradient", "copy", "copy_p", "optimization_barrier", "reduce_precision")
CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint", "remat2")


@dataclasses.dataclass(frozen=True)
class Type:
    shape: tuple[int, ...]
    dtype: str

    def __str__(self):
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.dtype}>"

    @property
    def is_float(self) -> bool:
        return self.dtype in SPECIAL


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An SSA value; `scalar` is the element where it is a constant of rank 0."""

    name: str
    type: Type
    scalar: Optional[Any] = None


@dataclasses.dataclass(frozen=True)
class Lowered:
    """A module whose function takes the arguments' leaves, then `constants`, the arrays that the function closes over."""

    mlir: str
    constants: tuple[Any, ...]

    def attentions(self) -> str:
        """The module with its attentions as attn.attention; CompileError if there is none."""
        result = run_tool("attn-opt", ["-", "--attn-to-tensor"], text=self.mlir)
        if result.returncode != 0:
            raise CompileError(first_error(result.stderr), result.stderr)
        return result.stdout


def lower(function: Callable[..., Any], *arguments: Any, name: str = "main") -> Lowered:
    """The module of function(*arguments): arrays, jax.ShapeDtypeStructs, or trees of them. Sizes are static."""
    closed = jax.make_jaxpr(function)(*arguments)
    lowering = Lowering()
    inputs = [lowering.argument(var.aval) for var in closed.jaxpr.invars]
    arrays = [np.asarray(const) for const in closed.consts]
    constants = [lowering.constant(a.item(), type_of(a)) if a.ndim == 0 else lowering.argument(a) for a in arrays]
    results = lowering.jaxpr(closed.jaxpr, constants, inputs)
    captured = tuple(array for array in arrays if array.ndim)
    return Lowered(lowering.module(name, results), captured)


def type_of(aval: Any) -> Type:
    dtype = DTYPES.get(str(aval.dtype))
    if dtype is None:
        raise AttnError(f"expected dtype {', '.join(DTYPES)}, got {aval.dtype}")
    return Type(tuple(int(size) for size in aval.shape), dtype)


def identity(rank: int) -> list[int]:
    return list(range(rank))


def affine_map(rank: int, results: Sequence[Any]) -> str:
    """`results` are dimensions, or "0"."""
    dims = ", ".join(f"d{d}" for d in range(rank))
    return f"affine_map<({dims}) -> ({', '.join(r if isinstance(r, str) else f'd{r}' for r in results)})>"


class Lowering:
    """The function that is being written."""

    def __init__(self):
        self.lines: list[str] = []
        self.arguments: list[Tensor] = []
        self.count = 0

    def module(self, name: str, results: Sequence[Tensor]) -> str:
        parameters = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        types = ", ".join(str(r.type) for r in results)
        names = ", ".join(self.value(r) for r in results)
        body = "\n".join("  " + line for line in self.lines)  # with what `value` added
        return f"func.func @{name}({parameters}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}\n"

    def fresh(self) -> str:
        self.count += 1
        return f"%{self.count - 1}"

    def argument(self, aval: Any) -> Tensor:
        self.arguments.append(Tensor(f"%arg{len(self.arguments)}", type_of(aval)))
        return self.arguments[-1]

    def constant(self, value: Any, type: Type) -> Tensor:
        return Tensor("", type, value)

    def value(self, tensor: Tensor) -> str:
        """The name; a constant is written where it is needed."""
        if tensor.scalar is None:
            return tensor.name
        return self.op(f"arith.constant dense<{literal(tensor.scalar, tensor.type)}> : {tensor.type}", tensor.type).name

    def op(self, text: str, type: Type) -> Tensor:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return Tensor(name, type)

    def generic(
        self,
        type: Type,
        inputs: Sequence[tuple[Tensor, Sequence[Any]]],
        body: Callable[..., list[str]],
        *,
        rank: Optional[int] = None,
        output: Optional[Sequence[int]] = None,
        start: Any = None,
    ) -> Tensor:
        """linalg.generic: `inputs` with their maps; `body` takes the names of elements, %out the last, and gives the lines,
        of which the last is what to yield. With `start`, reduces the dimensions that `output` lacks. Constants of rank 0
        become constants in the body."""
        rank, output = len(type.shape) if rank is None else rank, identity(len(type.shape)) if output is None else output
        init = self.op(f"tensor.empty() : {type}", type)
        if start is not None:
            zero = self.fresh()
            self.lines.append(f"{zero} = {element(start, type)}")
            init = self.op(f"linalg.fill ins({zero} : {type.dtype}) outs({init.name} : {type}) -> {type}", type)
        names: list[str] = []
        head: list[str] = []
        read: list[tuple[Tensor, str, str]] = []
        for tensor, dims in inputs:
            names.append(f"%e{len(names)}")
            if tensor.scalar is not None:
                head.append(f"{names[-1]} = {element(tensor.scalar, tensor.type)}")
            else:
                read.append((tensor, names[-1], affine_map(rank, dims)))
        *lines, result = body(*names, "%out")
        maps = ", ".join([text for *_, text in read] + [affine_map(rank, output)])
        kinds = ", ".join('"parallel"' if d in output else '"reduction"' for d in range(rank))
        operands = f"ins({', '.join(t.name for t, *_ in read)} : {', '.join(str(t.type) for t, *_ in read)}) " if read else ""
        block = ", ".join([f"{name}: {t.type.dtype}" for t, name, _ in read] + [f"%out: {type.dtype}"])
        inside = "\n".join(f"    {line}" for line in [*head, *lines, f"linalg.yield {result} : {type.dtype}"])
        return self.op(
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {operands}outs({init.name} : {type}) {{\n"
            f"  ^bb0({block}):\n{inside}\n  }} -> {type}",
            type,
        )

    def elementwise(self, type: Type, inputs: Sequence[Tensor], body: Callable[..., list[str]]) -> Tensor:
        """Operands of rank 0 or with dimensions of size 1 are broadcast."""

        def dims(tensor: Tensor) -> list[Any]:
            return ["0" if size == 1 and type.shape[d] != 1 else d for d, size in enumerate(tensor.type.shape)]

        return self.generic(type, [(tensor, dims(tensor)) for tensor in inputs], body)

    # Equations

    def jaxpr(self, jaxpr: Any, constants: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
        known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *inputs]))

        def read(atom: Any) -> Tensor:
            if isinstance(atom, core.Literal):
                return self.constant(atom.val, type_of(atom.aval))
            return known[atom]

        for equation in jaxpr.eqns:
            results = self.equation(equation, [read(atom) for atom in equation.invars])
            known.update(zip(equation.outvars, results))
        return [read(atom) for atom in jaxpr.outvars]

    def equation(self, equation: Any, inputs: list[Tensor]) -> list[Tensor]:
        name, parameters = equation.primitive.name, equation.params
        if name in CALLS:
            inner = parameters.get("jaxpr") or parameters.get("call_jaxpr") or parameters.get("fun_jaxpr")
            if not hasattr(inner, "jaxpr"):
                return self.jaxpr(inner, [], inputs)
            constants = [self.constant(np.asarray(c).item(), type_of(np.asarray(c))) for c in inner.consts]
            return self.jaxpr(inner.jaxpr, constants, inputs)
        if name in IDENTITIES:
            return inputs
        type = type_of(equation.outvars[0].aval)
        if name in UNARY or name in BINARY or name in COMPARISONS:
            return [self.arithmetic(name, type, inputs)]
        if name in REDUCTIONS:
            return [self.reduce(REDUCTIONS[name], type, inputs[0], parameters["axes"])]
        if name == "split":
            return self.split([type_of(var.aval) for var in equation.outvars], inputs[0], parameters["axis"])
        method = getattr(self, f"lower_{name}", None)
        if method is None:
            raise AttnError(f"expected primitives that attn_mlir.jax lowers, got {name} ({place_of(equation)})")
        return [method(type, *inputs, **parameters)]

    def arithmetic(self, name: str, type: Type, inputs: Sequence[Tensor]) -> Tensor:
        operand = inputs[0].type
        if name in COMPARISONS:
            word = f"arith.cmpf {COMPARISONS[name][0]}" if operand.is_float else f"arith.cmpi {COMPARISONS[name][1]}"
            return self.elementwise(type, inputs, lambda a, b, _: [f"%r = {word}, {a}, {b} : {operand.dtype}", "%r"])
        if name in UNARY:
            if not operand.is_float:
                raise AttnError(f"expected {name} of a float, got {operand.dtype}")
            return self.elementwise(type, inputs, lambda a, _: [f"%r = {UNARY[name]} {a} : {type.dtype}", "%r"])
        op = binary(name, type)
        return self.elementwise(type, inputs, lambda a, b, _: [f"%r = {op} {a}, {b} : {type.dtype}", "%r"])

    def reduce(self, kind: str, type: Type, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        rank = len(tensor.type.shape)
        start = {"max": -np.inf if type.is_float else -(2**31), "min": np.inf if type.is_float else 2**31 - 1,
                 "add": 0, "and": True, "or": False}[kind]  # fmt: skip
        op = binary(kind, type)
        return self.generic(
            type, [(tensor, identity(rank))], lambda a, out: [f"%r = {op} {out}, {a} : {type.dtype}", "%r"],
            rank=rank, output=[d for d in range(rank) if d not in axes], start=start,
        )  # fmt: skip

    def lower_convert_element_type(self, type: Type, tensor: Tensor, **_) -> Tensor:
        if tensor.type.dtype == type.dtype:
            return tensor
        if tensor.scalar is not None:
            return self.constant(np.asarray(tensor.scalar).astype(bool if type.dtype == "i1" else object).item(), type)
        op = conversion(tensor.type, type)
        if op is None:
            zero = f"%z = {element(0, tensor.type)}"
            compare = "arith.cmpf une" if tensor.type.is_float else "arith.cmpi ne"
            return self.elementwise(type, [tensor], lambda a, _: [zero, f"%r = {compare}, {a}, %z : {tensor.type.dtype}", "%r"])
        return self.elementwise(
            type, [tensor], lambda a, _: [f"%r = {op} {a} : {tensor.type.dtype} to {type.dtype}", "%r"]
        )

    def lower_not(self, type: Type, tensor: Tensor) -> Tensor:
        ones = element(True if type.dtype == "i1" else -1, type)
        return self.elementwise(
            type, [tensor],
            lambda a, _: [f"%t = {ones}", f"%r = arith.xori {a}, %t : {type.dtype}", "%r"],
        )  # fmt: skip

    def lower_logistic(self, type: Type, tensor: Tensor, **_) -> Tensor:
        t = type.dtype
        return self.elementwise(type, [tensor], lambda a, _: [
            f"%one = arith.constant 1.0 : {t}", f"%n = arith.negf {a} : {t}", f"%x = math.exp %n : {t}",
            f"%d = arith.addf %one, %x : {t}", f"%r = arith.divf %one, %d : {t}", "%r",
        ])  # fmt: skip

    def lower_square(self, type: Type, tensor: Tensor) -> Tensor:
        return self.arithmetic("mul", type, [tensor, tensor])

    def lower_integer_pow(self, type: Type, tensor: Tensor, y: int) -> Tensor:
        if y < 1:
            raise AttnError(f"expected a power of at least 1, got {y}")
        return functools.reduce(lambda a, _: self.arithmetic("mul", type, [a, tensor]), range(y - 1), tensor)

    def lower_select_n(self, type: Type, which: Tensor, *cases: Tensor) -> Tensor:
        if which.type.dtype != "i1" or len(cases) != 2:
            raise AttnError(f"expected select_n by a bool, got {which.type.dtype}")
        return self.elementwise(
            type, [which, *cases], lambda c, a, b, _: [f"%r = arith.select {c}, {b}, {a} : {type.dtype}", "%r"]
        )

    def lower_clamp(self, type: Type, low: Tensor, tensor: Tensor, high: Tensor) -> Tensor:
        return self.arithmetic("min", type, [self.arithmetic("max", type, [tensor, low]), high])

    def lower_iota(self, type: Type, *, dimension: int, **_) -> Tensor:
        to = type if not type.is_float else Type(type.shape, "i32")
        result = self.generic(to, [], lambda _: [
            f"%i = linalg.index {dimension} : index", f"%r = arith.index_cast %i : index to {to.dtype}", "%r"
        ])  # fmt: skip
        return result if to == type else self.lower_convert_element_type(type, result)

    def lower_broadcast_in_dim(self, type: Type, tensor: Tensor, *, broadcast_dimensions, **_) -> Tensor:
        sizes = zip(broadcast_dimensions, tensor.type.shape)
        dims = ["0" if size == 1 and type.shape[d] != 1 else int(d) for d, size in sizes]
        return self.generic(type, [(tensor, dims)], lambda a, _: [a])

    def lower_transpose(self, type: Type, tensor: Tensor, *, permutation) -> Tensor:
        # Dimension d of the result is dimension permutation[d] of the operand.
        dims = [list(permutation).index(d) for d in range(len(permutation))]
        return self.generic(type, [(tensor, dims)], lambda a, _: [a])

    def lower_dot_general(self, type: Type, a: Tensor, b: Tensor, *, dimension_numbers, **_) -> Tensor:
        (contract_a, contract_b), (batch_a, batch_b) = ([list(map(int, d)) for d in pair] for pair in dimension_numbers)
        rank = len(type.shape)
        dims_a: dict[int, int] = {d: i for i, d in enumerate(batch_a)}
        dims_b: dict[int, int] = {d: i for i, d in enumerate(batch_b)}
        dims_a.update({d: rank + i for i, d in enumerate(contract_a)})
        dims_b.update({d: rank + i for i, d in enumerate(contract_b)})
        free = len(batch_a)
        for dims, tensor in ((dims_a, a), (dims_b, b)):
            for d in range(len(tensor.type.shape)):
                if d not in dims:
                    dims[d], free = free, free + 1
        maps = [[dims[d] for d in range(len(dims))] for dims in (dims_a, dims_b)]

        def body(x: str, y: str, out: str) -> list[str]:
            lines, names = [], []
            for name, tensor in ((x, a), (y, b)):
                op = conversion(tensor.type, type) if tensor.type.dtype != type.dtype else None
                names.append(f"{name}_wide" if op else name)
                lines += [f"{names[-1]} = {op} {name} : {tensor.type.dtype} to {type.dtype}"] if op else []
            product = f"%p = {binary('mul', type)} {names[0]}, {names[1]} : {type.dtype}"
            return [*lines, product, f"%r = {binary('add', type)} {out}, %p : {type.dtype}", "%r"]

        return self.generic(
            type, [(a, maps[0]), (b, maps[1])], body, rank=rank + len(contract_a), output=identity(rank), start=0
        )

    def lower_reshape(self, type: Type, tensor: Tensor, **_) -> Tensor:
        if tensor.type.shape == type.shape:
            return tensor
        groups = regroup(tensor.type.shape, type.shape)
        middle = Type(tuple(int(np.prod([tensor.type.shape[d] for d in g])) for g, _ in groups), type.dtype)
        result = tensor
        if middle.shape != tensor.type.shape:
            text = f"tensor.collapse_shape {self.value(result)} {[g for g, _ in groups]} : {result.type} into {middle}"
            result = self.op(text, middle)
        if middle.shape != type.shape:
            sizes = ", ".join(map(str, type.shape))
            text = f"tensor.expand_shape {self.value(result)} {[g for _, g in groups]} output_shape [{sizes}]"
            result = self.op(f"{text} : {result.type} into {type}", type)
        return result

    lower_squeeze = lower_expand_dims = lower_reshape

    def split(self, types: Sequence[Type], tensor: Tensor, axis: int) -> list[Tensor]:
        results, begin = [], 0
        for type in types:
            start = [begin if d == axis else 0 for d in range(len(type.shape))]
            results.append(self.lower_slice(type, tensor, start_indices=start, limit_indices=None, strides=None))
            begin += type.shape[axis]
        return results

    def lower_slice(self, type: Type, tensor: Tensor, *, start_indices, limit_indices, strides) -> Tensor:
        begin, sizes, steps = (
            ", ".join(map(str, values)) for values in (start_indices, type.shape, strides or [1] * len(type.shape))
        )
        return self.op(
            f"tensor.extract_slice {self.value(tensor)}[{begin}] [{sizes}] [{steps}] : {tensor.type} to {type}", type
        )

    def lower_concatenate(self, type: Type, *tensors: Tensor, dimension: int) -> Tensor:
        names, types = ", ".join(self.value(t) for t in tensors), ", ".join(str(t.type) for t in tensors)
        return self.op(f"tensor.concat dim({dimension}) {names} : ({types}) -> {type}", type)


def place_of(equation: Any) -> str:
    frame = equation.source_info.traceback and equation.source_info.traceback.frames
    user = next((f for f in frame or [] if "site-packages" not in f.file_name), None)
    return f"{user.file_name}:{user.line_num}" if user else "unknown place"


def literal(value: Any, type: Type) -> str:
    """An element, as MLIR reads it."""
    if type.dtype == "i1":
        return "true" if value else "false"
    if not type.is_float:
        return str(int(value))
    number = float(value)
    if np.isfinite(number):
        return float_text(number)
    positive, negative, nan = SPECIAL[type.dtype]
    return nan if np.isnan(number) else positive if number > 0 else negative


def element(value: Any, type: Type) -> str:
    """The constant of an element's type."""
    return f"arith.constant {literal(value, type)}" + (f" : {type.dtype}" if type.dtype != "i1" else "")


def binary(name: str, type: Type) -> str:
    op = BINARY[name][0 if type.is_float else 2 if type.dtype == "i1" else 1]
    if op is None:
        raise AttnError(f"expected {name} of another type, got {type.dtype}")
    return op


def conversion(source: Type, target: Type) -> Optional[str]:
    """None: to a bool, which is a comparison."""
    width = {"i1": 1, "i8": 8, "f16": 16, "bf16": 16, "i32": 32, "f32": 32, "i64": 64, "f64": 64}
    if target.dtype == "i1":
        return None
    if source.is_float and target.is_float:
        return "arith.extf" if width[target.dtype] > width[source.dtype] else "arith.truncf"
    if source.is_float:
        return "arith.fptosi"
    if target.is_float:
        return "arith.uitofp" if source.dtype == "i1" else "arith.sitofp"
    if width[target.dtype] < width[source.dtype]:
        return "arith.trunci"
    return "arith.extui" if source.dtype == "i1" else "arith.extsi"


def regroup(source: Sequence[int], target: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The finest groups of neighbouring dimensions with equal products: dimensions of `source`, and of `target`."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) and j < len(target):
        a, b = [i], [j]
        left, right = source[i], target[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left *= source[i]
                a.append(i)
                i += 1
            else:
                right *= target[j]
                b.append(j)
                j += 1
        groups.append((a, b))
    # What is left has size 1.
    if groups:
        groups[-1][0].extend(range(i, len(source)))
        groups[-1][1].extend(range(j, len(target)))
    return groups
