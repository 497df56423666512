"""Runs packed sequences with a CTA for each row tile and counts the products of each, in the order in which CTAs start.

usage: check_longest_first.py FOLDER: each CTA must have as many as the one before, or fewer. Under a mask whose bounds are read
from data, under one whose tiles are listed, and over the tiles of all batches. Standard library only.
"""

import json
import os
import subprocess
import sys
from collections import Counter

import check_data_masks

TILE = 32
FIELDS = f'kind = "large_cache", mma = "mma_sync", tile_m = {TILE}, tile_n = {TILE}, warps = 2'
LENGTHS = [4 * TILE, TILE, 3 * TILE]
#: Key tiles of each row tile, most first: 1 to 4, 1, 1 to 3.
EXPECTED = [4, 3, 3, 2, 2, 1, 1, 1]


def products(case, folder):
    """Of each of the first CTAs of the attention that has any, by number."""
    module = os.path.join(folder, "attention.mlir")
    with open(module, "w") as f:
        f.write(case.module(FIELDS))
    subprocess.run(["attn-opt", module, "--target=sm_80", "--emit=ptx,manifest", "-o", f"{folder}/k"], check=True)
    make = os.path.join(os.path.dirname(__file__), "../../Simulator/Inputs/make-npy.py")
    inputs = [f"{folder}/{i}.npy" for i in range(3 + len(case.tensors))]
    for path in inputs[:3]:
        shape = f"{case.batches}x1x{case.rows}x{check_data_masks.D}"
        subprocess.run([sys.executable, make, path, "f16", shape, "1"], check=True)
    for path, tensor in zip(inputs[3:], case.tensors):
        tensor.write(path)
    trace = f"{folder}/trace.json"
    command = ["attn-sim", f"{folder}/k.ptx", "--manifest", f"{folder}/k.json", "--check", f"--trace={trace}", f"--trace-clusters={len(EXPECTED)}"]
    subprocess.run(command + [f"--input={path}" for path in inputs], check=True, stdout=subprocess.DEVNULL)
    with open(trace) as f:
        events = json.load(f)
    counts = Counter(e["pid"] for e in events.get("traceEvents", []) if e.get("name") == "mma")
    return [counts[cta] for cta in sorted(counts)]


def main():
    folder = sys.argv[1]
    cases = {
        "bounds": check_data_masks.packed(LENGTHS, LENGTHS, "top_left"),
        "lists": check_data_masks.documents(LENGTHS, causal=True),
        "batches": check_data_masks.documents_by_batch([[TILE, 3 * TILE], [4 * TILE]]),
    }
    for name, case in cases.items():
        counts = products(case, folder)
        tiles = [count // counts[-1] for count in counts]
        if tiles != EXPECTED:
            sys.exit(f"{name}: expected key tiles of {EXPECTED} by CTA, got {tiles}")
    print("PASS")


if __name__ == "__main__":
    main()
