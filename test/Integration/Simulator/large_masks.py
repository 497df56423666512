"""Runs attention under masks of large finite scores through attn-run, against float64.

    large_masks.py [--targets sm_80,sm_90a] [--backward] [--schedule FIELDS] [--cases 40] [--every 1] [--seed 1]

What models write into masks is added to the scores: -1e4, -65504, -1e9 or the lowest float, at the start of a sequence
(left padding), at its end, over whole tiles, or everywhere, where the mask defines the average over all keys. The first
cases are these by name; what follows is drawn at random. `--every N` takes each N-th of so many cases. All rows, all schedules, forward or backward.
"""

import argparse
import itertools
import random
import subprocess
import sys
import tempfile

import check_kernel as kernel
from sweep import LONG

LOWEST = -3.4028234663852886e38
KINDS = [("f16", 64), ("bf16", 128)] if LONG else [("f16", 32), ("bf16", 64)]
VALUES = [-1e4, -65504.0, -1e9, LOWEST]
M, N, TILE = 72, 136, 64
NAMED = {
    "left padding": lambda j: j < 100 * N // 160,
    "right padding": lambda j: j >= N - 20,
    "first tile": lambda j: j < TILE,
    "middle tile": lambda j: TILE <= j < 2 * TILE,
    "last tile": lambda j: j >= (N - 1) // TILE * TILE,
    "everything": lambda j: True,
    "all but one": lambda j: j != 7,
}


def module_text(d, dtype, schedule):
    q, lse = f"tensor<?x?x?x{d}x{dtype}>", "tensor<?x?x?xf32>"
    attributes = f"{{schedule = #attn.schedule<{schedule}>}}" if schedule else ""
    return f"""func.func @attention(%q: {q}, %k: {q}, %v: {q}, %mask: tensor<?x1x1x?xf32>) -> ({q}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v bias(%mask : tensor<?x1x1x?xf32>) {attributes} : {q}, {q}, {q} -> {q}, {lse}
  return %o, %lse : {q}, {lse}
}}
"""


def draw_cases(generator):
    """Names and masks of one sequence; without end."""
    for value in VALUES:
        for name, hides in NAMED.items():
            yield f"{value:g}, {name}", [value if hides(j) else 0.0 for j in range(N)]
    while True:
        begin, end = sorted(generator.choices(range(N + 1), k=2))
        values = generator.sample(VALUES, generator.randint(1, 2)) + [generator.uniform(-5000, 5000)]
        inside, outside = generator.choice(values), generator.choice([0.0, generator.choice(values)])
        yield f"[{begin}, {end}) {inside:g}, else {outside:g}", [inside if begin <= j < end else outside for j in range(N)]


def run(command, cases=()):
    """Runs a command, which prints a verdict for each of the cases."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        verdicts = [line for line in result.stdout.splitlines() if line.startswith("verify: ")]
        failed = [name for (name, _), verdict in zip(cases, verdicts) if verdict != "verify: PASS"]
        sys.exit(f"FAIL {'; '.join(failed)}: {' '.join(command)}\n{result.stdout}{result.stderr}")


def check(a, folder, dtype, d, cases):
    """Runs the cases on all targets, compiled once for each."""
    path = f"{folder}/attention.mlir"
    with open(path, "w") as file:
        file.write(module_text(d, dtype, a.schedule))
    if a.backward:
        run(["attn-opt", path, "--attn-grad=recompute=true lse-gradient=true", "-o", path])
    for number, (_, mask) in enumerate(cases):
        # The second sequence of the batch hides nothing.
        kernel.write_npy(f"{folder}/{number}.npy", (2, 1, 1, N), mask + [0.0] * N, "f32")
    inputs = ";".join(f"arg3={folder}/{number}.npy" for number in range(len(cases)))
    for target in a.targets.split(","):
        command = ["attn-run", path, f"--device={'sim:' if target != 'cpu' else ''}{target}", "--verify"]
        heads = "Hq=2,Hkv=1" if a.backward else "Hq=1,Hkv=1"
        command += [f"--shape=B=2,{heads},M={M},N={N}", f"--input={inputs}"]
        # The mask's own gradient has few elements: with other inputs chance may put it past the error rule.
        run(command + (["--function=attention_grad"] if a.backward else [f"--random={a.seed}"]), cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="sm_80,sm_90a")
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--schedule", default="")
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    generator = random.Random(a.seed)
    by_kind = {kind: [] for kind in KINDS}
    for case in itertools.islice(draw_cases(generator), 0, a.cases, a.every):
        # An f32 LSE of -1e9 has no room for log N: P is 1 in the backward of such rows, and the rounding of O to bf16 N
        # times as large in the mask's gradient, which the rule (twice the unfused error) does not know.
        only_f16 = a.backward and "everything" in case[0]
        by_kind[KINDS[0] if only_f16 else generator.choice(KINDS)].append(case)
    with tempfile.TemporaryDirectory() as folder:
        for (dtype, d), cases in by_kind.items():
            check(a, folder, dtype, d, cases)
    print(f"{sum(map(len, by_kind.values()))} masks of large scores: all within their bounds")


if __name__ == "__main__":
    main()
