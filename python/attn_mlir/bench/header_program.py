# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A C++ program with an emitted header, compiled and run where the GPU is, as an application would be."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional

from ..errors import AttnError
from ..runtime.host_array import HostArray
from .peers import Unavailable
from .silicon import CaseFiles, difference

COMPILE_SECONDS, RUN_SECONDS = 120, 30

#: Reads each input from a file of its name, launches, and writes each output to one.
MAIN = """#include "attention.h"
#include <cstdio>
#include <vector>

static std::vector<char> contents(const char *path) {{
  std::vector<char> bytes;
  char buffer[4096];
  FILE *file = std::fopen(path, "rb");
  for (size_t n; file && (n = std::fread(buffer, 1, sizeof buffer, file));)
    bytes.insert(bytes.end(), buffer, buffer + n);
  if (file)
    std::fclose(file);
  return bytes;
}}

static int fail(const attn_launch::Status &status) {{
  std::fprintf(stderr, "error: %s\\n", status.message.c_str());
  return 1;
}}

int main() {{
  if (attn_launch::Status status = attn_launch::useDevice(0); !status)
    return fail(status);
  const attn_launch::Driver &cuda = attn_launch::Driver::get();
  {struct}_Args args;
  auto upload = [&](const char *path, CUdeviceptr &address) {{
    std::vector<char> bytes = contents(path);
    cuda.cuMemAlloc(&address, bytes.size());
    cuda.cuMemcpyHtoD(address, bytes.data(), bytes.size());
    return bytes.size();
  }};
  auto download = [&](const char *path, CUdeviceptr address, size_t size) {{
    std::vector<char> bytes(size);
    cuda.cuMemcpyDtoH(bytes.data(), address, size);
    FILE *file = std::fopen(path, "wb");
    std::fwrite(bytes.data(), 1, size, file);
    std::fclose(file);
  }};
  CUdeviceptr address = 0;
{uploads}
  if (attn_launch::Status status = {struct}_launch(args, nullptr); !status)
    return fail(status);
  cuda.cuCtxSynchronize();
{downloads}
}}
"""


def main_text(files: CaseFiles) -> str:
    uploads, downloads = [], []
    for operand in files.program.manifest.operands:
        shape = files.arrays[operand.name].shape
        extents = ", ".join(map(str, shape))
        uploads.append(f'  size_t {operand.name}_bytes = upload("{operand.name}", address);')
        uploads.append(f"  args.{operand.name} = attn_launch::Tensor<{len(shape)}>::rowMajor(address, {{{extents}}});")
        if operand.role == "output":
            downloads.append(f'  download("{operand.name}", args.{operand.name}.data, {operand.name}_bytes);')
    texts = {"uploads": "\n".join(uploads), "downloads": "\n".join(downloads)}
    struct = re.search(r"struct (\w+)_Args", files.header)
    assert struct, "a header has its arguments"
    return MAIN.format(struct=struct[1], **texts)


def check_header_program(files: CaseFiles) -> dict[str, str]:
    """Whether the program gives the bits of the case: "program" says so, and "status" is "failed" where it does not."""
    try:
        outputs = run_header_program(files)
    except Unavailable as error:
        return {"program": f"not available: {error}"}
    except AttnError as error:
        return {"status": "failed", "program": str(error)}
    wrong = {name: difference(tensor, files.arrays[name]) for name, tensor in outputs.items()}
    if any(r["different"] for r in wrong.values()):
        return {"status": "failed", "program": f"other bits, {wrong}"}
    return {"program": "the same bits"}


def run_header_program(files: CaseFiles) -> dict[str, HostArray]:
    """The outputs of the program. Raises Unavailable where there is no compiler or cuda.h, AttnError where a step fails."""
    compiler, include = find_compiler(), find_cuda_include()
    with tempfile.TemporaryDirectory(prefix="attn-") as name:
        folder = Path(name)
        (folder / "attention.h").write_text(files.header)
        (folder / "main.cpp").write_text(main_text(files))
        for operand, tensor in files.arrays.items():
            is_input = operand in files.names("input")
            (folder / operand).write_bytes(tensor.data if is_input else b"\xff" * len(tensor.data))
        command = [compiler, "-std=c++17", "-Wall", "-I", include, "main.cpp", "-o", "program", "-ldl", "-pthread"]
        step("compile the header", command, folder, COMPILE_SECONDS)
        step("run the program", ["./program"], folder, RUN_SECONDS)
        return {
            operand: HostArray(files.arrays[operand].dtype, files.arrays[operand].shape, bytearray((folder / operand).read_bytes()))
            for operand in files.names("output")
        }


def step(what: str, command: list[str], folder: Path, seconds: float):
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise AttnError(f"expected to {what} within {seconds:.0f} s") from None
    if result.returncode != 0:
        raise AttnError(f"expected to {what}, got status {result.returncode}: {result.stderr.strip()[:2000]}")


def find_compiler() -> str:
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise Unavailable("expected a C++ compiler (CXX, c++, g++ or clang++), got none")


def find_cuda_include() -> str:
    """The folder of cuda.h: the toolkit's, or that of a package beside PyTorch."""
    places: list[Optional[str]] = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [Path(place, "include") for place in places if place]
    for base in map(Path, sys.path):
        folders += [*sorted(base.glob("nvidia/*/include")), base / "triton/backends/nvidia/include"]
    for folder in folders:
        if (folder / "cuda.h").exists():
            return str(folder)
    raise Unavailable("expected cuda.h of the CUDA toolkit (CUDA_HOME names its folder), got none")
