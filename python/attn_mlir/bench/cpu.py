#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on the CPU, from the command line and from Python, beside what else this machine can do.

Prints, for each problem and in one run, the times of attn-run --benchmark, of attn_mlir.attention, of torch's
scaled_dot_product_attention (where torch is installed) and of unfused attention in NumPy, which has the scores in memory; and
this machine's f32 matrix product, M = N = K = 2048. Rows of decoding, where few queries read many keys, and of a tiny problem, where
what surrounds the computation shows, follow (--no-decoding leaves them out). All take the same number of threads:

    PYTHONPATH=python python3 -m attn_mlir.bench.cpu --threads 2

Times are the best of calls in a row (OpenMP's threads spin for milliseconds after a call of torch, at the cost of whoever is
next), rates in 1e9 flop/s; the flops are those of the two products, 2 M N (D + Dv) for each head, halved for causal masks.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, NamedTuple

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=10, help="calls of each")
    parser.add_argument("--rows", type=int, default=2048, help="M and N")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--no-decoding", action="store_true", help="only the problems with M = N = ROWS")
    parser.add_argument("--type", default="f32", choices=DTYPES, help="bf16 from Python needs torch")
    return parser.parse_args()


def best_time(function: Callable[[], Any], repeat: int) -> float:
    """The least wall-clock time, in seconds, of `repeat` calls after one that compiles and touches memory."""
    function()
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


class Problem(NamedTuple):
    """One batch, as many key heads as query heads; `causal` is aligned to the top left."""

    heads: int
    rows: int
    keys: int
    head_dim: int
    causal: bool = False

    def name(self, dtype: str) -> str:
        sizes = f"M=N={self.rows}" if self.rows == self.keys else f"M={self.rows} N={self.keys}"
        return f"H={self.heads} {sizes} D={self.head_dim} {dtype}{' causal' if self.causal else ''}"

    @property
    def flops(self) -> float:
        return self.heads * 4 * self.rows * self.keys * self.head_dim / (2 if self.causal else 1)


#: A token, or a few that were guessed, after many, and what is over in microseconds.
SMALL = (Problem(8, 1, 4096, 128), Problem(32, 1, 4096, 128), Problem(8, 4, 4096, 128), Problem(2, 64, 64, 64))


def module_text(problem: Problem, dtype: str) -> str:
    query, key = (f"tensor<1x{problem.heads}x{length}x{problem.head_dim}x{dtype}>" for length in (problem.rows, problem.keys))
    mask = " mask_mod causal(top_left)" if problem.causal else ""
    return f"""
func.func @attention(%q: {query}, %k: {key}, %v: {key}) -> {query} {{
  %o = attn.attention %q, %k, %v{mask}
      : {query}, {key}, {key} -> {query}
  return %o : {query}
}}
"""


def time_attn_run(options: argparse.Namespace, text: str) -> float:
    """The least time that attn-run --benchmark prints, in seconds."""
    from ..tools import find_tool

    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        command = [find_tool("attn-run"), file.name, "--device=cpu", "--random=1", "--benchmark"]
        command += [f"--repeat={options.repeat}", f"--threads={options.threads}"]
        result = subprocess.run(command, capture_output=True, text=True)
    match = re.search(r"([\d.]+) (ns|us|ms|s) min", result.stdout)
    if result.returncode != 0 or not match:
        sys.exit(f"error: {' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return float(match.group(1)) * UNITS[match.group(2)]


def unfused(np: Any, operands: list[Any], mask: Any) -> Any:
    q, k, v = operands
    scores = q @ k.transpose(0, 1, 3, 2) * np.float32(q.shape[-1] ** -0.5)
    if mask is not None:
        scores += mask
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ v


def import_torch(threads: int) -> Any:
    """None where it is not installed."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    torch.set_num_threads(threads)
    return torch


def time_problem(options: argparse.Namespace, np: Any, torch: Any, problem: Problem) -> dict[str, float]:
    """Seconds by column."""
    import attn_mlir

    random, causal = np.random.default_rng(0), problem.causal
    lengths = (problem.rows, problem.keys, problem.keys)
    plain = [random.standard_normal((1, problem.heads, length, problem.head_dim), dtype=np.float32) for length in lengths]
    mask = np.triu(np.full(lengths[:2], -np.inf, np.float32), 1) if causal else None
    times = {"attn-run": time_attn_run(options, module_text(problem, options.type))}
    if torch:
        q, k, v = (torch.from_numpy(array).to(getattr(torch, DTYPES[options.type])) for array in plain)
        sdpa = torch.nn.functional.scaled_dot_product_attention
        times["Python"] = best_time(lambda: attn_mlir.attention(q, k, v, causal=causal), options.repeat)
        times["torch"] = best_time(lambda: sdpa(q, k, v, is_causal=causal), options.repeat)
    elif options.type != "bf16":
        typed = [array.astype(DTYPES[options.type]) for array in plain]
        times["Python"] = best_time(lambda: attn_mlir.attention(*typed, causal=causal), options.repeat)
    times["NumPy"] = best_time(lambda: unfused(np, plain, mask), max(1, options.repeat // 4))
    return times


def main() -> None:
    options = parse_arguments()
    # Before NumPy loads its BLAS.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.threads)
    try:
        import numpy as np
    except ImportError:
        sys.exit("error: expected NumPy to be installed")
    torch = import_torch(options.threads)
    square = np.random.default_rng(0).standard_normal((2048, 2048), dtype=np.float32)
    gemm = 2 * 2048**3 / best_time(lambda: square @ square, options.repeat)
    print(f"f32 matrix product 2048^3: {gemm / 1e9:.0f} Gflop/s, {options.threads} threads")
    columns = ["attn-run", "Python", "torch", "NumPy"]
    print(f"{'problem':<32}" + "".join(f"{c + ' ms':>12}" for c in columns) + f"{'Gflop/s':>9}{'of GEMM':>9}{'Python/torch':>14}")
    sizes = (options.heads, options.rows, options.rows)
    problems = [Problem(*sizes, head_dim, causal) for head_dim in options.head_dims for causal in (False, True)]
    for problem in (*problems, *(() if options.no_decoding else SMALL)):
        times = time_problem(options, np, torch, problem)
        rate = problem.flops / times["attn-run"]
        cells = "".join(f"{times[c] * 1e3:>12.3f}" if c in times else f"{'-':>12}" for c in columns)
        ratio = f"{times['Python'] / times['torch']:>14.2f}" if torch else f"{'-':>14}"
        print(f"{problem.name(options.type):<32}{cells}{rate / 1e9:>9.0f}{rate / gemm:>9.0%}{ratio}", flush=True)


if __name__ == "__main__":
    main()
