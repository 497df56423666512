# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manifest (NAME.json) that the compiler writes beside NAME.ptx: docs/Manifest.md as dataclasses.

It is read and checked by libattn-runtime-c; a message begins with the path in the file:
"kernels[0].grid[1]: column 4: expected ')' in 'B (Hq'".
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
from pathlib import Path
from typing import Any, Optional, Union

from ..errors import ManifestError
from .library import Handle, call, library

#: Bytes of an element in memory; an i1 takes a whole byte.
DTYPE_BYTES = {"f8E4M3FN": 1, "f8E5M2": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "i32": 4, "i64": 8}


@dataclasses.dataclass(frozen=True)
class Operand:
    """A tensor that the caller passes; an extent is a size, or the name of one."""

    name: str
    role: str
    dtype: str
    shape: tuple[Union[int, str], ...]
    contiguous_dims: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Workspace:
    """Device memory that the launcher allocates for the kernels."""

    name: str
    fill: str


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """A tiled CUtensorMap; lists go from the innermost dimension outwards, as cuTensorMapEncodeTiled takes them."""

    dtype: str
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int
    fill: str


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A kernel parameter. A pointer or a tensor map has a `base`: an operand or a workspace."""

    kind: str
    base: str
    tensor_map: Optional[TensorMap]


@dataclasses.dataclass(frozen=True)
class Kernel:
    entry: str
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    parameters: tuple[Parameter, ...]


@dataclasses.dataclass(frozen=True)
class Manifest:
    name: str
    target: str
    ptx: str
    operands: tuple[Operand, ...]
    workspaces: tuple[Workspace, ...]
    kernels: tuple[Kernel, ...]
    schedule: dict
    semantics: dict
    handle: Handle = dataclasses.field(compare=False, repr=False)

    @staticmethod
    def load(path: Union[str, Path], program: str = "") -> "Manifest":
        """Reads a file; errors begin with its path. `program` names one of a bundle's, if it has several."""
        try:
            return Manifest.parse(Path(path).read_text(), program)
        except (OSError, ManifestError) as error:
            raise ManifestError(f"{path}: {error}") from None

    @staticmethod
    def parse(text: str, program: str = "") -> "Manifest":
        handle = Handle("attnManifestDestroy")
        call("attnManifestRead", text.encode(), program.encode(), ctypes.byref(handle.value))
        root = json.loads(library().attnManifestGetText(handle.value))
        return Manifest(
            name=root["name"],
            target=root["target"],
            ptx=root["ptx"],
            operands=tuple(map(read_operand, root["operands"])),
            workspaces=tuple(Workspace(w["name"], w["fill"]) for w in root["workspaces"]),
            kernels=tuple(map(read_kernel, root["kernels"])),
            schedule=root["schedule"],
            semantics=root["semantics"],
            handle=handle,
        )

    def check_ptx(self, ptx: str):
        """Fails if `ptx` is not the one that the manifest was written with."""
        call("attnManifestCheckPtx", self.handle.value, ptx.encode())


def read_operand(o: dict[str, Any]) -> Operand:
    return Operand(o["name"], o["role"], o["dtype"], tuple(o["shape"]), tuple(o["stride_constraints"]["contiguous_dims"]))


def read_parameter(p: dict[str, Any]) -> Parameter:
    tensor_map = None
    if p["kind"] == "tensor_map":
        box = tuple(p["box"])
        steps = tuple(p.get("element_strides", (1,) * len(box)))
        tensor_map = TensorMap(p["dtype"], box, steps, p["swizzle"], p["fill"])
    return Parameter(p["kind"], p.get("operand") or p.get("workspace", ""), tensor_map)


def read_kernel(k: dict[str, Any]) -> Kernel:
    parameters = tuple(map(read_parameter, k["parameters"]))
    return Kernel(k["entry"], tuple(k["block"]), tuple(k["cluster"]), parameters)
