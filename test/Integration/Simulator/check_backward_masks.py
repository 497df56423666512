"""Runs the backward under the masks of check_masks.py and holds what was visited to brute force over all pairs.

usage: check_backward_masks.py DEVICE [NAME...]: cpu, sim:sm_80 or sim:sm_90a; all masks, or these. Two query heads share
a key head. The gradients are compared with float64 (attn-run --verify). In the simulator, the products of each kernel and
the bytes that are read of what streams past must be those of the tiles in which some pair is visible, and no others.
Standard library only.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from check_masks import MASKS, STATIC, D, Traced, count_tiles

HEADS = 2
TILE_M = TILE_N = 64
# Products of D columns in each visited tile: S, dP and dQ; S, dP, dV and dK.
PRODUCTS = (3, 4)


def module_text(sizes, mask):
    lines = []
    result = mask(Traced(lines, "%i"), Traced(lines, "%j"))
    body = "\n        ".join(lines)
    rows, keys = sizes
    q, k, lse = f"tensor<1x{HEADS}x{rows}x{D}xf16>", f"tensor<1x1x{keys}x{D}xf16>", f"tensor<1x{HEADS}x{rows}xf32>"
    return f"""func.func @attention(%q: {q}, %k: {k}, %v: {k}) -> ({q}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {{
        {body}
        attn.yield {result.name} : i1
      }} : {q}, {k}, {k} -> {q}, {lse}
  return %o, %lse : {q}, {lse}
}}
"""


def make_gradient(sizes, mask, path):
    """Writes the gradient of an attention, with tiles of given sizes."""
    command = ["attn-opt", "--attn-grad=recompute=true", "-"]
    made = subprocess.run(command, input=module_text(sizes, mask), capture_output=True, text=True, check=True)
    schedule = f"{{schedule = #attn.schedule<tile_m = {TILE_M}, tile_n = {TILE_N}>}}"
    # Before the types of the op.
    text, changes = re.subn(r"(attention_backward.*?)( : tensor<[^:()]*->)", rf"\1 {schedule}\2", made.stdout, flags=re.DOTALL)
    assert changes == 1, made.stdout
    with open(path, "w") as f:
        f.write(text)


def expect(rows, keys, mask):
    """Products of both kernels, and bytes read: tiles that stay once, others as often as they are visited."""
    tiles, keys_visited = count_tiles(mask, rows, keys, TILE_M, TILE_N)
    _, rows_visited = count_tiles(lambda j, i: mask(i, j), keys, rows, TILE_N, TILE_M)
    row_bytes = D * 2
    visited = [HEADS * tiles * TILE_M * TILE_N * D * 2 * products for products in PRODUCTS]
    key_bytes = (HEADS * keys_visited + keys) * row_bytes
    query_bytes = HEADS * (rows + rows_visited) * row_bytes
    return {"flops of dQ": visited[0], "flops of dK and dV": visited[1], "key": key_bytes, "value": key_bytes,
            "query": query_bytes, "d_output": query_bytes}


def count(report):
    """The same of a report. Delta reads d_output once more, not as a tile."""
    operands = {operand["name"]: operand["paths"] for operand in report["operands"]}
    flops = [kernel["counters"]["mma_flops"] for kernel in report["kernels"]]
    counts = {"flops of dQ": flops[0], "flops of dK and dV": flops[1]}
    for name in ("key", "value", "query", "d_output"):
        counts[name] = sum(moved["read"] for path, moved in operands[name].items() if path != "ld_st")
    return counts


def check(device, name, folder):
    rows, keys, mask = MASKS[name]
    path, report = os.path.join(folder, name + ".mlir"), os.path.join(folder, name + ".json")
    is_static = name in STATIC
    make_gradient((rows, keys) if is_static else ("?", "?"), mask, path)
    command = ["attn-run", path, "--function=attention_grad", f"--device={device}", "--random=3", "--verify"]
    if not is_static:
        command.append(f"--shape=M={rows},N={keys}")
    if device != "cpu":
        command.append(f"--report={report}")
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return process.stdout + process.stderr
    if device == "cpu":
        return ""
    with open(report) as f:
        actual = count(json.load(f))
    expected = expect(rows, keys, mask)
    return "; ".join(f"{what}: expected {expected[what]}, got {actual[what]}" for what in expected if actual[what] != expected[what])


def main():
    device, names = sys.argv[1], sys.argv[2:] or list(MASKS)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            failure = check(device, name, folder)
            failures += bool(failure)
            print(f"{'FAIL' if failure else 'PASS'} {name}", failure, flush=True)
    if failures:
        sys.exit(f"{failures} of {len(names)} masks are wrong")
    print(f"{len(names)} masks are exact")


if __name__ == "__main__":
    main()
