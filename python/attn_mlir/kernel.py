# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compile`: from MLIR to a kernel that is called with arrays."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from . import compiler, server
from .arrays import ArrayView, check_results, copy_array, current_stream, empty_like, finished, view_of
from .cache import Cache, Files, compiler_digest, digest_of
from .errors import AttnError, BindingError, CompileError, DeviceError
from .mask import Mask, Score, trace_mask, trace_score
from .problem import AttentionProblem
from .runtime.binding import BoundProblem, TensorLayout
from .runtime.cuda import Context
from .runtime.devices import CudaDevice, CudaProgram, Program, SimulatorDevice
from .runtime.host_array import HostArray, read_npy, write_npy
from .runtime.manifest import Manifest
from .tools import find_library, run_tool

#: Layouts of arrays that a kernel keeps checked, and launches that each of them keeps packed, by addresses.
MAX_LAYOUTS, MAX_PREPARED = 256, 64

Source = Union[str, os.PathLike, AttentionProblem]


def compile(
    source: Source,
    *,
    target: str = "sm_90a",
    schedule: str = "",
    strict: bool = False,
    allow_tf32: bool = False,
    deterministic: bool = False,
    device_asserts: bool = False,
    assume_visible_rows: bool = False,
    mask_threshold: float = 0,
    programmatic_launch: bool = True,
    invariance: str = "none",
    mask: Any = None,
    score: Any = None,
    cache: Optional[Cache] = None,
) -> "Kernel":
    """Compiles the attention of a module for a GPU ("sm_80", "sm_90a", ...) or for the CPU ("cpu").

    `source` is MLIR text, the path of a file with it, or an AttentionProblem. `schedule` gives fields of the schedule, as
    attn-opt's option does ('tile_m=64 stages=3'); `strict` makes warnings errors; `deterministic` chooses only kernels
    whose gradients are the same bits in every run; `device_asserts` adds
    kernels that check, before each launch, the block lists and sequence offsets that masks read. `assume_visible_rows` takes it
    that every query sees at least one key, so that finite mask values mean -inf; values at or below `mask_threshold` hide keys
    (0: at or below half of the lowest number of the score's type). Without `programmatic_launch` each kernel of a program starts after
    the end of the one before on sm_90 and later, too. With `invariance` "batch" the bits of a sequence depend on nothing else in
    its batch, with "prefix" those of a row on its query and the keys that it sees. `schedule`, `strict`, `device_asserts` and `invariance` are for a GPU.
    `mask` and `score` are functions or masks of attn_mlir.mask for an AttentionProblem; the kernel keeps the arrays that they
    read. Raises CompileError with the compiler's diagnostics. What was compiled before, by any process, comes from `cache` (the
    default one is on disk: cache.py).
    """
    source, captured = with_regions(source, mask, score)
    text, name = source_text(source)
    is_invariant = invariance != "none"
    if is_invariant:
        schedule = f"{schedule} invariance={invariance}".strip()
    if target == "cpu":
        for option, is_given in (("invariance", is_invariant), ("schedule", schedule), ("strict", strict), ("device_asserts", device_asserts)):
            if is_given:
                raise CompileError(f"option {option}: expected a GPU, got target cpu")
        finite_masks = ["--assume-visible-rows"] if assume_visible_rows else []
        finite_masks += [f"--mask-threshold={mask_threshold!r}"] if mask_threshold else []
        return CpuKernel(text, captured, finite_masks)
    options = compiler.Options(
        target, schedule, strict, allow_tf32, deterministic, device_asserts, assume_visible_rows, mask_threshold,
        programmatic_launch,
    )  # fmt: skip
    key = digest_of([compiler_digest(find_library("attn-c")), text, repr(options)])
    files = (cache or Cache()).get_or_make(key, lambda: compile_files(text, name, options))
    return GpuKernel(text, files, captured)


