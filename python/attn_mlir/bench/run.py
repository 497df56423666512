# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a bundle within a time budget: proves its kernels, times them beside their peers, tries other schedules.

This process never touches the device: workers do, and a kernel that hangs or faults costs one of them. results.json is
written after every step, so that a run that is cut off leaves what it had.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import sys
import time
from typing import Any, Callable, Optional

from ..errors import AttnError
from ..runtime.binding import BoundProblem, TensorLayout
from ..tools import find_tool
from .bundle import Bundle
from .clock_monitor import ClockMonitor
from .configurations import Problem
from .failures import archive
from .peers import OURS, is_contestant, peer_flops
from .plot_speed import write_plot
from .silicon import describe, measure_counters
from .proofs import NOT_PASSED, START_SECONDS, Proofs
from .report import report_text, speed_line
from .statistics_of import rank_correlation, summary, without_infinities
from .suites import TIMED_PARTS
from .worker_process import WorkerLost, WorkerProcess

SCHEMA = "attn-mlir/bench-results/2"
SILICON_SECONDS = 180
PREPARE_SECONDS, SLOW_PREPARE_SECONDS, SAMPLE_SECONDS = 30, 150, 15
#: Of a problem with all its peers: those whose turn comes later are left out.
PROBLEM_SECONDS = 60
#: Samples that each peer has at least.
MIN_ROUNDS = 3
#: Peers that compile for seconds at every length: they come last, where the bundle says so (suites.is_for_slow_peers).
SLOW_TO_COMPILE = ("flex", "jax-mosaic")
#: What parts weigh against each other in the time that is left when one begins; those that were not asked for weigh nothing.
WEIGHTS = {"smoke": 2, "numerics": 4, "speed": 5, "backward": 4, "masks": 3, "serving": 2, "tune": 3, "silicon": 1, "slow": 4}
#: Errors after which a process can do nothing more on the GPU.
FAULT = re.compile(r"CUDA error|error 7\d\d \(|illegal memory|launch failure|misaligned address", re.IGNORECASE)
NOT_MEASURED = "not measured: the simulator has no clock"


