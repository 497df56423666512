"""Feeds mutated inputs to the tools, which must end by themselves: no crash, no hang.

    fuzz.py --bin FOLDER [--seconds 20 | --cases N] [--seed N] [--case I] [--batch K]

FOLDER has the programs; with -DATTN_SANITIZE=ON also wrong reads and undefined behaviour end a program. Inputs are the
.mlir files of the test suite, what attn-opt makes of them at each stage, PTX with its manifest, and the other files
that the programs read (files.py). Case I of seed N is always the same input and command, while the tests are the same.
A failing input is kept beside the message, which has the command that repeats it. With --batch K, each case is K modules
through one process of attn-opt, which is twenty times as fast: by the stages, passes in any order and the CPU pipeline
only. What is printed are then modules, K for each of --cases.

attn-opt and attn-run turn a crash into exit code 70 and a stack trace. A crash inside MLIR with no code of this
project between it and the parser, the pass manager or the printer is MLIR's own: it is counted, but fails nothing. Nor does a
simulation that does not end in time: a loop may be long.
"""

import argparse
import functools
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from files import damage_npy, draw_files, make_inputs  # noqa: E402

TESTS = Path(__file__).resolve().parents[1]
#: Of the processor: other work on the machine does not count. The second is a last resort.
CPU_SECONDS, TIMEOUT_SECONDS = 30, 1200
MEMORY_BYTES = 8 << 30
LARGEST_INPUT = 20_000
CRASH_CODE = 70  # tools/support/CrashGuard.h

#: LLVM's allocators poison memory where their code is inlined, and do not where it is in LLVM's library.
SANITIZER_OPTIONS = "allow_user_poisoning=0:detect_leaks=0"

GPUS = ["--target=sm_80", "--target=sm_90a", "--target=sm_86", "--target=sm_100a"]
OPTIONS = ["--allow-tf32", "--deterministic", "--invariance=batch", "--invariance=prefix", "--device-asserts", "--assume-visible-rows", "--mask-threshold=-1e4", "--strict",
           "--set-target=smem-bytes=16384", "--set-target=l2-bytes=65536", "--prove-barriers", "--bounded-waits=1000", "--bounded-waits=0",
           "--no-programmatic-launch",
           "--schedule=kind=small_cache",
           "--schedule=tile_m=16 tile_n=16", "--schedule=kind=large_cache stages=3", "--attn-grad"]
STAGES = ["--attn-raise", "--attn-to-tensor", "--attn-to-scheduled", "--attn-to-tiled", "--attn-to-tile", "--attn-to-nvvm"]
#: With options of any numbers. What a pass does not know, it leaves or refuses.
PASSES = """attn-chain-launches attn-convert-to-online attn-decompose-backward attn-decompose-masks attn-decompose-online attn-decompose-online=bf16-dot
attn-decompose-prob-mod attn-expand-float8 attn-gather-pages attn-grad attn-grad=recompute attn-grad=recompute,lse-gradient attn-hoist-tile-buffers
attn-insert-block-skipping attn-insert-device-asserts attn-outline=target=sm_90a,fallback attn-outline=target=sm_80,deterministic attn-pad-tiles
attn-promote-to-f64 attn-raise attn-raise=allow-none,assume-visible-rows attn-raise=mask-threshold=N attn-raise-append attn-serialize-outer-loops attn-share-past attn-share-window
attn-lower-tosa attn-outline-parallel-loops attn-dispatch-parallel-calls
attn-select-schedule=target=sm_80 attn-select-schedule=target=sm_90a attn-select-schedule=target=sm_100a,target-fields={smem-bytes=N}
attn-select-schedule=target=cpu attn-share-attentions attn-split-finite-masks attn-split-finite-masks=mask-threshold=N attn-split-kv attn-tile
attn-tile-allocate-shared-memory attn-tile-allocate-shared-memory=limit=N attn-tile-backward attn-tile-backward=tile-m=N,tile-n=N
attn-tile-bound-waits=tries=N attn-tile-overlap-products attn-tile-overlap-softmax attn-tile-overlap-softmax=turns=products attn-tile-pipeline
attn-tile-pipeline=stages=N attn-tile-prove-barriers attn-tile-specialize-warps attn-tile-specialize-warps=stages=N attn-tile-stage-fragments
attn-tile-stage-stores attn-tile-widen-index attn-verify-normal-form=form=tensor attn-verify-normal-form=form=scheduled
attn-verify-normal-form=form=tiled attn-verify-normal-form=form=tile convert-attn-tile-to-nvvm convert-attn-to-linalg
convert-attn-to-linalg=round-factors convert-attn-to-tile attn-cpu-pipeline attn-cpu-pipeline=bf16-dot attn-pipeline=target=sm_80
attn-pipeline=target=sm_90a,prove-barriers attn-pipeline=target=sm_100a,bounded-waits=N attn-reference-pipeline attn-reference-pipeline=promote
canonicalize cse inline""".split()
SHAPES = ["", "B=2,Hq=4,Hkv=2,M=33,N=70", "B=1,Hq=1,Hkv=1,M=1,N=1", "M=0,N=17", "B=1,H=2,M=9223372036854775807"]


