#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the attention blocks of blocks.py to MLIR files beside this script.

The framework's exporter (exporters.py) lowers a block to linalg on tensors or
TOSA; `mlir-opt` parses, verifies and prints it in the syntax of the project's
MLIR. Each file is then executed by upstream passes (execute.py) and compared
with the framework's own result.
"""

import argparse
import math
import pathlib
import re
import sys

import torch

import mask_blocks  # noqa: F401, registers its blocks in BLOCKS
import relative_blocks  # noqa: F401
from blocks import BLOCKS
from execute import Toolchain, execute
from exporters import ROUTES, versions

HERE = pathlib.Path(__file__).resolve().parent
SEED = 0

# Largest accepted difference from the framework, relative to the largest
# element of the result: rounding of a few hundred terms, and for the 16-bit
# types of intermediate results too.
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def pack_booleans(match):
    """Rewrites an i1 constant from one byte an element, as MLIR after 22 prints
    it, to the one bit an element (lowest first) that MLIR 22 reads."""
    data, shape = bytes.fromhex(match[1]), match[2]
    if len(data) != math.prod(int(size) for size in shape.split("x")):
        return match[0]
    packed = [sum(bit << i for i, bit in enumerate(data[start:start + 8]))
              for start in range(0, len(data), 8)]
    return f'dense<"0x{bytes(packed).hex().upper()}"> : tensor<{shape}xi1>'


def normalize(tools, text):
    """Parses and verifies with the project's MLIR; returns its printed form."""
    text = re.sub(r'dense<"0x([0-9A-F]+)"> : tensor<([0-9x]+)xi1>', pack_booleans, text)
    return tools.run("mlir-opt", "--symbol-dce", text=text)


def header(recipe, block):
    """The comment at the head of a file: what it is and what its arguments are."""
    tools = versions(recipe.packages + ROUTES[recipe.route])
    lines = [f"{recipe.title}.", f"Exported by export.py with {tools}; not edited by hand.",
             "Arguments:"] + [f"  %arg{i}: {name}" for i, name in enumerate(block.arguments())]
    return "".join(f"// {line}\n" for line in lines) + "\n"


def check(tools, text, function, block):
    """Executes the text; returns the error relative to the largest expected element."""
    expected = block.expected()
    expected = expected if isinstance(expected, tuple) else (expected,)
    results = execute(tools, text, function, block.arguments().values(), expected)
    errors = []
    for actual, exact in zip(results, expected, strict=True):
        if actual.shape != exact.shape:
            raise RuntimeError(f"expected shape {exact.shape}, got {actual.shape}")
        errors.append(float((actual.double() - exact.double()).abs().max() / exact.double().abs().max()))
    return max(errors), TOLERANCE[expected[0].dtype]


def export(tools, recipe, output):
    """Exports, checks and writes one file; returns a line for the user."""
    torch.manual_seed(SEED)
    block = recipe.build()
    function = recipe.name.replace("-", "_")
    text = normalize(tools, block.lower(recipe.route, function))
    functions = re.findall(r"func\.func(?! private) .*@(\w+)", text)
    if functions != [function]:
        raise RuntimeError(f"expected one public function @{function}, got {functions}")
    error, tolerance = check(tools, text, function, block)
    if recipe.name.endswith("-model"):
        tolerance *= 10  # a chain of layers
    if not error <= tolerance:
        raise RuntimeError(f"expected relative error <= {tolerance}, got {error:.2e}")
    text = header(recipe, block) + text
    (output / f"{recipe.name}.mlir").write_text(text)
    return f"{recipe.name:28} {recipe.route:7} {len(text):7} bytes  max error {error:.2e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="files to export (default: all)")
    parser.add_argument("--list", action="store_true", help="list the names and stop")
    parser.add_argument("--output", type=pathlib.Path, default=HERE, metavar="DIR",
                        help="where to write the files (default: beside this script)")
    parser.add_argument("--llvm-prefix", default="/usr/lib/llvm-22", metavar="DIR",
                        help="installation of LLVM and MLIR (default: %(default)s)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BLOCKS]
    if unknown:
        parser.error(f"expected names from --list, got {', '.join(unknown)}")
    if options.list:
        for recipe in BLOCKS.values():
            print(f"{recipe.name:28} {recipe.title}")
        return 0
    tools = Toolchain(options.llvm_prefix)
    failed = 0
    for name in options.names or BLOCKS:
        try:
            print(export(tools, BLOCKS[name], options.output), flush=True)
        except Exception as error:  # one bad block must not hide the others
            failed += 1
            print(f"{name:28} error: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
