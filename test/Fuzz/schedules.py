"""Schedules of any numbers, and targets of any, through attn-schedule: each ends in time, with a ranking or a message.

    schedules.py [--cases 60] [--seed 1]

Fields take values at and beyond the ends of their ranges, alone and in pairs, forward and backward, on every kind of target.
"""

import argparse
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from fuzz import is_watched_fault  # noqa: E402

FIELDS = """tile_m tile_n tile_d tile_dv stages warps producer_warps rescale_threshold persistent_ctas exp2_on_fma splits
cluster_m cluster_d chunk_rows query_in_registers pack_gqa fused output_tile""".split()
NUMBERS = [-(1 << 63), -1, 0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 64, 100, 128, 256, 1024, 4096, 65535, 65536]
NUMBERS += [1 << 20, (1 << 20) + 1, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63]
CHOICES = ["kind=large_cache", "kind=small_cache", "kind=split_kv", "mma=wgmma", "mma=mma_sync", "mma=none", "mma=tcgen05"]
CHOICES += ["turns=products", "turns=softmax", "spill=scores"]
PROBLEMS = [
    "B=2 Hq=4 Hkv=2 M=300 N=500 D=64",
    "B=1 Hq=1 Hkv=1 M=1 N=1 D=16",
    "B=2 Hq=8 Hkv=2 M=4096 N=4096 D=128 mask=causal",
    "B=1 Hq=2 Hkv=2 M=64 N=100 D=192 Dv=128 dtype=bf16",
]
TARGET_FIELDS = ["registers-per-sm", "smem-bytes", "sm-count", "dram-gbps"]
SECONDS = 120  # a case takes a tenth of one


def draw(generator):
    fields = [f"{name}={generator.choice(NUMBERS)}" for name in generator.sample(FIELDS, generator.randint(1, 2))]
    fields += generator.sample(CHOICES, generator.choice([0, 0, 1, 2]))
    problem = generator.choice(PROBLEMS) + generator.choice(["", " pass=backward"])
    command = ["attn-schedule", "--problem", problem, "--schedule", " ".join(fields)]
    command += ["--target=" + generator.choice(["sm_80", "sm_90a", "sm_100a", "cpu"])]
    if generator.random() < 0.2:
        command += ["--set-target", f"{generator.choice(TARGET_FIELDS)}={generator.choice(NUMBERS)}"]
    return command


def find_fault(command):
    """What is wrong with how a run ended; None if nothing is."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end in {SECONDS} s"
    if result.returncode not in (0, 1) or "Stack dump" in result.stderr or is_watched_fault(result.stderr):
        return f"exit status {result.returncode}: {result.stderr[:500]}"
    if result.returncode == 1 and "error: " not in result.stderr:
        return "no message"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    generator = random.Random(a.seed)
    faults = 0
    for _ in range(a.cases):
        command = draw(generator)
        if fault := find_fault(command):
            faults += 1
            print(f"FAULT {fault}: {command}")
    print(f"{a.cases} schedules with seed {a.seed}: {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
