"""Gradients of a bias of every broadcast and of captured tensors, by kernels, against float64.

usage: check_score_gradients.py DEVICE [bias|captures|scattered]...: cpu, sim:sm_80 or sim:sm_90a. Sizes are off the tile, two
query heads share a key head, the mask leaves rows without keys. attn-run compares with its float64 reference and, in the
simulator, runs other schedules, which must give the same bits. The errors of few elements, ours as the unfused ones, are
chance: those of gradients of fewer than 16 are judged over eight inputs. In a long run all cases run on sm_80, the
scattered ones on all devices, and else each third one; otherwise each third or ninth, from another one on for each device, and
the first alone with other schedules. Standard library only.
"""

import itertools
import math
import os
import subprocess
import sys
import tempfile

from sweep import LONG

B, HQ, HKV, M, N, D = 2, 4, 2, 70, 77, 16

MODULE = """
!q = tensor<{B}x{HQ}x?x{D}xf16>
!k = tensor<{B}x{HKV}x?x{D}xf16>
!lse = tensor<{B}x{HQ}x?xf32>
func.func @f(%q: !q, %k: !k, %v: !k, %t: {type}) -> (!q, !lse) {{
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c11 = arith.constant 11 : index
  %c100 = arith.constant 100 : index
  %c9 = arith.constant 9 : i32
  %unit = arith.constant 0.02 : f32
  %o, %lse = attn.attention %q, %k, %v {clauses}
      mask_mod {mask} : !q, !k, !k -> !q, !lse
  return %o, %lse : !q, !lse
}}
"""

MOD = """score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {{
        {lines}
        attn.yield %r : f32
      }}"""

# The shape of a tensor, and a score_mod that reads it.
READ = "%x = tensor.extract %t[{0}] : {{type}}\n        "
TIMES_TANH = "%y = math.tanh %s : f32\n        %r = arith.mulf %x, %y : f32"
PLUS = "%r = arith.addf %s, %x : f32"
SLOPES = """%d = arith.subi %j, %i : index
        %di = arith.index_cast %d : index to i32
        %df = arith.sitofp %di : i32 to f32
        %u = arith.mulf %df, %unit : f32
        %p = arith.mulf %x, %u : f32
        %r = arith.addf %s, %p : f32"""
TWICE = """%x2 = tensor.extract %t[%h] : {type}
        %y = arith.mulf %s, %x : f32
        %r = arith.addf %y, %x2 : f32"""

# Indices that are computed from positions.
RELATIVE = """%d = arith.subi %i, %j : index
        %e = arith.addi %d, %c100 : index
        """
BUCKET = """%d = arith.subi %j, %i : index
        %w = arith.index_cast %d : index to i32
        %a = math.absi %w : i32
        %n = arith.minsi %a, %c9 : i32
        %e = arith.index_cast %n : i32 to index
        """
# Of the sum of both: no diagonal, no row.
MIXED = """%a = arith.muli %i, %c3 : index
        %d = arith.addi %a, %j : index
        %e = arith.remui %d, %c11 : index
        """
OF_ROWS = """%e = arith.remui %i, %c11 : index
        """
BOTH = """%x = tensor.extract %t[%i] : {type}
        %x2 = tensor.extract %t[%j] : {type}
        %y = arith.mulf %x, %x2 : f32
        %r = arith.addf %s, %y : f32"""

CAPTURES = {
    "slopes": ([HQ], READ.format("%h") + SLOPES),
    "temperatures": ([B], READ.format("%b") + TIMES_TANH),
    "a scalar": ([], READ.format("") + TIMES_TANH),
    "heads, and more than there are": ([HQ + 3], READ.format("%h") + TIMES_TANH),
    "one of several rows": ([3, HQ], READ.format("%c1, %h") + TIMES_TANH),
    "two reads": ([HQ], READ.format("%h") + TWICE),
    "heads and batches": ([HQ, B], READ.format("%h, %b") + TIMES_TANH),
    "keys": ([N], READ.format("%j") + TIMES_TANH),
    "rows of heads": ([HQ, M + 5], READ.format("%h, %i") + TIMES_TANH),
    "a table": ([M, N], READ.format("%i, %j") + PLUS),
    "a table of heads": ([HQ, M, N + 1], READ.format("%h, %i, %j") + TIMES_TANH),
    "one of several tables": ([2, M + 3, N], READ.format("%c1, %i, %j") + TIMES_TANH),
    "a table of batches": ([B, M, N], READ.format("%b, %i, %j") + PLUS),
}

