"""Static budgets of the backward's sm_90a kernels: spills, wgmma serialisation, the order of a step, its instructions.

usage: hopper_backward.py [--fused] PTXAS D DV KERNEL=PRODUCTS:BUDGET[,PRODUCTS:BUDGET]...: both types; full, causal and window. Fails
if ptxas spills, serialises wgmma (C75xx) or waits for dP before the exponentials; or if the loops of a kernel (dq, dkv, dk,
dv; dqkv with --fused), which have PRODUCTS instructions of wgmma in a step of one of the tiles that are chosen, all have more instructions than
that tile's BUDGET, but for those that branches go over.
"""

import re
import subprocess
import sys
import tempfile

import cubin
from sweep import LONG, few

MODULE = """func.func @grad(%q: {q}, %k: {q}, %v: {v}, %o: {v}, %lse: {lse}, %do: {v}) -> ({q}, {q}, {v}) {{
  %d:3 = attn.attention_backward %q, %k, %v output(%o : {v}) lse(%lse : {lse}) d_output(%do : {v}) {mask}
      : {q}, {q}, {v} -> {q}, {q}, {v}
  return %d#0, %d#1, %d#2 : {q}, {q}, {v}
}}
"""
# Shape and mask: sizes that are not known end in a loop over ragged tiles.
CASES = {
    "full": ("?x?x?", ""),
    "causal": ("?x?x?", "mask_mod causal(bottom_right)"),
    "window": ("2x8x4096", "mask_mod sliding_window(1024, 0)"),
}


def expect(condition, message):
    if not condition:
        sys.exit(message)


def assemble(ptxas, folder, name, text, target="sm_90a"):
    """Compiles and assembles; the cubin's path. Fails at spills and serialised wgmma."""
    with open(f"{folder}/k.mlir", "w") as f:
        f.write(text)
    subprocess.run(["attn-opt", f"{folder}/k.mlir", f"--target={target}", "--emit=ptx", "-o", f"{folder}/k"], check=True)
    command = [ptxas, "-v", f"-arch={target}", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"]
    result = subprocess.run(command, capture_output=True, text=True)
    report = result.stdout + result.stderr
    expect(result.returncode == 0, f"{name}: ptxas failed: {report}")
    expect("C75" not in report, f"{name}: expected no serialisation of wgmma, got: {report}")
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", report)
    expect(all(s == ("0", "0") for s in spills), f"{name}: expected no spills, got: {report}")
    return f"{folder}/k.cubin"


def check_step(name, loop):
    """S and dP start together, the exponentials are done before dP is waited for."""
    names = [instruction.name() for instruction in loop]
    # First of all, where a group's rows are one loop, the reciprocal of a division.
    order = " ".join(cubin.order(loop)).removeprefix("MUFU ")
    if "MUFU" not in names or names.count("FENCE") < 3:
        return  # dV alone has no dP
    expect(order.startswith("FENCE HGMMA FENCE HGMMA WAIT1"), f"{name}: expected both products first, got {order}")
    early = names[names.index("WAIT1") : names.index("WAIT0")].count("MUFU")
    expect(early >= names.count("MUFU") - 4, f"{name}: {early} of {names.count('MUFU')} exponentials before dP; {order}")
    for opcode in ("LDL", "STL"):
        expect(cubin.counts(loop)[opcode] == 0, f"{name}: {opcode}")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--fused"]
    schedule = f"{{schedule = #attn.schedule<fused = {str('--fused' in sys.argv).lower()}>}}"
    ptxas, d, dv = arguments[0], *map(int, arguments[1:3])
    budgets = dict(item.split("=") for item in arguments[3:])
    with tempfile.TemporaryDirectory() as folder:
        cases = few([("f16", "full")] + [("bf16", case) for case in CASES])
        for dtype, case in cases if LONG else cases[(d == 128) + ("--fused" in sys.argv) :: 2]:
            name = f"{dtype} ({d}, {dv}) {case}"
            sizes, mask = CASES[case]
            q, v, lse = f"tensor<{sizes}x{d}x{dtype}>", f"tensor<{sizes}x{dv}x{dtype}>", f"tensor<{sizes}xf32>"
            path = assemble(ptxas, folder, name, MODULE.format(q=q, v=v, lse=lse, mask=f"{mask} {schedule}"))
            for kernel, numbers in budgets.items():
                code = cubin.read_kernel(path, f"grad_{kernel}")
                tiles = [map(int, tile.split(":")) for tile in numbers.split(",")]
                found = [(loops, budget) for count, budget in tiles if (loops := cubin.main_loops(code, count))]
                expect(found, f"{name} {kernel}: no loop over tiles")
                loops, budget = found[0]
                for loop in loops:
                    check_step(f"{name} {kernel}", loop)
                lengths = [len(cubin.without_skipped(loop)) for loop in loops]
                print(f"{name} {kernel}: {lengths} instructions for each tile")
                expect(min(lengths) <= budget, f"{name} {kernel}: expected at most {budget}, got {min(lengths)}")
    print("PASS")


if __name__ == "__main__":
    main()
