"""Schedules of any numbers, targets of any, and plans for ranks of any, through attn-schedule: each ends in time, with a ranking or a message.

    schedules.py [--cases 60] [--seed 1]

Fields take values at and beyond the ends of their ranges, alone and in pairs, forward, backward and of linear attention, on every kind
of target; sizes go up to the largest ones, whose products would overflow.
"""

import argparse
import random
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from fuzz import is_sanitized, is_watched_fault  # noqa: E402

FIELDS = """tile_m tile_n tile_d tile_dv stages warps producer_warps rescale_threshold persistent_ctas exp2_on_fma early_keys splits split_keys
cluster_m cluster_d chunk_rows query_in_registers pack_gqa fused output_tile""".split()
NUMBERS = [-(1 << 63), -1, 0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 64, 100, 128, 256, 1024, 4096, 65535, 65536]
NUMBERS += [1 << 20, (1 << 20) + 1, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63]
CHOICES = ["kind=large_cache", "kind=small_cache", "kind=split_kv", "mma=wgmma", "mma=mma_sync", "mma=none", "mma=tcgen05"]
CHOICES += ["turns=products", "turns=softmax", "spill=scores", "query_prologue=fused", "query_prologue=kernel", "invariance=batch", "invariance=prefix", "balance=plan"]
PROBLEMS = [
    "B=2 Hq=4 Hkv=2 M=300 N=500 D=64",
    "B=1 Hq=1 Hkv=1 M=1 N=1 D=16",
    "B=2 Hq=8 Hkv=2 M=4096 N=4096 D=128 mask=causal",
    "B=1 Hq=2 Hkv=2 M=64 N=100 D=192 Dv=128 dtype=bf16",
    "B=2 Hq=8 Hkv=2 M=300 N=4096 D=128 rotary=1 qk_norm=1",
]
#: Of plans for several ranks.
SEQUENCES = [1, 2, 7, 64, 1000, 4096, 65536, 1 << 20, 1 << 24, (1 << 24) + 1, 1 << 62]
MASKS = ["full", "causal", "window:1", "window:100", "local:0,7", f"local:{(1 << 63) - 1},{(1 << 63) - 1}", "causal@top_left", "full*0.5"]
LINK_FIELDS = ["node", "gbps", "latency-us", "nic-gbps", "nic-latency-us"]
TARGET_FIELDS = ["registers-per-sm", "smem-bytes", "sm-count", "dram-gbps"]
SIZES = [1, 2, 7, 64, 100, 4096, 65536, 1 << 20, (1 << 24) - 1, 1 << 24]
#: Of the processor, of which a case takes a tenth of one, and with a sanitizer's checks ten: other work on the machine does not count. The last is
#: a last resort.
SECONDS, SANITIZED_SECONDS, TIMEOUT_SECONDS = 60, 300, 3600


def draw_documents(generator, tokens):
    """Lengths that are mostly those of `tokens` in all."""
    ends = sorted(generator.randint(1, tokens) for _ in range(generator.choice([0, 1, 3, 20])))
    lengths = [end - start for start, end in zip([0, *ends], [*ends, tokens]) if end > start]
    if generator.random() < 0.2:
        lengths[generator.randrange(len(lengths))] = generator.choice(NUMBERS)
    return ",".join(map(str, lengths))


def draw_ranks(generator):
    tokens, large = generator.choice(SEQUENCES), generator.choice([1, 2, 8, 1 << 24])
    problem = f"B={generator.choice([1, 2, large])} Hq={8 * large} Hkv={generator.choice([1, 2, 8, 8 * large])} M={tokens} N={tokens} D={generator.choice([16, 64, 128])}"
    command = ["attn-schedule", "--problem", f"{problem} mask={generator.choice(MASKS)}{generator.choice(['', ' pass=backward'])}"]
    command += [f"--ranks={generator.choice([1, 2, 3, 8, 16, 64, 500, 512, *NUMBERS])}"]
    if generator.random() < 0.4:
        command += [f"--documents={draw_documents(generator, tokens)}"]
    if generator.random() < 0.3:
        command += [f"--chunk={generator.choice(NUMBERS)}"]
    if generator.random() < 0.4:
        fields = generator.sample(LINK_FIELDS, generator.choice([1, 1, 2, 5]))
        command += ["--link=" + " ".join(f"{field}={generator.choice([*NUMBERS, '1e-300', '1e308', 0.5])}" for field in fields)]
    return command + generator.choice([[], ["--json"], ["--top=1"], ["--deterministic"]])


