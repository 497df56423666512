# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folder that a GPU machine needs: PTX and manifests of a suite, this package, and an index.

    BUNDLE/index.json           what is compiled, and the problems to run (see `Bundle`)
    BUNDLE/kernels.zip          KEY.ptx, its manifest KEY.json and, where ptxas was there, KEY.cubin for each kernel; in silicon/
                                those of silicon.py with their arrays and headers
    BUNDLE/python/attn_mlir     so that nothing needs to be installed
    BUNDLE/run.sh               python -m attn_mlir.bench run BUNDLE

Each kernel has dynamic sizes, but for heads that it packs and lengths that its mask is a table of. The schedule of a forward is
the one that the cost model chooses for the problem's sizes, that of a backward the one for sizes that it does not know.
A kernel with mbarriers is proven as KEY-bounded: the same with waits that give up, which a kernel that is timed has not.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Optional, Sequence

from ..errors import AttnError, ManifestError
from ..runtime.devices import Program
from ..runtime.manifest import Manifest
from ..tools import find_library, run_tool
from .configurations import Attention, Problem
from .peers import OURS
from .silicon import FOLDER, make_case
from .suites import SUITES, TARGETS, TIMED_PARTS, Suite, is_for_slow_peers, proof_problem, static_sizes

SCHEMA = "attn-mlir/bench-bundle/4"
KERNELS = "kernels.zip"
MAX_BYTES = 40 << 20
#: Tries of a wait in a kernel that is proven (attn-opt --bounded-waits): about two seconds.
BOUNDED_WAITS = 10_000_000
#: What tuning changes in the cost model's choice, one field at a time: the nearest other values. What the compiler refuses is
#: left out.
TUNED_FIELDS: dict[str, tuple] = {
    "tile_m": (64, 128, 192), "tile_n": (64, 80, 96, 112, 128, 160, 176), "stages": (2, 3, 4), "cluster_m": (1, 2),
    "turns": ("none", "products", "softmax"), "persistent_ctas": (0, 132), "fused": (0, 1), "promote": (0, 1),
}  # fmt: skip
NEIGHBOURS = 2

RUN_SCRIPT = """#!/bin/sh
# Proves and times the kernels of this folder: docs/benchmarks/README.md.
#   run.sh [OPTION...]   run.sh prove KEY [OPTION...]   run.sh once [OPTION...]   run.sh silicon [OPTION...]
here=$(cd "$(dirname "$0")" && pwd)
case ${1-} in
prove | once | silicon) command=$1 && shift ;;
*) command=run ;;
esac
PYTHONPATH="$here/python" exec "${PYTHON:-python3}" -m attn_mlir.bench "$command" "$here" "$@"
"""


@dataclasses.dataclass(frozen=True)
class KernelRequest:
    """A kernel to compile; an empty schedule is the compiler's own choice for unknown sizes. `sizes` are those that are
    static, by name."""

    attention: Attention
    target: str
    schedule: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    is_bounded: bool = False

    @property
    def key(self) -> str:
        suffix = "-" + hashlib.sha256(self.schedule.encode()).hexdigest()[:8] if self.schedule else ""
        sizes = "".join(f"-{name}{size}" for name, size in self.sizes)
        return f"{self.target}-{self.attention.name}{sizes}{suffix}{'-bounded' * self.is_bounded}"

    @property
    def proof(self) -> "KernelRequest":
        """What proves this kernel: on a target with mbarriers the same with waits that give up."""
        return dataclasses.replace(self, is_bounded=self.target != "sm_80")

    def mlir(self) -> str:
        return self.attention.mlir(dict(self.sizes))


