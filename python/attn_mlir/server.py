# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module compiled for the CPU and kept in a process (attn-run --serve), so that a call compiles nothing.

A process of its own keeps the compiler's libraries out of the caller's, and a fault of the module out of the caller.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import OrderedDict
from pathlib import Path
from typing import Optional, Sequence

from .errors import BindingError, CompileError
from .runtime.host_array import HostArray, read_npy, write_npy
from .tools import find_tool, with_python_names

#: Processes that are kept; the one not used for longest ends when there are more.
MAX_SERVERS = 8
#: Memory, where the system has such a folder.
SHARED_MEMORY = "/dev/shm"

_servers: OrderedDict[tuple[str, tuple[str, ...]], "Server"] = OrderedDict()
_lock = threading.Lock()


def first_error(diagnostics: str) -> str:
    return next((line for line in diagnostics.splitlines() if "error:" in line), diagnostics)


class Server:
    """One process, started by the first call. Calls are one at a time."""

    def __init__(self, text: str, options: tuple[str, ...]):
        self.text, self.options, self.lock = text, options, threading.Lock()
        self.process: Optional[subprocess.Popen] = None

    def start(self):
        where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="attn-", dir=where))
        module = self.folder / "module.mlir"
        module.write_text(self.text)
        self.process = subprocess.Popen(
            [find_tool("attn-run"), str(module), "--serve", *self.options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        weakref.finalize(self, stop, self.process, self.folder, os.getpid())
        answer, self.diagnostics = self.read_answer()
        self.diagnostics = with_python_names(self.diagnostics.replace(str(module), "<text>"))
        if answer != "ready":
            raise CompileError(first_error(self.diagnostics) or "attn-run ended without a message", self.diagnostics)

    def prepare(self) -> str:
        """Compiles, unless that is done; returns the compiler's diagnostics."""
        with self.lock:
            if self.process is None:
                self.start()
            return self.diagnostics

    def read_answer(self) -> tuple[str, str]:
        """(ready, ok, failed or nothing where the process ended; what it printed before that)."""
        printed: list[str] = []
        assert self.process and self.process.stdout
        for line in self.process.stdout:
            if line.rstrip("\n") in ("ready", "ok", "failed"):
                return line.rstrip("\n"), "".join(printed).strip()
            printed.append(line)
        return "", "".join(printed).strip()

    def call(self, inputs: Sequence[HostArray], results: int) -> list[HostArray]:
        self.prepare()
        with self.lock:
            assert self.process and self.process.stdin
            files = [self.folder / f"in{i}.npy" for i in range(len(inputs))]
            outputs = [self.folder / f"out{i}.npy" for i in range(results)]
            for file, tensor in zip(files, inputs):
                write_npy(file, tensor)
            try:
                self.process.stdin.write("\t".join(map(str, [*files, *outputs])) + "\n")
                self.process.stdin.flush()
            except OSError:
                pass  # it has ended; what it printed says why
            answer, printed = self.read_answer()
            if answer != "ok":
                printed = printed.replace(f"--input {self.folder}/", "").removeprefix("error: ")
                printed = re.sub(r"\bin(\d+)\.npy\b|--input of argument (\d+)", r"argument \1\2", printed)
                raise BindingError(printed or f"the kernel's process ended with status {self.process.wait()}")
            return [read_npy(file) for file in outputs]

    @property
    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


def stop(process: subprocess.Popen, folder: Path, owner: int):
    """At the end of the Server, or of Python; a child of a fork leaves the process to its parent."""
    if os.getpid() != owner:
        return
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:
            pass
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def forget():
    """In a child of a fork: the parent's processes answer the parent."""
    global _lock
    _lock = threading.Lock()
    _servers.clear()


os.register_at_fork(after_in_child=forget)


def server_of(text: str, options: tuple[str, ...]) -> Server:
    """The one that has the module, compiled with attn-run's `options`, or a new one."""
    with _lock:
        server = _servers.pop((text, options), None)
        if server is None or server.has_ended:
            server = Server(text, options)
        _servers[text, options] = server
        while len(_servers) > MAX_SERVERS:
            _servers.popitem(last=False)  # it ends with its last call
        return server


def prepare(text: str, options: tuple[str, ...] = ()) -> str:
    """Compiles the module's function; returns the diagnostics, raises CompileError."""
    return server_of(text, options).prepare()


def run(text: str, inputs: Sequence[HostArray], results: int, options: tuple[str, ...] = ()) -> list[HostArray]:
    """Calls the module's function, which is compiled if no process has it."""
    return server_of(text, options).call(inputs, results)