class Run:
    def __init__(self, arguments):
        self.arguments = arguments
        self.bundle = Bundle(arguments.bundle)
        self.output = arguments.output or arguments.bundle / "results"
        self.output.mkdir(parents=True, exist_ok=True)
        self.began = time.monotonic()
        self.deadline = self.began + 60 * arguments.minutes
        arrays = arguments.arrays or ("plain" if arguments.device == "sim" else "torch")
        log = self.output / "workers.log"
        log.write_bytes(b"")
        command = [arguments.bundle.resolve(), "--device", arguments.device, "--arrays", arrays]
        self.worker = WorkerProcess("attn_mlir.bench.worker", command, log)
        self.jax = WorkerProcess("attn_mlir.bench.jax_worker", [], log)
        self.monitor = ClockMonitor() if arguments.device == "cuda" else None
        self.verdicts: dict[str, str] = {}  # of kernels: passed, marginal, failed, lost
        self.results: dict[str, Any] = {
            "schema": SCHEMA,
            "bundle": {k: self.bundle.index[k] for k in ("created", "compiler", "git", "ptxas", "target", "compile_ms")},
            "arguments": {k: v for k, v in vars(arguments).items() if isinstance(v, (str, int, float, list))},
            "environment": {},
            **{part: [] for part in WEIGHTS},
        }
        self.proofs = Proofs(
            self.bundle, self.worker, self.results, self.verdicts, self.log, self.save, arguments, self.output
        )

    def run(self) -> int:
        try:
            self.environment()
            for part in (part for part in WEIGHTS if part in self.arguments.parts):
                share = self.left() * share_of(part, self.arguments.parts)
                self.part_deadline = time.monotonic() + share
                self.log(f"-- {part}: at most {share:.0f} s")
                self.time_part(part) if part in TIMED_PARTS else getattr(self, part)()
        finally:
            self.worker.stop()
            self.jax.stop()
            if self.monitor:
                self.monitor.stop()
            self.save()
        text = report_text(self.results)
        (self.output / "report.txt").write_text(text + "\n")
        plots = [f"{part}.svg" for part in TIMED_PARTS if write_plot(self.results, part, self.output / f"{part}.svg")]
        print(text)
        kept = archive(self.output, self.results, self.bundle, self.worker.log)
        written = ", ".join(["results.json", "report.txt", *plots, *kept])
        print(f"{self.output}: {written}; {time.monotonic() - self.began:.0f} s")
        failed = any(r["status"] in NOT_PASSED for part in ("smoke", "numerics", "silicon") for r in self.results[part])
        return 1 if failed else 0

    # ---- what is common to the parts

    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def out_of_time(self, part: str, remaining: int) -> bool:
        if time.monotonic() < self.part_deadline:
            return False
        self.results.setdefault("not_run", {})[part] = remaining
        self.log(f"{part}: out of time, {remaining} problems not run")
        return True

    def log(self, text: str):
        print(f"[{time.monotonic() - self.began:6.1f} s] {text}", flush=True)

    def save(self):
        """Atomically: a reader, or a run that is cut off, sees a whole file."""
        path = self.output / "results.json"
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(without_infinities(self.results), indent=1, allow_nan=False) + "\n")
        os.replace(temporary, path)

    def entries(self, part: str) -> list[dict]:
        return [entry for entry in self.bundle.index[part] if self.arguments.filter in entry["name"]]

    def environment(self):
        if self.arguments.device == "sim":
            find_tool("attn-sim")  # before minutes of references that nothing would be compared with
        info = {"host_python": platform.python_version(), "machine": platform.machine()}
        try:
            reply = self.worker.request(START_SECONDS, do="environment")
        except WorkerLost as error:
            raise AttnError(f"no worker on device {self.arguments.device}: {error}") from None
        if not reply.pop("ok"):
            raise AttnError(reply.get("error") or reply.get("unavailable"))
        info.update(reply)
        if self.monitor:
            info["nvidia_smi"] = self.monitor.describe()
        self.results["environment"] = info
        self.log(", ".join(f"{k} {v}" for k, v in info.items()))

    # ---- proofs

    def smoke(self):
        self.prove("smoke")

    def numerics(self):
        self.prove("numerics")

    def prove(self, part: str):
        if self.arguments.device == "cpu":
            return self.log(f"{part}: not run, device cpu has only the peers")
        return getattr(self.proofs, part)(self.entries(part), self.part_deadline)

    def unproven(self, key: str) -> Optional[str]:
        """Why a kernel is not to be timed."""
        refusal = self.bundle.refusal(key)
        if refusal:
            return f"the compiler refused it: {refusal}"
        verdict = self.verdicts.get(key)
        return f"its numerics have {verdict}" if verdict in ("failed", "lost") else None

    # ---- speed

    def time_part(self, part: str):
        entries = self.entries(part)
        peers = [peer for peer in self.arguments.peers if peer not in SLOW_TO_COMPILE]
        self.time_entries(part, [(entry, peers) for entry in entries])

    def slow(self):
        """Peers that compile for seconds, beside ours."""
        peers = [peer for peer in self.arguments.peers if peer in (*SLOW_TO_COMPILE, "attn-mlir")]
        entries = [entry for part in TIMED_PARTS for entry in self.entries(part)]
        wanted = [entry for entry in entries if entry["slow_peers"] or self.arguments.all_lengths]
        if any(peer in SLOW_TO_COMPILE for peer in peers):
            self.time_entries("slow", [(entry, peers) for entry in wanted])

    def time_entries(self, part: str, entries: list[tuple[dict, list[str]]]):
        for done, (entry, peers) in enumerate(entries):
            if self.out_of_time(part, len(entries) - done):
                break
            result = self.time_problem(entry, peers)
            self.results[part].append(result)
            self.log(f"{part} {done + 1}/{len(entries)} {speed_line(result)}")
            self.save()

    def time_problem(self, entry: dict, peers: list[str]) -> dict[str, Any]:
        problem = Problem.from_json(entry["problem"])
        result: dict[str, Any] = {
            "name": entry["name"],
            "label": problem.label,
            "problem": entry["problem"],
            "flops": problem.flops(),
            "bytes": problem.bytes(),
            "predicted_seconds": entry["predicted_seconds"],
        }
        chosen = [peer for peer in peers if is_contestant(peer, problem)]
        contestants = {peer: (peer, entry["kernels"].get(OURS.get(peer, ""))) for peer in chosen}
        result["peers"] = self.contest(problem, contestants)
        for peer, r in result["peers"].items():
            if "seconds" in r:
                r["tflops"] = peer_flops(peer, problem, self.arguments.device) / r["seconds"]["median"] / 1e12
            if peer in OURS:
                key = entry["kernels"][OURS[peer]]
                r["schedule"] = self.bundle.index["kernels"][key].get("schedule")
                r["numerics"] = self.verdicts.get(key, "not run")
        return result

    def contest(self, problem: Problem, contestants: dict[str, tuple[str, Optional[str]]]) -> dict[str, dict]:
        """Times {name: (peer, kernel)} on one problem, round by round, in a new order each."""
        self.problem_deadline = time.monotonic() + PROBLEM_SECONDS
        results: dict[str, dict] = {name: {} for name in contestants}
        for name, (peer, kernel) in contestants.items():
            reason = self.unproven(kernel) if kernel else None
            if self.arguments.device == "sim":
                reason = self.dry_launch(problem, kernel) if kernel else "needs a GPU"
            if reason:
                results[name]["unavailable"] = reason
        for _ in range(1 + len(contestants)):  # once more for each that takes its worker along
            ready = [name for name in contestants if "unavailable" not in results[name]]
            if not ready or self.attempt(problem, {name: contestants[name] for name in ready}, results):
                break
        for result in results.values():
            if "samples" in result:
                result["seconds"] = summary(result["samples"])
            elif "unavailable" not in result:
                result["unavailable"] = "its worker was lost"
        return results

    def dry_launch(self, problem: Problem, key: str) -> str:
        """What can be checked of a launch without a device: that it binds and its grid evaluates."""
        program = self.bundle.program(key)
        shapes, strides = problem.shapes(), problem.strides()
        names = [operand.name for operand in program.manifest.operands]
        layouts = [TensorLayout(shapes[name], strides.get(name)) for name in names]
        launches = BoundProblem(program.manifest, layouts, 132).launches()
        return f"{NOT_MEASURED} ({len(launches)} launches, first grid {'x'.join(map(str, launches[0].grid))})"

    def attempt(self, problem: Problem, contestants: dict, results: dict[str, dict]) -> bool:
        """True unless a worker was lost, whose contestant is then unavailable."""
        monitor_mark = self.monitor.mark() if self.monitor else 0
        for name in contestants:
            results[name].pop("samples", None)
        opened: set[int] = set()
        for name, (peer, kernel) in contestants.items():
            if time.monotonic() > self.problem_deadline:
                results[name]["unavailable"] = f"the {PROBLEM_SECONDS} s of this problem were over"
                continue
            if not self.guard(results, name, peer, lambda: self.prepare(problem, name, peer, kernel, results, opened)):
                if peer in OURS and kernel:
                    self.verdicts[kernel] = "lost"
                return False
        ready = [name for name in contestants if "unavailable" not in results[name]]
        shuffler = random.Random(f"{self.arguments.seed} {problem.name}")
        for round_number in range(self.arguments.rounds):
            if round_number >= MIN_ROUNDS and time.monotonic() > self.problem_deadline:
                break
            for name in shuffler.sample(ready, len(ready)):
                peer = contestants[name][0]
                if not self.guard(results, name, peer, lambda: self.sample(name, peer, results)):
                    return False
        for worker in (self.worker, self.jax):
            if id(worker) in opened:
                self.close(worker)
        if self.monitor:
            self.results.setdefault("clocks", {})[problem.name] = self.monitor.since(monitor_mark)
        return True

    @staticmethod
    def close(worker: WorkerProcess):
        """A worker that cannot close has nothing that is needed: another one starts."""
        try:
            reply = worker.request(SAMPLE_SECONDS, do="close")
        except WorkerLost:
            return
        if not reply["ok"]:
            worker.stop()

    def guard(self, results: dict[str, dict], name: str, peer: str, action: Callable[[], None]) -> bool:
        try:
            action()
            return True
        except WorkerLost as error:
            self.worker_of(peer).stop()
            results[name]["unavailable"] = str(error)
            results[name].pop("samples", None)
            return False

    def worker_of(self, peer: str) -> WorkerProcess:
        return self.jax if peer == "jax-mosaic" else self.worker

    def prepare(self, problem: Problem, name: str, peer: str, kernel: Optional[str], results: dict, opened: set):
        worker = self.worker_of(peer)
        if id(worker) not in opened:
            sample_seconds = self.arguments.sample_ms / 1e3
            reply = worker.request(
                START_SECONDS,
                do="open",
                problem=problem.to_json(),
                sample_seconds=sample_seconds,
                seed=self.arguments.seed,
            )
            if not reply["ok"]:
                results[name]["unavailable"] = reply.get("unavailable") or reply.get("error")
                return
            opened.add(id(worker))
        limit = SLOW_PREPARE_SECONDS if peer in SLOW_TO_COMPILE else PREPARE_SECONDS
        reply = worker.request(limit, do="prepare", name=name, peer=peer, kernel=kernel)
        if reply.pop("ok"):
            results[name].update({k: v for k, v in reply.items() if v})
        elif FAULT.search(reply.get("error", "")):
            raise WorkerLost(reply["error"])
        else:
            results[name]["unavailable"] = reply.get("unavailable") or reply.get("error")

    def sample(self, name: str, peer: str, results: dict):
        reply = self.worker_of(peer).request(SAMPLE_SECONDS, do="sample", name=name)
        if reply["ok"]:
            results[name].setdefault("samples", []).append(reply["seconds"])
        else:
            raise WorkerLost(reply.get("error") or reply.get("unavailable"))

    # ---- the simulator beside the device

    def silicon(self):
        if self.arguments.device == "cpu":
            return self.log("silicon: not run, device cpu has only the peers")
        entries = self.entries("silicon")
        for done, entry in enumerate(entries):
            if self.out_of_time("silicon", len(entries) - done):
                break
            result = self.on_silicon(entry)
            self.results["silicon"].append(result)
            self.log(f"silicon {done + 1}/{len(entries)} {result['status']}: {result['name']}: {describe(result)}")
            self.save()

    def on_silicon(self, entry: dict) -> dict[str, Any]:
        """A case's bits and counters."""
        if "failed" in entry:
            return {**entry, "status": "refused", "reason": entry["failed"]}
        try:
            reply = self.worker.request(SILICON_SECONDS, do="silicon", name=entry["name"])
        except WorkerLost as error:
            return {**entry, "status": "lost", "reason": str(error)}
        if not reply.pop("ok"):
            self.worker.stop()
            return {**entry, "status": "error", "reason": reply.get("error") or reply.get("unavailable")}
        result = {**entry, **reply}
        if self.arguments.device == "cuda":
            try:
                result["measured"] = measure_counters(self.arguments.bundle, entry["name"], entry["entries"])
            except AttnError as error:
                result["not_measured"] = str(error)
        return result

    # ---- tune

    def tune(self):
        entries = self.entries("tune")
        for done, entry in enumerate(entries):
            if self.out_of_time("tune", len(entries) - done):
                break
            problem = Problem.from_json(entry["problem"])
            candidates = {f"rank {c['rank']}": c for c in entry["candidates"]}
            contest = self.contest(problem, {name: ("attn-mlir", c["kernel"]) for name, c in candidates.items()})
            rows = [{**candidates[name], **r} for name, r in contest.items()]
            timed = [row for row in rows if "samples" in row and "seconds" in contest[f"rank {row['rank']}"]]
            for row in timed:
                row["predicted_seconds"] = candidates[f"rank {row['rank']}"].get("seconds")
                row["measured_seconds"] = row["seconds"] = row["seconds"]["median"]
            priced = [row for row in timed if row["predicted_seconds"]]
            order = rank_correlation([r["predicted_seconds"] for r in priced], [r["measured_seconds"] for r in priced])
            result = {"name": entry["name"], "label": problem.label, "flops": problem.flops()}
            self.results["tune"].append({**result, "candidates": rows, "rank_correlation": order})
            reason = "" if timed else f": {rows[0].get('unavailable', 'no candidates') if rows else 'no candidates'}"
            self.log(f"tune {done + 1}/{len(entries)} {problem.label}: {len(timed)} timed, order {order}{reason}")
            self.save()


def share_of(part: str, parts: list[str]) -> float:
    """Of the time that is left when a part begins, what it may take: all of it if none follows.

    >>> share_of("tune", ["speed", "tune"])
    1.0
    """
    order = list(WEIGHTS)
    following = [p for p in parts if order.index(p) >= order.index(part)]
    return WEIGHTS[part] / sum(WEIGHTS[p] for p in following)


def run(arguments) -> int:
    if sys.version_info < (3, 10):
        raise AttnError(f"expected Python 3.10 or later, got {platform.python_version()}")
    return Run(arguments).run()