# At computed indices: of any element, of diagonals, of rows.
SCATTERED = {
    "relative positions": ([HQ, M + 110], RELATIVE + READ.format("%h, %e") + PLUS),
    "buckets": ([10, HQ], BUCKET + READ.format("%e, %h") + TIMES_TANH),
    "mixed": ([11, 2], MIXED + READ.format("%e, %c1") + TIMES_TANH),
    "rows modulo": ([B, 11], OF_ROWS + READ.format("%b, %e") + TIMES_TANH),
    "both positions": ([N], BOTH),
    "a transposed table": ([N, M], READ.format("%j, %i") + PLUS),
}


def bias_cases():
    for number, full in enumerate(itertools.product((True, False), repeat=4)):
        shape = [size if is_full else 1 for size, is_full in zip((B, HQ, M, N), full)]
        # Both ways to know a size, and both element types.
        known = [str(size) if size == 1 or dim < 2 or number % 2 else "?" for dim, size in enumerate(shape)]
        kind = f"tensor<{'x'.join(known)}x{'f32' if number % 3 else 'f16'}>"
        yield f"bias {'x'.join(map(str, shape))}", kind, f"bias(%t : {kind})", shape


def capture_cases(captures):
    for name, (shape, lines) in captures.items():
        kind = f"tensor<{''.join(f'{size}x' for size in shape)}f32>"
        yield name, kind, MOD.format(lines=lines.format(type=kind)), shape


def check(device, folder, case, number, schedules):
    name, kind, clauses, shape = case
    mask = "causal(bottom_right)" if number % 2 else "sliding_window(20, 7)"
    text = MODULE.format(B=B, HQ=HQ, HKV=HKV, D=D, type=kind, clauses=clauses, mask=mask)
    path = os.path.join(folder, "grad.mlir")
    subprocess.run(["attn-opt", "--attn-grad=recompute=true lse-gradient=true", "-", "-o", path], input=text, text=True, check=True)
    command = ["attn-run", path, "--function=f_grad", f"--device={device}", f"--random={number}", "--verify"]
    command += [f"--shape=M={M},N={N}", *([f"--schedules={schedules}"] if schedules > 1 else [])]
    command += ["--trials=8"] if math.prod(shape) < 16 else []
    process = subprocess.run(command, capture_output=True, text=True)
    verdicts = [line.split()[-1] for line in process.stdout.splitlines() if line[:6].strip().isdigit()]
    if process.returncode or verdicts != ["pass"] * 4 or "error: " in process.stderr:
        print(f"{name}: FAIL\n{text}\n{process.stdout}{process.stderr}")
        return False
    return True


def main():
    device, kinds = sys.argv[1], sys.argv[2:] or ["bias", "captures"]
    cases = []
    for kind in kinds:
        cases += {"bias": bias_cases, "captures": lambda: capture_cases(CAPTURES), "scattered": lambda: capture_cases(SCATTERED)}[kind]()
    runs_most = device == "sim:sm_80" or "scattered" in kinds
    first = ("sim:sm_80", "sim:sm_90a", "cpu").index(device)
    cases = cases[:: 1 if runs_most else 3] if LONG else cases[first :: 3 if runs_most else 9]
    schedules = 1 if device == "cpu" else 10 if LONG and "scattered" in kinds else 2
    with tempfile.TemporaryDirectory() as folder:
        right = [check(device, folder, case, number, 1 if number and not LONG else schedules) for number, case in enumerate(cases)]
    print(f"{sum(right)} of {len(right)} gradients are right")
    sys.exit(not all(right))


if __name__ == "__main__":
    main()
