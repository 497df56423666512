# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a compiled program runs: a GPU through the driver, or the simulator as a process. Both take host arrays.

    program = Program.load("attention.json")
    output, lse = SimulatorDevice().run(program, [q, k, v])
    output, lse = CudaDevice().run(program, [q, k, v])

Tensors that are on the GPU already go through CudaDevice.prepare, by address and strides.
"""

from __future__ import annotations

import ctypes
import dataclasses
import tempfile
from pathlib import Path
from typing import Mapping, Optional, Sequence, Union

from ..errors import BindingError, DeviceError, ManifestError
from ..tools import run_with_progress
from .binding import BoundProblem, TensorLayout
from .cuda import Context, Memory, Module, Pointer, PreparedLaunch
from .host_array import HostArray, read_npy, strided_elements, write_npy
from .manifest import DTYPE_BYTES, Manifest

Strides = Mapping[str, Sequence[int]]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """PTX and its manifest."""

    manifest: Manifest
    manifest_text: str
    ptx: str
    #: The PTX as ptxas assembled it, which is loaded where the driver takes it.
    cubin: Optional[bytes] = None

    @staticmethod
    def load(path: Union[str, Path], program: str = "") -> "Program":
        """Reads NAME.json and the PTX that it names, in the same folder. `program` is one of a bundle's."""
        path = Path(path)
        manifest = Manifest.load(path, program)
        try:
            ptx = (path.parent / manifest.ptx).read_text()
        except OSError as error:
            raise ManifestError(f"{path}: ptx: {error}") from None
        try:
            manifest.check_ptx(ptx)
        except ManifestError as error:
            raise ManifestError(f"{path}: {error}") from None
        return Program(manifest, path.read_text(), ptx)

    def bind(self, inputs: Sequence[HostArray], strides: Strides = {}, sm_count: int = 1) -> BoundProblem:
        """Checks `inputs`, in the manifest's order; outputs are inferred. `strides` in elements, by operand."""
        operands = self.manifest.operands
        wanted = [operand for operand in operands if operand.role != "output"]
        if len(inputs) != len(wanted):
            raise BindingError(f"expected {len(wanted)} inputs, got {len(inputs)}")
        layouts: dict[str, TensorLayout] = {}
        for operand, tensor in zip(wanted, inputs):
            if tensor.dtype != operand.dtype:
                raise BindingError(f"operand {operand.name}: expected dtype {operand.dtype}, got {tensor.dtype}")
            given = tuple(strides[operand.name]) if operand.name in strides else None
            layouts[operand.name] = TensorLayout(tensor.shape, given)
        problem = BoundProblem(self.manifest, [layouts.get(operand.name) for operand in operands], sm_count)
        outputs = [
            dataclasses.replace(layout, strides=tuple(strides[operand.name])) if operand.name in strides else layout
            for operand, layout in zip(operands, problem.operands)
        ]
        return BoundProblem(self.manifest, outputs, sm_count)


class SimulatorDevice:
    """attn-sim, which needs no GPU. Every run has all checks on; a finding is a DeviceError."""

    name = "attn-sim"
    sm_count = 132

    def __init__(self, seed: int = 0, threads: int = 0):
        self.seed, self.threads = seed, threads

    def run(self, program: Program, inputs: Sequence[HostArray], strides: Strides = {}) -> list[HostArray]:
        """The outputs (and inouts), row-major, in the manifest's order. A tensor has its `strides` while it runs."""
        problem = program.bind(inputs, strides, self.sm_count)
        outputs = [operand for operand in problem.manifest.operands if operand.role != "input"]
        with tempfile.TemporaryDirectory(prefix="attn-") as folder:
            base = Path(folder)
            (base / "k.ptx").write_text(program.ptx)
            (base / "k.json").write_text(program.manifest_text)
            command = [base / "k.ptx", "--manifest", base / "k.json", "--program", program.manifest.name]
            command += ["--check", f"--seed={self.seed}"]
            command += [f"--threads={self.threads}", f"--sm-count={self.sm_count}"]
            for i, tensor in enumerate(inputs):
                write_npy(base / f"in{i}.npy", tensor)
                command += ["--input", base / f"in{i}.npy"]
            for operand in outputs:
                command += ["--output", base / f"{operand.name}.npy"]
            for name, values in strides.items():
                command += ["--strides", f"{name}={','.join(map(str, values))}"]
            status, diagnostics = run_with_progress("attn-sim", command)
            if status != 0:
                raise DeviceError(diagnostics.strip() or f"attn-sim ended with status {status}")
            return [read_npy(base / f"{operand.name}.npy") for operand in outputs]


