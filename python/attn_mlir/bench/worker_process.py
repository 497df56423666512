# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A worker as its client sees it: requests with a time limit, restarted when it died."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Optional

TAIL_BYTES = 600


class WorkerLost(Exception):
    """The worker died or did not answer in time; the message says which, and what it printed last."""


class WorkerProcess:
    def __init__(self, module: str, arguments: list, log: Path):
        self.module, self.arguments, self.log = module, arguments, log
        self.command = [sys.executable, "-u", "-m", module, *map(str, arguments)]
        self.process: Optional[subprocess.Popen] = None

    def recipe(self) -> dict[str, Any]:
        """What makes another worker like this one."""
        return {"module": self.module, "arguments": self.arguments, "log": self.log}

    def start(self):
        environment = dict(os.environ)
        package = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package, environment.get("PYTHONPATH")]))
        self.log_file = open(self.log, "ab")
        self.buffer = b""
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log_file, env=environment
        )

    def request(self, timeout: float, **message) -> dict[str, Any]:
        """The reply to a request; raises WorkerLost, after which the next request starts another process."""
        if self.process is None:
            self.start()
        assert self.process and self.process.stdin
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.lose("died")
        line = self.read_line(timeout)
        return json.loads(line)

    def read_line(self, timeout: float) -> bytes:
        deadline = time.monotonic() + timeout
        assert self.process and self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.lose(f"did not answer within {timeout:.0f} s")
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                if not data:
                    self.lose("died")
                self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def lose(self, what: str):
        status = self.stop()
        tail = self.log.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip().splitlines()
        raise WorkerLost(f"worker {what} (status {status}): {' | '.join(tail[-3:])}")

    def stop(self) -> Optional[int]:
        """Ends the process, by force where it does not end by itself."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        assert process.stdin and process.stdout
        try:
            process.stdin.close()
            process.wait(timeout=2)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                pass  # held by the driver; it goes when the kernel does
        process.stdout.close()
        self.log_file.close()
        return process.returncode