def with_regions(source: Source, mask: Any, score: Any) -> tuple[Source, list[Any]]:
    """The problem with a traced mask and score, and the arrays to pass for their captures."""
    given: dict[str, Union[Mask, Score]] = {}
    if score is not None:
        given["score"] = trace_score(score)
    if mask is not None:
        given["mask"] = trace_mask(mask)
    if not given:
        return source, []
    if not isinstance(source, AttentionProblem):
        raise BindingError("expected an AttentionProblem beside mask and score, got a module")
    regions: dict[str, Any] = {name: part.region for name, part in given.items()}
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


def compile_files(text: str, name: str, options: compiler.Options) -> dict[str, str]:
    """What is cached of a kernel, by name."""
    made, diagnostics = compiler.compile_source(text, options, ["ptx", "manifest", "report"], name, "kernel")
    return {
        "kernel.ptx": made["ptx"],
        "kernel.json": made["manifest"],
        "report.json": made["report"],
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
    #: Pairs of a result and the argument in whose place it may be written.
    in_place: frozenset[tuple[int, int]] = frozenset()

    def __call__(self, *arguments: Any, out: Any = None, device: Optional[str] = None) -> Any:
        """Runs on arrays in the function's order, which become those of `run`, and returns what that does."""
        arguments = (*arguments, *self.captured)
        wanted = argument_count(self.mlir)
        if wanted is not None and len(arguments) != wanted:
            count = len(self.captured)
            raise BindingError(f"expected {wanted - count} arguments, got {len(arguments) - count}")
        return self.run(arguments, [view_of(argument, f"argument {i}") for i, argument in enumerate(arguments)], out, device)

    def run(self, arguments: Sequence[Any], views: Sequence[ArrayView], out: Any, device: Optional[str]) -> Any:
        """As a call, with the views of all arguments."""
        raise NotImplementedError


class GpuKernel(Kernel):
    """A kernel for a GPU: `ptx`, `manifest`, `report` (schedule, cost model's ranking, times)."""

    def __init__(self, text: str, files: Files, captured: Sequence[Any] = ()):
        self.captured = captured
        self.mlir, self.ptx, self.diagnostics = text, files["kernel.ptx"], files["diagnostics.txt"]
        self.program = Program(Manifest.parse(files["kernel.json"]), files["kernel.json"], self.ptx)
        self.report_text = files["report.json"]
        self.calls: dict[tuple, CheckedCall] = {}
        #: By operand: which argument it is, or for outputs which result.
        self.positions = self.operand_positions()

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
        argument's library, or those given as `out` (an array, or a sequence of as many as there are results), which have
        memory of their own.
        """
        return super().__call__(*arguments, out=out, device=device)

    def run(self, arguments: Sequence[Any], views: Sequence[ArrayView], out: Any, device: Optional[str]) -> Any:
        results = [] if out is None else list(out) if isinstance(out, (tuple, list)) else [out]
        result_views = [view_of(result, f"result {i}") for i, result in enumerate(results)]
        key = tuple((v.dtype, v.shape, v.strides, v.device, v.device_id) for v in (*views, *result_views))
        call = self.calls.get(key)
        if call is None:
            if len(self.calls) >= MAX_LAYOUTS:
                self.calls.clear()
            call = self.calls[key] = CheckedCall(self, views, result_views if out is not None else None)
        if out is None:
            results = [empty_like(arguments[0], shape, dtype) for shape, dtype in call.outputs]
            result_views = [view_of(result) for result in results]
        if call.place == "cuda":
            if device not in (None, "cuda"):
                raise BindingError(f"expected device cuda for arrays on a GPU, got {device}")
            call.launch(views, result_views, arguments[0])
        else:
            self.run_on_host(views, result_views, device)
        if out is None:
            results = [finished(arguments[0], result) for result in results]
        return results[0] if len(results) == 1 else tuple(results)

    def operand_positions(self) -> list[tuple[bool, int]]:
        """(is it an output, its position among the arguments or results); an argument that is not read has none."""
        arguments, result, positions = self.manifest.semantics.get("arguments", {}), 0, []
        for operand in self.manifest.operands:
            if operand.role == "output":
                positions.append((True, result))
                result += 1
            elif operand.name not in arguments:
                positions.append((False, -1))
            else:
                positions.append((False, arguments[operand.name]))
        return positions

    def run_on_host(self, views: Sequence[ArrayView], results: Sequence[ArrayView], device: Optional[str]):
        device = device or ("cuda" if has_cuda() else "sim")
        if device not in ("cuda", "sim"):
            raise DeviceError(f"expected device cuda or sim, got '{device}'")
        check_results(results, views, self.in_place)
        where = cuda_device(0) if device == "cuda" else SimulatorDevice()
        inputs = [views[position].to_host() for is_output, position in self.positions if not is_output]
        # Arguments that are written, caches to which the kernels append, are so in place.
        written = [
            (results if is_output else views)[position]
            for operand, (is_output, position) in zip(self.manifest.operands, self.positions)
            if operand.role != "input"
        ]
        for view, tensor in zip(written, where.run(self.program, inputs)):
            view.write(tensor)


class CheckedCall:
    """Arrays of these types and layouts fit the kernel; what follows from them, for any addresses."""

    def __init__(self, kernel: GpuKernel, views: Sequence[ArrayView], results: Optional[Sequence[ArrayView]]):
        self.kernel, manifest = kernel, kernel.manifest
        needed = 1 + max((position for is_output, position in kernel.positions if not is_output), default=-1)
        wanted = sum(is_output for is_output, _ in kernel.positions)
        if len(views) < needed:
            raise BindingError(f"expected {needed} arguments, got {len(views)}")
        if results is not None and len(results) != wanted:
            raise BindingError(f"expected {wanted} results in out, got {len(results)}")
        self.views: list[Optional[ArrayView]] = []
        for operand, (is_output, position) in zip(manifest.operands, kernel.positions):
            if position < 0:
                raise BindingError(f"operand {operand.name}: not an argument of the function, which computes it first")
            view = views[position] if not is_output else results[position] if results is not None else None
            if view is not None and view.dtype != operand.dtype:
                raise BindingError(f"operand {operand.name}: expected dtype {operand.dtype}, got {view.dtype}")
            self.views.append(view)
        self.place = place_of(view for view in self.views if view)
        ordinals = {view.device_id for view in self.views if view}
        if self.place == "cuda" and len(ordinals) > 1:
            raise BindingError(f"expected all arrays on one GPU, got {sorted(ordinals)}")
        self.device = cuda_device(ordinals.pop()) if self.place == "cuda" else None
        layouts = [TensorLayout(view.shape, view.strides) if view else None for view in self.views]
        self.problem = BoundProblem(manifest, layouts, self.device.sm_count if self.device else 1)
        self.outputs = [
            (layout.shape, operand.dtype)
            for operand, layout in zip(manifest.operands, self.problem.operands)
            if operand.role == "output"
        ]
        self.views = []  # owners of memory, which the call must not keep
        self.prepared: dict[tuple[int, ...], CudaProgram] = {}

    def launch(self, views: Sequence[ArrayView], results: Sequence[ArrayView], first: Any):
        """On the current stream of the library of `first`."""
        sources = (views, results)
        addresses = tuple([sources[is_output][position].address for is_output, position in self.kernel.positions])
        assert self.device
        previous = self.device.context.enter()
        try:
            prepared = self.prepared.get(addresses)
            if prepared is None:
                check_results(results, views, self.kernel.in_place)
                prepared = self.prepare(addresses)
            prepared.run(current_stream(first))
        finally:
            self.device.context.leave(previous)

    def prepare(self, addresses: tuple[int, ...]) -> CudaProgram:
        assert self.device
        layouts = [dataclasses.replace(layout, address=address) for layout, address in zip(self.problem.operands, addresses)]
        BoundProblem(self.kernel.manifest, layouts, self.device.sm_count)  # checks the addresses
        prepared = CudaProgram(self.device.module(self.kernel.program), self.problem, addresses)
        # Allocators give the same addresses again and again. Calls that own a workspace must not share it.
        if not prepared.workspaces:
            if len(self.prepared) >= MAX_PREPARED:
                self.prepared.clear()
            self.prepared[addresses] = prepared
        return prepared


def place_of(views: Iterable[ArrayView]) -> str:
    """Where all of the arrays are: "cpu" or "cuda"."""
    places = {view.device for view in views}
    if len(places) != 1:
        raise BindingError("expected all arrays on the CPU or all on a GPU, got both")
    return places.pop()


class CpuKernel(Kernel):
    """A module on the CPU: compiled by its first call, and kept in a process of its own (server.py)."""

    def __init__(self, text: str, captured: Sequence[Any] = (), options: Sequence[str] = ()):
        self.mlir, self.captured, self.options = text, captured, tuple(options)
        self.diagnostics = server.prepare(text, self.options)

    def __call__(self, *arguments: Any, out: Any = None, device: Optional[str] = None) -> Any:
        """As GpuKernel.__call__, for arrays in host memory."""
        return super().__call__(*arguments, out=out, device=device)

    def run(self, arguments: Sequence[Any], views: Sequence[ArrayView], out: Any, device: Optional[str]) -> Any:
        if device not in (None, "cpu"):
            raise DeviceError(f"expected device cpu for a kernel for the CPU, got '{device}'")
        if any(view.device != "cpu" for view in views):
            raise BindingError("expected arrays in host memory, got one on a GPU")
        with server.results_of(self.mlir, views, self.options) as tensors:
            results = self.copy_results(arguments, views, out, tensors)
        return results[0] if len(results) == 1 else tuple(results)

    def copy_results(
        self, arguments: Sequence[Any], views: Sequence[ArrayView], out: Any, tensors: Sequence[ArrayView]
    ) -> list[Any]:
        """Into arrays of the caller's."""
        if out is not None:
            results = list(out) if isinstance(out, (tuple, list)) else [out]
        else:
            results = [empty_like(arguments[0], tensor.shape, tensor.dtype) for tensor in tensors]
        if len(results) != len(tensors):
            raise BindingError(f"expected {len(tensors)} results in out, got {len(results)}")
        result_views = [view_of(result, f"result {i}") for i, result in enumerate(results)]
        for i, (view, tensor) in enumerate(zip(result_views, tensors)):
            if view.device != "cpu":
                raise BindingError(f"result {i}: expected an array in host memory, got one on a GPU")
            if (view.dtype, view.shape) != (tensor.dtype, tensor.shape):
                raise BindingError(f"result {i}: expected {tensor.dtype} {tensor.shape}, got {view.dtype} {view.shape}")
        check_results(result_views, views, self.in_place)
        for view, tensor in zip(result_views, tensors):
            copy_array(view, tensor)
        return results if out is not None else [finished(arguments[0], result) for result in results]


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


@functools.lru_cache(maxsize=256)
def argument_count(text: str) -> Optional[int]:
    """Arguments of the module's function; None where it has several functions, or is written in the generic form."""
    functions = list(re.finditer(r"\bfunc\.func\s[^(]*\(", text))
    if len(functions) != 1:
        return None
    begin = end = functions[0].end()
    depth = 1
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return len(re.findall(r"%[\w$.-]+\s*:", text[begin:end]))


def result_count(text: str) -> int:
    """Results of the module's function."""
    match = re.search(r"->\s*(\([^{]*\)|[^{(]*)\s*(?:attributes.*?)?\{", text)
    if not match:
        raise AttnError("expected a function with results")
    return match[1].count("tensor<")
