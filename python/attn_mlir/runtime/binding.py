# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Actual tensors against a manifest: binds sizes, checks what the kernels assume, evaluates the launches.

The same checks in the same words as lib/Runtime/ManifestBinding.cpp.
"""

from __future__ import annotations

import dataclasses
from typing import NoReturn, Optional, Sequence, Union

from ..errors import BindingError, ManifestError
from .expression import Expression, Number, Scope
from .manifest import Kernel, Manifest, Operand, Parameter

INT32, INT64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
#: PTX ISA, %nctaid: x holds 31 bits, y and z 16.
GRID_LIMITS = (0x7FFFFFFF, 0xFFFF, 0xFFFF)
#: A CUtensorMap dimension holds 32 bits, its stride 40.
MAX_TENSOR_MAP_DIM, MAX_TENSOR_MAP_STRIDE = 2**32, 2**40 - 1
MAX_SHARED_BYTES, MAX_REPEAT = 1 << 24, 1 << 20


@dataclasses.dataclass(frozen=True)
class TensorLayout:
    """Sizes, strides in elements (None: row-major) and address (0: unknown) of a tensor."""

    shape: tuple[int, ...]
    strides: Optional[tuple[int, ...]] = None
    address: int = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides, given or not."""
        return self.strides if self.strides is not None else row_major_strides(self.shape)


