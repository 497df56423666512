"""Runs the backward under the masks of check_masks.py and check_data_masks.py and holds what was visited to brute force.

usage: check_backward_masks.py [--fused] DEVICE [data|NAME...]: cpu, sim:sm_80 or sim:sm_90a; all masks that do not read data,
those that do (a sixth of them, others for each device, but in a long run), or these; by the deterministic kernels, or the fused one. Two query heads share a key head, but where heads see different keys. The gradients are compared with
float64 (attn-run --verify). In the simulator, the products of each kernel and the bytes that are read of what streams past
must be those of the tiles in which some pair is visible, and no others. Standard library only.
"""

import itertools
import json
import os
import re
import subprocess
import sys

from check_data_masks import CASES, Case
from check_masks import MASKS, STATIC, D, Traced, check_all, share

TILE = 64
FUSED = "--fused" in sys.argv
# Products of D columns in each visited tile: S, dP and dQ; S, dP, dV and dK; or all five.
PRODUCTS = {"dqkv": 5} if FUSED else {"dq": 3, "dkv": 4}


def constant_case(name):
    """A mask of check_masks.py, of two heads."""
    rows, keys, mask = MASKS[name]
    lines = []
    result = mask(Traced(lines, "%i"), Traced(lines, "%j"))
    lines.append(f"%r = arith.andi {result.name}, {result.name} : i1")
    return Case(rows, keys, [], "\n        ".join(lines), lambda b, h, i, j: mask(i, j), heads=2)


def data_case(name):
    """A mask that reads data; of two heads where it is of one."""
    case = CASES[name]()
    if case.heads == 1:
        case.heads = 2
    return case


def is_by_head(name):
    return name == "blocks-by-head"


def make_gradient(module, path):
    """Writes the gradient of an attention, with tiles of given sizes."""
    command = ["attn-opt", "--attn-grad=recompute=true", "-"]
    made = subprocess.run(command, input=module, capture_output=True, text=True, check=True)
    schedule = f"{{schedule = #attn.schedule<tile_m = {TILE}, tile_n = {TILE}, fused = {str(FUSED).lower()}>}}"
    # Before the types of the op.
    text, changes = re.subn(r"(attention_backward.*?)( : tensor<[^:()]*->)", rf"\1 {schedule}\2", made.stdout, flags=re.DOTALL)
    assert changes == 1, made.stdout
    with open(path, "w") as f:
        f.write(text)


def expect(case, key_heads):
    """Products of the kernels, and bytes read: tiles that stay once, others as often as they are visited."""
    tiles = keys_visited = rows_visited = 0
    for b, h in itertools.product(range(case.batches), range(case.heads)):
        for m, n in itertools.product(range(0, case.rows, TILE), range(0, case.keys, TILE)):
            rows, keys = range(m, min(m + TILE, case.rows)), range(n, min(n + TILE, case.keys))
            if any(case.mask(b, h, i, j) for i in rows for j in keys):
                tiles, keys_visited, rows_visited = tiles + 1, keys_visited + len(keys), rows_visited + len(rows)
    row_bytes = D * 2
    key_bytes = case.batches * key_heads * case.keys * row_bytes
    query_bytes = rows_visited * row_bytes
    if not FUSED:  # dQ
        key_bytes += keys_visited * row_bytes
        query_bytes += case.batches * case.heads * case.rows * row_bytes
    counts = {f"flops of {kernel}": tiles * TILE * TILE * D * 2 * products for kernel, products in PRODUCTS.items()}
    return counts | {"key": key_bytes, "value": key_bytes, "query": query_bytes, "d_output": query_bytes}


def count(report):
    """The same of a report. Delta reads d_output once more, not as a tile."""
    operands = {operand["name"]: operand.get("paths", {}) for operand in report["operands"]}
    flops = {kernel["entry"].rsplit("_", 1)[1]: kernel["counters"]["mma_flops"] for kernel in report["kernels"]}
    counts = {f"flops of {kernel}": flops[kernel] for kernel in PRODUCTS}
    for name in ("key", "value", "query", "d_output"):
        counts[name] = sum(moved["read"] for path, moved in operands[name].items() if path != "ld_st")
    return counts


def check(device, name, folder):
    case = constant_case(name) if name in MASKS else data_case(name)
    key_heads = case.heads if is_by_head(name) else 1
    path, report = os.path.join(folder, name + ".mlir"), os.path.join(folder, name + ".json")
    sizes = (case.rows, case.keys) if name in STATIC else ("?", "?")
    make_gradient(case.module("", *sizes, key_heads), path)
    command = ["attn-run", path, "--function=attention_grad", f"--device={device}", "--random=3", "--verify"]
    command += case.write_inputs(folder)
    if name not in STATIC:
        command.append(f"--shape=M={case.rows},N={case.keys}")
    if device != "cpu":
        command.append(f"--report={report}")
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return process.stdout + process.stderr
    if device == "cpu":
        return ""
    with open(report + ".1") as f:  # the forward's is before it
        actual = count(json.load(f))
    expected = expect(case, key_heads)
    return "; ".join(f"{what}: expected {expected[what]}, got {actual[what]}" for what in expected if actual[what] != expected[what])


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--fused"]
    device, names = arguments[0], arguments[1:]
    if names in ([], ["data"]):
        names = share(CASES if names else MASKS, device, 6)
    check_all(check, device, names)


if __name__ == "__main__":
    main()
