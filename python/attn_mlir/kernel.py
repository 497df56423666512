# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compile`: from MLIR to a kernel that is called with arrays."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from . import server
from .arrays import ArrayView, current_stream, empty_like, view_of
from .cache import Cache, digest_of
from .errors import AttnError, BindingError, CompileError, DeviceError
from .mask import trace_mask, trace_score
from .problem import AttentionProblem
from .runtime.binding import BoundProblem, TensorLayout
from .runtime.cuda import Context
from .runtime.devices import CudaDevice, CudaProgram, Program, SimulatorDevice
from .runtime.host_array import HostArray, read_npy, write_npy
from .runtime.manifest import Manifest
from .tools import find_tool, run_tool

#: Launches that a kernel keeps packed, by the layouts and addresses of their arrays.
MAX_PREPARED = 64

Source = Union[str, os.PathLike, AttentionProblem]


def compile(
    source: Source,
    *,
    target: str = "sm_90a",
    schedule: str = "",
    strict: bool = False,
    allow_tf32: bool = False,
    mask: Any = None,
    score: Any = None,
    cache: Optional[Cache] = None,
) -> "Kernel":
    """Compiles the attention of a module for a GPU ("sm_80", "sm_90a", ...) or for the CPU ("cpu").

    `source` is MLIR text, the path of a file with it, or an AttentionProblem. `schedule` gives fields of the schedule, as
    attn-opt's option does ('tile_m=64 stages=3'); `strict` makes warnings errors. `mask` and `score` are functions or masks of
    attn_mlir.mask for an AttentionProblem; the kernel keeps the arrays that they read. Raises CompileError with the compiler's
    diagnostics. What was compiled before, by any process, comes from `cache` (the default one is on disk: cache.py).
    """
    source, captured = with_regions(source, mask, score)
    text, name = source_text(source)
    options = ([f"--schedule={schedule}"] if schedule else []) + (["--strict"] if strict else [])
    options += ["--allow-tf32"] if allow_tf32 else []
    if target == "cpu":
        return CpuKernel(text, captured)
    cache = cache or Cache()
    key = digest_of([compiler_digest(find_tool("attn-opt")), text, target, *options])
    files = cache.get(key)
    if files is None:
        files = run_compiler(text, name, target, options)
        cache.put(key, files)
    return GpuKernel(text, files, captured)


def with_regions(source: Source, mask: Any, score: Any) -> tuple[Source, list[Any]]:
    """The problem with a traced mask and score, and the arrays to pass for their captures."""
    traced = {"score": trace_score(score) if score else None, "mask": trace_mask(mask) if mask else None}
    given = {name: part for name, part in traced.items() if part}
    if not given:
        return source, []
    if not isinstance(source, AttentionProblem):
        raise BindingError("expected an AttentionProblem beside mask and score, got a module")
    regions = {name: part.region for name, part in given.items()}
    return dataclasses.replace(source, **regions), [array for part in given.values() for array in part.arrays]


def source_text(source: Source) -> tuple[str, str]:
    """The module, and what diagnostics are to call it."""
    if isinstance(source, AttentionProblem):
        return source.mlir(), "<problem>"
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source, "<text>"
    path = Path(source)
    try:
        return path.read_text(), str(path)
    except OSError as error:
        raise CompileError(f"{path}: cannot read the file: {error.strerror}") from None


