"""Command lines of any options over good inputs: a run ends well and has written something at the place that it names, or with a
message and no file.

    commands.py --bin FOLDER [--cases 200] [--seed 1] [--case I]

Options take good values, numbers from the ends of ranges, names of files that are absent, folders or devices, and each other's
values; some are given twice, or belong to another use of the program. The first case, and some others, are compilations to one name
at once, one of which is killed: what they leave is one set, or is refused by its reader. Whether results are right is differential.py's to
find. Case I of seed N is always the same. A failing case prints the command; with -DATTN_SANITIZE=ON also wrong reads and undefined behaviour are failures.
"""

import argparse
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from files import make_inputs  # noqa: E402
from fuzz import SANITIZER_OPTIONS, is_watched_fault  # noqa: E402

SECONDS = 600  # a case takes a tenth of one, if nothing else runs
MODULE = """!q = tensor<1x2x?x32xf16>
func.func @f(%q: !q, %k: !q, %v: !q, %n: tensor<1xi32>) -> (!q, tensor<1x2x?xf32>) {
  %o:2 = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %length = tensor.extract %n[%b] : tensor<1xi32>
    %end = arith.index_cast %length : i32 to index
    %shown = arith.cmpi slt, %j, %end : index
    attn.yield %shown : i1
  } : !q, !q, !q -> !q, tensor<1x2x?xf32>
  return %o#0, %o#1 : !q, tensor<1x2x?xf32>
}
"""
NUMBERS = ["0", "1", "-1", "2", "3", "7", "17", "64", "2147483648", "4294967296", "9223372036854775807", "99999999999999999999", "1e5", "nan", "x", ""]
FILES = ["in.mlir", "k.ptx", "k.json", "0.npy", "1.npy", "3.npy", "absent", "folder", "empty", "garbage", "/dev/null", "-", ""]
PLACES = ["out", "folder/out", "folder", "absent/out", "/dev/full", "/dev/null", "a\nb", "k.ptx", "x" * 300, "-", ""]
TARGETS = ["sm_80", "sm_90a", "sm_86", "sm_100a", "a100", "cpu", "sm_7", "SM_80", ""]
SCHEDULES = ["tile_m=64", "tile_m=16 tile_n=16", "kind=small_cache", "stages=3 stages=2", "tile_m=0", "warps=4 mma=wgmma", "kind=", "=", "tile_m", "x=1"]
TARGET_FIELDS = ["smem-bytes=16384", "sm-count=1", "l2-bytes=0", "dram-gbps=1e300", "registers-per-sm=17", "x=1", "=", "smem-bytes"]
FLAGS = {"attn-opt": ["--allow-tf32", "--deterministic", "--invariance=batch", "--invariance=prefix", "--device-asserts", "--assume-visible-rows", "--strict", "--time", "--canonicalize",
                      "--attn-raise", "--mlir-print-ir-after-all", "--no-such-option", "--split-input-file", "--prove-barriers", "--attn-share-attentions"],
         "attn-run": ["--verify", "--allow-tf32", "--deterministic", "--device-asserts", "--no-raise", "--raise", "--no-such-option", "--benchmark", "--serve"],
         "attn-sim": ["--list", "--check", "--keep-going", "--profile", "--stats", "--no-such-option", "--timing", "--tensor-order"],
         "attn-schedule": ["--json", "--deterministic", "--list-targets", "--no-such-option"]}  # fmt: skip


