# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timing of what a peer launches: samples of many calls, from one CUDA graph between two events."""

from __future__ import annotations

import time
from typing import Callable, Optional

import torch

from .peers import first_line

MAX_CALLS = 400
#: Clocks for which the GPU is kept busy before a sample begins, a fixed part and one for each launch that the host makes: it is
#: ahead of the GPU then, and its launches are not in the sample.
HEAD_START_CLOCKS, LAUNCH_CLOCKS = 400_000, 30_000


class Clock:
    """Seconds that a piece of GPU work takes; on the CPU, wall-clock time, to try the code."""

    def __init__(self, device: str):
        self.is_gpu = device != "cpu"
        if self.is_gpu:
            self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def measure(self, work: Callable[[], None], launches: int = 1) -> float:
        if not self.is_gpu:
            began = time.perf_counter()
            work()
            return time.perf_counter() - began
        torch.cuda.synchronize()
        torch.cuda._sleep(HEAD_START_CLOCKS + LAUNCH_CLOCKS * launches)
        self.begin.record()
        work()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) / 1e3


class Timed:
    """A peer's call made ready: warmed up, its cost estimated, and a graph of a sample's calls captured."""

    def __init__(self, call: Callable[[int], object], sets: int, device: str, sample_seconds: float):
        self.clock = Clock(device)
        self.call, self.note = call, ""
        self.graph: Optional[torch.cuda.CUDAGraph] = None
        # Each set once: whatever is compiled or chosen at the first call is done then.
        self.loop(sets)
        single = min(self.clock.measure(lambda: self.loop(1)) for _ in range(3))
        calls = max(sets, min(MAX_CALLS, round(sample_seconds / max(single, 1e-7))))
        self.calls = -(-calls // sets) * sets
        if self.clock.is_gpu:
            self.capture()
        self.sample()

    def loop(self, count: int):
        for i in range(count):
            self.call(i)

    def capture(self):
        """Replays of a graph have no launch overhead; a call that cannot be captured is launched one by one."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                self.loop(self.calls)
            self.graph = graph
        except Exception as error:  # whatever a library raises when it meets a capture
            torch.cuda.synchronize()
            self.note = f"no CUDA graph: {first_line(error)}"

    def sample(self) -> float:
        """Seconds a call, the mean over a sample."""
        if self.graph:
            return self.clock.measure(self.graph.replay) / self.calls
        return self.clock.measure(lambda: self.loop(self.calls), self.calls) / self.calls
