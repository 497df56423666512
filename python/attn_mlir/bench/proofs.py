# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of a run that prove kernels: a first few, each in a process of its own, then all of them.

A kernel that hangs or faults takes its worker with it. After MAX_HANGS in a class (kernels that wait alike) the others of that
class are left out, and said to be.
"""

from __future__ import annotations

import concurrent.futures
import queue
import re
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Optional

from . import numerics
from .worker_process import WorkerLost, WorkerProcess

#: Of a start with its libraries, of assembling and loading a kernel, and of a proof: kernel, reference, and where that is slow
#: the simulator.
START_SECONDS, LOAD_SECONDS, SMOKE_SECONDS, CHECK_SECONDS = 180, 60, 10, 60
SIMULATOR_SECONDS = 600
MAX_HANGS = 2
NOT_PASSED = ("failed", "marginal", "lost", "error")


class Proofs:
    """`results` has lists "smoke" and "numerics"; `verdicts` are by kernel that is timed: passed, marginal, failed or lost."""

    def __init__(
        self, bundle, worker: WorkerProcess, results: dict[str, Any], verdicts: dict[str, str],
        log: Callable[[str], None], save: Callable[[], None], arguments, folder: Path,
    ):  # fmt: skip
        self.bundle, self.worker, self.results, self.verdicts = bundle, worker, results, verdicts
        self.log, self.save, self.arguments, self.folder = log, save, arguments, folder
        self.lock = threading.Lock()
        self.hangs: Counter[str] = Counter()

    @property
    def is_slow(self) -> bool:
        return self.arguments.device == "sim"

    def class_of(self, entry: dict) -> str:
        return self.bundle.index["kernels"][entry["kernel"]].get("class", "")

    # ---- a first few

    def smoke(self, entries: list[dict], deadline: float):
        """Each kernel in a process of its own, one after the other; the processes start and load together."""
        workers = [WorkerProcess(**self.worker.recipe()) for _ in entries]
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as executor:
            loads = [executor.submit(self.load, worker, entry) for worker, entry in zip(workers, entries)]
            for done, (worker, entry, load) in enumerate(zip(workers, entries, loads), 1):
                result = load.result() or self.check(worker, entry, SMOKE_SECONDS, deadline)
                worker.stop()
                self.results["smoke"].append({**self.head(entry), **result})
                self.log(f"smoke {done}/{len(entries)} {self.line(entry, result)}")
                self.save()

    def load(self, worker: WorkerProcess, entry: dict) -> Optional[dict[str, Any]]:
        """Loads a kernel; what went wrong, if anything did."""
        if self.bundle.refusal(entry["kernel"]):
            return None
        try:
            worker.request(START_SECONDS, do="environment")
            reply = worker.request(LOAD_SECONDS, do="load", kernel=entry["kernel"])
        except WorkerLost as error:
            return {"status": "lost", "reason": f"while it was loaded: {error}"}
        if not reply["ok"]:
            return {"status": "error", "reason": reply.get("error") or reply.get("unavailable")}
        return None

    # ---- all

    def numerics(self, entries: list[dict], deadline: float):
        """The problems of each kernel by one of several workers."""
        groups: dict[str, list[dict]] = {}
        for entry in entries:
            groups.setdefault(entry["kernel"], []).append(entry)
        count = len(entries)
        workers: queue.SimpleQueue = queue.SimpleQueue()
        for worker in [self.worker, *(WorkerProcess(**self.worker.recipe()) for _ in range(self.arguments.jobs - 1))]:
            workers.put(worker)

        def prove(group: list[dict]):
            worker = workers.get()
            for entry in group:
                if time.monotonic() > deadline:
                    break
                result = self.check(worker, entry, CHECK_SECONDS, deadline)
                with self.lock:
                    done = self.results["numerics"]
                    done.append({**self.head(entry), **result})
                    self.log(f"numerics {len(done)}/{count} {self.line(entry, result)}")
                    if len(done) % 10 == 0 or result["status"] != "passed":
                        self.save()
            workers.put(worker)

        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as executor:
            for future in [executor.submit(prove, group) for group in groups.values()]:
                future.result()
        while not workers.empty():
            worker = workers.get()
            if worker is not self.worker:
                worker.stop()
        if len(self.results["numerics"]) < count:
            self.results.setdefault("not_run", {})["numerics"] = count - len(self.results["numerics"])
        self.save()

    # ---- one

    def check(self, worker: WorkerProcess, entry: dict, seconds: float, deadline: float) -> dict[str, Any]:
        """Proves a problem and notes the verdict on its kernel."""
        kernel, kind = entry["kernel"], self.class_of(entry)
        refusal = self.bundle.refusal(kernel)
        if refusal:
            return {"status": "refused", "reason": refusal}
        if self.verdicts.get(entry["proves"]) == "lost":
            return {"status": "skipped", "reason": "this kernel has hung or faulted before"}
        if self.hangs[kind] >= MAX_HANGS:
            self.note(entry, "lost")
            return {"status": "skipped", "reason": f"{self.hangs[kind]} kernels of class '{kind}' have hung"}
        limit = SIMULATOR_SECONDS if self.is_slow else min(seconds, max(5.0, deadline - time.monotonic()))
        kept = self.folder / "failures" / re.sub(r"[^\w.-]+", "_", entry["name"])
        try:
            reply = worker.request(
                limit, do="numerics", kernel=kernel, problem=entry["problem"], seed=self.arguments.seed, folder=str(kept)
            )
        except WorkerLost as error:
            with self.lock:
                self.hangs[kind] += 1
            self.note(entry, "lost")
            return {"status": "lost", "reason": str(error)}
        if not reply.pop("ok"):
            self.note(entry, "failed")
            worker.stop()  # a fault poisons the process that met it
            return {"status": "error", "reason": reply.get("error") or reply.get("unavailable")}
        self.note(entry, reply["status"])
        return reply

    def note(self, entry: dict, verdict: str):
        """The worst verdict on a kernel stands."""
        order = ("passed", "marginal", "failed", "lost")
        known = self.verdicts.get(entry["proves"], "passed")
        self.verdicts[entry["proves"]] = max(known, verdict, key=order.index)

    def head(self, entry: dict) -> dict[str, Any]:
        return {"name": entry["name"], "kernel": entry["kernel"], "class": self.class_of(entry)}

    def line(self, entry: dict, result: dict[str, Any]) -> str:
        """ "passed: NAME: output 1e-3 of 4e-3", and how to repeat what did not pass."""
        detail = numerics.describe(result) if "results" in result else result.get("reason", "")
        text = f"{result['status']}: {entry['name']}: {detail}"
        if result["status"] in NOT_PASSED:
            sizes = result.get("smallest")
            text += f"\n  again: run.sh prove {entry['kernel']}" + (f" --sizes {sizes}" if sizes else "")
        return text
