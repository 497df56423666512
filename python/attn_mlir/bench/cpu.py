#!/usr/bin/env python3
"""Attention on the CPU, beside what else this machine can do.

Prints, for each problem and in one run, the time of attn-run, that of unfused
attention in NumPy (which has the scores in memory), and this machine's f32
matrix product, M = N = K = 2048, with the same number of threads:

    PYTHONPATH=python python3 -m attn_mlir.bench.cpu --threads 2

Times are the best of several calls, rates in 1e9 flop/s; the flops are those of
the two products, 2 M N (D + Dv) for each head, halved for causal masks.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--attn-run", default=shutil.which("attn-run"),
                        help="the program; default: from PATH, then build/bin")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=10, help="calls of each")
    parser.add_argument("--rows", type=int, default=2048, help="M and N")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--type", default="f32", choices=["f32", "f16", "bf16"])
    return parser.parse_args()


def best_time(function, repeat):
    """The least wall-clock time, in seconds, of `repeat` calls."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def module_text(heads, rows, head_dim, dtype, causal):
    tensor = f"tensor<1x{heads}x{rows}x{head_dim}x{dtype}>"
    mask = " mask_mod causal(top_left)" if causal else ""
    return f"""
func.func @attention(%q: {tensor}, %k: {tensor}, %v: {tensor}) -> {tensor} {{
  %o = attn.attention %q, %k, %v{mask}
      : {tensor}, {tensor}, {tensor} -> {tensor}
  return %o : {tensor}
}}
"""


def time_attn_run(arguments, text):
    """The least time that attn-run --benchmark prints, in seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        command = [arguments.attn_run, file.name, "--device=cpu", "--random=1",
                   "--benchmark", f"--repeat={arguments.repeat}",
                   f"--threads={arguments.threads}"]
        result = subprocess.run(command, capture_output=True, text=True)
    match = re.search(r"([\d.]+) (ns|us|ms|s) min", result.stdout)
    if result.returncode != 0 or not match:
        sys.exit(f"error: {' '.join(command)} failed:\n"
                 f"{result.stdout}{result.stderr}")
    return float(match.group(1)) * UNITS[match.group(2)]


def unfused(np, q, k, v, mask):
    scores = q @ k.transpose(0, 2, 1) * np.float32(q.shape[-1] ** -0.5)
    if mask is not None:
        scores += mask
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ v


def main():
    arguments = parse_arguments()
    # Before NumPy loads its BLAS.
    os.environ["OPENBLAS_NUM_THREADS"] = str(arguments.threads)
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    try:
        import numpy as np
    except ImportError:
        sys.exit("error: expected NumPy to be installed")
    arguments.attn_run = arguments.attn_run or "build/bin/attn-run"
    if not os.access(arguments.attn_run, os.X_OK):
        sys.exit(f"error: expected attn-run at {arguments.attn_run}; "
                 "give --attn-run")

    random = np.random.default_rng(0)
    square = random.standard_normal((2048, 2048), dtype=np.float32)
    gemm = 2 * 2048**3 / best_time(lambda: square @ square, arguments.repeat)
    print(f"f32 matrix product 2048^3: {gemm / 1e9:.0f} Gflop/s, "
          f"{arguments.threads} threads")
    print(f"{'problem':<34}{'attn ms':>9}{'Gflop/s':>9}{'of GEMM':>9}"
          f"{'NumPy ms':>10}{'speedup':>9}")
    rows, heads = arguments.rows, arguments.heads
    for head_dim in arguments.head_dims:
        q, k, v = (random.standard_normal((heads, rows, head_dim),
                                          dtype=np.float32) for _ in range(3))
        for causal in (False, True):
            mask = None
            if causal:
                mask = np.triu(np.full((rows, rows), -np.inf, np.float32), 1)
            ours = time_attn_run(arguments, module_text(
                heads, rows, head_dim, arguments.type, causal))
            numpy = best_time(lambda: unfused(np, q, k, v, mask),
                              max(2, arguments.repeat // 3))
            flops = heads * 4 * rows * rows * head_dim / (2 if causal else 1)
            name = (f"H={heads} M=N={rows} D={head_dim} {arguments.type}"
                    f"{' causal' if causal else ''}")
            print(f"{name:<34}{ours * 1e3:>9.2f}{flops / ours / 1e9:>9.0f}"
                  f"{flops / ours / gemm:>9.0%}{numpy * 1e3:>10.2f}"
                  f"{numpy / ours:>8.1f}x")


if __name__ == "__main__":
    main()
