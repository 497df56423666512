"""Static budgets of the sm_90a kernels: registers, spills, wgmma serialisation, and the instructions of the main loop.

usage: hopper.py PTXAS D DV TILE_N BUDGET: both types; full, causal and window, some of them for
each head dimension in a run that is not long. Fails if ptxas spills, serialises wgmma
(C75xx), or waits for the product with V before the exponentials of the next tile; if an opcode is there more often than
the algorithm needs it; or if the unmasked loop has more than BUDGET instructions, those left out that only
large scores need (masks of -1e9, say).
"""

import re
import subprocess
import sys
import tempfile

import cubin

MODULE = """func.func @attention(%q: {q}, %k: {q}, %v: {v}) -> ({v}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v {mask} {{schedule = #attn.schedule<tile_m = 128, tile_n = {n}, stages = 2, cluster_m = 1, exp2_on_fma = 0>}}
      : {q}, {q}, {v} -> {v}, {lse}
  return %o, %lse : {v}, {lse}
}}
"""
# Shape, mask, key loops: sizes that are not known end in a loop over a ragged tile, with those that the mask cuts. The full
# case is persistent.
CASES = {
    "full": ("?x?x?", "", 2),
    "causal": ("?x?x?", "mask_mod causal(bottom_right)", 2),
    "window": ("2x8x{length}", "mask_mod sliding_window(1024, 0)", 2),
    "ragged window": ("?x?x?", "mask_mod sliding_window(1024, 0)", 2),
}


def expect(condition, message):
    if not condition:
        sys.exit(message)


def assemble(ptxas, folder, name, text):
    """Compiles and assembles; the cubin's path. Fails at spills and serialised wgmma."""
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    subprocess.run(["attn-opt", f"{folder}/k.mlir", "--target=sm_90a", "--emit=ptx", "-o", f"{folder}/k"], check=True)
    command = [ptxas, "-v", "-arch=sm_90a", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"]
    result = subprocess.run(command, capture_output=True, text=True)
    report = result.stdout + result.stderr
    expect(result.returncode == 0, f"{name}: ptxas failed: {report}")
    expect("C75" not in report, f"{name}: expected no serialisation of wgmma, got: {report}")
    spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", report)
    expect(spills[1] == spills[2] == "0", f"{name}: expected no spills, got {spills[0]}")
    registers = int(re.search(r"Used (\d+) registers", report)[1])
    expect(registers <= 168, f"{name}: expected at most 168 registers at entry, got {registers}")
    return f"{folder}/k.cubin"


def check_loop(name, loop, d, dv, n):
    """One step: what a thread must do for 16 rows and n keys of its warp, and how much of it ptxas may add."""
    counts = cubin.counts(loop)
    scores, outputs = n // 2, dv // 2
    expect(counts["HGMMA"] == d // 16 + n // 16, f"{name}: {counts['HGMMA']} products")
    limits = {
        "MUFU": scores + 2,  # P, and the decay of two rows
        "FMNMX": scores + 6,  # row maxima: two rows, over 4 lanes; the larger rise, the larger shift
        "FFMA": scores,
        "FADD": 2 * scores + 5,  # the sum; rise and decay of two rows; the sum of what is pinned; large scores
        "FMUL": outputs + 6,
        "F2FP": scores // 2,
        "R2UR": 12 if d <= 128 else 16 if d < 256 else 28,  # uniform registers run out
        "MOV": 18 if d < 256 else 20,  # addresses and parities: no accumulator or operand is copied, which would be n / 4 at least
        "UMOV": 20,
        "LDL": 0,
        "STL": 0,
    }
    for opcode, limit in limits.items():
        expect(counts[opcode] <= limit, f"{name}: expected at most {limit} {opcode}, got {counts[opcode]}")
    order = " ".join(cubin.order(loop))
    expected = r"FENCE HGMMA FENCE HGMMA WAIT1 (FMUL )*MUFU( FMUL| MUFU)* WAIT0( FMUL)*$"
    expect(re.match(expected, order), f"{name}: expected both products, softmax, then the wait for the second; got {order}")
    names = [instruction.name() for instruction in loop]
    late = names[names.index("WAIT0") :].count("MUFU")
    expect(late == 0, f"{name}: expected the exponentials before the wait for the second product, got {late} after it")


def main():
    ptxas, (d, dv, n, budget) = sys.argv[1], map(int, sys.argv[2:6])
    from sweep import LONG, few  # which scripts that import this need not find

    with tempfile.TemporaryDirectory() as folder:
        cases = few([("f16", "full")] + [("bf16", case) for case in CASES])
        for dtype, case in cases if LONG else cases[(d + dv) // 64 % 2 :: 2]:
            name = f"{dtype} ({d}, {dv}) {case}"
            sizes, mask, count = CASES[case]
            sizes = sizes.format(length=64 * n)
            q, v, lse = f"tensor<{sizes}x{d}x{dtype}>", f"tensor<{sizes}x{dv}x{dtype}>", f"tensor<{sizes}xf32>"
            path = assemble(ptxas, folder, name, MODULE.format(q=q, v=v, lse=lse, n=n, mask=mask))
            loops = cubin.main_loops(cubin.read_kernel(path), d // 16 + n // 16)
            expect(len(loops) == count, f"{name}: expected {count} main loops, got {len(loops)}")
            for loop in loops:
                check_loop(name, loop, d, dv, n)
            lengths = [len(loop) for loop in loops]
            print(
                f"{name}: {lengths} instructions for each tile of keys, {dv // 2} of them only where a maximum rises,"
                f" {n // 2} only where scores are large"
            )
            usual = min(lengths) - n // 2
            expect(usual <= budget, f"{name}: expected at most {budget} where scores are not large, got {usual}")
    print("PASS")


if __name__ == "__main__":
    main()
