# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clocks, power and temperature while something runs, by nvidia-smi in the background. It only reads."""

from __future__ import annotations

import statistics
import subprocess
import threading
from typing import Any, Iterable, Optional

FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
INTERVAL_MS = 200


class ClockMonitor:
    """Where nvidia-smi is missing there are no readings, and no error."""

    def __init__(self):
        self.readings: list[list[float]] = []
        self.process: Optional[subprocess.Popen] = None
        command = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
        try:
            self.process = subprocess.Popen(
                [*command, f"--loop-ms={INTERVAL_MS}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        except OSError:
            return
        threading.Thread(target=self.read, args=[self.process.stdout], daemon=True).start()

    def read(self, lines: Iterable[str]):
        for line in lines:
            try:
                self.readings.append([float(x) for x in line.split(",")])
            except ValueError:
                pass  # "[N/A]"

    @staticmethod
    def describe() -> str:
        """Name, driver and limits of the GPU."""
        query = "name,driver_version,power.limit,clocks.max.sm,clocks.max.mem,memory.total"
        try:
            result = subprocess.run(
                ["nvidia-smi", "-i", "0", f"--query-gpu={query}", "--format=csv,noheader"],
                capture_output=True, text=True, timeout=20,
            )  # fmt: skip
            return result.stdout.strip()
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"none: {error}"

    def mark(self) -> int:
        return len(self.readings)

    def since(self, mark: int) -> dict[str, Any]:
        """{"clocks.sm": [least, median, most], ...} over the readings since a mark."""
        readings = self.readings[mark:]
        if not readings:
            return {}
        columns = zip(FIELDS, zip(*readings))
        return {name: [min(values), statistics.median(values), max(values)] for name, values in columns}

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=5)