def draw_compile(rng):
    return ["attn-opt", "-", rng.choice(GPUS), f"--emit={rng.choice(['ptx', 'ptx', 'manifest', 'header', 'report', 'llvm', 'mlir'])}",
            "-o", "-", *rng.sample(OPTIONS, rng.choice([0, 0, 1, 2]))]


def draw_cpu(rng):
    return ["attn-opt", "-", "--target=cpu", "--emit=llvm", "-o", "-"]


def draw_stages(rng):
    first = rng.randrange(len(STAGES))
    return ["attn-opt", "-", *STAGES[first:rng.randint(first, len(STAGES)) + 1]]


def draw_upstream(rng):
    return ["attn-opt", "-", *rng.choice([["--canonicalize", "--cse"], ["--mlir-print-op-generic"], ["--attn-outline=target=sm_80 fallback"],
                                          ["--attn-share-attentions"], ["--attn-verify-normal-form"]])]


def draw_passes(rng):
    """Passes in an order of which most was never meant."""
    passes = [name.replace("=N", f"={rng.choice(NUMBERS)}").replace(",", " ") for name in rng.sample(PASSES, rng.choice([1, 1, 2, 3]))]
    return ["attn-opt", "-", *(f"--{name}" for name in passes)]


def draw_run(rng):
    """What is run is small, or refused."""
    shape = rng.choice(SHAPES)
    return ["attn-run", "-", f"--device={rng.choice(['cpu', 'cpu', 'sim:sm_80', 'sim:sm_90a'])}", "--verify", "--allow-tf32",
            f"--random={rng.randrange(9)}", *([f"--shape={shape}"] if shape else [])]


def draw_pipeline(rng):
    """What a process does to many modules."""
    return rng.choice([draw_stages, draw_stages, draw_passes, draw_upstream])(rng) if rng.randrange(5) else ["attn-opt", "-", "--attn-cpu-pipeline"]


#: By kind of input. What reaches further is more frequent.
COMMANDS = {
    "mlir": [draw_compile] * 4 + [draw_cpu, draw_stages, draw_stages, draw_passes, draw_upstream, draw_run, draw_run],
    "ptx": [lambda rng: ["attn-sim", "{}.ptx", "--max-instructions=20000", "--output={}.o.npy",
                         *rng.choice([[], ["--list"], ["--check"], ["--keep-going", "--report={}.report"]])]],
}

NUMBERS = ["0", "1", "-1", "2", "3", "7", "65", "127", "4096", "2147483647", "-2147483648",
           "4294967296", "9223372036854775807", "-9223372036854775808", "1.0e38", "0x7F800000"]
DIMS = ["0x", "1x", "2x", "3x", "17x", "1000003x", "4294967296x", "9223372036854775807x", "?x"]
TYPES = ["f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "i1", "i8", "i32", "i64", "index",
         "complex<f32>", "vector<4xf32>", "none"]
