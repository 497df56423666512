# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs, reference and errors by PyTorch: on the GPU, and on the CPU to try the same code with the simulator."""

from __future__ import annotations

import itertools
import math
from typing import Optional

import torch

from ..errors import DeviceError
from ..runtime.binding import TensorLayout, row_major_strides
from ..runtime.devices import CudaDevice, Program
from ..runtime.host_array import HostArray, strided_elements
from .configurations import DESCALE, DESCALED, Problem, distance
from .numerics import judge_all
from .plain_arrays import Reference, Stats

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "i32": torch.int32, "f8E4M3FN": torch.float8_e4m3fn}
EVERYTHING = slice(None)
#: (batch, key head), or (batch, query head).
Head = tuple[int, int]
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
        integers = problem.integers()
        tensors = {}
        for name, shape in problem.shapes().items():
            if name in integers:
                values = torch.tensor(integers[name][1], dtype=DTYPES[problem.dtype_of(name)], device=self.device)
                tensors[name] = values.reshape(shape)
            elif problem.attention.cache and name in DESCALED:
                tensors[name] = torch.full(shape, DESCALE, device=self.device)
            elif name == "value" and problem.attention.latent:
                tensors[name] = tensors["key"][..., : problem.attention.Dv]
            elif name not in (*problem.results, "output", "lse"):
                tensors[name], _ = self.empty(problem, name)
                deviation = problem.magnitude if name in ("query", "key") else 1.0
                for target in tensors[name]:  # a batch at a time: the numbers are f32 first
                    target.copy_(torch.randn(target.shape, generator=generator, device=self.device) * deviation)
        if problem.attention.gradient:
            tensors.update((name, self.empty(problem, name)[0]) for name in ("output", "lse"))
            for head in itertools.product(range(problem.B), range(problem.Hkv)):
                for name, part in self.outputs(problem, tensors, head, DTYPES[problem.attention.dtype]).items():
                    part_of(name, tensors[name], problem, head).copy_(part)
        return tensors

    def empty(self, problem: Problem, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """An operand, and the storage under it, all of it NaN."""
        shape = problem.shapes()[name]
        strides = problem.strides().get(name, row_major_strides(shape))
        return empty(shape, strides, problem.dtype_of(name), self.device)

    def empty_results(self, problem: Problem) -> dict[str, torch.Tensor]:
        return {name: self.empty(problem, name)[0] for name in problem.results}

    def run(
        self, device, program: Program, problem: Problem, inputs: dict[str, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        if isinstance(device, CudaDevice) and self.device != "cpu":
            return self.run_on_gpu(device, program, problem, inputs)
        operands = program.manifest.operands
        ordered = [to_host(inputs[o.name], o.dtype) for o in operands if o.role == "input"]
        outputs = device.run(program, ordered, problem.strides_for(operand.name for operand in operands))
        names = [operand.name for operand in operands if operand.role == "output"]
        return {
            name: torch.frombuffer(array.data or bytearray(4), dtype=DTYPES[array.dtype])[
                : math.prod(array.shape)
            ].reshape(array.shape)
            for name, array in zip(names, outputs)
        }

    def run_on_gpu(self, device: CudaDevice, program: Program, problem: Problem, inputs) -> dict[str, torch.Tensor]:
        tensors, storages = dict(inputs), {}
        for name in problem.results:
            tensors[name], storages[name] = self.empty(problem, name)
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
        """Of all key heads and the query heads that share them, or where that is too much of some, the first and the last
        among them."""
        self.problem, self.heads = problem, sampled_heads(problem)
        compute = self.gradients if problem.attention.gradient else self.outputs
        exact, unfused = (
            [compute(problem, inputs, head, dtype) for head in self.heads] for dtype in dtypes_of(problem)
        )
        return Reference(
            *(
                {name: torch.stack([head[name] for head in heads]) for name in problem.results}
                for heads in (exact, unfused)
            )
        )

    def errors(self, reference: Reference, name: str, actual: torch.Tensor) -> tuple[Stats, Stats]:
        """As PlainArrays.errors, of the heads that the reference computed last."""
        exact = reference.results[name]
        actual = torch.stack([part_of(name, actual, self.problem, head) for head in self.heads])
        return self.stats(actual, exact), self.stats(reference.unfused[name], exact)

    def both_sides(
        self, reference: Reference, name: str, actual: torch.Tensor
    ) -> tuple[list[float], list[float], tuple[int, ...]]:
        """As PlainArrays.both_sides, of the key head that is worst, as [1, heads, rows, columns]."""
        exact = reference.results[name]
        parts = [part_of(name, actual, self.problem, head).to(torch.float64) for head in self.heads]
        worst = max(range(len(parts)), key=lambda k: self.stats(parts[k], exact[k])[0])
        shape = tuple(exact[worst].shape) if name == "lse" else (1, *exact[worst].shape)
        if name in ("d_key", "d_value"):
            shape = (1, *shape)
        return parts[worst].flatten().tolist(), exact[worst].flatten().tolist(), shape

    @staticmethod
    def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
        return torch.equal(a.contiguous().view(torch.int16), b.contiguous().view(torch.int16))

    def outputs(
        self, problem: Problem, inputs, head: Head, dtype: Optional[torch.dtype], rows: slice = EVERYTHING,
        keys: slice = EVERYTHING,
    ) -> dict[str, torch.Tensor]:  # fmt: skip
        """Output and LSE [group, rows, ...] of some rows, of all query heads that share a key head. Every key counts: `keys`
        is there because `gradients` has it, which is called alike."""
        results: dict[str, list[torch.Tensor]] = {"output": [], "lse": []}
        for h in query_heads(problem, head):
            parts = [
                self.attend_rows(problem, inputs, (head[0], h), p, dtype) for p in chunks(rows, problem.M, problem.N)
            ]
            for tensors, of_chunks in zip(results.values(), zip(*parts)):
                tensors.append(torch.cat(of_chunks))
        return {name: torch.stack(tensors) for name, tensors in results.items()}

    def attend_rows(
        self, problem: Problem, inputs, head: tuple[int, int], rows: slice, dtype: Optional[torch.dtype]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Output and LSE of some rows of a head in float64, or, with a dtype, unfused: f32 scores and sums, P and the
        output rounded to the dtype."""
        b, h = head
        a, step = problem.attention, torch.float64 if dtype is None else torch.float32
        query = inputs["query"][b, h, rows].to(step)
        group = h // (problem.Hq // problem.Hkv)
        key, value = (rows_of_keys(problem, inputs, name, b, group).to(step) for name in ("key", "value"))
        scores = self.scores(problem, query @ key.T / math.sqrt(a.D), inputs.get("bias"), head, rows)
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

    def gradients(
        self, problem: Problem, inputs, head: Head, dtype: Optional[torch.dtype], rows: slice = EVERYTHING,
        keys: slice = EVERYTHING,
    ) -> dict[str, torch.Tensor]:  # fmt: skip
        """As PlainArrays.gradients, of a key head: d_query [group, rows, D] of some rows of all query heads that share it,
        d_key and d_value [keys, ...] of some keys; float64."""
        (b, g), step = head, torch.float64 if dtype is None else torch.float32
        a, scale = problem.attention, 1 / math.sqrt(problem.attention.D)
        key = inputs["key"][b, g].to(step)
        shapes = {"d_key": (chosen(keys, problem.N), a.D), "d_value": (chosen(keys, problem.N), a.Dv)}
        sums = {name: torch.zeros(shape, dtype=step, device=self.device) for name, shape in shapes.items()}
        d_query = []
        for h in query_heads(problem, head):
            query, d_output = (inputs[name][b, h].to(step) for name in ("query", "d_output"))
            for part in chunks(rows, problem.M, problem.N):
                _, ds = self.score_gradients(problem, inputs, (b, h), part, EVERYTHING, dtype)
                d_query.append(ds @ key * scale)
            done = 0
            for part in chunks(keys, problem.N, problem.M):
                p, ds = self.score_gradients(problem, inputs, (b, h), EVERYTHING, part, dtype)
                at = slice(done, done := done + p.shape[1])
                sums["d_key"][at] += ds.T @ query * scale
                sums["d_value"][at] += p.T @ d_output
        sums["d_query"] = torch.cat(d_query).reshape(-1, chosen(rows, problem.M), a.D)
        return {name: (t if dtype is None else t.to(dtype)).to(torch.float64) for name, t in sums.items()}

    def score_gradients(
        self, problem: Problem, inputs, head: tuple[int, int], rows: slice, keys: slice, dtype: Optional[torch.dtype]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """P and dS [rows, keys] of a query head, with a dtype rounded to it."""
        b, h = head
        a, step = problem.attention, torch.float64 if dtype is None else torch.float32
        query, d_output, output = (inputs[name][b, h, rows].to(step) for name in ("query", "d_output", "output"))
        key, value = (inputs[name][b, h // (problem.Hq // problem.Hkv), keys].to(step) for name in ("key", "value"))
        lse = inputs["lse"][b, h, rows, None].to(step)
        scores = self.scores(problem, query @ key.T / math.sqrt(a.D), inputs.get("bias"), head, rows, keys)
        p = torch.exp(scores - lse).masked_fill_(scores == -math.inf, 0)
        ds = p * (d_output @ value.T - (d_output * output).sum(dim=-1, keepdim=True))
        if a.soft_cap:
            ds = torch.where(p == 0, p, ds * (1 - (scores / a.soft_cap) ** 2))
        return (p, ds) if dtype is None else (p.to(dtype).to(step), ds.to(dtype).to(step))

    def spot_check(self, problem: Problem, inputs, results: dict[str, torch.Tensor], count: int = 64) -> Optional[str]:
        """What is wrong with the first and last rows of the first and last head, by the rule of numerics.py, if anything:
        at the sizes that are timed, where the whole reference would take too long. Begins with "marginal: " where the rule
        is nearly kept."""
        marginal = None
        compute = self.gradients if problem.attention.gradient else self.outputs
        for head in {(0, 0), (problem.B - 1, problem.Hkv - 1)}:
            for ends in (lambda size: slice(0, min(count, size)), lambda size: slice(max(0, size - count), size)):
                rows, keys = ends(problem.M), ends(problem.N)
                exact, unfused = (compute(problem, inputs, head, dtype, rows, keys) for dtype in dtypes_of(problem))
                stats = {}
                for name in results:
                    part = keys if name in ("d_key", "d_value") else rows
                    actual = part_of(name, results[name], problem, head, part)
                    stats[name] = (self.stats(actual, exact[name]), self.stats(unfused[name], exact[name]))
                for name, verdict in judge_all(stats, problem.dtype_of).items():
                    if not verdict["passed"]:
                        bound, got = verdict["max_abs_bound"], verdict["max_abs"]
                        part = keys if name in ("d_key", "d_value") else rows
                        place = f"batch {head[0]}, key head {head[1]}, rows {part.start} to {part.stop}"
                        text = f"its {name} is wrong: {place}: expected an error of at most {bound:.3g}, got {got:.3g}"
                        if not verdict["marginal"]:
                            return text
                        marginal = marginal or f"marginal: {text}"
        return marginal

    def scores(
        self, problem: Problem, scores: torch.Tensor, bias, head: Head, rows: slice, keys: slice = EVERYTHING
    ) -> torch.Tensor:
        """Of the scaled products of some rows and keys of a query head, what the softmax is taken of."""
        a, (b, h) = problem.attention, head
        (first, last, _), (begin, end, _) = rows.indices(problem.M), keys.indices(problem.N)
        i = torch.arange(first, last, device=self.device)[:, None]
        j = torch.arange(begin, end, device=self.device)[None, :]
        if bias is not None:
            scores = scores + bias[0, 0, rows, keys]
        if a.soft_cap:
            scores = a.soft_cap * torch.tanh(scores / a.soft_cap)
        if a.score == "distance":
            scores = distance(scores, b, h, i, j)
        predicate = a.form.predicate(problem, lambda values: torch.tensor(values, device=self.device))
        return scores.masked_fill_(~predicate(b, h, i, j), -math.inf) if predicate else scores

    def stats(self, actual: torch.Tensor, expected: torch.Tensor) -> Stats:
        """As PlainArrays.stats."""
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


def rows_of_keys(problem: Problem, inputs, name: str, b: int, g: int) -> torch.Tensor:
    """Keys or values [length, columns] of a batch and key head."""
    if not problem.attention.page:
        return inputs[name][b, g]
    pool, table = inputs[name], inputs["key_table"][b].long()
    if problem.attention.cache:  # torch picks no rows of 8-bit floats
        rows = pool.view(torch.uint8)[table, g].view(pool.dtype).to(torch.float32) * DESCALE
    else:
        rows = pool[table, g]
    return rows.reshape(-1, rows.shape[-1])[: problem.key_lengths[b]]


def query_heads(problem: Problem, head: Head) -> range:
    """Those that share a key head."""
    group = problem.Hq // problem.Hkv
    return range(head[1] * group, (head[1] + 1) * group)


def part_of(name: str, tensor: torch.Tensor, problem: Problem, head: Head, rows: slice = EVERYTHING) -> torch.Tensor:
    """Some rows of an operand that belong to a key head."""
    b, g = head
    if name in ("d_key", "d_value"):
        return tensor[b, g, rows]
    heads = query_heads(problem, head)
    return tensor[b, heads.start : heads.stop, rows]


def sampled_heads(problem: Problem) -> list[Head]:
    """The key heads to compare."""
    pairs = list(itertools.product(range(problem.B), range(problem.Hkv)))
    scores = problem.M * problem.N * (problem.Hq // problem.Hkv)
    count = max(2, MAX_TOTAL_SCORES // max(scores, 1))
    if len(pairs) <= count:
        return pairs
    return [pairs[i * (len(pairs) - 1) // (count - 1)] for i in range(count)]


def dtypes_of(problem: Problem) -> tuple[Optional[torch.dtype], torch.dtype]:
    """That of the exact computation, None, and that of the unfused one."""
    return None, DTYPES[problem.attention.dtype]


def chosen(part: slice, size: int) -> int:
    return len(range(*part.indices(size)))


def chunks(part: slice, size: int, width: int) -> list[slice]:
    """A part of `size` rows of scores, as many at once as memory allows."""
    first, last, _ = part.indices(size)
    count = max(1, MAX_SCORES // max(width, 1))
    return [slice(k, min(k + count, last)) for k in range(first, last, count)] or [slice(first, last)]


def layouts(program: Program, tensors: dict[str, torch.Tensor]) -> list[TensorLayout]:
    """The operands of a launch, by name, in the manifest's order."""
    return [
        TensorLayout(tuple(t.shape), tuple(t.stride()), t.data_ptr())
        for t in (tensors[operand.name] for operand in program.manifest.operands)
    ]
