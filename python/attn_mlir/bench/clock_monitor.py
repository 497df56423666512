# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clocks, power and temperature while something runs, by nvidia-smi in the background. It only reads."""

from __future__ import annotations

import statistics
import subprocess
import threading
from typing import Any, Iterable, Optional

FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
#: What later and earlier drivers call the bits of THROTTLE_REASONS.
REASONS_FIELDS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
#: Of nvml.h, nvmlClocksEventReasons: why clocks are lower than asked for. An idle GPU and clocks that were set are none.
THROTTLE_REASONS = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost", 0x20: "software thermal", 0x40: "hardware thermal",
    0x80: "power brake",
}  # fmt: skip
INTERVAL_MS = 200


def query(fields: str) -> subprocess.CompletedProcess:
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, timeout=20)


class ClockMonitor:
    """Where nvidia-smi is missing there are no readings, and no error."""

    def __init__(self):
        self.readings: list[list[float]] = []
        self.process: Optional[subprocess.Popen] = None
        try:
            known = [field for field in REASONS_FIELDS if query(field).returncode == 0]
            fields = ",".join([*FIELDS, *known[:1]])
            command = ["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
            self.process = subprocess.Popen(
                [*command, f"--loop-ms={INTERVAL_MS}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        except (OSError, subprocess.TimeoutExpired):
            return
        threading.Thread(target=self.read, args=[self.process.stdout], daemon=True).start()

    def read(self, lines: Iterable[str]):
        for line in lines:
            try:
                *numbers, reasons = [*line.split(","), "0"][: len(FIELDS) + 1]
                self.readings.append([*(float(x) for x in numbers), int(reasons.strip(), 0)])
            except ValueError:
                pass  # "[N/A]"

    @staticmethod
    def describe() -> str:
        """Name, driver and limits of the GPU."""
        try:
            return query("name,driver_version,power.limit,clocks.max.sm,clocks.max.mem,memory.total").stdout.strip()
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"none: {error}"

    def mark(self) -> int:
        return len(self.readings)

    def since(self, mark: int) -> dict[str, Any]:
        """{"clocks.sm": [least, median, most], ..., "throttled": ["power cap"]} over the readings since a mark."""
        readings = self.readings[mark:]
        if not readings:
            return {}
        columns = zip(FIELDS, zip(*readings))
        clocks: dict[str, Any] = {n: [min(values), statistics.median(values), max(values)] for n, values in columns}
        bits = [int(reading[-1]) for reading in readings]
        clocks["throttled"] = [text for bit, text in THROTTLE_REASONS.items() if any(b & bit for b in bits)]
        return clocks

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=5)
