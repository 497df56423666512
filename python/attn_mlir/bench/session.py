# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A problem that is being timed in this process: its rotated inputs and the peers made ready on them."""

from __future__ import annotations

import time
from typing import Optional

import torch

from ..runtime.devices import CudaDevice, Program
from .configurations import Problem
from .peers import OURS, PEERS, sets_needed
from .timing import Timed
from .torch_arrays import TorchArrays


class Session:
    def __init__(self, problem: Problem, device: str, sample_seconds: float, seed: int):
        self.problem, self.device, self.sample_seconds = problem, device, sample_seconds
        self.program: Optional[Program] = None
        self.timed: dict[str, Timed] = {}
        self.note = ""  # of the peer that was prepared last
        cache = torch.cuda.get_device_properties(0).L2_cache_size if device != "cpu" else 0
        arrays = TorchArrays(device)
        self.sets = [arrays.inputs(problem, seed + k) for k in range(sets_needed(problem, cache))]
        #: Everything is launched here: a backward can be captured only on the stream of its forward.
        self.stream = torch.cuda.Stream() if device != "cpu" else None
        self.synchronize()

    _cuda_device: Optional[CudaDevice] = None

    @classmethod
    def cuda_device(cls) -> CudaDevice:
        """The driver's side of the device that torch uses, one for the process."""
        if cls._cuda_device is None:
            torch.cuda.init()
            cls._cuda_device = CudaDevice(torch.cuda.current_device())
        return cls._cuda_device

    def prepare(self, name: str, peer: str, program: Optional[Program]) -> dict:
        """Makes a peer ready under `name`; raises Unavailable."""
        began = time.monotonic()
        self.program, self.note = program, ""
        with torch.cuda.stream(self.stream):
            call = PEERS[peer](self)
            timed = self.timed[name] = Timed(call, len(self.sets), self.device, self.sample_seconds)
        note = "; ".join(filter(None, [self.note, timed.note]))
        reply = {"prepare_seconds": time.monotonic() - began, "calls": timed.calls, "note": note}
        if peer in OURS and program:
            module = self.cuda_device().module(program)
            reply["resources"] = {k.entry: module.resources(k.entry) for k in program.manifest.kernels}
        return reply

    def run(self, peer: str, calls: int):
        """A few passes, one by one."""
        with torch.cuda.stream(self.stream):
            call = PEERS[peer](self)
            for i in range(calls):
                call(i)
        self.synchronize()

    def sample(self, name: str) -> float:
        with torch.cuda.stream(self.stream):
            return self.timed[name].sample()

    def close(self):
        self.timed.clear()
        self.sets.clear()
        if self._cuda_device:
            for program, _ in list(self._cuda_device.modules.values()):
                self._cuda_device.release(program)
        self.synchronize()
        if self.device != "cpu":
            torch.cuda.empty_cache()

    def synchronize(self):
        if self.device != "cpu":
            torch.cuda.synchronize()