class Bundler:
    """Compiles a suite into a folder. A kernel that the compiler refuses is in the index with its diagnostics."""

    def __init__(self, folder: Path, log=print, also: Sequence[str] = (), cubins: bool = True):
        self.folder, self.log, self.also = folder, log, also
        self.compiled = folder / "kernels"
        self.kernels: dict[str, dict] = {}
        self.proofs: dict[str, dict] = {}
        self.executor = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
        self.ptxas = shutil.which("ptxas") if cubins else None
        self.started = self.last_progress = time.monotonic()

    def make(self, suite: Suite) -> dict:
        self.compiled.mkdir(parents=True, exist_ok=True)
        wanted = dict.fromkeys(p for part in (*suite.timed.values(), suite.tune) for p in part)
        ranked = self.rank_all([(p, t) for p in wanted for t in TARGETS if not p.attention.gradient])
        index = {
            "schema": SCHEMA,
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "compiler": run_tool("attn-opt", ["--version"]).stdout.strip().splitlines()[:2],
            "git": first_output(["git", "-C", Path(__file__).parent, "describe", "--always", "--dirty", "--abbrev=12"]),
            "target": target_numbers(TARGETS[0]),
            "ptxas": self.ptxas and first_output([self.ptxas, "--version"], last=True),
            **{part: [self.timed_entry(p, ranked) for p in problems] for part, problems in suite.timed.items()},
            "tune": [self.tune_entry(p, self.candidates(p, ranked, suite.candidates)) for p in suite.tune],
        }
        # The kernels that are timed come first: time may run out.
        index["smoke"] = [self.numerics_entry(p, KernelRequest(p.attention, t, schedule)) for t, p, schedule in suite.smoke]
        index["numerics"] = list(self.proofs.values()) + [
            self.numerics_entry(p, KernelRequest(p.attention, t))
            for t in TARGETS
            for p in suite.numerics[t]
        ]
        self.compile_all()
        self.log("simulating what is compared bit by bit")
        index["silicon"] = [make_case(case, self.compiled / FOLDER) for case in suite.silicon]
        self.pack()
        index["compile_ms"] = self.compile_milliseconds()
        index["kernels"] = {
            key: {k: v for k, v in entry.items() if k != "request"} for key, entry in self.kernels.items()
        }
        (self.folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")
        return index

    def rank_all(self, wanted: list[tuple[Problem, str]]) -> dict[tuple[Problem, str], list[dict]]:
        """The schedules of forward problems on their targets."""
        ranked: dict[tuple[Problem, str], list[dict]] = {}
        self.progress("ranking schedules", 0, len(wanted))
        for (problem, target), result in zip(wanted, self.executor.map(lambda item: self.rank(*item), wanted)):
            ranked[problem, target] = result
            self.progress("ranking schedules", len(ranked), len(wanted))
        return ranked

    def candidates(self, problem: Problem, ranked: dict, count: int) -> list[dict]:
        """The schedules to try: the cost model's best; then its choice with one field changed; then those that were asked for
        and that it allows."""
        if problem.attention.gradient:
            chosen = self.chosen_fields(problem)
            fused = chosen.get("fused", "0")  # its neighbours are of its kind, whatever the compiler would choose for their tiles
            texts = ["", *(f"fused={value}" for value in others(chosen, "fused"))]
            texts += [f"fused={fused} {name}={value}" for name in ("tile_m", "tile_n", "stages") for value in others(chosen, name)]
            return [{"schedule": text, "rank": text or "chosen"} for text in texts if not text or self.allows(problem, text)]
        best = ranked[problem, TARGETS[0]][:count]
        known = {c["schedule"] for c in best}
        best += [c for c in self.one_field_apart(problem, best[0]) if c["schedule"] not in known]
        known |= {c["schedule"] for c in best}
        for number, fields in enumerate(self.also, 1):
            try:
                given = self.rank(problem, TARGETS[0], fields)[0]
            except AttnError as error:
                self.log(f"not tried: {fields}: {str(error).splitlines()[0]}")
                continue
            if given["schedule"] not in known:
                known.add(given["schedule"])
                best.append({**given, "rank": f"asked for {number}"})
        return best

    def one_field_apart(self, problem: Problem, best: dict) -> list[dict]:
        """Schedules that differ from the best in one field, and in what follows from it."""
        fields = dict(field.split("=") for field in best["schedule"].split())
        given = {name: fields[name] for name in TUNED_FIELDS if name in fields and name != "fused"}
        found: dict[str, dict] = {}
        for name in given:
            for value in others(fields, name):
                text = " ".join(f"{k}={v}" for k, v in {**given, name: value}.items())
                try:
                    candidate = self.rank(problem, TARGETS[0], text)[0]
                except AttnError:
                    continue
                found.setdefault(candidate["schedule"], {**candidate, "rank": f"{name}={value}"})
        return list(found.values())

    def chosen_fields(self, problem: Problem) -> dict[str, str]:
        """The schedule that the compiler chooses where sizes are not known."""
        report = run_tool("attn-opt", ["-", f"--target={TARGETS[0]}", "--emit=report", "-o", "-"], text=problem.attention.mlir())
        return {name: str(value) for name, value in json.loads(report.stdout)["schedule"].items()}

    def allows(self, problem: Problem, schedule: str) -> bool:
        command = ["-", f"--target={TARGETS[0]}", f"--schedule={schedule}", "--emit=report", "-o", "-"]
        return run_tool("attn-opt", command, text=problem.attention.mlir()).returncode == 0

    def rank(self, problem: Problem, target: str, given: str = "") -> list[dict]:
        """The cost model's schedules for a problem's sizes, best first: text, predicted seconds and their terms, rank."""
        text = problem.attention.mlir(problem.sizes)
        options = [f"--schedule={given}"] if given else []
        result = run_tool("attn-opt", ["-", f"--target={target}", "--emit=report", "-o", "-", *options], text=text)
        if result.returncode != 0:
            raise AttnError(f"{problem.name}, {target}: {result.stderr.strip()}")
        ranked = json.loads(result.stdout)["selections"][0]["ranked"]
        return [
            {"schedule": r["text"], "seconds": r["cost"]["seconds"], "terms": r["cost"]["terms"], "rank": r["rank"]}
            for r in ranked
        ]

    def request(self, request: KernelRequest) -> str:
        """The key of a kernel, which `compile_all` compiles once."""
        self.kernels.setdefault(request.key, {"request": request})
        return request.key

    def numerics_entry(self, problem: Problem, kernel: KernelRequest) -> dict:
        """`kernel` proves the kernel `proves`."""
        fields = " ".join(f for f in kernel.schedule.split() if f.partition("=")[0] in ("persistent_ctas", "cluster_m", "fused"))
        name = " ".join(filter(None, [kernel.target, problem.name, fields]))
        return {"name": name, "kernel": self.request(kernel.proof), "proves": kernel.key, "problem": problem.to_json()}

    def timed(self, problem: Problem, target: str, schedule: str) -> str:
        """The key of a kernel that is timed, and so to be proven too."""
        static = static_sizes(problem, schedule)
        sizes = tuple((name, problem.sizes[name]) for name in static)
        kernel = KernelRequest(problem.attention, target, schedule, sizes)
        proof = proof_problem(problem, static, schedule)
        self.proofs.setdefault(kernel.key, self.numerics_entry(proof, kernel))
        return self.request(kernel)

    def timed_entry(self, problem: Problem, ranked: dict) -> dict:
        kernels, predicted = {}, {}
        for target in TARGETS:
            best = ranked[problem, target][0] if (problem, target) in ranked else {"schedule": ""}
            kernels[target] = self.timed(problem, target, best["schedule"])
            predicted[target] = best.get("seconds")
        if problem.attention.gradient:
            kernels[OURS["attn-mlir-deterministic"]] = self.timed(problem, TARGETS[0], "fused=0")
        return {
            "name": problem.name,
            "kernels": kernels,
            "predicted_seconds": predicted,
            "slow_peers": is_for_slow_peers(problem),
            "problem": problem.to_json(),
        }

    def tune_entry(self, problem: Problem, ranked: list[dict]) -> dict:
        candidates = [{**r, "kernel": self.timed(problem, TARGETS[0], r["schedule"])} for r in ranked]
        return {"name": problem.name, "candidates": candidates, "problem": problem.to_json()}

    def compile_all(self):
        """Compiles every kernel that was asked for."""
        keys = list(self.kernels)
        for done, (key, entry) in enumerate(zip(keys, self.executor.map(self.compile, keys)), 1):
            self.kernels[key].update(entry)
            self.progress("compiling kernels", done, len(keys))

    def compile(self, key: str) -> dict:
        request: KernelRequest = self.kernels[key]["request"]
        command = ["-", f"--target={request.target}", "--emit=ptx,manifest,report", "-o", self.compiled / key]
        command += [f"--schedule={request.schedule}"] if request.schedule else []
        command += [f"--bounded-waits={BOUNDED_WAITS}", "--prove-barriers"] if request.is_bounded else []
        began = time.monotonic()
        result = run_tool("attn-opt", command, text=request.mlir())
        entry = {
            "attention": dataclasses.asdict(request.attention),
            "target": request.target,
            "remarks": result.stderr.strip().splitlines(),
            "compile_seconds": round(time.monotonic() - began, 4),
        }
        report = self.compiled / f"{key}.report.json"
        if result.returncode != 0:
            return {**entry, "failed": result.stderr.strip() or f"attn-opt ended with status {result.returncode}"}
        content = json.loads(report.read_text())
        report.unlink()
        chosen = " ".join(f"{k}={v}" for k, v in content["schedule"].items() if v)
        size = (self.compiled / f"{key}.ptx").stat().st_size
        entry |= {"schedule": chosen, "class": kernel_class(request, content["schedule"]), "notes": content.get("notes", [])}
        return {**entry, "ptx_bytes": size, **(self.assemble(key, request.target) if self.ptxas else {})}

    def assemble(self, key: str, target: str) -> dict:
        """A cubin beside the PTX, so that nothing is assembled on the GPU machine."""
        paths = [str(self.compiled / f"{key}.{suffix}") for suffix in ("ptx", "cubin")]
        result = subprocess.run([str(self.ptxas), "-v", f"-arch={target}", paths[0], "-o", paths[1]], capture_output=True, text=True)
        lines = [line for line in result.stderr.splitlines() if "registers" in line or "spill" in line or "C75" in line]
        return {"assembled": lines} if result.returncode == 0 else {"not_assembled": result.stderr.strip()[:2000]}

    def pack(self):
        """Takes all kernels into the archive: PTX shrinks to a seventh."""
        with zipfile.ZipFile(self.folder / KERNELS, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(self.compiled.rglob("*.*")):
                archive.write(path, path.relative_to(self.compiled))
        shutil.rmtree(self.compiled)

    @staticmethod
    def compile_milliseconds() -> dict[str, float]:
        """From text to PTX, in process: the least of three, of the causal kernel with head dim 128, nothing beside it."""
        attention, times = Attention(mask="causal(top_left)"), {}
        with tempfile.TemporaryDirectory(prefix="attn-") as folder:
            for target in TARGETS:
                command = ["-", f"--target={target}", "--emit=ptx,report", "-o", f"{folder}/k"]
                totals = []
                for _ in range(3):
                    run_tool("attn-opt", command, text=attention.mlir())
                    steps = json.loads(Path(folder, "k.report.json").read_text())["times"]
                    totals.append(sum(step["milliseconds"] for step in steps))
                times[target] = round(min(totals), 1)
        return times

    def progress(self, what: str, done: int, count: int):
        """A line every two seconds, and one at the end."""
        now = time.monotonic()
        if done == count or now - self.last_progress > 2:
            self.last_progress = now
            self.log(f"{what}: {done}/{count}, {now - self.started:.0f} s")


def others(fields: dict, name: str) -> list:
    """The values of a field to try, at most NEIGHBOURS, the nearest first."""
    values, own = TUNED_FIELDS[name], fields.get(name, "0")
    rest = [value for value in values if str(value) != own]
    if own.isdigit():
        rest.sort(key=lambda value: abs(value - int(own)))
    return rest[:NEIGHBOURS]


def first_output(command: Sequence, last: bool = False) -> str:
    """A line that a program prints, the first or the last; "" if there is none."""
    try:
        lines = subprocess.run(list(map(str, command)), capture_output=True, text=True).stdout.strip().splitlines()
    except OSError:
        return ""
    return lines[-1 if last else 0] if lines else ""


def target_numbers(name: str) -> dict:
    """What the cost model takes a target to be, by the names of attn-opt --set-target."""
    result = run_tool("attn-schedule", ["--json", "--problem=M=64 N=64 D=64", f"--target={name}"])
    return {"name": name, "numbers": json.loads(result.stdout)["target"]["numbers"]}


def kernel_class(request: KernelRequest, schedule: dict) -> str:
    """Kernels that wait alike: after two that hang, those of their class are left out."""
    words = [request.target if schedule["mma"] != "wgmma" else "wgmma"]
    words += ["persistent"] if schedule.get("persistent_ctas") else []
    words += ["cluster"] if schedule.get("cluster_m", 1) > 1 else []
    words += [("fused" if schedule.get("fused") else "deterministic") + " backward"] if request.attention.gradient else []
    return " ".join(words)


def copy_package(folder: Path):
    """This package, sources only, and the library that reads manifests."""
    source, target = Path(__file__).resolve().parents[1], folder / "python" / "attn_mlir"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "bin", "lib", "licenses"))
    (target / "lib").mkdir()
    shutil.copy(find_library("attn-runtime-c"), target / "lib")


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def make_bundle(
    folder: Path, suite: str = "full", max_bytes: int = MAX_BYTES, also: Sequence[str] = (), cubins: bool = True, log=print
) -> None:
    """Writes a bundle; `folder` must be absent or an earlier bundle, which is replaced. `also`: schedules to tune over
    beside the cost model's. `cubins`: assemble kernels where ptxas is there."""
    if folder.exists():
        if not (folder / "index.json").exists() and any(folder.iterdir()):
            raise AttnError(f"{folder}: expected an absent folder or an earlier bundle, got other files")
        shutil.rmtree(folder)
    index = Bundler(folder, log, also, cubins).make(SUITES[suite]())
    copy_package(folder)
    script = folder / "run.sh"
    script.write_text(RUN_SCRIPT)
    script.chmod(0o755)
    failed = [key for key, entry in index["kernels"].items() if "failed" in entry]
    for key in failed:
        log(f"not compiled: {key}: {reason_of(index['kernels'][key]['failed'])}")
    size = folder_bytes(folder)
    counts = ", ".join(f"{len(index[part])} {part}" for part in ("smoke", "numerics", *TIMED_PARTS, "tune", "silicon"))
    log(
        f"{folder}: {len(index['kernels']) - len(failed)} kernels ({len(failed)} refused), {counts}, {size / 2**20:.1f} MiB"
    )
    if size > max_bytes:
        raise AttnError(f"expected a bundle of at most {max_bytes / 2**20:.1f} MiB, got {size / 2**20:.1f} MiB")