SCHEDULE_FIELDS = """tile_m tile_n tile_d tile_dv stages warps producer_warps rescale_threshold persistent_ctas exp2_on_fma splits split_keys
cluster_m cluster_d chunk_rows""".split()
SCHEDULE_CHOICES = ['kind = "small_cache"', 'kind = "split_kv"', 'mma = "wgmma"', 'mma = "mma_sync"', 'mma = "none"', 'turns = "softmax"',
                    "fused = true", "pack_gqa = true", 'invariance = "batch"', 'invariance = "prefix"', 'balance = "plan"', 'balance = "share"', "query_in_registers = false", "output_tile = true"]
SCHEDULE_NUMBERS = ["-1", "0", "1", "2", "3", "7", "16", "32", "64", "128", "256", "1024", "2147483647", "2147483648"]
SYMBOLS = ['@"f \u00fc"', '@"1abc"', '@""', "@f", "@attention", '@"a/b"', "@$", '@"\\00"']
BESIDE = ["func.func private @beside(tensor<4xf32>) -> tensor<4xf32>", "module @beside { func.func @inner(%x: f32) -> f32 { return %x : f32 } }",
          "func.func private @beside(%x: f32) -> f32 { return %x : f32 }", "module { }", "func.func @beside() { return }"]
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


def change_schedule(rng, text):
    """A schedule of any numbers, in place of one or on an attention that has no attributes."""
    fields = [f"{name} = {rng.choice(SCHEDULE_NUMBERS)}" for name in rng.sample(SCHEDULE_FIELDS, rng.randint(1, 3))]
    schedule = f"#attn.schedule<{', '.join(fields + rng.sample(SCHEDULE_CHOICES, rng.choice([0, 1])))}>"
    if "#attn.schedule<" in text:
        return replace_one(rng, text, r"#attn\.schedule<[^>]*>", [schedule])
    return replace_one(rng, text, r"(?<= )(?=:[^:={}]*->)", [f"{{schedule = {schedule}}} "])


def change_symbol(rng, text):
    """One function's name, wherever it is."""
    names = re.findall(r"func @([\w.]+)\(", text)
    return re.sub(rf"@{re.escape(rng.choice(names))}\b", lambda _: symbol, text) if names and (symbol := rng.choice(SYMBOLS)) else text


def add_beside(rng, text):
    return rng.choice(["{0}\n{1}", "{1}\n{0}"]).format(text, rng.choice(BESIDE))


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
             [drop_attribute, change_schedule] * 2 + [change_symbol, add_beside, change_token, change_lines, change_bytes])


def split_files():
    """Small inputs of the test suite; each part of a split file alone."""
    parts = []
    for path in sorted(TESTS.rglob("*.mlir")):
        if path.stat().st_size <= LARGEST_INPUT:
            parts += re.split(r"^// -----.*$|^//--- .*$", path.read_text(), flags=re.MULTILINE)
    return [part for part in parts if re.search(r"^[^/\n]", part, re.MULTILINE)]


def compile_seed(folder, text, *flags):
    result = subprocess.run([f"{folder}/attn-opt", "-", *flags], input=text.encode(), capture_output=True, timeout=TIMEOUT_SECONDS)
    return result.stdout.decode() if result.returncode == 0 else ""


def corpus(folder):
    """Inputs by kind: the text of an .mlir file, or of PTX and of its manifest."""
    parts = split_files()
    legal = [part for part in parts if "expected-error" not in part]
    seeds = [part for part in legal if "attn.attention" in part]
    appends = [part for part in legal if "attn.append" in part and part.count("func.func") == 1]
    rng = random.Random(1)
    inputs = {"mlir": list(parts), "ptx": []}
    for text in rng.sample(seeds, 24) + rng.sample(appends, 2):
        target = rng.choice(GPUS[:2])
        for last in (3, 4, 5, 6):
            schedule = f"--attn-select-schedule=target={target[9:]}"
            inputs["mlir"].append(compile_seed(folder, text, *[schedule if "scheduled" in s else s for s in STAGES[:last]]))
        manifest = compile_seed(folder, text, target, "--emit=manifest", "-o", "-")
        if manifest:
            inputs["ptx"].append((compile_seed(folder, text, target, "--emit=ptx", "-o", "-"), manifest))
    inputs["mlir"] = [text for text in inputs["mlir"] if text]
    return inputs


