# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long compiling takes: forwards by this compiler in this process, and a plain attention by Triton, where it is installed.

Times are CPU time, in ms, the least of some rounds: of all threads, and of ptxas where it runs. No GPU is needed.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable, Optional

from ..compiler import Options, compile_source
from .configurations import Attention

TARGETS = ("sm_80", "sm_90a")
HEAD_DIMS = (64, 128)
MASKS = {"full": "", "causal": "causal(top_left)", "window": "sliding_window(256, 0)"}
PTXAS = "/usr/local/cuda/bin/ptxas"
#: Parameters of triton_attention.attention_kernel by type.
POINTERS, FLOATS = ("query", "key", "value", "output"), ("scale_log2",)


def cpu_milliseconds(work: Callable, rounds: int) -> float:
    """The least CPU time of `rounds` calls, in ms, with that of the processes that they start."""

    def now() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    times = []
    for _ in range(rounds):
        began = now()
        work()
        times.append(now() - began)
    return 1000 * min(times)


def own_times(target: str, attention: Attention, rounds: int, ptxas: Optional[str]) -> tuple[float, Optional[float]]:
    """(Text to PTX and manifest, PTX to cubin), in ms."""
    text, options = attention.mlir(), Options(target)
    made, _ = compile_source(text, options, ["ptx", "manifest"])
    to_ptx = cpu_milliseconds(lambda: compile_source(text, options, ["ptx", "manifest"]), rounds)
    if not ptxas:
        return to_ptx, None
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        path = Path(folder, "k.ptx")
        path.write_text(made["ptx"])
        command = [ptxas, f"-arch={target}", str(path), "-o", "/dev/null"]
        return to_ptx, cpu_milliseconds(lambda: subprocess.run(command, check=True, capture_output=True), min(rounds, 3))


def triton_time(target: str, head_dim: int, mask: str, rounds: int) -> float:
    """Python to cubin by Triton, in ms."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from .triton_attention import attention_kernel

    wide = head_dim > 128
    constants = {"D": head_dim, "DV": head_dim, "BLOCK_M": 128, "BLOCK_N": 64 if wide else 128}
    constants.update(CAUSAL=mask != "full", WINDOW=256 if mask == "window" else -1)
    types = {name: "*bf16" for name in POINTERS} | {name: "fp32" for name in FLOATS}
    names = attention_kernel.arg_names
    signature = {name: "constexpr" if name in constants else types.get(name, "i32") for name in names}
    # Strides and addresses are multiples of 16, as Triton finds where it launches.
    aligned = [i for i, name in enumerate(names) if name in POINTERS or (name[1:2] == "_" and name not in constants)]
    attributes = {(i,): [["tt.divisibility", 16]] for i in aligned}

    def compile_once():
        source = ASTSource(attention_kernel, signature, {(names.index(name),): value for name, value in constants.items()}, attributes)
        triton.compile(source, target=GPUTarget("cuda", int(target[3:5]), 32), options={"num_warps": 8, "num_stages": 2})

    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        os.environ.update(TRITON_CACHE_DIR=folder, TRITON_ALWAYS_COMPILE="1")
        compile_once()
        return cpu_milliseconds(compile_once, min(rounds, 3))


def has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


def print_times(rounds: int):
    """A line for each kernel."""
    ptxas = shutil.which("ptxas") or (PTXAS if os.path.exists(PTXAS) else None)
    peers = has_triton()
    print("CPU ms        mask    D    to PTX    ptxas    Triton to cubin")
    for target in TARGETS:
        for head_dim in HEAD_DIMS:
            for mask, text in MASKS.items():
                to_ptx, to_cubin = own_times(target, Attention(mask=text, D=head_dim, Dv=head_dim), rounds, ptxas)
                peer = f"{triton_time(target, head_dim, mask, rounds):8.0f}" if peers else "       -"
                cubin = f"{to_cubin:8.0f}" if to_cubin is not None else "       -"
                print(f"{target:8}  {mask:>8}  {head_dim:3}  {to_ptx:8.1f} {cubin}    {peer}", flush=True)
