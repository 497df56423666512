# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that touches the device: a request and a reply a line, JSON, on standard input and output.

A kernel that hangs or faults takes its process with it, not the run: run.py starts another. What libraries print goes
to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Optional

from ..errors import AttnError
from ..runtime.devices import Program, open_device
from . import silicon
from .bundle import Bundle
from .configurations import Problem
from .peers import OURS, Unavailable, first_line


class Worker:
    """Serves numerics on any device, and timing with PyTorch."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.bundle = Bundle(arguments.bundle)
        self.device: Any = None
        self.arrays: Any = None
        self.session: Any = None
        self.kernel = ""
        self.program: Optional[Program] = None

    def do_environment(self) -> dict[str, Any]:
        environment = {"python": sys.version.split()[0], "device": self.arguments.device}
        if self.arguments.arrays == "torch":
            try:
                import torch
            except ImportError as error:
                raise AttnError(
                    f"expected PyTorch, or --arrays plain --parts numerics without it, got {error}"
                ) from None
            environment["torch"] = torch.__version__
            if self.arguments.device == "cuda":
                properties = torch.cuda.get_device_properties(0)
                environment["gpu"] = properties.name
                environment["capability"] = f"{properties.major}.{properties.minor}"
                environment["sms"] = properties.multi_processor_count
                environment["l2_bytes"] = properties.L2_cache_size
                environment["torch_cuda"] = torch.version.cuda
                environment["cudnn"] = torch.backends.cudnn.version()
            environment["triton"] = version_of("triton")
        if self.arguments.device != "cpu":
            environment["device_name"] = self.open().name
        return environment

    def open(self):
        if self.device is None:
            if self.arguments.device == "cuda" and self.arguments.arrays == "torch":
                from .session import Session

                self.device = Session.cuda_device()
            else:
                self.device = open_device(self.arguments.device)
        return self.device

    def do_load(self, kernel: str) -> dict[str, Any]:
        """Assembles and loads a kernel; it stays loaded while problems of one kernel follow each other."""
        device, began = self.open(), time.monotonic()
        if kernel != self.kernel:
            if self.program and hasattr(device, "release"):
                device.release(self.program)
            self.kernel, self.program = kernel, self.bundle.program(kernel)
        log = device.module(self.program).log if hasattr(device, "module") else ""
        return {"load_seconds": time.monotonic() - began, "log": log[-2000:]}

    def do_numerics(self, kernel: str, problem: dict, seed: int, folder: Optional[str] = None) -> dict[str, Any]:
        from . import numerics

        if self.arrays is None:
            self.arrays = make_arrays(self.arguments.arrays, self.arguments.device)
        log = self.do_load(kernel)["log"]
        assert self.program
        kept = Path(folder) if folder else None
        result = numerics.check(Problem.from_json(problem), self.program, self.open(), self.arrays, seed, kept)
        return result if result["status"] == "passed" else {**result, "jit_log": log}

    def do_silicon(self, name: str) -> dict[str, Any]:
        """Runs a case of silicon.py; of the one that has it, the C++ program too."""
        entry = self.bundle.silicon(name)
        files = silicon.CaseFiles(self.bundle.archive, entry["kernel"])
        result = silicon.compare(files, self.open(), entry["is_exact"])
        if entry["has_program"] and self.arguments.device == "cuda":
            from .header_program import check_header_program

            result |= check_header_program(files)
        return result

    def lost_wait(self) -> str:
        """What a kernel reported before it ended (attn-opt --bounded-waits)."""
        return self.device.context.lost_wait() if hasattr(self.device, "context") else ""

    def do_open(self, problem: dict, sample_seconds: float, seed: int) -> dict[str, Any]:
        from .session import Session

        self.do_close()
        self.session = Session(Problem.from_json(problem), self.arguments.device, sample_seconds, seed)
        return {"sets": len(self.session.sets)}

    def do_prepare(self, name: str, peer: str, kernel: Optional[str] = None) -> dict[str, Any]:
        program = self.bundle.program(kernel) if peer in OURS and kernel else None
        return self.session.prepare(name, peer, program)

    def do_sample(self, name: str) -> dict[str, Any]:
        return {"seconds": self.session.sample(name)}

    def do_close(self) -> dict[str, Any]:
        if self.session:
            self.session.close()
            self.session = None
        return {}


def make_arrays(kind: str, device: str):
    if kind == "plain":
        from .plain_arrays import PlainArrays

        return PlainArrays()
    from .torch_arrays import TorchArrays

    return TorchArrays("cuda" if device == "cuda" else "cpu")


def version_of(module: str) -> str:
    try:
        return __import__(module).__version__
    except Exception as error:  # an import may fail in any way
        return f"none: {error}"


def serve(worker, requests, replies):
    """Answers until the input ends. A reply has "ok", and "unavailable" or "error" where it is false."""
    for line in requests:
        request = json.loads(line)
        try:
            reply = {"ok": True, **getattr(worker, "do_" + request.pop("do"))(**request)}
        except Unavailable as error:
            reply = {"ok": False, "unavailable": str(error)}
        except AttnError as error:
            reply = {"ok": False, "error": str(error)}
        except Exception as error:
            traceback.print_exc()
            texts = [f"{type(error).__name__}: {first_line(error)}"[:2000], worker.lost_wait() if hasattr(worker, "lost_wait") else ""]
            reply = {"ok": False, "error": "; ".join(filter(None, texts))}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def take_standard_output():
    """A file for the replies; from here on, what anything prints goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies


def main():
    replies = take_standard_output()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--arrays", default="torch")
    serve(Worker(parser.parse_args()), sys.stdin, replies)


if __name__ == "__main__":
    main()