@functools.lru_cache(maxsize=None)
def file_digest(path: str, size: int, modified: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def compiler_digest(path: str) -> str:
    """Of the compiler's own bytes: another build gives other keys."""
    status = os.stat(path)
    return file_digest(path, status.st_size, status.st_mtime_ns)


def run_compiler(text: str, name: str, target: str, options: Sequence[str]) -> dict[str, str]:
    """The files of a kernel: kernel.ptx, kernel.json, report.json, diagnostics.txt."""
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        base = Path(folder) / "kernel"
        command = ["-", f"--target={target}", "--emit=ptx,manifest,report", "-o", base, *options]
        result = run_tool("attn-opt", command, text=text)
        diagnostics = result.stderr.replace("<stdin>", name).strip()
        if result.returncode != 0:
            first = server.first_error(diagnostics)
            raise CompileError(first or f"attn-opt ended with status {result.returncode}", diagnostics)
        return {
            "kernel.ptx": base.with_suffix(".ptx").read_text(),
            "kernel.json": base.with_suffix(".json").read_text(),
            "report.json": base.with_suffix(".report.json").read_text(),
            "diagnostics.txt": diagnostics,
        }


@functools.lru_cache(maxsize=None)
def cuda_device(ordinal: int) -> CudaDevice:
    return CudaDevice(ordinal)


@functools.lru_cache(maxsize=None)
def has_cuda() -> bool:
    try:
        Context()
        return True
    except DeviceError:
        return False


class Kernel:
    """A compiled function. Called with its arguments, it returns its results: one array, or a tuple of several."""

    #: The module it was compiled from.
    mlir: str
    #: What the compiler printed: warnings and remarks.
    diagnostics: str = ""
    #: Arrays that the mask and the score read: passed after the arguments of a call.
    captured: Sequence[Any] = ()

    def __call__(self, *arguments: Any, out: Any = None, device: Optional[str] = None) -> Any:
        raise NotImplementedError


class GpuKernel(Kernel):
    """A kernel for a GPU: `ptx`, `manifest`, `report` (schedule, cost model's ranking, times)."""

    def __init__(self, text: str, files: dict[str, str], captured: Sequence[Any] = ()):
        self.captured = captured
        self.mlir, self.ptx, self.diagnostics = text, files["kernel.ptx"], files["diagnostics.txt"]
        self.program = Program(Manifest.parse(files["kernel.json"]), files["kernel.json"], self.ptx)
        self.report_text = files["report.json"]
        self.prepared: dict[tuple, CudaProgram] = {}

    @property
    def manifest(self) -> Manifest:
        return self.program.manifest

    @property
    def report(self) -> dict:
        return json.loads(self.report_text)

    def __call__(self, *arguments: Any, out: Any = None, device: Optional[str] = None) -> Any:
        """Runs on arrays in the function's order; any strides that the manifest allows, without copies.

        Arrays on a GPU run there, on their library's current stream, asynchronously. Arrays in host memory are copied to
        `device`: "cuda", or "sim", the simulator; by default the GPU where there is one. Results are arrays of the first
        argument's library, or those given as `out` (an array, or a sequence of as many as there are results).
        """
        arguments = (*arguments, *self.captured)
        views = [view_of(argument, f"argument {i}") for i, argument in enumerate(arguments)]
        inputs = self.by_operand(views)
        place_of(inputs.values())
        outputs = [operand for operand in self.manifest.operands if operand.role == "output"]
        results = self.results(arguments, inputs, out)
        result_views = {o.name: view_of(r, f"result {o.name}") for o, r in zip(outputs, results)}
        if place_of([*inputs.values(), *result_views.values()]) == "cuda":
            if device not in (None, "cuda"):
                raise BindingError(f"expected device cuda for arrays on a GPU, got {device}")
            self.run_in_place({**inputs, **result_views}, arguments[0])
        else:
            self.run_on_host(inputs, result_views, device)
        return results[0] if len(results) == 1 else tuple(results)

    def by_operand(self, views: Sequence[ArrayView]) -> dict[str, ArrayView]:
        """The inputs of the kernel, by operand: an argument that it does not read is not among them."""
        positions = self.manifest.semantics.get("arguments", {})
        needed = 1 + max(positions.values(), default=-1)
        if len(views) < needed:
            raise BindingError(f"expected {needed} arguments, got {len(views)}")
        inputs = {}
        for operand in self.manifest.operands:
            if operand.role != "output":
                if operand.name not in positions:
                    raise BindingError(
                        f"operand {operand.name}: not an argument of the function, which computes it first"
                    )
                view = views[positions[operand.name]]
                if view.dtype != operand.dtype:
                    raise BindingError(f"operand {operand.name}: expected dtype {operand.dtype}, got {view.dtype}")
                inputs[operand.name] = view
        return inputs

    def bind(self, views: dict[str, ArrayView]) -> BoundProblem:
        layouts = [
            TensorLayout(views[o.name].shape, views[o.name].strides, 0) if o.name in views else None
            for o in self.manifest.operands
        ]
        return BoundProblem(self.manifest, layouts)

    def results(self, arguments, inputs: dict[str, ArrayView], out: Any) -> list[Any]:
        problem = self.bind(inputs)
        wanted = [(o, layout) for o, layout in zip(self.manifest.operands, problem.operands) if o.role == "output"]
        if out is None:
            return [empty_like(arguments[0], layout.shape, o.dtype) for o, layout in wanted]
        results = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(results) != len(wanted):
            raise BindingError(f"expected {len(wanted)} results in out, got {len(results)}")
        return results

    def run_in_place(self, views: dict[str, ArrayView], first: Any):
        ordinals = {view.device_id for view in views.values()}
        if len(ordinals) > 1:
            raise BindingError(f"expected all arrays on one GPU, got {sorted(ordinals)}")
        layouts = [
            TensorLayout(views[o.name].shape, views[o.name].strides, views[o.name].address)
            for o in self.manifest.operands
        ]
        key = (*ordinals, *layouts)
        prepared = self.prepared.get(key)
        if prepared is None:
            prepared = cuda_device(ordinals.pop()).prepare(self.program, layouts)
            # Allocators give the same addresses again and again. Calls that own a workspace must not share it.
            if not prepared.workspaces:
                if len(self.prepared) >= MAX_PREPARED:
                    self.prepared.clear()
                self.prepared[key] = prepared
        prepared.context.make_current()
        prepared.run(current_stream(first))

    def run_on_host(self, inputs: dict[str, ArrayView], results: dict[str, ArrayView], device: Optional[str]):
        self.bind({**inputs, **results})
        device = device or ("cuda" if has_cuda() else "sim")
        if device not in ("cuda", "sim"):
            raise DeviceError(f"expected device cuda or sim, got '{device}'")
        where = cuda_device(0) if device == "cuda" else SimulatorDevice()
        outputs = where.run(self.program, [view.to_host() for view in inputs.values()])
        for view, tensor in zip(results.values(), outputs):
            view.write(tensor)


def place_of(views: Iterable[ArrayView]) -> str:
    """Where all of the arrays are: "cpu" or "cuda"."""
    places = {view.device for view in views}
    if len(places) != 1:
        raise BindingError("expected all arrays on the CPU or all on a GPU, got both")
    return places.pop()


class CpuKernel(Kernel):
    """A module on the CPU: compiled by its first call, and kept in a process of its own (server.py)."""

    def __init__(self, text: str, captured: Sequence[Any] = ()):
        self.mlir, self.captured = text, captured
        self.diagnostics = server.prepare(text)

    def __call__(self, *arguments: Any, out: Any = None, device: Optional[str] = None) -> Any:
        """As GpuKernel.__call__, for arrays in host memory."""
        if device not in (None, "cpu"):
            raise DeviceError(f"expected device cpu for a kernel for the CPU, got '{device}'")
        arguments = (*arguments, *self.captured)
        views = [view_of(argument, f"argument {i}") for i, argument in enumerate(arguments)]
        if any(view.device != "cpu" for view in views):
            raise BindingError("expected arrays in host memory, got one on a GPU")
        tensors = self.run([view.to_host() for view in views])
        if out is not None:
            results = list(out) if isinstance(out, (tuple, list)) else [out]
        else:
            results = [empty_like(arguments[0], tensor.shape, tensor.dtype) for tensor in tensors]
        if len(results) != len(tensors):
            raise BindingError(f"expected {len(tensors)} results in out, got {len(results)}")
        for i, (result, tensor) in enumerate(zip(results, tensors)):
            view = view_of(result, f"result {i}")
            if (view.dtype, view.shape) != (tensor.dtype, tensor.shape):
                raise BindingError(f"result {i}: expected {tensor.dtype} {tensor.shape}, got {view.dtype} {view.shape}")
            view.write(tensor)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Sequence[HostArray]) -> list[HostArray]:
        return server.run(self.mlir, inputs, result_count(self.mlir))


def run_module(
    text: str, inputs: Sequence[HostArray], device: str = "cpu", options: Sequence[str] = ()
) -> list[HostArray]:
    """Runs the module's function by attn-run: `device` is "cpu", or "sim:sm_80" for its attention in the simulator and
    the rest on the CPU; `options` are more of attn-run's."""
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        base = Path(folder)
        command: list[Any] = ["-", f"--device={device}", *options]
        for i, tensor in enumerate(inputs):
            write_npy(base / f"in{i}.npy", tensor)
            command += ["--input", base / f"in{i}.npy"]
        count = result_count(text)
        for i in range(count):
            command += ["--output", base / f"out{i}.npy"]
        result = run_tool("attn-run", command, text=text)
        if result.returncode != 0:
            raise BindingError((result.stderr or result.stdout).strip())
        return [read_npy(base / f"out{i}.npy") for i in range(count)]


def result_count(text: str) -> int:
    """Results of the module's function."""
    match = re.search(r"->\s*(\([^{]*\)|[^{(]*)\s*(?:attributes.*?)?\{", text)
    if not match:
        raise AttnError("expected a function with results")
    return match[1].count("tensor<")