def mutate(rng, text):
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        text = rng.choice(MUTATIONS)(rng, text)
    return text


def make_case(inputs, seed, case):
    """The input's files by extension, a command for them, and its standard input; `{}` stands for the files' name."""
    rng = random.Random(f"{seed}/{case}")
    kind = rng.choice(["mlir"] * 14 + ["ptx"] * 2 + ["file"])
    if kind == "file":
        return draw_files(rng)
    command = rng.choice(COMMANDS[kind])(rng)
    if kind == "mlir":
        text = mutate(rng, rng.choice(inputs["mlir"]))
        return {".mlir": text}, command, text
    ptx, manifest = rng.choice(inputs["ptx"])
    change = rng.randrange(3)
    files = {".ptx": mutate(rng, ptx) if change else ptx, ".json": mutate(rng, manifest) if change != 1 else manifest}
    if change:  # Of other PTX the manifest says so, and nothing is tried.
        files[".json"] = re.sub(r'"ptx_digest": *"[^"]*",?', "", files[".json"])
    files[".json"] = re.sub(r'"ptx": *"[^"]*"', '"ptx": "case.ptx"', files[".json"])
    tensors = make_inputs(rng, manifest)
    if tensors and rng.random() < 0.1:
        damaged = rng.choice(list(tensors))
        tensors[damaged] = damage_npy(rng, tensors[damaged])
    return {**files, **tensors}, command + [f"--input={{}}{extension}" for extension in tensors], ""


def set_limits(sanitized):
    """A sanitizer's shadow memory needs addresses without limit, and its checks some six times as long."""
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    seconds = CPU_SECONDS * (6 if sanitized else 1)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def is_upstream(trace):
    """Whether a stack trace has only MLIR's frames up to its parser, or to the call into MLIR."""
    ours = r"attn-(?:opt|run)\+0x|attn::|\(anonymous namespace\)::\w+::runOnOperation|\.cpp:[1-9]\d*:\d+$"
    for frame in re.findall(r"^ *#\d+ .*$", trace, re.MULTILINE):
        if re.search(r"mlir::detail::Parser::|::OperationParser::|::CustomOpAsmParser::", frame):
            return True
        if re.search(ours, frame):
            return False
        if re.search(r"mlir::parse\w*SourceFile|mlir::PassManager::run|OpToOpPassAdaptor|mlir::MlirOptMain", frame):
            return True
    return False


def is_watched_fault(errors):
    """Whether a sanitizer ended the program, with the exit code of any error. Where memory ends it does so in place of the program's message."""
    has_memory = not re.search("AddressSanitizer: (allocator is out of memory|requested allocation size)", errors)
    return "runtime error: " in errors or ("AddressSanitizer" in errors and has_memory)


@functools.cache
def is_sanitized(program):
    return b"__asan_init" in Path(program).read_bytes()


def find_fault(command, text):
    """Why the run is a failure, "upstream" for a crash of MLIR, "slow" for a long simulation, or None; the exit status."""
    sanitized = is_sanitized(command[0])
    environment = {**os.environ, "ASAN_OPTIONS": SANITIZER_OPTIONS} if sanitized else None
    result = subprocess.run(command, input=text, capture_output=True, env=environment,
                            timeout=TIMEOUT_SECONDS, preexec_fn=lambda: set_limits(sanitized))
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return ("slow" if "attn-opt" not in command[0] else "no end in time"), None
    errors = result.stderr.decode(errors="replace")
    if (result.returncode == CRASH_CODE or "AddressSanitizer" in errors) and is_upstream(errors):
        return "upstream", result.returncode
    if result.returncode < 0 or result.returncode >= CRASH_CODE or is_watched_fault(errors):
        return f"crash, code {result.returncode}:\n{errors[:3000]}", result.returncode
    # What attn-run finds of results goes to standard output.
    if result.returncode != 0 and not errors.strip() and not result.stdout:
        return f"failed with code {result.returncode} and said nothing", result.returncode
    return None, result.returncode


