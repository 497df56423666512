"""Runs the small-cache backward of one problem in chunks of different sizes: the gradients have the same bits.

usage: check_backward_chunks.py TARGET. Chunks of whole groups of heads, and of parts of one, whose dK and dV go from round to
round. Standard library only.
"""

import os
import random
import subprocess
import sys
import tempfile

import check_kernel
from sweep import LONG

ROWS, KEYS = (2, 4, 70, 32), (2, 2, 50, 32)
TYPES = {"q": "tensor<2x4x70x32xf16>", "k": "tensor<2x2x50x32xf16>", "lse": "tensor<2x4x70xf32>"}
MODULE = """func.func @grad(%q: {q}, %k: {k}, %v: {k}, %o: {q}, %lse: {lse}, %do: {q}) -> ({q}, {k}, {k}) {{
  %d:3 = attn.attention_backward %q, %k, %v output(%o : {q}) lse(%lse : {lse}) d_output(%do : {q}) mask_mod causal(bottom_right)
      : {q}, {k}, {k} -> {q}, {k}, {k}
  return %d#0, %d#1, %d#2 : {q}, {k}, {k}
}}
"""
SCHEDULE = "kind=small_cache tile_m=16 tile_n=32 tile_d=32 tile_dv=16 warps=1 chunk_rows="
# A group of two heads has ten tiles of 16 rows; there are four groups.
CHUNKS = [16, 48, 144, 160, 320, 480, 65536] if LONG else [16, 144, 320, 65536]


def run(target, chunk, inputs, folder):
    """The bytes of dQ, dK and dV, and the rounds."""
    base = os.path.join(folder, "grad")
    with open(base + ".mlir", "w") as f:
        f.write(MODULE.format(**TYPES))
    options = [f"--target={target}", f"--schedule={SCHEDULE}{chunk}", "--emit=ptx,manifest"]
    subprocess.run(["attn-opt", base + ".mlir", *options, "-o", base], check=True)
    outputs = [f"{base}.out{i}.npy" for i in range(3)]
    command = ["attn-sim", base + ".ptx", "--manifest", base + ".json", "--check"]
    for path in inputs:
        command += ["--input", path]
    for path in outputs:
        command += ["--output", path]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    results = []
    for path in outputs:
        with open(path, "rb") as f:
            results.append(f.read())
    return results


def main():
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        # In the order of the manifest: query, key, value, d_output, output, lse.
        for shape in (ROWS, KEYS, KEYS, ROWS, ROWS, ROWS[:3]):
            count = 1
            for size in shape:
                count *= size
            dtype = "f16" if len(shape) == 4 else "f32"
            path = os.path.join(folder, f"in{len(inputs)}.npy")
            check_kernel.write_npy(path, shape, [random.gauss(0, 1) for _ in range(count)], dtype)
            inputs.append(path)
        expected = None
        for chunk in CHUNKS:
            results = run(sys.argv[1], chunk, inputs, folder)
            expected = expected or results
            if results != expected:
                sys.exit(f"chunk_rows={chunk}: expected the gradients of chunk_rows={CHUNKS[0]}, bit by bit")
    print(f"the same bits from {len(CHUNKS)} sizes of chunks")


if __name__ == "__main__":
    main()
