# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module compiled for the CPU and kept in a process (attn-run --serve), so that a call compiles nothing.

A process of its own keeps the compiler's libraries out of the caller's, and a fault of the module out of the caller.
Tensors travel in memory that both processes map: each is copied once on the way in, and twice on the way out. Compiled
code is cached on disk (cache.py).
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import math
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import OrderedDict
from pathlib import Path
from typing import Iterator, Optional, Sequence

from .arrays import ArrayView, copy_array
from .cache import Cache, compiler_digest, digest_of
from .errors import BindingError, CompileError
from .runtime.binding import row_major_strides
from .runtime.manifest import DTYPE_BYTES
from .tools import find_tool, first_error, with_python_names

#: Processes that are kept; the one not used for longest ends when there are more.
MAX_SERVERS = 8
#: Memory, where the system has such a folder.
SHARED_MEMORY = "/dev/shm"
#: Of tensors in it, in bytes: a cache line.
ALIGNMENT = 64

_servers: OrderedDict[tuple[str, tuple[str, ...]], "Server"] = OrderedDict()
_lock = threading.Lock()


class SharedMemory:
    """A file that this process and a Server's map."""

    def __init__(self, path: Path):
        self.path = path
        path.write_bytes(b"\0")
        self.map(1)

    def map(self, size: int):
        """Maps the file, and makes it larger where it is smaller than `size` bytes."""
        with open(self.path, "r+b") as file:
            size = max(size, file.seek(0, os.SEEK_END))
            file.truncate(size)
            self.mapped = mmap.mmap(file.fileno(), size)

    def reserve(self, size: int):
        if size > len(self.mapped):
            self.map(size)

    def place(self, tensors: Sequence[ArrayView]) -> dict[str, object]:
        """Copies the tensors into the memory; the request that says where they are."""
        places, end = [], 0
        for tensor in tensors:
            places.append({"dtype": tensor.dtype, "shape": list(tensor.shape), "offset": end})
            end += byte_size(places[-1])
            end += -end % ALIGNMENT
        self.reserve(end)  # once for all
        for tensor, place in zip(tensors, places):
            copy_array(self.view(place), tensor)
        return {"memory": str(self.path), "arguments": places, "results_at": end}

    def view(self, place: dict) -> ArrayView:
        """The tensor there, without a copy."""
        shape, size = tuple(place["shape"]), byte_size(place)
        self.reserve(place["offset"] + size)
        memory = (ctypes.c_char * size).from_buffer(self.mapped, place["offset"])
        return ArrayView(place["dtype"], shape, row_major_strides(shape), ctypes.addressof(memory), "cpu", 0, memory)


def byte_size(place: dict) -> int:
    return math.prod(place["shape"]) * DTYPE_BYTES[place["dtype"]]


class Server:
    """One process, started by the first call. Calls are one at a time."""

    def __init__(self, text: str, options: tuple[str, ...]):
        self.text, self.options, self.lock = text, options, threading.Lock()
        self.process: Optional[subprocess.Popen] = None

    def start(self):
        where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="attn-", dir=where))
        self.memory = SharedMemory(self.folder / "memory")
        module, object_file = self.folder / "module.mlir", self.folder / "module.o"
        module.write_text(self.text)
        program = find_tool("attn-run")
        cache, key = Cache(), digest_of([compiler_digest(program), self.text, *self.options])
        cached = cache.get(key)
        if cached:
            object_file.write_bytes(base64.b64decode(cached["object"]))
        self.process = subprocess.Popen(
            [program, str(module), "--serve", f"--object={object_file}", *self.options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        weakref.finalize(self, stop, self.process, self.folder, os.getpid())
        answer, diagnostics = self.read_answer()
        self.diagnostics = with_python_names(diagnostics.replace(str(module), "<text>"))
        if answer != "ready":
            raise CompileError(first_error(self.diagnostics) or "attn-run ended without a message", self.diagnostics)
        if cached and not diagnostics:
            self.diagnostics = cached["diagnostics"]
        else:
            content = base64.b64encode(object_file.read_bytes()).decode()
            cache.put(key, {"object": content, "diagnostics": self.diagnostics})

    def prepare(self) -> str:
        """Compiles, unless that is done; returns the compiler's diagnostics."""
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

    def call(self, inputs: Sequence[ArrayView]) -> list[ArrayView]:
        """The results, in the shared memory: valid until the next call. The caller holds `lock`."""
        self.prepare()
        assert self.process and self.process.stdin
        try:
            self.process.stdin.write(json.dumps(self.memory.place(inputs)) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended; what it printed says why
        answer, printed = self.read_answer()
        if answer != "ok":
            printed = re.sub(r"--input of (argument \d+)", r"\1", printed.removeprefix("attn-run: ").removeprefix("error: "))
            raise BindingError(printed or f"the kernel's process ended with status {self.process.wait()}")
        return [self.memory.view(place) for place in json.loads(printed.splitlines()[-1])["results"]]

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


def with_threads(options: tuple[str, ...]) -> tuple[str, ...]:
    """Adds as many threads as torch uses, where it is imported, or as OMP_NUM_THREADS asks for; else it is all cores."""
    torch = sys.modules.get("torch")
    given = str(torch.get_num_threads()) if torch else os.environ.get("OMP_NUM_THREADS", "")
    if not (given.isascii() and given.isdigit() and int(given) > 0) or any("-threads" in option for option in options):
        return options
    return (*options, f"--threads={given}")


def prepare(text: str, options: tuple[str, ...] = ()) -> str:
    """Compiles the module's function; returns the diagnostics, raises CompileError."""
    server = server_of(text, with_threads(options))
    with server.lock:
        return server.prepare()


@contextlib.contextmanager
def results_of(text: str, inputs: Sequence[ArrayView], options: tuple[str, ...] = ()) -> Iterator[list[ArrayView]]:
    """Calls the module's function, which is compiled if no process has it. The results are valid within the context."""
    server = server_of(text, with_threads(options))
    with server.lock:
        yield server.call(inputs)
