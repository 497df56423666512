# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a bundle within a time budget: proves its kernels, times them beside their peers, tries other schedules.

This process never touches the device: workers do, and a kernel that hangs or faults costs one of them. results.json is
written after every step, so that a run that is cut off leaves what it had.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import platform
import queue
import re
import sys
import threading
import time
from typing import Any, Callable, Optional

from ..errors import AttnError
from ..runtime.binding import BoundProblem, TensorLayout
from . import numerics
from .bundle import Bundle
from .clock_monitor import ClockMonitor
from .configurations import Problem
from .peers import OURS, is_contestant, peer_flops
from .plot_speed import write_plot
from .report import report_text, speed_line
from .statistics_of import rank_correlation, summary
from .suites import TIMED_PARTS
from .worker_process import WorkerLost, WorkerProcess

SCHEMA = "attn-mlir/bench-results/1"
START_SECONDS, CHECK_SECONDS, PREPARE_SECONDS, SAMPLE_SECONDS = 180, 120, 150, 30
#: Peers that compile for seconds at every length: timed by default where the bundle says so (suites.is_for_slow_peers).
SLOW_TO_COMPILE = ("flex", "jax-mosaic")
#: Of the time that is left when a part begins, how much it may take.
SHARES = {"numerics": 0.4, "speed": 0.4, "backward": 0.5, "masks": 0.75, "tune": 1.0}
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
        self.lock = threading.Lock()  # of the results, while several workers give some
        self.verdicts: dict[str, str] = {}  # of kernels: passed, failed, lost
        self.results: dict[str, Any] = {
            "schema": SCHEMA,
            "bundle": {k: self.bundle.index[k] for k in ("created", "compiler", "compile_ms")},
            "arguments": {k: v for k, v in vars(arguments).items() if isinstance(v, (str, int, float, list))},
            "environment": {},
            "numerics": [],
            **{part: [] for part in TIMED_PARTS},
            "tune": [],
        }

    def run(self) -> int:
        try:
            self.environment()
            for part in self.arguments.parts:
                share = self.left() * SHARES[part]
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
        written = ", ".join(["results.json", "report.txt", *plots])
        print(f"{self.output}: {written}; {time.monotonic() - self.began:.0f} s")
        failed = sum(r["status"] in ("failed", "lost", "error") for r in self.results["numerics"])
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
        temporary.write_text(json.dumps(self.results, indent=1) + "\n")
        os.replace(temporary, path)

    def entries(self, part: str) -> list[dict]:
        return [entry for entry in self.bundle.index[part] if self.arguments.filter in entry["name"]]

    def environment(self):
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

    # ---- numerics

    def numerics(self):
        if self.arguments.device == "cpu":
            return self.log("numerics: not run, device cpu has only the peers")
        groups: dict[str, list[dict]] = {}
        for entry in self.entries("numerics"):
            groups.setdefault(entry["kernel"], []).append(entry)
        self.count, self.done = sum(map(len, groups.values())), 0
        workers: queue.SimpleQueue = queue.SimpleQueue()
        for worker in [self.worker, *(WorkerProcess(**self.worker.recipe()) for _ in range(self.arguments.jobs - 1))]:
            workers.put(worker)
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as executor:
            for future in [executor.submit(self.check_kernel, workers, group) for group in groups.values()]:
                future.result()
        while not workers.empty():
            worker = workers.get()
            if worker is not self.worker:
                worker.stop()
        if self.done < self.count:
            self.results.setdefault("not_run", {})["numerics"] = self.count - self.done
        self.save()
        return None

    def check_kernel(self, workers: queue.SimpleQueue, entries: list[dict]):
        """The problems of one kernel, by whichever worker is free."""
        worker = workers.get()
        for entry in entries:
            if time.monotonic() > self.part_deadline:
                break
            result = {"name": entry["name"], "kernel": entry["kernel"], **self.check(worker, entry)}
            with self.lock:
                self.results["numerics"].append(result)
                self.done += 1
                detail = numerics.describe(result) if "results" in result else result.get("reason", "")
                self.log(f"numerics {self.done}/{self.count} {result['status']}: {entry['name']}: {detail}")
                if self.done % 10 == 0 or result["status"] != "passed":
                    self.save()
        workers.put(worker)

    def check(self, worker: WorkerProcess, entry: dict) -> dict[str, Any]:
        key = entry["kernel"]
        refusal = self.bundle.refusal(key)
        if refusal:
            return {"status": "refused", "reason": refusal}
        if self.verdicts.get(key) == "lost":
            return {"status": "skipped", "reason": "this kernel has hung or faulted before"}
        try:
            reply = worker.request(
                CHECK_SECONDS, do="numerics", kernel=key, problem=entry["problem"], seed=self.arguments.seed
            )
        except WorkerLost as error:
            self.verdicts[key] = "lost"
            return {"status": "lost", "reason": str(error)}
        if not reply["ok"]:
            self.verdicts[key] = "failed"
            # A fault poisons the process that met it.
            worker.stop()
            return {"status": "error", "reason": reply.get("error") or reply.get("unavailable")}
        verdict = "passed" if reply["passed"] else "failed"
        if self.verdicts.get(key) != "failed":
            self.verdicts[key] = verdict
        return {"status": verdict, "results": reply["results"]}

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
        for done, entry in enumerate(entries):
            if self.out_of_time(part, len(entries) - done):
                break
            result = self.time_problem(entry)
            self.results[part].append(result)
            self.log(f"{part} {done + 1}/{len(entries)} {speed_line(result)}")
            self.save()

    def time_problem(self, entry: dict) -> dict[str, Any]:
        problem = Problem.from_json(entry["problem"])
        result: dict[str, Any] = {
            "name": entry["name"],
            "label": problem.label,
            "problem": entry["problem"],
            "flops": problem.flops(),
            "predicted_seconds": entry["predicted_seconds"],
        }
        peers = [peer for peer in self.arguments.peers if is_contestant(peer, problem)]
        contestants = {peer: (peer, entry["kernels"].get(OURS.get(peer, ""))) for peer in peers}
        with_slow = entry["slow_peers"] or self.arguments.all_lengths
        result["peers"] = self.contest(problem, contestants, with_slow)
        for peer, r in result["peers"].items():
            if "seconds" in r:
                r["tflops"] = peer_flops(peer, problem, self.arguments.device) / r["seconds"]["median"] / 1e12
            if peer in OURS:
                key = entry["kernels"][OURS[peer]]
                r["schedule"] = self.bundle.index["kernels"][key].get("schedule")
                r["numerics"] = self.verdicts.get(key, "not run")
        return result

    def contest(
        self, problem: Problem, contestants: dict[str, tuple[str, Optional[str]]], with_slow: bool = True
    ) -> dict[str, dict]:
        """Times {name: (peer, kernel)} on one problem, round by round, each in turn the first of a round."""
        results: dict[str, dict] = {name: {} for name in contestants}
        for name, (peer, kernel) in contestants.items():
            reason = self.unproven(kernel) if kernel else None
            if not reason and peer in SLOW_TO_COMPILE and not with_slow:
                reason = "it compiles for long: timed at length 8192 and under masks only, unless --all-lengths"
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
            if not self.guard(results, name, peer, lambda: self.prepare(problem, name, peer, kernel, results, opened)):
                return False
        ready = [name for name in contestants if "unavailable" not in results[name]]
        for round_number in range(self.arguments.rounds):
            for k in range(len(ready)):
                name = ready[(k + round_number) % len(ready)]
                peer = contestants[name][0]
                if not self.guard(results, name, peer, lambda: self.sample(name, peer, results)):
                    return False
        for worker in (self.worker, self.jax):
            if id(worker) in opened:
                worker.request(SAMPLE_SECONDS, do="close")
        if self.monitor:
            self.results.setdefault("clocks", {})[problem.name] = self.monitor.since(monitor_mark)
        return True

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
        reply = worker.request(PREPARE_SECONDS, do="prepare", name=name, peer=peer, kernel=kernel)
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
            timed = [row for row in rows if "seconds" in row and "samples" in row]
            for row in timed:
                row["measured_seconds"] = row["seconds"] = row["seconds"]["median"]
                row["predicted_seconds"] = candidates[f"rank {row['rank']}"]["seconds"]
            order = rank_correlation([r["predicted_seconds"] for r in timed], [r["measured_seconds"] for r in timed])
            result = {"name": entry["name"], "label": problem.label, "flops": problem.flops()}
            self.results["tune"].append({**result, "candidates": rows, "rank_correlation": order})
            reason = "" if timed else f": {rows[0].get('unavailable', 'no candidates') if rows else 'no candidates'}"
            self.log(f"tune {done + 1}/{len(entries)} {problem.label}: {len(timed)} timed, order {order}{reason}")
            self.save()


def run(arguments) -> int:
    if sys.version_info < (3, 10):
        raise AttnError(f"expected Python 3.10 or later, got {platform.python_version()}")
    return Run(arguments).run()