def draw_problem(generator):
    """A problem of usual sizes, or of any up to the largest, whose products would overflow."""
    if generator.random() < 0.7:
        return generator.choice(PROBLEMS) + generator.choice(["", " pass=backward"])
    heads = generator.choice([1, 8, *SIZES])
    sizes = {"B": generator.choice([1, 2, *SIZES]), "Hq": heads * generator.choice([1, 4]), "Hkv": heads,
             "M": generator.choice(SIZES), "N": generator.choice(SIZES), "D": generator.choice([16, 64, 128, *SIZES])}  # fmt: skip
    return " ".join(f"{name}={size}" for name, size in sizes.items()) + generator.choice(["", " pass=backward", " mask=causal"])


def draw_linear(generator):
    sizes = {"B": generator.choice([1, 2, *SIZES]), "H": generator.choice([1, 8, *SIZES]), "N": generator.choice(SIZES), "D": generator.choice([16, 64, 128, *SIZES])}
    problem = " ".join(f"{name}={size}" for name, size in sizes.items())
    command = ["attn-schedule", "--problem", f"algorithm=linear {problem}", "--target=" + generator.choice(["sm_80", "sm_90a"])]
    if generator.random() < 0.5:
        fields = [f"{name}={generator.choice(NUMBERS)}" for name in generator.sample(["tile_m", "tile_n", "tile_dv", "warps"], generator.randint(1, 2))]
        command += ["--schedule", " ".join(fields)]
    return command


def draw(generator):
    if generator.random() < 0.2:
        return draw_ranks(generator)
    if generator.random() < 0.1:
        return draw_linear(generator)
    fields = [f"{name}={generator.choice(NUMBERS)}" for name in generator.sample(FIELDS, generator.randint(1, 2))]
    fields += generator.sample(CHOICES, generator.choice([0, 0, 1, 2]))
    command = ["attn-schedule", "--problem", draw_problem(generator), "--schedule", " ".join(fields)]
    command += ["--target=" + generator.choice(["sm_80", "sm_90a", "sm_100a", "cpu"])]
    if generator.random() < 0.2:
        command += ["--set-target", f"{generator.choice(TARGET_FIELDS)}={generator.choice(NUMBERS)}"]
    return command


def get_seconds(program):
    return SANITIZED_SECONDS if is_sanitized(shutil.which(program)) else SECONDS


def set_limits(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def find_fault(command):
    """What is wrong with how a run ended; None if nothing is."""
    seconds = get_seconds(command[0])
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, preexec_fn=lambda: set_limits(seconds))
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"no end in {seconds} s of the processor"
    if result.returncode not in (0, 1) or "Stack dump" in result.stderr or is_watched_fault(result.stderr):
        return f"exit status {result.returncode}: {result.stderr[:500]}"
    if result.returncode == 1 and "error: " not in result.stderr and "for the --" not in result.stderr:
        return "no message"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    if not shutil.which("attn-schedule"):
        parser.error("expected attn-schedule on PATH: add the bin folder of a build")
    generator = random.Random(a.seed)
    faults = 0
    for case in range(a.cases):
        if case and case % 1000 == 0:
            print(f"{case} cases so far, {faults} faults", flush=True)
        command = draw(generator)
        if fault := find_fault(command):
            faults += 1
            print(f"FAULT {fault}: {command}", flush=True)
    print(f"{a.cases} schedules with seed {a.seed}: {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
