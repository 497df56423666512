"""Holds the register model to ptxas: forwards of random problems, assembled, do not spill.

usage: spills.py PTXAS [--cases 20] [--seed 1] [--targets sm_80,sm_90a]

Problems have sizes from 1 to 4096 in all proportions, all head dimensions, masks, score changes and element types: what the
schedule selector picks for them is assembled for its target. Prints each that spills, and fails if one does.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile

MASKS = ["", "mask_mod causal(bottom_right)", "mask_mod causal(top_left)", "mask_mod sliding_window(100, 0)", "mask_mod sliding_window(17, 40)"]
SCORES = ["", "score_mod soft_cap(30.0)", "bias(%bias : tensor<1x1x{M}x{N}xf32>)", "bias(%padding : tensor<{B}x1x1x{N}xf32>)"]
MODULE = """func.func @f(%q: {q}, %k: {k}, %v: {v}, %bias: tensor<1x1x{M}x{N}xf32>, %padding: tensor<{B}x1x1x{N}xf32>) -> ({o}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v {score} {mask} : {q}, {k}, {v} -> {o}, {lse}
  return %o, %lse : {o}, {lse}
}}
"""


def draw(generator):
    """A problem, as the text of a module, and what it is in a line."""
    batch, heads, group = generator.choice([1, 1, 2, 8]), generator.choice([1, 2, 8, 32]), generator.choice([1, 1, 4])
    m, n = (int(2 ** generator.uniform(0, 12)) for _ in range(2))
    if generator.random() < 0.3:
        m = n
    m, n = ("?" if generator.random() < 0.2 else size for size in (m, n))
    d = generator.choice([16, 32, 64, 64, 72, 80, 96, 112, 128, 128, 160, 192, 256])
    dv = generator.choice([d, d, d, 64, 128])
    dtype = generator.choice(["f16", "bf16"])
    score, mask = generator.choice(SCORES).format(B=batch, M=m, N=n), generator.choice(MASKS)
    types = {
        "q": f"tensor<{batch}x{heads * group}x{m}x{d}x{dtype}>",
        "k": f"tensor<{batch}x{heads}x{n}x{d}x{dtype}>",
        "v": f"tensor<{batch}x{heads}x{n}x{dv}x{dtype}>",
        "o": f"tensor<{batch}x{heads * group}x{m}x{dv}x{dtype}>",
        "lse": f"tensor<{batch}x{heads * group}x{m}xf32>",
    }
    line = f"B={batch} Hq={heads * group} Hkv={heads} M={m} N={n} D={d} Dv={dv} {dtype} {score.split('(')[0]} {mask}"
    return MODULE.format(B=batch, M=m, N=n, score=score, mask=mask, **types), line


def count_spills(ptxas, target, folder):
    """Bytes that the kernels of the PTX spill, by kernel."""
    result = subprocess.run([ptxas, "-v", f"-arch={target}", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"ptxas -arch={target} failed: {result.stdout}{result.stderr}")
    report = result.stdout + result.stderr
    return [int(a) + int(b) for a, b in re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", report)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxas")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default="sm_80,sm_90a")
    a = parser.parse_args()
    generator, spilling = random.Random(a.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(a.cases):
            text, line = draw(generator)
            target = generator.choice(a.targets.split(","))
            command = ["attn-opt", "-", f"--target={target}", "--emit=ptx,manifest", "-o", f"{folder}/k"]
            made = subprocess.run(command, input=text, capture_output=True, text=True)
            if made.returncode:
                sys.exit(f"{line}\n{text}\n{made.stderr}")
            spills = count_spills(a.ptxas, target, folder)
            if any(spills):
                with open(f"{folder}/k.json") as file:
                    schedule = json.load(file)["schedule"]
                print(f"{target} {line}: {spills} bytes spilled by {schedule}", flush=True)
                spilling += 1
    print(f"{spilling} of {a.cases} problems spill")
    sys.exit(spilling > 0)


if __name__ == "__main__":
    main()
