"""Feeds mutated inputs to attn-opt, which must end by itself: no crash, no hang.

    fuzz.py --attn-opt BINARY [--seconds 20] [--seed N] [--case I]

Case I of seed N is always the same input and command. A failing input is kept
beside the message, which has the command that repeats it.

attn-opt turns a crash into exit code 70 and a stack trace. A crash inside MLIR
with no code of this project between it and the parser or the pass manager is
MLIR's own: it is counted, but fails nothing.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TIMEOUT_SECONDS = 30
MEMORY_BYTES = 8 << 30
LARGEST_INPUT = 20_000
CRASH_CODE = 70  # tools/attn-opt/CrashGuard.h

COMMANDS = [
    ["--target=sm_80", "--emit=ptx", "-o", "-"],
    ["--target=sm_80", "--emit=manifest", "-o", "-"],
    ["--target=sm_80", "--emit=report", "-o", "-"],
    ["--target=cpu", "--emit=llvm", "-o", "-"],
    ["--attn-raise"],
    ["--attn-to-tensor", "--attn-to-scheduled", "--attn-to-tiled"],
    ["--canonicalize", "--cse"],
    ["--mlir-print-op-generic"],
]

NUMBERS = ["0", "1", "-1", "2", "3", "7", "65", "127", "4096", "2147483647", "-2147483648",
           "4294967296", "9223372036854775807", "-9223372036854775808", "1.0e38", "0x7F800000"]
DIMS = ["0x", "1x", "2x", "3x", "17x", "1000003x", "4294967296x", "9223372036854775807x", "?x"]
TYPES = ["f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "i1", "i8", "i32", "i64", "index",
         "complex<f32>", "vector<4xf32>", "none"]
TOKEN = re.compile(r"%[\w#.]+|#[\w.]+|!?[A-Za-z_][\w.$]*|-?\d+(?:\.\d+)?|[^\s\w]")


def replace_one(rng, text, pattern, choices):
    """Replaces one match of `pattern`, if there is one, by one of `choices`."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return text
    match = rng.choice(matches)
    return text[:match.start()] + rng.choice(choices) + text[match.end():]


def change_number(rng, text):
    return replace_one(rng, text, r"(?<![\w.%#])-?\d+(?:\.\d+)?(?![\w.])", NUMBERS)


def change_dim(rng, text):
    return replace_one(rng, text, r"(?<=[<x])(?:\d+|\?)x(?=[\d?a-z])", DIMS + [""])


def change_type(rng, text):
    return replace_one(rng, text, r"\b(?:f16|bf16|f32|f64|i1|i8|i32|i64|index)\b", TYPES)


def change_operand(rng, text):
    names = re.findall(r"%[\w]+(?:#\d+)?", text)
    return replace_one(rng, text, r"%[\w]+(?:#\d+)?", names) if names else text


def drop_attribute(rng, text):
    return replace_one(rng, text, r"\{[^{}\n]*\}|,? *[\w.]+ = [^,{}\n]+", [""])


def change_token(rng, text):
    tokens = TOKEN.findall(text)
    return replace_one(rng, text, TOKEN, tokens + ["", "}", "(", "\0"]) if tokens else text


def change_lines(rng, text):
    """Drops, repeats or moves a line."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    line = lines.pop(at)
    for _ in range(rng.choice([0, 1, 2])):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def change_bytes(rng, text):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(["\xff", "\0", "\"", "\\", "<", ""]) + text[at + rng.randrange(3):]


# Changes that keep the syntax are more frequent: they reach further.
MUTATIONS = ([change_number, change_dim, change_type, change_operand] * 4 +
             [drop_attribute] * 2 + [change_token, change_lines, change_bytes])


def corpus():
    """Small inputs of the test suite, by path; each part of a split file alone."""
    parts = []
    for path in sorted(TESTS.rglob("*.mlir")):
        if path.stat().st_size <= LARGEST_INPUT:
            parts += re.split(r"^// -----.*$|^//--- .*$", path.read_text(), flags=re.MULTILINE)
    return [part for part in parts if re.search(r"^[^/\n]", part, re.MULTILINE)]


def make_case(inputs, seed, case):
    rng = random.Random(f"{seed}/{case}")
    text = rng.choice(inputs)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        text = rng.choice(MUTATIONS)(rng, text)
    return text, rng.choice(COMMANDS)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def is_upstream(trace):
    """Whether a stack trace has only MLIR's frames up to the call into MLIR."""
    for frame in re.findall(r"^ *#\d+ .*$", trace, re.MULTILINE):
        if re.search(r"attn-opt\+0x|attn::|\.cpp:\d+:\d+$", frame):
            return False
        if re.search(r"mlir::parse\w*SourceFile|mlir::PassManager::run|OpToOpPassAdaptor", frame):
            return True
    return False


def run_case(attn_opt, text, flags):
    """Why the run is a failure, "upstream" for a crash of MLIR, or None."""
    try:
        result = subprocess.run([attn_opt, "-", *flags], input=text.encode("utf-8", "replace"),
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                timeout=TIMEOUT_SECONDS, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return f"no end within {TIMEOUT_SECONDS} s"
    errors = result.stderr.decode(errors="replace")
    if result.returncode == CRASH_CODE and is_upstream(errors):
        return "upstream"
    if result.returncode < 0 or result.returncode >= CRASH_CODE:
        return f"crash, code {result.returncode}:\n{errors[:3000]}"
    if result.returncode != 0 and not errors.strip():
        return f"failed with code {result.returncode} and said nothing"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attn-opt", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run only this case")
    arguments = parser.parse_args()

    inputs = corpus()
    print(f"seed {arguments.seed}, {len(inputs)} inputs, {arguments.seconds:g} s", flush=True)
    end = time.monotonic() + arguments.seconds
    failures, upstream = [], []

    def attempt(case):
        if time.monotonic() > end and arguments.case is None:
            return False
        text, flags = make_case(inputs, arguments.seed, case)
        fault = run_case(arguments.attn_opt, text, flags)
        if fault == "upstream":
            upstream.append(case)
        elif fault:
            kept = Path(tempfile.gettempdir(), f"attn-fuzz-{arguments.seed}-{case}.mlir")
            kept.write_text(text, errors="replace")
            failures.append(case)
            print(f"case {case}: {arguments.attn_opt} {kept} {' '.join(flags)}\n{fault}", flush=True)
        return True

    cases = [arguments.case] if arguments.case is not None else range(1_000_000)
    ran, workers = 0, os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for first in range(0, len(cases), 8 * workers):
            outcomes = list(pool.map(attempt, cases[first:first + 8 * workers]))
            ran += sum(outcomes)
            if not all(outcomes):
                break
    print(f"{ran} cases, {len(failures)} failed, {len(upstream)} crashes of MLIR itself contained")
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
