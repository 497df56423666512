# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the simulator to a GPU: results bit by bit, and its counters beside those of Nsight Compute.

A bundle has, for each case, inputs, what the simulator made of them and what it counted. Where all arithmetic is exact (small
integers, weights without exponentials) a GPU must give the same bits in whatever order it adds; elsewhere the distance is
printed in units of the last place.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Callable, Iterator

from ..errors import AttnError
from ..mask import relu, trace_score
from ..problem import AttentionProblem, Region
from ..runtime.devices import Program
from ..runtime.host_array import FLOAT8, HostArray, read_npy, round_to, write_npy
from ..runtime.manifest import Manifest
from ..tools import run_tool

FOLDER = "silicon"
#: Of the GPU that the simulator stands for: an H100's.
SM_COUNT = 132
COUNTER_SECONDS = 60
INTEGERS = {"bf16": "H", "f16": "H", "f32": "I"}


@dataclasses.dataclass(frozen=True)
class Case:
    """A kernel and its inputs: normal numbers, or with `is_exact` -1, 0 and 1, of which every product and sum is a number of
    its type. Of 8-bit types, equal weights of values of one sign."""

    target: str
    problem: AttentionProblem
    is_exact: bool = False
    M: int = 192
    N: int = 320

    @property
    def name(self) -> str:
        p = self.problem
        words = [self.target, p.dtype, f"d{p.head_dim}", p.mask.text.partition("(")[0] if p.mask else "full"]
        return " ".join(words + ["relu"] * self.is_exact + ["backward"] * p.gradient + ["sums"] * (p.promote is False))

    @property
    def key(self) -> str:
        return self.name.replace(" ", "-")


def full_cases() -> Iterator[Case]:
    causal = Region("causal(bottom_right)")
    for target, dtype in (("sm_90a", "bf16"), ("sm_80", "f16")):
        # 1/sqrt(64) is a power of two: scores are multiples of 1/8 up to 8, which 8 bits hold.
        exact: dict[str, Any] = dict(dtype=dtype, head_dim=64, value_dim=64, mask=causal, score=trace_score(relu()).region, normalization="none")
        yield Case(target, AttentionProblem(**exact), is_exact=True)
        yield Case(target, AttentionProblem(**exact, gradient=True), is_exact=True)
        for mask in (None, causal):
            yield Case(target, AttentionProblem(dtype=dtype, head_dim=128, value_dim=128, mask=mask))
    # Sums that only the tensor cores add up, of which they drop bits: no other case shows how many.
    yield Case("sm_90a", AttentionProblem(dtype="f8E4M3FN", head_dim=64, value_dim=64, result_dtype="f32", promote=False), M=64, N=4096)


# ---- where the compiler is


def make_case(case: Case, folder: Path) -> dict[str, Any]:
    """Writes a case's kernel, arrays and header into `folder`; its entry in the index."""
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / case.key
    command = ["-", f"--target={case.target}", "--emit=ptx,manifest,header", "-o", base]
    compiled = run_tool("attn-opt", command, text=case.problem.mlir())
    if compiled.returncode != 0:
        return {"name": case.name, "failed": compiled.stderr.strip()}
    manifest = Manifest.parse(base.with_suffix(".json").read_text())
    generator, command = random.Random(case.key), [base.with_suffix(".ptx"), f"--sm-count={SM_COUNT}"]
    for operand in manifest.operands:
        path = Path(f"{base}.{operand.name}.npy")
        if operand.role == "input":
            write_npy(path, draw(case, operand.name, operand.dtype, generator))
            command += ["--input", path]
        else:
            command += ["--output", path]
    with tempfile.TemporaryDirectory(prefix="attn-") as reports:
        report = Path(reports, "report.json")
        result = run_tool("attn-sim", [*command, f"--report={report}"])
        if result.returncode != 0:
            raise AttnError(f"{case.name}: {result.stderr.strip()}")
        counters = counters_of(json.loads(report.read_text()))
    has_program = case.is_exact and not case.problem.gradient
    return {"name": case.name, "kernel": case.key, "is_exact": case.is_exact, "has_program": has_program,
            "entries": [kernel.entry for kernel in manifest.kernels], "counters": counters}  # fmt: skip