class CudaProgram:
    """A program bound to tensors on the GPU: parameters packed, workspaces allocated. `run` only launches.

    `addresses` of the operands, where they are not those of the problem's layouts."""

    def __init__(self, module: Module, problem: BoundProblem, addresses: Optional[Sequence[int]] = None):
        self.context = module.context
        given = [layout.address for layout in problem.operands] if addresses is None else addresses
        # A tensor without elements may have no address, which cuTensorMapEncodeTiled would refuse.
        self.placeholder = Memory(self.context, 256) if any(is_empty(layout) for layout in problem.operands) else None
        places = {
            operand.name: self.placeholder.address if self.placeholder and is_empty(layout) else address
            for operand, layout, address in zip(problem.manifest.operands, problem.operands, given)
        }
        self.workspaces = [Memory(self.context, count) for count in problem.workspace_bytes()]
        self.zeroed = []
        for workspace, memory in zip(problem.manifest.workspaces, self.workspaces):
            places[workspace.name] = memory.address
            if workspace.fill == "zero" and memory.bytes:
                self.zeroed.append(memory)
        launches = [launch for launch in problem.launches() if not launch.is_empty]
        self.launches = [PreparedLaunch(module, launch, places) for launch in launches]

    def run(self, stream: int = 0):
        """Launches on a CUstream (0: the default stream); returns at once."""
        for memory in self.zeroed:
            self.context.driver.call(
                "cuMemsetD8Async", Pointer(memory.address), 0, ctypes.c_size_t(memory.bytes), ctypes.c_void_p(stream)
            )
        for launch in self.launches:
            launch.run(stream)


def is_empty(layout: TensorLayout) -> bool:
    return 0 in layout.shape


class CudaDevice:
    """A GPU. Modules stay loaded as long as their program lives in this object."""

    def __init__(self, ordinal: int = 0, context: Optional[Context] = None):
        self.context = context or Context(ordinal=ordinal)
        self.modules: dict[int, tuple[Program, Module]] = {}

    @property
    def name(self) -> str:
        return self.context.name

    @property
    def sm_count(self) -> int:
        return self.context.sm_count

    def module(self, program: Program) -> Module:
        """The program's PTX, loaded once."""
        if id(program) not in self.modules:
            self.context.require_target(program.manifest.target)
            self.modules[id(program)] = (program, Module(self.context, program.ptx, program.cubin))
        return self.modules[id(program)][1]

    def release(self, program: Program):
        """Unloads the program's module. After a fault the driver refuses; there is nothing left to free then."""
        if id(program) in self.modules:
            _, module = self.modules.pop(id(program))
            try:
                module.unload()
            except DeviceError:
                pass

    def prepare(self, program: Program, operands: Sequence[TensorLayout]) -> CudaProgram:
        """`operands`: shape, strides in elements and device address of every operand, outputs too."""
        self.context.make_current()
        problem = BoundProblem(program.manifest, operands, self.sm_count)
        return CudaProgram(self.module(program), problem)

    def run(self, program: Program, inputs: Sequence[HostArray], strides: Strides = {}) -> list[HostArray]:
        """As SimulatorDevice.run: copies to the GPU, runs, copies back. Outputs begin as 0xFF bytes, NaN in any float."""
        self.context.make_current()
        problem = program.bind(inputs, strides, self.sm_count)
        sources = iter(inputs)
        memories, layouts = [], []
        for operand, layout in zip(problem.manifest.operands, problem.operands):
            count = strided_elements(layout.shape, layout.steps) * DTYPE_BYTES[operand.dtype]
            memory = Memory(self.context, count)
            if operand.role == "output":
                memory.fill(0xFF)
            elif count:
                memory.write(next(sources).spread(layout.steps))
            else:
                next(sources)
            memories.append(memory)
            layouts.append(dataclasses.replace(layout, address=memory.address))
        try:
            self.prepare(program, layouts).run()
            self.context.synchronize()
        except DeviceError as error:
            raise DeviceError("; ".join(filter(None, [str(error), self.context.lost_wait()]))) from None
        return [
            HostArray.gather(operand.dtype, layout.shape, layout.steps, memory.read())
            for operand, layout, memory in zip(problem.manifest.operands, layouts, memories)
            if operand.role != "input"
        ]


def open_device(name: str, seed: int = 0) -> Union[SimulatorDevice, CudaDevice]:
    """ "sim", "cuda" or "cuda:1"."""
    kind, _, ordinal = name.partition(":")
    if kind == "sim" and not ordinal:
        return SimulatorDevice(seed)
    if kind == "cuda" and (ordinal.isdigit() or not ordinal):
        return CudaDevice(int(ordinal or 0))
    raise DeviceError(f"expected a device sim, cuda or cuda:N, got '{name}'")
