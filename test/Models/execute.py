# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one exported file on the CPU with nothing but upstream MLIR and LLVM.

The file is lowered by `mlir-opt` (bufferize, loops, LLVM dialect), compiled by
`opt` and `llc`, linked into a shared object and called through MLIR's C
interface. It answers one question: does the text mean what the framework
computed? Speed is of no interest here.
"""

import ctypes
import math
import multiprocessing
import pathlib
import subprocess
import tempfile

import torch

TOSA_TO_LINALG = ["--tosa-to-linalg-pipeline", "--tosa-to-arith",
                  "--tosa-to-tensor", "--tosa-to-scf"]

LINALG_TO_LLVM = [
    "--llvm-request-c-wrappers",
    "--canonicalize",
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--canonicalize",
    "--arith-expand=include-bf16=true",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--convert-to-llvm",
    "--reconcile-unrealized-casts",
]


class Toolchain:
    """The LLVM and MLIR tools of one installation, found under `prefix`/bin."""

    def __init__(self, prefix):
        self.prefix = pathlib.Path(prefix)

    def run(self, tool, *args, text=None):
        """Runs one tool and returns its standard output; raises on failure."""
        result = subprocess.run([self.prefix / "bin" / tool, *args], input=text,
                                capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{tool} failed:\n{result.stderr[:2000]}")
        return result.stdout

    def library(self, name):
        """Loads a shared library of the installation, symbols global."""
        return ctypes.CDLL(str(self.prefix / "lib" / name), mode=ctypes.RTLD_GLOBAL)


def compile_to_object(tools, text, directory):
    """Lowers MLIR text to a shared object in `directory`; returns its path."""
    passes = (TOSA_TO_LINALG if "tosa." in text else []) + LINALG_TO_LLVM
    lowered = tools.run("mlir-opt", *passes, text=text)
    llvm_ir = tools.run("mlir-translate", "--mlir-to-llvmir", text=lowered)
    optimized = tools.run("opt", "-O2", "-S", text=llvm_ir)
    obj, shared = directory / "block.o", directory / "block.so"
    tools.run("llc", "-O2", "-filetype=obj", "-relocation-model=pic", "-o", str(obj),
              text=optimized)
    subprocess.run(["cc", "-shared", "-o", shared, obj, "-lm"], check=True)
    return shared


def memref_type(rank):
    """The ctypes form of MLIR's strided memref descriptor of this rank."""
    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
                    ("offset", ctypes.c_int64),
                    ("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return Descriptor


def to_memref(tensor):
    """A descriptor that borrows the memory of a contiguous tensor."""
    kind = memref_type(tensor.dim())
    data = tensor.data_ptr()
    return kind(data, data, 0, (ctypes.c_int64 * tensor.dim())(*tensor.shape),
                (ctypes.c_int64 * tensor.dim())(*tensor.stride()))


def to_bytes(descriptor, element_size):
    """The shape and the bytes of a contiguous result buffer."""
    shape = list(descriptor.sizes)
    size = math.prod(shape) * element_size
    return shape, ctypes.string_at(descriptor.aligned + descriptor.offset * element_size, size)


def call(tools, shared, function, arguments, results, channel):
    """Body of the child process: calls the function and sends its results."""
    tools.library("libmlir_float16_utils.so")
    tools.library("libmlir_c_runner_utils.so")
    entry = getattr(ctypes.CDLL(str(shared)), f"_mlir_ciface_{function}")

    class Returned(ctypes.Structure):
        _fields_ = [(f"result{i}", memref_type(result.dim())) for i, result in enumerate(results)]
    returned = Returned()
    entry(ctypes.byref(returned),
          *[ctypes.byref(to_memref(argument)) for argument in arguments])
    channel.send([to_bytes(getattr(returned, f"result{i}"), result.element_size())
                  for i, result in enumerate(results)])


def execute(tools, text, function, arguments, results_like):
    """Calls `function` of the MLIR `text` with tensors and returns its results.

    `results_like` gives their expected ranks and element types. The
    call runs in a child process: a failing `cf.assert` aborts its process.
    """
    fork = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as directory:
        shared = compile_to_object(tools, text, pathlib.Path(directory))
        receive, send = fork.Pipe(duplex=False)
        contiguous = [argument.contiguous() for argument in arguments]
        child = fork.Process(target=call, args=(tools, shared, function, contiguous,
                                                results_like, send))
        child.start()
        send.close()
        try:
            results = receive.recv()
        except EOFError as error:
            child.join()
            raise RuntimeError(f"execution ended with code {child.exitcode}") from error
        child.join()
        return [torch.frombuffer(bytearray(data), dtype=like.dtype).reshape(shape)
                for (shape, data), like in zip(results, results_like)]