@dataclasses.dataclass(frozen=True)
class ParameterValue:
    """A parameter with its expressions evaluated."""

    parameter: Parameter
    value: Number = 0
    byte_offset: int = 0
    dims: tuple[int, ...] = ()
    strides_bytes: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Launch:
    """A launch with its expressions evaluated. A grid with a 0 means that there is nothing to launch."""

    kernel: Kernel
    grid: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[ParameterValue, ...]

    @property
    def is_empty(self) -> bool:
        return 0 in self.grid


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a tensor without gaps."""
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= max(size, 1)
    return tuple(reversed(strides))


class BoundProblem:
    """Sizes of a problem that agree with a manifest. `operands` has a complete layout for each operand."""

    def __init__(self, manifest: Manifest, operands: Sequence[Optional[TensorLayout]], sm_count: int = 1):
        self.manifest, self.sm_count = manifest, sm_count
        self.symbols: dict[str, int] = {}
        self._launches: Optional[list[Launch]] = None
        if len(operands) != len(manifest.operands):
            raise BindingError(f"expected {len(manifest.operands)} operands, got {len(operands)}")
        for operand, layout in zip(manifest.operands, operands):
            if layout is not None:
                self.bind_shape(operand, layout)
        self.operands = [self.complete(operand, layout) for operand, layout in zip(manifest.operands, operands)]
        self.check_constraints()

    def bind_shape(self, operand: Operand, layout: TensorLayout):
        if len(layout.shape) != len(operand.shape):
            fail(operand, f"expected rank {len(operand.shape)}, got {len(layout.shape)}")
        for d, (extent, got) in enumerate(zip(operand.shape, layout.shape)):
            if got < 0:
                fail(operand, f"expected dim {d} to be at least 0, got {got}")
            expected, origin = extent, ""
            if isinstance(extent, str):
                expected, origin = self.symbols.setdefault(extent, got), f" ({extent})"
            if got != expected:
                fail(operand, f"expected dim {d}{origin} to be {expected}, got {got}")

    def complete(self, operand: Operand, given: Optional[TensorLayout]) -> TensorLayout:
        layout = given or TensorLayout(self.infer_shape(operand))
        if layout.strides is None:
            layout = dataclasses.replace(layout, strides=row_major_strides(layout.shape))
        else:
            check_strides(operand, layout)
        check_alignment(operand, layout.address)
        return layout

    def infer_shape(self, operand: Operand) -> tuple[int, ...]:
        if operand.role != "output":
            fail(operand, "not given")
        for extent in operand.shape:
            if isinstance(extent, str) and extent not in self.symbols:
                fail(operand, f"no other operand gives the size {extent}")
        return tuple(self.symbols[e] if isinstance(e, str) else e for e in operand.shape)

    def check_constraints(self):
        for constraint in self.manifest.constraints:
            value = self.integer(constraint.expr, "constraint")
            if value != constraint.equals:
                raise BindingError(
                    f"{constraint.message}: expected {constraint.expr.text} to be {constraint.equals}, got {value}"
                )

    def scope(self, iteration: Optional[int] = None) -> Scope:
        names = [operand.name for operand in self.manifest.operands]
        symbols = {**self.symbols, "sm_count": self.sm_count}
        if iteration is not None:
            symbols["iteration"] = iteration
        dims = {name: list(layout.shape) for name, layout in zip(names, self.operands)}
        strides = {name: list(layout.steps) for name, layout in zip(names, self.operands)}
        return Scope(symbols, dims, strides)

    def integer(self, expr: Expression, path: str, scope: Optional[Scope] = None, limits=INT64) -> int:
        """The value of an integer expression, between `limits`; errors begin with `path`."""
        value = evaluate(expr, path, scope or self.scope())
        if isinstance(value, float):
            raise BindingError(f"{path}: expected an integer, got a float in '{expr.text}'")
        if not limits[0] <= value <= limits[1]:
            raise BindingError(f"{path}: expected {limits[0]} to {limits[1]}, got {value}")
        return value

    def workspace_bytes(self) -> list[int]:
        """Bytes of each workspace, in the manifest's order."""
        sizes = []
        for workspace in self.manifest.workspaces:
            count = self.integer(workspace.bytes, f"workspace {workspace.name}")
            if count < 0:
                raise BindingError(f"workspace {workspace.name}: expected at least 0 bytes, got {count}")
            sizes.append(count)
        return sizes

    def launches(self) -> list[Launch]:
        """Every launch, in order: all kernels, `repeat` times. Evaluated once."""
        if self._launches is None:
            self._launches = self.evaluate_launches()
        return self._launches

    def evaluate_launches(self) -> list[Launch]:
        repeat = self.integer(self.manifest.repeat, "repeat", limits=(0, MAX_REPEAT))
        result = []
        for iteration in range(repeat):
            scope = self.scope(iteration)
            for i, kernel in enumerate(self.manifest.kernels):
                result.append(self.launch(kernel, f"kernels[{i}]", scope))
        return result

    def launch(self, kernel: Kernel, path: str, scope: Scope) -> Launch:
        grid = []
        for i in range(3):
            where = f"{path}.grid[{i}]"
            ctas = self.integer(kernel.grid[i], where, scope, (0, GRID_LIMITS[i]))
            if ctas % kernel.cluster[i]:
                raise BindingError(
                    f"{where}: expected a multiple of the cluster's {kernel.cluster[i]} CTAs, got {ctas}"
                )
            grid.append(ctas)
        x, y, z = grid
        shared = self.integer(kernel.shared_bytes, path + ".shared_bytes", scope, (0, MAX_SHARED_BYTES))
        parameters = (
            self.parameter(parameter, f"{path}.parameters[{i}]", scope) for i, parameter in enumerate(kernel.parameters)
        )
        return Launch(kernel, (x, y, z), shared, tuple(parameters))

    def parameter(self, parameter: Parameter, path: str, scope: Scope) -> ParameterValue:
        if parameter.value is not None and parameter.kind in ("i32", "i64"):
            limits = INT32 if parameter.kind == "i32" else INT64
            return ParameterValue(parameter, value=self.integer(parameter.value, path, scope, limits))
        if parameter.value is not None:
            return ParameterValue(parameter, value=float(evaluate(parameter.value, path, scope)))
        offset = self.integer(parameter.byte_offset, path + ".byte_offset", scope)
        if not parameter.tensor_map:
            return ParameterValue(parameter, byte_offset=offset)
        dims, strides = self.tensor_map(parameter.tensor_map, path, scope)
        return ParameterValue(parameter, byte_offset=offset, dims=dims, strides_bytes=strides)

    def tensor_map(self, tensor_map, path: str, scope: Scope) -> tuple[tuple[int, ...], tuple[int, ...]]:
        dims = tuple(
            self.integer(expr, f"{path}.dims[{i}]", scope, (0, MAX_TENSOR_MAP_DIM))
            for i, expr in enumerate(tensor_map.dims)
        )
        strides = []
        for i, expr in enumerate(tensor_map.strides_bytes):
            where = f"{path}.strides_bytes[{i}]"
            stride = self.integer(expr, where, scope, (0, MAX_TENSOR_MAP_STRIDE))
            # The stride of a dimension with one element is anything, and not used.
            if dims[i + 1] <= 1:
                stride = (stride + 15) // 16 * 16
            if stride % 16:
                raise BindingError(f"{where}: expected a multiple of 16 bytes, got {stride}")
            strides.append(stride)
        return dims, tuple(strides)


def check_alignment(operand: Operand, address: int):
    if address % operand.alignment_bytes:
        fail(operand, f"expected alignment to {operand.alignment_bytes} bytes, got address {address}")


def check_strides(operand: Operand, layout: TensorLayout):
    if len(layout.steps) != len(layout.shape):
        fail(operand, f"expected {len(layout.shape)} strides, got {len(layout.steps)}")
    for d, (size, stride) in enumerate(zip(layout.shape, layout.steps)):
        if stride < 0:
            fail(operand, f"expected stride {d} to be at least 0, got {stride}")
        # The stride of a dimension of size 1 is never used.
        if size <= 1:
            continue
        if d in operand.contiguous_dims:
            if stride != 1:
                fail(operand, f"expected stride {d} to be 1, got {stride}")
        elif stride % operand.stride_multiple:
            fail(operand, f"expected stride {d} to be a multiple of {operand.stride_multiple}, got {stride}")


def evaluate(expr: Expression, path: str, scope: Scope) -> Union[int, float]:
    try:
        return expr.evaluate(scope)
    except ManifestError as error:
        raise BindingError(f"{path}: {error}") from None


def fail(operand: Operand, what: str) -> NoReturn:
    raise BindingError(f"operand {operand.name}: {what}")
