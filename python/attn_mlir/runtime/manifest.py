# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manifest (NAME.json) that the compiler writes beside NAME.ptx: docs/Manifest.md as dataclasses, and its reader.

As in lib/Runtime, unknown fields are errors, and a message begins with the path in the file:
"kernels[0].grid[1]: column 4: expected ')' in 'B (Hq'".
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Callable, NoReturn, Optional, Union

from ..errors import ManifestError
from .expression import Expression, Scope

SCHEMA = "attn-mlir/manifest/1"
BUNDLE_SCHEMA = "attn-mlir/bundle/1"
#: Bytes of an element in memory; an i1 takes a whole byte.
DTYPE_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "i32": 4, "i64": 8}
RESERVED = ("sm_count", "iteration")


@dataclasses.dataclass(frozen=True)
class Operand:
    """A tensor that the caller passes; an extent is a size, or the name of one."""

    name: str
    role: str
    dtype: str
    shape: tuple[Union[int, str], ...]
    contiguous_dims: tuple[int, ...] = ()
    stride_multiple: int = 1
    alignment_bytes: int = 1


@dataclasses.dataclass(frozen=True)
class Constraint:
    expr: Expression
    equals: int
    message: str


@dataclasses.dataclass(frozen=True)
class Workspace:
    """Device memory that the launcher allocates for the kernels."""

    name: str
    bytes: Expression
    fill: str = "none"
    alignment_bytes: int = 256


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """A tiled CUtensorMap; lists go from the innermost dimension outwards, as cuTensorMapEncodeTiled takes them."""

    dtype: str
    dims: tuple[Expression, ...]
    strides_bytes: tuple[Expression, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int = 0
    fill: str = "zero"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A kernel parameter. A pointer or a tensor map has a `base` (an operand or a workspace), a scalar a `value`."""

    kind: str
    base: str = ""
    byte_offset: Expression = Expression(0)
    value: Optional[Expression] = None
    tensor_map: Optional[TensorMap] = None


@dataclasses.dataclass(frozen=True)
class Kernel:
    entry: str
    grid: tuple[Expression, Expression, Expression]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: Expression
    parameters: tuple[Parameter, ...]


@dataclasses.dataclass(frozen=True)
class Manifest:
    name: str
    target: str
    ptx: str
    operands: tuple[Operand, ...]
    constraints: tuple[Constraint, ...]
    workspaces: tuple[Workspace, ...]
    kernels: tuple[Kernel, ...]
    repeat: Expression
    schedule: dict
    semantics: dict
    predicted_bytes: tuple[tuple[str, Expression, Expression], ...]
    ptx_digest: str = ""

    @staticmethod
    def load(path: Union[str, Path], program: str = "") -> "Manifest":
        """Reads a file; errors begin with its path. `program` names one of a bundle's, if it has several."""
        try:
            return Manifest.parse(Path(path).read_text(), program)
        except (OSError, ManifestError) as error:
            raise ManifestError(f"{path}: {error}") from None

    @staticmethod
    def parse(text: str, program: str = "") -> "Manifest":
        try:
            root = json.loads(text)
        except ValueError as error:
            raise ManifestError(f"manifest is not JSON: {error}") from None
        manifest = select_program(Cursor(root, ""), program)
        Validator(manifest).run()
        return manifest

    def check_ptx(self, ptx: str):
        """Fails if `ptx` is not the one that the manifest was written with."""
        digest = get_ptx_digest(ptx)
        if self.ptx_digest not in ("", digest):
            raise ManifestError(
                f"ptx_digest: expected the PTX that the manifest was written with ({self.ptx_digest}), got another "
                f"({digest}): compile again, or take ptx_digest out of a manifest whose PTX was changed by hand"
            )

    def operand_index(self, name: str) -> int:
        return next(i for i, operand in enumerate(self.operands) if operand.name == name)


class Cursor:
    """A JSON value and its path."""

    def __init__(self, value: Any, path: str):
        self.value, self.path = value, path

    def fail(self, what: str) -> NoReturn:
        raise ManifestError(f"{self.path or 'manifest'}: {what}")

    def object(self, *fields: str) -> "Cursor":
        if not isinstance(self.value, dict):
            self.fail("expected an object")
        for key in self.value:
            if fields and key not in fields:
                self.fail(f"unknown field '{key}'")
        return self

    def has(self, field: str) -> bool:
        return field in self.value

    def field(self, field: str) -> "Cursor":
        if not self.has(field):
            self.fail(f"missing field '{field}'")
        return Cursor(self.value[field], f"{self.path}.{field}" if self.path else field)

    def optional(self, field: str, read: Callable, default):
        return read(self.field(field)) if self.has(field) else default

    def list(self, read: Callable) -> tuple:
        if not isinstance(self.value, list):
            self.fail("expected an array")
        return tuple(read(Cursor(item, f"{self.path}[{i}]")) for i, item in enumerate(self.value))

    def triple(self, read: Callable, rest) -> tuple:
        values = self.list(read)
        if not 1 <= len(values) <= 3:
            self.fail(f"expected 1 to 3 values, got {len(values)}")
        return values + (rest,) * (3 - len(values))

    def string(self) -> str:
        if not isinstance(self.value, str):
            self.fail("expected a string")
        return self.value

    def integer(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.fail("expected an integer")
        return self.value

    def expr(self) -> Expression:
        if not isinstance(self.value, (str, int, float)) or isinstance(self.value, bool):
            self.fail("expected a string")
        try:
            return Expression(self.value)
        except ManifestError as error:
            self.fail(str(error))

    def one_of(self, *names: str) -> str:
        text = self.string()
        if text not in names:
            self.fail(f"expected one of {', '.join(names)}, got '{text}'")
        return text


def read_extent(c: Cursor) -> Union[int, str]:
    return c.string() if isinstance(c.value, str) else c.integer()


def read_operand(c: Cursor) -> Operand:
    c.object("name", "role", "dtype", "shape", "stride_constraints", "alignment_bytes")
    strides = Cursor(c.value.get("stride_constraints", {}), c.path + ".stride_constraints")
    strides.object("contiguous_dims", "multiple_of")
    return Operand(
        name=c.field("name").string(),
        role=c.field("role").one_of("input", "output", "inout"),
        dtype=c.field("dtype").one_of(*DTYPE_BYTES),
        shape=c.field("shape").list(read_extent),
        contiguous_dims=strides.optional("contiguous_dims", lambda d: d.list(Cursor.integer), ()),
        stride_multiple=strides.optional("multiple_of", Cursor.integer, 1),
        alignment_bytes=c.optional("alignment_bytes", Cursor.integer, 1),
    )


def read_constraint(c: Cursor) -> Constraint:
    c.object("expr", "equals", "message")
    return Constraint(c.field("expr").expr(), c.field("equals").integer(), c.field("message").string())


def read_workspace(c: Cursor) -> Workspace:
    c.object("name", "bytes", "fill", "alignment_bytes")
    return Workspace(
        name=c.field("name").string(),
        bytes=c.field("bytes").expr(),
        fill=c.optional("fill", lambda f: f.one_of("none", "zero"), "none"),
        alignment_bytes=c.optional("alignment_bytes", Cursor.integer, 256),
    )


def read_tensor_map(c: Cursor) -> TensorMap:
    dims = c.field("dims").list(Cursor.expr)
    return TensorMap(
        dtype=c.field("dtype").one_of(*DTYPE_BYTES),
        dims=dims,
        strides_bytes=c.field("strides_bytes").list(Cursor.expr),
        box=c.field("box").list(Cursor.integer),
        element_strides=c.optional("element_strides", lambda s: s.list(Cursor.integer), (1,) * len(dims)),
        swizzle=c.optional("swizzle", Cursor.integer, 0),
        fill=c.optional("fill", lambda f: f.one_of("zero", "nan"), "zero"),
    )


def read_parameter(c: Cursor) -> Parameter:
    kind = c.object().field("kind").one_of("pointer", "i32", "i64", "f32", "f64", "tensor_map")
    if kind not in ("pointer", "tensor_map"):
        return Parameter(kind, value=c.object("kind", "value").field("value").expr())
    map_fields = ("dtype", "dims", "strides_bytes", "box", "element_strides", "swizzle", "fill")
    c.object("kind", "operand", "workspace", "byte_offset", *(map_fields if kind == "tensor_map" else ()))
    if c.has("operand") == c.has("workspace"):
        c.fail("expected one of 'operand' and 'workspace'")
    return Parameter(
        kind,
        base=c.field("operand" if c.has("operand") else "workspace").string(),
        byte_offset=c.optional("byte_offset", Cursor.expr, Expression(0)),
        tensor_map=read_tensor_map(c) if kind == "tensor_map" else None,
    )


def read_kernel(c: Cursor) -> Kernel:
    c.object("entry", "grid", "block", "cluster", "shared_bytes", "parameters")
    return Kernel(
        entry=c.field("entry").string(),
        grid=c.field("grid").triple(Cursor.expr, Expression(1)),
        block=c.field("block").triple(Cursor.integer, 1),
        cluster=c.optional("cluster", lambda d: d.triple(Cursor.integer, 1), (1, 1, 1)),
        shared_bytes=c.optional("shared_bytes", Cursor.expr, Expression(0)),
        parameters=c.field("parameters").list(read_parameter),
    )


def read_predicted(c: Cursor) -> tuple[str, Expression, Expression]:
    c.object("operand", "read", "write")
    return c.field("operand").string(), c.field("read").expr(), c.field("write").expr()


def read_root(c: Cursor) -> Manifest:
    c.object(
        *("schema", "name", "target", "ptx", "operands", "constraints", "workspaces", "kernels"),
        *("repeat", "schedule", "predicted_bytes", "semantics", "ptx_digest"),
    )
    schema = c.field("schema").string()
    if schema != SCHEMA:
        c.fail(f"expected schema '{SCHEMA}', got '{schema}'")
    return Manifest(
        name=c.field("name").string(),
        target=c.field("target").string(),
        ptx=c.field("ptx").string(),
        operands=c.field("operands").list(read_operand),
        constraints=c.optional("constraints", lambda d: d.list(read_constraint), ()),
        workspaces=c.optional("workspaces", lambda d: d.list(read_workspace), ()),
        kernels=c.field("kernels").list(read_kernel),
        repeat=c.optional("repeat", Cursor.expr, Expression(1)),
        schedule=c.optional("schedule", lambda d: d.object().value, {}),
        semantics=c.optional("semantics", lambda d: d.object().value, {}),
        predicted_bytes=c.optional("predicted_bytes", lambda d: d.list(read_predicted), ()),
        ptx_digest=c.optional("ptx_digest", Cursor.string, ""),
    )


def get_ptx_digest(ptx: str) -> str:
    """16 hexadecimal digits that tell files of different compilations apart (FNV-1a, 64 bits)."""
    value = 0xCBF29CE484222325
    for byte in ptx.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def select_program(c: Cursor, name: str) -> Manifest:
    """The manifest, or that of the bundle's program `name`; without a name the only one."""
    is_bundle = isinstance(c.value, dict) and c.value.get("schema") == BUNDLE_SCHEMA
    programs = c.field("programs").list(read_root) if is_bundle else (read_root(c),)
    if not name and len(programs) == 1:
        return programs[0]
    for program in programs:
        if program.name == name:
            return program
    names, given = ", ".join(program.name for program in programs), f"'{name}'" if name else "none"
    raise ManifestError(f"expected the name of a program ({names}), got {given}")


class AnyScope(Scope):
    """Gives 1 for every name that exists, so that a misspelt one is found before there is a problem to bind."""

    def __init__(self, manifest: Manifest, in_kernel: bool):
        extents = {operand.name: [1] * len(operand.shape) for operand in manifest.operands}
        symbols = {e: 1 for operand in manifest.operands for e in operand.shape if isinstance(e, str)}
        symbols["sm_count"] = 1
        if in_kernel:
            symbols["iteration"] = 1
        super().__init__(symbols, extents, extents)


class Validator:
    """Names exist once, ranks agree, numbers are within the limits of the driver (cuTensorMapEncodeTiled)."""

    def __init__(self, manifest: Manifest):
        self.manifest = manifest

    def run(self):
        m = self.manifest
        self.require("ptx", bool(m.ptx), "expected a file name")
        self.require("kernels", bool(m.kernels), "expected at least one kernel")
        self.names: set[str] = set()
        for i, operand in enumerate(m.operands):
            self.operand(f"operands[{i}]", operand)
        for i, constraint in enumerate(m.constraints):
            self.expr(f"constraints[{i}].expr", constraint.expr)
        for i, workspace in enumerate(m.workspaces):
            path = f"workspaces[{i}]"
            self.name(path, workspace.name)
            self.expr(path + ".bytes", workspace.bytes)
            self.alignment(path, workspace.alignment_bytes)
        self.expr("repeat", m.repeat)
        for i, kernel in enumerate(m.kernels):
            self.kernel(f"kernels[{i}]", kernel)
        for i, (name, read, write) in enumerate(m.predicted_bytes):
            path = f"predicted_bytes[{i}]"
            self.require(path + ".operand", name in self.names, f"no operand or workspace '{name}'")
            self.expr(path + ".read", read)
            self.expr(path + ".write", write)

    def operand(self, path: str, operand: Operand):
        self.name(path, operand.name)
        for extent in operand.shape:
            self.require(path + ".shape", extent not in RESERVED, f"'{extent}' is reserved")
            if isinstance(extent, int):
                self.require(path + ".shape", extent >= 0, f"expected sizes of at least 0, got {extent}")
        rank = len(operand.shape)
        for dim in operand.contiguous_dims:
            where = path + ".stride_constraints.contiguous_dims"
            self.require(where, 0 <= dim < rank, f"expected a dimension below {rank}, got {dim}")
        multiple = operand.stride_multiple
        self.require(path + ".stride_constraints.multiple_of", multiple >= 1, f"expected at least 1, got {multiple}")
        self.alignment(path, operand.alignment_bytes)

    def kernel(self, path: str, kernel: Kernel):
        self.require(path + ".entry", bool(kernel.entry), "expected a name")
        for i in range(3):
            self.expr(f"{path}.grid[{i}]", kernel.grid[i], in_kernel=True)
            threads, ctas = kernel.block[i], kernel.cluster[i]
            self.require(f"{path}.block[{i}]", 1 <= threads <= 1024, f"expected 1 to 1024 threads, got {threads}")
            self.require(f"{path}.cluster[{i}]", 1 <= ctas <= 16, f"expected 1 to 16 CTAs, got {ctas}")
        self.expr(path + ".shared_bytes", kernel.shared_bytes, in_kernel=True)
        for i, parameter in enumerate(kernel.parameters):
            self.parameter(f"{path}.parameters[{i}]", parameter)

    def parameter(self, path: str, parameter: Parameter):
        if parameter.value is not None:
            return self.expr(path + ".value", parameter.value, in_kernel=True)
        known = parameter.base in self.names
        self.require(path, known, f"no operand or workspace '{parameter.base}'")
        self.expr(path + ".byte_offset", parameter.byte_offset, in_kernel=True)
        if parameter.tensor_map:
            self.tensor_map(path, parameter.tensor_map)
        return None

    def tensor_map(self, path: str, m: TensorMap):
        rank = len(m.dims)
        self.require(path + ".dims", 1 <= rank <= 5, f"expected 1 to 5 dimensions, got {rank}")
        for field, values, length in (
            ("strides_bytes", m.strides_bytes, rank - 1),
            ("box", m.box, rank),
            ("element_strides", m.element_strides, rank),
        ):
            self.require(f"{path}.{field}", len(values) == length, f"expected {length} values, got {len(values)}")
        for size in m.box:
            self.require(path + ".box", 1 <= size <= 256, f"expected 1 to 256, got {size}")
        for stride in m.element_strides:
            self.require(path + ".element_strides", 1 <= stride <= 8, f"expected 1 to 8, got {stride}")
        swizzles = m.swizzle in (0, 32, 64, 128)
        self.require(path + ".swizzle", swizzles, f"expected 0, 32, 64 or 128, got {m.swizzle}")
        for field, exprs in (("dims", m.dims), ("strides_bytes", m.strides_bytes)):
            for i, expr in enumerate(exprs):
                self.expr(f"{path}.{field}[{i}]", expr, in_kernel=True)

    def name(self, path: str, name: str):
        self.require(path + ".name", bool(name), "expected a name")
        self.require(path + ".name", name not in self.names, f"'{name}' is already used")
        self.names.add(name)

    def alignment(self, path: str, count: int):
        power = count >= 1 and count & (count - 1) == 0
        self.require(path + ".alignment_bytes", power, f"expected a power of two, got {count}")

    def expr(self, path: str, expr: Expression, in_kernel: bool = False):
        try:
            expr.evaluate(AnyScope(self.manifest, in_kernel))
        except ManifestError as error:
            # Values do not matter: 1 may divide by zero where real sizes do not.
            self.require(path, "unknown name" not in str(error), str(error))

    @staticmethod
    def require(path: str, holds: bool, what: str):
        if not holds:
            raise ManifestError(f"{path}: {what}")