def draw_values(rng):
    """Options of every program, each with a value for it."""
    number = rng.choice(NUMBERS)
    sizes = rng.choice(["M=3,N=5", "M=17,N=0", "M=64,N=33", "M=0,N=1", f"M={number}", f"N={number},M=2", "arg0=1x2x3x32,arg1=1x2x4x32", f"arg9={number}", "M=2; M=3"])
    return {
        "--target": rng.choice(TARGETS), "--emit": ",".join(rng.choices(["ptx", "manifest", "header", "report", "llvm", "mlir", "x"], k=rng.randint(1, 3))),
        "-o": rng.choice(PLACES), "--schedule": rng.choice(SCHEDULES), "--set-target": rng.choice(TARGET_FIELDS), "--smem-bytes": number,
        "--target-file": rng.choice(FILES), "--mask-threshold": rng.choice(["-1e4", "0", number]), "--device": rng.choice(["cpu", "sim", "sim:sm_80", "sim:sm_90a", "cuda", "tpu", ""]),
        "--shape": sizes, "--random": number, "--trials": rng.choice(["1", "2", "0", "-1", "x"]), "--threads": rng.choice(["1", "2", "0", number]),
        "--input": rng.choice(["", "arg0=", "arg3=", "arg9="]) + rng.choice(FILES), "--fill": rng.choice(["arg3=ones", "arg3=padding", "arg0=normal", "arg9=x", "x"]),
        "--output": rng.choice(PLACES), "--report": rng.choice(PLACES), "--trace": rng.choice(PLACES), "--function": rng.choice(["f", "g", "", "@f"]),
        "--seed": number, "--schedules": rng.choice(["1", "2", "0", "x"]), "--manifest": rng.choice(FILES), "--program": rng.choice(["k", "out", "", "x"]),
        "--strides": rng.choice(["query=1,2,3,4", "x=1", "query=", f"key={number}"]), "--check": rng.choice(["race", "x", "early-read,race", ""]), "--no-check": rng.choice(["race", "x", ""]),
        "--max-instructions": rng.choice(["0", "100", number]), "--sm-count": number, "--slice": rng.choice(["1", "4096", number]), "--trace-clusters": rng.choice(["0", "1", "2", "x"]),
        "--problem": rng.choice(["M=64 N=64 D=64", "B=1 Hq=1 Hkv=1 M=64 N=64 D=64 pass=backward", f"M={number} N=64 D=64", f"M=64 N=64 D={number}", "mask=x", "D=64 D=32", ""]),
        "--sweep": rng.choice(["M=64:256:2", "M=0:4", "D=1:9223372036854775807", "x=1:2", "sm-count=1:3", "M=4:1", f"N=1:{number}"]), "--top": number,
        "--ranks": rng.choice(["2", "8", number]), "--chunk": rng.choice(["1", "16", number]),
        "--link": rng.choice(["", "node=2", f"gbps={number}", f"node={number} nic-latency-us={number}", "gbps=1e-300 latency-us=1e300", "node=1 node=2", "x=1", "="]),
        "--bounded-waits": number, "--repeat": rng.choice(["1", "2", "0", "-1", "x"]), "--object": rng.choice(FILES[1:]), "--blocks": rng.choice(FILES),
        "--head-shards": rng.choice(["1", "2", "0", number]), "--placement": rng.choice(["contiguous", "zigzag", "heap", "x", ""]),
        "--scheme": rng.choice(["ring", "all-gather", "group-cast, own first", "x", ""]),
        "--documents": rng.choice(["64", "32,32", "63,1", f"{number},1", "64,", ",", ""]),
    }  # fmt: skip


OPTIONS = {
    "attn-opt": "--target --emit -o --schedule --set-target --smem-bytes --target-file --mask-threshold --bounded-waits".split(),
    "attn-run": "--device --shape --random --trials --threads --input --fill --output --report --trace --function --seed --schedules --mask-threshold --repeat --object".split(),
    "attn-sim": "--manifest --input --output --report --trace --strides --check --no-check --seed --slice --threads --max-instructions --sm-count --trace-clusters --program".split(),
    "attn-schedule": "--problem --target --schedule --set-target --smem-bytes --target-file --sweep --top --ranks --chunk --link --documents --blocks --head-shards --placement --scheme".split(),
}  # fmt: skip
#: What makes a run of the program, to which the drawn options are added.
USES = {
    "attn-opt": ["in.mlir", "--target=sm_80", "-o=out"],
    "attn-run": ["in.mlir", "--shape=M=3,N=5"],
    "attn-sim": ["k.ptx", "--input=0.npy", "--input=1.npy", "--input=2.npy", "--input=3.npy", "--max-instructions=100000"],
    "attn-schedule": ["--problem=M=64 N=64 D=64"],
}  # fmt: skip


def draw_command(rng):
    program = rng.choice(["attn-opt"] * 3 + ["attn-run"] * 2 + ["attn-sim", "attn-schedule"])
    arguments = [rng.choice(FILES) if "." in word and "=" not in word and rng.random() < 0.1 else word for word in USES[program] if rng.random() < 0.95]
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.25:
            arguments.append(rng.choice(FLAGS[program]))
            continue
        names = OPTIONS[program] if rng.random() < 0.95 else rng.choice(list(OPTIONS.values()))
        name = rng.choice(names)
        arguments = [word for word in arguments if rng.random() < 0.2 or word.split("=")[0] != name]
        arguments.append(f"{name}={draw_values(rng)[name]}")
    return [program, *arguments]


