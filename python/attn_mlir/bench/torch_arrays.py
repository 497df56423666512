# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs, reference and errors by PyTorch: on the GPU, and on the CPU to try the same code with the simulator."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch

from ..errors import DeviceError
from ..runtime.binding import TensorLayout, row_major_strides
from ..runtime.devices import CudaDevice, Program
from ..runtime.host_array import HostArray, strided_elements
from .configurations import DISTANCE_SLOPE, Problem
from .numerics import judge
from .plain_arrays import Reference

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
#: Scores that the reference holds at once, of one head.
MAX_SCORES = 1 << 27
#: Scores over all heads that it computes; above that, heads are sampled.
MAX_TOTAL_SCORES = 1 << 34


def empty(shape, strides, dtype: str, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """A strided tensor and the storage under it, all of it NaN (0xFF bytes)."""
    count = max(strided_elements(shape, strides), 1)
    storage = torch.full((count * DTYPES[dtype].itemsize,), 0xFF, dtype=torch.uint8, device=device)
    storage = storage.view(DTYPES[dtype])
    return storage.as_strided(shape, strides), storage


def to_host(tensor: torch.Tensor, dtype: str) -> HostArray:
    data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return HostArray(dtype, tuple(tensor.shape), bytearray(bytes(data.tolist())))


class TorchArrays:
    name = "torch"

    def __init__(self, device: str = "cuda"):
        self.device = device
        torch.backends.cuda.matmul.allow_tf32 = False

    def inputs(self, problem: Problem, seed: int) -> dict[str, torch.Tensor]:
        """As PlainArrays.inputs, in the problem's layout; NaN lies between the elements."""
        generator = torch.Generator(device=self.device).manual_seed(seed)
        strides = problem.strides()
        tensors = {}
        for name, shape in problem.shapes().items():
            if name in ("output", "lse"):
                continue
            dtype = "f32" if name == "bias" else problem.attention.dtype
            tensor, _ = empty(shape, strides.get(name, row_major_strides(shape)), dtype, self.device)
            for part, target in ((t.shape, t) for t in tensor):  # a batch at a time: the numbers are f32 first
                deviation = problem.magnitude if name in ("query", "key") else 1.0
                target.copy_(torch.randn(part, generator=generator, device=self.device) * deviation)
            tensors[name] = tensor
        return tensors

    def run(
        self, device, program: Program, problem: Problem, inputs: dict[str, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        if isinstance(device, CudaDevice) and self.device != "cpu":
            return self.run_on_gpu(device, program, problem, inputs)
        operands = program.manifest.operands
        ordered = [to_host(inputs[o.name], o.dtype) for o in operands if o.role == "input"]
        outputs = device.run(program, ordered, problem.strides())
        names = [operand.name for operand in operands if operand.role == "output"]
        return {
            name: torch.frombuffer(array.data or bytearray(4), dtype=DTYPES[array.dtype])[
                : math.prod(array.shape)
            ].reshape(array.shape)
            for name, array in zip(names, outputs)
        }

    def run_on_gpu(self, device: CudaDevice, program: Program, problem: Problem, inputs) -> dict[str, torch.Tensor]:
        tensors, storages = dict(inputs), {}
        for operand in program.manifest.operands:
            if operand.role == "output":
                shape = problem.shapes()[operand.name]
                strides = problem.strides().get(operand.name, row_major_strides(shape))
                tensors[operand.name], storages[operand.name] = empty(shape, strides, operand.dtype, self.device)
        prepared = device.prepare(program, layouts(program, tensors))
        prepared.run(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        results = {name: tensors[name].clone() for name in storages}
        for name, storage in storages.items():
            tensors[name].fill_(math.nan)
            if not torch.isnan(storage).all():
                raise DeviceError(f"operand {name}: expected no write between its elements, got one")
        return results

    def reference(self, problem: Problem, inputs: dict[str, torch.Tensor]) -> Reference:
        """Of all heads, or where that is too much of some, the first and the last among them; the other rows of the
        results are NaN, which `stats` takes for not known."""
        pairs = self.checked_heads(problem)
        results: dict[str, Any] = {}
        unfused: dict[str, Any] = {}
        for name in ("output", "lse") if problem.attention.lse else ("output",):
            shape = problem.shapes()[name]
            for target, dtype in ((results, torch.float64), (unfused, torch.float64)):
                target[name] = torch.full((len(pairs), *shape[2:]), math.nan, dtype=dtype, device=self.device)
        for k, (b, h) in enumerate(pairs):
            for target, dtype in ((results, None), (unfused, DTYPES[problem.attention.dtype])):
                self.attend_head(problem, inputs, (b, h), dtype, {name: t[k] for name, t in target.items()})
        self.pairs = pairs
        return Reference(results, unfused)

    @staticmethod
    def checked_heads(problem: Problem) -> list[tuple[int, int]]:
        """The (batch, query head) pairs to compare."""
        pairs = [(b, h) for b in range(problem.B) for h in range(problem.Hq)]
        count = max(2, MAX_TOTAL_SCORES // max(problem.M * problem.N, 1))
        if len(pairs) <= count:
            return pairs
        return [pairs[i * (len(pairs) - 1) // (count - 1)] for i in range(count)]

    def attend_head(self, problem: Problem, inputs, head: tuple[int, int], dtype: Optional[torch.dtype], results):
        """All rows of a head, as many at once as memory allows."""
        count = max(1, MAX_SCORES // max(problem.N, 1))
        for first in range(0, problem.M, count):
            rows = slice(first, min(first + count, problem.M))
            output, lse = self.attend_rows(problem, inputs, head, rows, dtype)
            results["output"][rows] = output
            if "lse" in results:
                results["lse"][rows] = lse

    def attend_rows(
        self, problem: Problem, inputs, head: tuple[int, int], rows: slice, dtype: Optional[torch.dtype]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Output and LSE of some rows of a head in float64, or, with a dtype, unfused: f32 scores and sums, P and the
        output rounded to the dtype."""
        b, h = head
        a, step = problem.attention, torch.float64 if dtype is None else torch.float32
        query = inputs["query"][b, h, rows].to(step)
        key, value = (inputs[name][b, h // (problem.Hq // problem.Hkv)].to(step) for name in ("key", "value"))
        scores = self.scores(problem, query @ key.T / math.sqrt(a.D), inputs.get("bias"), h, rows)
        if problem.N == 0:
            scores = scores.new_full((scores.shape[0], 1), -math.inf)
            value = value.new_zeros((1, a.Dv))
        top = scores.amax(dim=-1, keepdim=True)
        empty_rows = top == -math.inf
        weights = torch.exp(scores - top.masked_fill(empty_rows, 0))
        total = weights.sum(dim=-1, keepdim=True)
        weights /= total.masked_fill(empty_rows, 1)
        output = weights @ value if dtype is None else (weights.to(dtype).to(step) @ value).to(dtype)
        lse = (top + torch.log(total)).masked_fill(empty_rows, -math.inf)
        return output.to(torch.float64), lse[:, 0].to(torch.float64)

    def spot_check(self, problem: Problem, inputs, output: torch.Tensor, count: int = 64) -> Optional[str]:
        """What is wrong with the first and last rows of the first and last head, by the rule of numerics.py, if anything:
        at the sizes that are timed, where the whole reference would take too long."""
        ends = (slice(0, min(count, problem.M)), slice(max(0, problem.M - count), problem.M))
        for b, h in {(0, 0), (problem.B - 1, problem.Hq - 1)}:
            for rows in ends:
                exact, _ = self.attend_rows(problem, inputs, (b, h), rows, None)
                unfused, _ = self.attend_rows(problem, inputs, (b, h), rows, DTYPES[problem.attention.dtype])
                actual = output[b, h, rows]
                verdict = judge(self.stats(actual, exact), self.stats(unfused, exact), problem.attention.dtype)
                if not verdict["passed"]:
                    bound, got = verdict["max_abs_bound"], verdict["max_abs"]
                    place = f"batch {b}, head {h}, rows {rows.start} to {rows.stop}"
                    return f"its output is wrong: {place}: expected an error of at most {bound:.3g}, got {got:.3g}"
        return None

    def scores(self, problem: Problem, scores: torch.Tensor, bias, h: int, rows: slice) -> torch.Tensor:
        a, p = problem.attention, problem
        i = torch.arange(rows.start, rows.stop, device=self.device)[:, None]
        j = torch.arange(p.N, device=self.device)[None, :]
        if bias is not None:
            scores = scores + bias[0, 0, rows]
        if a.soft_cap:
            scores = a.soft_cap * torch.tanh(scores / a.soft_cap)
        if a.score == "distance":
            scores = scores + ((j - i) * h).to(scores.dtype) * DISTANCE_SLOPE
        if a.mask.startswith("causal"):
            visible = j <= i + (p.N - p.M if "bottom_right" in a.mask else 0)
        elif a.window:
            visible = (j >= i - a.window[0]) & (j <= i + a.window[1])
        else:
            return scores
        return scores.masked_fill_(~visible, -math.inf)

    def stats(self, actual: torch.Tensor, expected: torch.Tensor) -> tuple[float, float, float]:
        """As PlainArrays.stats; of a whole result, the heads that the reference computed last."""
        if actual.shape != expected.shape:
            actual = (
                torch.stack([actual[b, h] for b, h in self.pairs]) if self.pairs else actual.reshape(expected.shape)
            )
        actual = actual.to(torch.float64)
        if expected.numel() == 0:
            return 0.0, 0.0, 0.0
        same = (actual == expected) | (actual.isnan() & expected.isnan())
        difference = (actual - expected).abs().masked_fill(same, 0).nan_to_num(nan=math.inf, posinf=math.inf)
        finite = expected.masked_fill(~expected.isfinite(), 0)
        worst, norm = difference.max().item(), finite.norm().item()
        errors = difference.norm().item()
        relative = errors / norm if errors and norm else (math.inf if errors else 0.0)
        return worst, relative, finite.abs().max().item()


def layouts(program: Program, tensors: dict[str, torch.Tensor]) -> list[TensorLayout]:
    """The operands of a launch, by name, in the manifest's order."""
    return [
        TensorLayout(tuple(t.shape), tuple(t.stride()), t.data_ptr())
        for t in (tensors[operand.name] for operand in program.manifest.operands)
    ]