def reason_of(diagnostics: str) -> str:
    """The first error, behind whatever remarks come before it."""
    lines = diagnostics.splitlines()
    return next((line for line in lines if "error:" in line), lines[0])


class Bundle:
    """A bundle on disk, as the other side reads it."""

    def __init__(self, folder: Path):
        try:
            self.index = json.loads((folder / "index.json").read_text())
            self.archive = zipfile.ZipFile(folder / KERNELS)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise AttnError(f"{folder}: expected a bundle of tools/bench-bundle.sh: {error}") from None
        if self.index.get("schema") != SCHEMA:
            raise AttnError(f"{folder}: expected schema '{SCHEMA}', got '{self.index.get('schema')}'")

    def refusal(self, key: str) -> Optional[str]:
        """Why the compiler refused a kernel, if it did."""
        failed = self.index["kernels"][key].get("failed")
        return failed and reason_of(failed)

    def silicon(self, name: str) -> dict:
        """The case of a name."""
        return next(entry for entry in self.index["silicon"] if entry["name"] == name)

    def program(self, key: str) -> Program:
        try:
            text = self.archive.read(f"{key}.json").decode()
            manifest = Manifest.parse(text)
            cubin = self.archive.read(f"{key}.cubin") if f"{key}.cubin" in self.archive.namelist() else None
            return Program(manifest, text, self.archive.read(manifest.ptx).decode(), cubin)
        except KeyError as error:
            raise ManifestError(f"{key}: {error.args[0]}") from None

    def files_of(self, key: str) -> list[str]:
        """The files of a kernel in the archive."""
        return [name for name in (f"{key}.ptx", f"{key}.json") if name in self.archive.namelist()]