def write_inputs(folder, binaries):
    """Good files in `folder`, and what stands in the way of them."""
    folder.joinpath("in.mlir").write_text(MODULE)
    folder.joinpath("folder").mkdir()
    folder.joinpath("empty").touch()
    folder.joinpath("garbage").write_bytes(b"\xff\0{\n")
    subprocess.run([binaries / "attn-opt", "in.mlir", "--target=sm_80", "--emit=ptx,manifest", "-o", "k"], cwd=folder, check=True, env=environment())
    for extension, data in make_inputs(random.Random(1), folder.joinpath("k.json").read_text()).items():
        folder.joinpath(extension[1:]).write_bytes(data)


def environment():
    return {**os.environ, "ASAN_OPTIONS": SANITIZER_OPTIONS}


def snapshot(folder):
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def is_crash(status, errors):
    return status < 0 or status > 2 or "Stack dump" in errors or is_watched_fault(errors)


def find_fault(command, folder):
    """What is wrong with how a run ended; None if nothing is."""
    before = snapshot(folder)
    try:
        result = subprocess.run(command, cwd=folder, input=MODULE.encode(), capture_output=True, timeout=SECONDS, env=environment())
    except subprocess.TimeoutExpired:
        return f"no end in {SECONDS} s"
    errors = result.stderr.decode(errors="replace")
    if is_crash(result.returncode, errors):
        return f"crash, code {result.returncode}: {errors[:2000]}"
    changed = [str(path) for path, modified in snapshot(folder).items() if before.get(path) != modified]
    if result.returncode == 0:  # -h is help, whatever letters follow it
        return None if result.stdout.startswith(b"OVERVIEW: ") else find_missing(command, changed)
    if b"verify: FAIL" in result.stdout:
        return None
    if not re.search("error: |cannot open output file|for the -|Unknown command line argument|positional command line argument|positional argument|allocator is out of memory", errors):
        return f"failed with code {result.returncode} and no error: {errors[:500]}"
    # Findings of the simulator, code 2, are what a report is for.
    return f"failed with code {result.returncode} and left {changed}: {errors[:500]}" if changed and result.returncode != 2 else None


def find_missing(command, written):
    """What a run that ended well was told to write and did not, of ordinary places."""
    last = dict(word.split("=", 1) for word in command[1:] if "=" in word)
    for option in ("-o", "--output", "--report", "--trace"):
        place = last.get(option)
        if place in ("out", "folder/out") and not any(path.startswith(place) for path in written):
            return f"ended well without {place} of {option}, with {written}"
    return None


def find_mixed_set(rng, folder, binaries):
    """Compilations to one name at once, of which some are killed."""
    targets = ["sm_80", "sm_86", "sm_90a"]
    commands = [[binaries / "attn-opt", "in.mlir", f"--target={rng.choice(targets)}", "--emit=ptx,manifest", "-o", "out"] for _ in range(rng.randint(2, 4))]
    jobs = [subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, env=environment()) for command in commands]
    time.sleep(rng.random() * 0.3)
    jobs[0].send_signal(rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGKILL]))
    statuses = [job.wait(SECONDS) for job in jobs]
    if any(status != 0 for status in statuses[1:]):
        return f"compilations beside a killed one ended with {statuses}"
    result = subprocess.run([binaries / "attn-sim", "out.ptx", "--list"], cwd=folder, capture_output=True, text=True, env=environment())
    manifest, ptx = folder.joinpath("out.json").read_text(), folder.joinpath("out.ptx").read_text()
    target = next(line.split()[1] for line in ptx.splitlines() if line.startswith(".target"))
    refused = subprocess.run([binaries / "attn-sim", "out.ptx"], cwd=folder, capture_output=True, text=True, env=environment()).stderr
    is_mixed = f'"target": "{target}"' not in manifest
    if is_mixed and "expected the PTX that the manifest was written with" not in refused:
        return f"PTX of one compilation and the manifest of another are not refused: {refused}{result.stderr}"
    return None


def run_case(seed, case, binaries):
    rng = random.Random(f"{seed}/{case}")
    with tempfile.TemporaryDirectory(prefix="attn-") as name:
        folder = Path(name)
        write_inputs(folder, binaries)
        if rng.random() < 0.02 or case == 0:
            return find_mixed_set(rng, folder, binaries), "compilations at once"
        command = draw_command(rng)
        return find_fault([binaries / command[0], *command[1:]], folder), shlex.join(command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path, help="the folder of the programs")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run only this case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once (default: one per core)")
    options = parser.parse_args()
    cases = [options.case] if options.case is not None else range(options.cases)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, (fault, command) in zip(cases, pool.map(lambda case: run_case(options.seed, case, options.bin.resolve()), cases)):
            if fault:
                failed += 1
                print(f"case {case}: {command}\n{fault}", flush=True)
    print(f"seed {options.seed}: {len(cases)} commands, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
