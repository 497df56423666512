# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's programs and libraries: where they are, and running them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from .errors import AttnError


#: Arguments of `compile` that are options of the programs, as these spell them.
OPTIONS = (
    "target", "schedule", "strict", "allow-tf32", "deterministic", "device-asserts", "assume-visible-rows", "mask-threshold",
)  # fmt: skip


def with_python_names(diagnostics: str) -> str:
    """A program's diagnostics with the names that the options have in Python, without the program's own."""
    named = re.compile(rf"(?:--|\b(option ))({'|'.join(OPTIONS)})\b")
    spelled = named.sub(lambda match: (match[1] or "") + match[2].replace("-", "_"), diagnostics)
    return re.sub(r"^attn-\w+: ", "", spelled, flags=re.MULTILINE)


def first_error(diagnostics: str) -> str:
    return next((line for line in diagnostics.splitlines() if "error:" in line), diagnostics)


def find_library(name: str) -> str:
    """The path of libattn-c, libattn-runtime-c: in lib beside the folder ATTN_BIN, the package, a program on PATH, or the build
    folder beside it."""
    program = shutil.which("attn-opt")
    given = os.environ.get("ATTN_BIN")
    folders = [Path(given).parent if given else None, Path(__file__).parent, Path(program).resolve().parent.parent if program else None]
    folders.append(Path(__file__).resolve().parents[2] / "build")
    for folder in folders:
        path = folder and folder / "lib" / f"lib{name}.so.0"
        if path and path.exists():
            return str(path)
    raise AttnError(f"expected lib{name}.so.0 in lib beside the folder that ATTN_BIN names or that of attn-opt on PATH, got neither")


def find_tool(name: str) -> str:
    """The path of attn-opt, attn-sim, ...: in the folder ATTN_BIN, the package, PATH, or the build folder beside it."""
    folders = [os.environ.get("ATTN_BIN"), Path(__file__).parent / "bin", None]
    folders.append(Path(__file__).resolve().parents[2] / "build" / "bin")
    for folder in folders:
        found = shutil.which(name, path=str(folder)) if folder else shutil.which(name)
        if found:
            return found
    raise AttnError(f"expected {name} on PATH or in the folder that ATTN_BIN names, got neither")


def run_with_progress(name: str, arguments: Sequence[Any]) -> tuple[int, str]:
    """Runs a tool that may take long: what it says of its progress, in lines that begin with a carriage return, goes to
    sys.stderr at once. Returns its status and what else it printed there."""
    command = [find_tool(name), *map(str, arguments)]
    diagnostics, in_progress = "", False
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr
        for chunk in iter(lambda: os.read(process.stderr.fileno(), 1 << 16), b""):  # type: ignore[union-attr]
            for part in re.split(r"(?=\r)|(?<=\n)", chunk.decode(errors="replace")):
                in_progress = in_progress or part.startswith("\r")
                if in_progress and sys.stderr:
                    sys.stderr.write(part)
                    sys.stderr.flush()
                elif not in_progress:
                    diagnostics += part
                in_progress = in_progress and not part.endswith("\n")
    return process.returncode, diagnostics


def run_tool(
    name: str, arguments: Sequence[Any], text: Optional[str] = None, timeout: Optional[float] = None
) -> subprocess.CompletedProcess:
    """Runs a tool with `text` on its standard input; the result has returncode, stdout and stderr."""
    command = [find_tool(name), *map(str, arguments)]
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise AttnError(f"expected {name} to end within {timeout:.0f} s, got no end") from None