def draw(case: Case, name: str, dtype: str, generator: random.Random) -> HostArray:
    heads_and_rows = (1, case.N) if name in ("key", "value") else (2, case.M)
    shape = (1, *heads_and_rows, case.problem.head_dim)
    if dtype in FLOAT8:
        # Equal weights of values from 0.5 to 1.5.
        return HostArray(dtype, shape, bytearray(generator.randint(0x30, 0x3C) if name == "value" else 0 for _ in range(math.prod(shape))))
    number = (lambda: float(generator.randint(-1, 1))) if case.is_exact else (lambda: round_to(generator.gauss(0, 1), dtype))
    return HostArray.of(dtype, shape, [number() for _ in range(math.prod(shape))])


# ---- counters


@dataclasses.dataclass(frozen=True)
class Counter:
    """A line of the table: what the simulator counts, and the metrics of ncu whose sum, times `factor`, counts the same."""

    name: str
    simulated: Callable[[dict], int]
    metrics: tuple[str, ...]
    factor: int = 1


def traffic(*names: str) -> Callable[[dict], int]:
    return lambda counters: sum(counters[f"{name}_bytes"] for name in names)


SECTOR, WAVEFRONT = 32, 128
COUNTERS = (
    Counter("warp instructions, of PTX and of SASS", lambda c: c["warp_instructions"]["total"], ("smsp__inst_executed.sum",)),
    Counter(
        "exponentials and the like, by warp",
        lambda c: c["warp_instructions"].get("ex2", 0) + c["warp_instructions"].get("mufu", 0),
        ("smsp__inst_executed_pipe_xu.sum",),
    ),
    Counter(
        "flops of the tensor cores",
        lambda c: c["mma_flops"],
        ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum"),
    ),
    Counter("bytes read from L2", traffic("global_load", "cp_async", "tma_load"), ("lts__t_sectors_op_read.sum",), SECTOR),
    Counter("bytes written to L2", traffic("global_store", "tma_store"), ("lts__t_sectors_op_write.sum",), SECTOR),
    Counter(
        "wavefronts of shared memory, factors of wgmma included",
        lambda c: c["shared_wavefronts"] + c["wgmma_shared_bytes"] // WAVEFRONT,
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",)
    ),
    Counter("bank conflicts", lambda c: c["bank_conflicts"], ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",)),
)


def counters_of(report: dict) -> dict[str, int]:
    """Of all kernels of a report of attn-sim, by the names of COUNTERS."""
    kernels = [kernel["counters"] for kernel in report["kernels"]]
    return {counter.name: sum(counter.simulated(c) for c in kernels) for counter in COUNTERS}


def measure_counters(bundle: Path, name: str, entries: list[str]) -> dict[str, float]:
    """What ncu counts in one run of a case, by the names of COUNTERS; those that the GPU has not are left out. Raises AttnError
    where ncu is not there or may not count."""
    ncu = shutil.which(os.environ.get("NCU", "ncu"))
    if not ncu:
        raise AttnError("expected Nsight Compute as ncu on PATH, or as NCU names it, got none")
    known = known_metrics(ncu)
    metrics = [m for counter in COUNTERS for m in counter.metrics if m.rpartition(".")[0] in known]
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    command += ["-k", f"regex:^({'|'.join(map(re.escape, entries))})$", "--metrics", ",".join(metrics)]
    command += [sys.executable, "-m", "attn_mlir.bench", "silicon", str(bundle), "--filter", name, "--no-counters"]
    text = output_of(command)
    totals = metric_totals(text)
    if not totals:
        raise AttnError(f"expected counters from ncu, got: {last_line(text)}")
    return {
        counter.name: counter.factor * sum(totals[m] for m in counter.metrics if m in totals)
        for counter in COUNTERS
        if any(m in totals for m in counter.metrics)
    }


def known_metrics(ncu: str) -> set[str]:
    """The metrics that this ncu knows of this GPU, without their suffixes."""
    return {line.split()[0] for line in output_of([ncu, "--query-metrics"]).splitlines() if line.strip()}


def output_of(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=COUNTER_SECONDS)
    except subprocess.TimeoutExpired:
        raise AttnError(f"{command[0]} did not end within {COUNTER_SECONDS} s") from None
    return result.stdout + result.stderr


def metric_totals(text: str) -> dict[str, float]:
    """Of ncu --csv --page raw, whose first line of quotes has names, whose second has units: sums over all launches."""
    rows = list(csv.reader(io.StringIO("\n".join(line for line in text.splitlines() if line.startswith('"')))))
    totals: dict[str, float] = {}
    for row in rows[2:]:
        for name, cell in zip(rows[0], row):
            number = cell.replace(",", "")
            if "__" in name and re.fullmatch(r"[\d.]+(e[+-]?\d+)?", number):
                totals[name] = totals.get(name, 0.0) + float(number)
    return totals


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "nothing"


# ---- where the GPU is


class CaseFiles:
    """A case as a bundle has it."""

    def __init__(self, archive: zipfile.ZipFile, key: str):
        read = lambda suffix: archive.read(f"{FOLDER}/{key}.{suffix}")  # noqa: E731
        text = read("json").decode()
        manifest = Manifest.parse(text)
        self.program = Program(manifest, text, read("ptx").decode())
        self.header = read("h").decode()
        with tempfile.TemporaryDirectory(prefix="attn-") as folder:
            self.arrays: dict[str, HostArray] = {}
            for operand in manifest.operands:
                path = Path(folder, "array.npy")
                path.write_bytes(read(f"{operand.name}.npy"))
                self.arrays[operand.name] = read_npy(path)

    def names(self, role: str) -> list[str]:
        return [operand.name for operand in self.program.manifest.operands if operand.role == role]

    @property
    def inputs(self) -> list[HostArray]:
        return [self.arrays[name] for name in self.names("input")]


def compare(files: CaseFiles, device, is_exact: bool) -> dict[str, Any]:
    """Runs a case; "passed" unless it is exact and a bit differs."""
    outputs = dict(zip(files.names("output"), device.run(files.program, files.inputs)))
    results = {name: difference(output, files.arrays[name]) for name, output in outputs.items()}
    failed = is_exact and any(r["different"] for r in results.values())
    return {"status": "failed" if failed else "passed", "results": results}


def difference(actual: HostArray, expected: HostArray) -> dict[str, int]:
    """Elements, how many have other bits, and the largest distance in units of the last place."""
    code = INTEGERS[expected.dtype]
    size = struct.calcsize(code)
    sign, count = 1 << (8 * size - 1), len(expected.data) // size
    pairs = zip(*(struct.unpack(f"<{count}{code}", tensor.data) for tensor in (actual, expected)))
    # As integers in the order of the numbers, neighbours one apart.
    distances = [abs((sign - a if a & sign else a) - (sign - b if b & sign else b)) for a, b in pairs if a != b]
    return {"elements": count, "different": len(distances), "ulps": max(distances, default=0)}


def describe(result: dict[str, Any]) -> str:
    """ "output: 12 of 49152 elements differ, by at most 1 ulp"."""
    if "results" not in result:
        return result.get("reason", "")
    parts = [f"{name}: {describe_difference(r)}" for name, r in result["results"].items()]
    parts += [f"C++ program: {result['program']}"] if "program" in result else []
    return "; ".join(parts)


def describe_difference(r: dict[str, int]) -> str:
    if not r["different"]:
        return f"all {r['elements']} elements the same bits"
    return f"{r['different']} of {r['elements']} elements differ, by at most {r['ulps']} ulp"


def counter_rows(result: dict[str, Any]) -> list[list[str]]:
    """The table of a case: counter, simulator, GPU, GPU / simulator."""
    rows = []
    for name, simulated in result["counters"].items():
        measured = result.get("measured", {}).get(name)
        ratio = f"{measured / simulated:.3f}" if measured is not None and simulated else "-"
        rows.append([f"  {name}", f"{simulated}", "-" if measured is None else f"{measured:.0f}", ratio])
    return rows
