# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a block of a framework becomes MLIR text.

A block has named arguments, the result that its framework computes for them,
and the text that its exporter makes of it. Weights become arguments, so that a
file holds the graph and not the numbers.
"""

import dataclasses
import importlib.metadata
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Callable

import torch
from torch import nn
from torch.func import functional_call
from torch_mlir import fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table


# How a block becomes MLIR, by the ending of its file's name: the packages that
# take part, beside those that define the block.
ROUTES = {
    "linalg": ("torch", "torch-mlir"),  # any other ending
    "tosa": ("torch", "torch-mlir"),
    "tflite": ("torch", "litert-torch", "tosa-converter-for-tflite"),  # to TOSA as well
    "jax": ("jax", "torch-mlir"),  # to linalg, through StableHLO
}


def versions(packages):
    """`package version, ...` of the installed packages."""
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


class Stateless(nn.Module):
    """Turns the parameters of a module into inputs of its forward function."""

    def __init__(self, module, inputs):
        super().__init__()
        self.module = [module]  # in a list: not registered, so not exported
        self.names = [name for name, _ in module.named_parameters()]
        self.inputs = inputs

    def forward(self, *arguments):
        weights = dict(zip(self.names, arguments[self.inputs:]))
        return functional_call(self.module[0], weights, arguments[:self.inputs])


def copy_row(tensor, dim, index, source):
    """index_copy of one row as a slice: torch-mlir makes a scatter of single
    elements of it, in a dialect of its own."""
    if index.shape != (1,):
        return NotImplemented
    row = index[0].item()
    torch._check(row >= 0)
    torch._check(row < tensor.shape[dim])
    return torch.slice_scatter(tensor, source, dim, row, row + 1)


def put_row(tensor, indices, values, accumulate=False):
    """index_put of one row, as copy_row."""
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    if accumulate or len(dims) != 1 or indices[dims[0]].shape != (1,):
        return NotImplemented
    row = indices[dims[0]].item()
    if not isinstance(row, int):
        return NotImplemented
    row %= tensor.shape[dims[0]]
    return torch.slice_scatter(tensor, values, dims[0], row, row + 1)


def decompositions():
    """torch-mlir's table, less the norms, which it lowers better itself: the
    table turns a group norm into gathers with kilobytes of constant indices."""
    norms = (torch.ops.aten.native_group_norm, torch.ops.aten.native_layer_norm)
    table = {op: function for op, function in get_decomposition_table().items()
             if op._overloadpacket not in norms}
    return table | {torch.ops.aten.index_copy.default: copy_row,
                    torch.ops.aten.index_put.default: put_row}


@dataclasses.dataclass
class TorchBlock:
    """A torch module with example inputs, exported by torch.export and torch-mlir.

    `dynamic` maps an input's name to {dimension: name of its symbolic size}.
    """
    module: nn.Module
    inputs: dict[str, torch.Tensor]
    dynamic: dict[str, dict[int, str]] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self.module.eval()
        self.weights = {name: p.detach() for name, p in self.module.named_parameters()}

    def arguments(self):
        return self.inputs | self.weights

    def expected(self):
        with torch.no_grad():
            return self.module(*self.inputs.values())

    def dynamic_shapes(self):
        if not self.dynamic:
            return None
        symbols = {}
        sizes = [{dim: symbols.setdefault(symbol, torch.export.Dim(symbol, min=2, max=4096))
                  for dim, symbol in self.dynamic.get(name, {}).items()}
                 for name in self.arguments()]
        return (tuple(sizes),)  # one entry: forward's only parameter is *arguments

    def lower(self, route, function):
        stateless = Stateless(self.module, len(self.inputs)).eval()
        arguments = tuple(self.arguments().values())
        if route == "tflite":
            return lower_through_tflite(stateless, arguments, function)
        program = torch.export.export(stateless, arguments, strict=False,
                                      dynamic_shapes=self.dynamic_shapes())
        dialect = {"linalg": "linalg-on-tensors", "tosa": "tosa"}[route]
        module = fx.export_and_import(program, output_type=dialect, func_name=function,
                                      decomposition_table=decompositions())
        return str(module)


def lower_through_tflite(module, arguments, function):
    """PyTorch to a TFLite file, and that by Arm's converter to TOSA."""
    import litert_torch
    with tempfile.TemporaryDirectory() as directory:
        tflite = pathlib.Path(directory) / "block.tflite"
        litert_torch.convert(module, arguments).export(str(tflite))
        converter = pathlib.Path(sys.executable).parent / "tosa-converter-for-tflite"
        text = subprocess.run([converter, "--text", tflite], check=True,
                              capture_output=True, text=True).stdout
    # The converter leaves boolean constants in StableHLO, and attributes of
    # TensorFlow's dialects, which upstream does not register.
    text = re.sub(r"stablehlo\.constant (dense<[^>]*>) : (tensor<[^>]*>)",
                  r'"tosa.const"() <{values = \1 : \2}> : () -> \2', text)
    text = re.sub(r"\Amodule attributes \{.*\} \{", "module {", text)
    text = re.sub(r" \{tf_saved_model\.index_path = \[[^]]*\]\}", "", text)
    text = re.sub(r" attributes \{tf\.entry_function = .*\} \{", " {", text)
    return text.replace("@main(", f"@{function}(")


@dataclasses.dataclass
class JaxBlock:
    """A JAX function with example inputs, exported to StableHLO and from there,
    by the StableHLO project's own passes, to linalg."""
    function: Callable
    inputs: dict[str, torch.Tensor]

    def arguments(self):
        return self.inputs

    def arrays(self):
        return [tensor.numpy() for tensor in self.inputs.values()]

    def expected(self):
        import numpy
        results = self.function(*self.arrays())
        results = results if isinstance(results, tuple) else (results,)
        return tuple(torch.from_numpy(numpy.array(result)) for result in results)

    def lower(self, route, function):
        import jax
        if route != "jax":
            raise ValueError(f"expected route jax for a JAX block, got {route}")
        stablehlo = jax.jit(self.function).lower(*self.arrays()).as_text()
        opt = pathlib.Path(fx.__file__).parent / "_mlir_libs" / "torch-mlir-opt"
        text = subprocess.run([opt, "--inline", "--stablehlo-legalize-to-linalg",
                               "--canonicalize", "--cse"],
                              input=stablehlo, check=True, capture_output=True, text=True).stdout
        # Attributes of JAX's own, of dialects that upstream does not register.
        text = re.sub(r'module @\w+ attributes \{mhlo\.[^}]*\}', "module", text)
        text = re.sub(r' \{jax\.result_info = "[^"]*"\}', "", text)
        return text.replace("func.func public @main(", f"func.func @{function}(")