def find_in_batch(command, texts):
    """The modules on which the command fails, with the faults, each alone."""
    fault, _ = find_fault([*command, "--split-input-file"], "\n// -----\n".join(texts).encode("utf-8", "replace"))
    if fault is None or len(texts) == 1:
        return [(fault, text) for text in texts if fault]
    middle = len(texts) // 2
    return find_in_batch(command, texts[:middle]) + find_in_batch(command, texts[middle:])


def run_batch(folder, inputs, seed, case, count):
    """The faults of a case of `count` modules."""
    rng = random.Random(f"{seed}/{count}/{case}")
    name, *arguments = draw_pipeline(rng)
    faults = []
    texts = [mutate(rng, rng.choice(inputs["mlir"])) for _ in range(count)]
    for number, (fault, text) in enumerate(find_in_batch([f"{folder}/{name}", *arguments], texts)):
        message = ""
        if fault not in ("slow", "upstream"):
            kept = Path(tempfile.gettempdir(), f"attn-fuzz-{seed}-{case}-{number}.mlir")
            kept.write_bytes(text.encode("utf-8", "replace"))
            message = f"case {case}: {folder}/{name} {kept} {' '.join(arguments[1:])}\n{fault}"
        faults.append((fault, message))
    return faults


def encode(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def write_files(files, base):
    for extension, text in files.items():
        Path(f"{base}{extension}").write_bytes(encode(text))


def run_case(folder, inputs, seed, case):
    """The fault, and what is printed of it."""
    files, command, stdin = make_case(inputs, seed, case)
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary, "case")
        write_files(files, base)
        words = [f"{folder}/{command[0]}", *command[1:]]
        fault, status = find_fault([word.replace("{}", str(base)) for word in words], encode(stdin.replace('"{}.', f'"{base}.')))
        if fault is None and status != 0 and Path(f"{base}.o.npy").exists():
            fault = f"code {status}, but the output is there"
    if fault in (None, "slow", "upstream"):
        return fault, ""
    kept = Path(tempfile.gettempdir(), f"attn-fuzz-{seed}-{case}")
    stdin = stdin.replace('"{}.', f'"{kept}.')
    write_files({**files, ".stdin": stdin}, kept)
    words = [word.replace("{}", str(kept)) for word in words]
    return fault, f"case {case}: {shlex.join(words)} < {kept}.stdin\n{fault}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder of the programs")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--cases", type=int, help="how many, in place of --seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run only this case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once (default: one per core)")
    parser.add_argument("--batch", type=int, metavar="K", help="K modules a case, in one process of attn-opt")
    parser.add_argument("--makers", metavar="FOLDER", help="programs that make the inputs, such as faster ones (default: --bin)")
    arguments = parser.parse_args()

    inputs = corpus(arguments.makers or arguments.bin)
    print(f"seed {arguments.seed}, {len(inputs['mlir'])} modules, {len(inputs['ptx'])} kernels", flush=True)
    end = time.monotonic() + arguments.seconds
    counts = {"fault": 0, "upstream": 0, "slow": 0}

    def attempt(case):
        if arguments.case is None and arguments.cases is None and time.monotonic() > end:
            return False
        where = arguments.bin, inputs, arguments.seed, case
        for fault, message in run_batch(*where, arguments.batch) if arguments.batch else [run_case(*where)]:
            if fault:
                counts[fault if fault in counts else "fault"] += 1
            if message:
                print(message, flush=True)
        return True

    cases = [arguments.case] if arguments.case is not None else range(arguments.cases or 10_000_000)
    ran, workers, told = 0, arguments.jobs, time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        # A number of cases is known to end: a slow one keeps no other waiting.
        together = len(cases) if arguments.cases else 8 * workers
        for first in range(0, len(cases), together):
            before = ran
            for outcome in pool.map(attempt, cases[first:first + together]):
                ran += outcome
                if time.monotonic() > told + 60:
                    told = time.monotonic()
                    print(f"{ran * (arguments.batch or 1)} cases so far, {counts['fault']} failed", flush=True)
            if ran - before < len(cases[first:first + together]):
                break
    ran *= arguments.batch or 1
    print(f"{ran} cases, {counts['fault']} failed, {counts['upstream']} crashes of MLIR itself contained, "
          f"{counts['slow']} runs stopped")
    return 1 if counts["fault"] or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
