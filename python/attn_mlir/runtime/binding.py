# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Actual tensors against a manifest, by libattn-runtime-c: it binds sizes, checks what the kernels assume, evaluates launches."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import json
from typing import Optional, Sequence, Union

from ..errors import BindingError
from .library import NOT_GIVEN, Handle, Tensor, call, library
from .manifest import Kernel, Manifest, Parameter


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
    value: Union[int, float] = 0
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
    #: It may start before the end of the launch before it, for which its kernel waits.
    is_programmatic: bool = False

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
        self.manifest, self.handle = manifest, Handle("attnProblemDestroy")
        names = [operand.name for operand in manifest.operands] + [""] * len(operands)
        tensors = (Tensor * max(len(operands), 1))(*map(make_tensor, names, operands))
        call(
            "attnManifestBind", manifest.handle.value, tensors, len(operands), sm_count, ctypes.byref(self.handle.value)
        )
        bound = json.loads(library().attnProblemGetText(self.handle.value))
        self.symbols: dict[str, int] = bound["symbols"]
        self.operands = [
            TensorLayout(tuple(found["shape"]), tuple(found["strides"]), layout.address if layout else 0)
            for found, layout in zip(bound["operands"], operands)
        ]

    @functools.cached_property
    def evaluated(self) -> dict:
        text = ctypes.c_char_p()
        call("attnProblemGetLaunches", self.handle.value, ctypes.byref(text))
        return json.loads(text.value or b"")

    def workspace_bytes(self) -> list[int]:
        """Bytes of each workspace, in the manifest's order."""
        return self.evaluated["workspace_bytes"]

    def launches(self) -> list[Launch]:
        """Every launch, in order: all kernels, `repeat` times."""
        return [self.read_launch(launch) for launch in self.evaluated["launches"]]

    def read_launch(self, launch: dict) -> Launch:
        kernel = self.manifest.kernels[launch["kernel"]]
        parameters = tuple(map(read_value, kernel.parameters, launch["parameters"]))
        x, y, z = launch["grid"]
        return Launch(kernel, (x, y, z), launch["shared_bytes"], parameters, launch["programmatic"])


def read_value(parameter: Parameter, value: dict) -> ParameterValue:
    dims, strides = tuple(value.get("dims", ())), tuple(value.get("strides_bytes", ()))
    return ParameterValue(parameter, value.get("value", 0), value.get("byte_offset", 0), dims, strides)


def make_tensor(name: str, layout: Optional[TensorLayout]) -> Tensor:
    """The operand's, for the library, which has one rank for sizes and strides."""
    if layout is None:
        return Tensor(rank=NOT_GIVEN)
    rank = len(layout.shape)
    if layout.strides is not None and len(layout.strides) != rank:
        raise BindingError(f"operand {name}: expected {rank} strides, got {len(layout.strides)}")
    numbers = ctypes.c_int64 * max(rank, 1)
    strides = numbers(*layout.strides) if layout.strides else None
    return Tensor(layout.address, rank, numbers(*layout.shape), strides)
