"""Checks that a folder includes only from layers below it.

`check-layering.py ROOT` prints `FILE:LINE: LAYER includes HEADER of LAYER` for
each include against the direction, and fails if there is one.
"""

import re
import sys
from pathlib import Path

IR = ["Dialect/Attn/IR", "Dialect/Attn/Utils", "Dialect/PTX/IR", "Dialect/Tile/IR", "Dialect/Launch/IR"]
DATA = ["Support", "TargetInfo", "Schedule"]
PASSES = IR + DATA + ["Analysis"]
CONVERSIONS = ["Conversion", "Conversion/TosaToAttn", "Conversion/LinalgToAttn", "Conversion/AttnToLinalg",
               "Conversion/AttnToVector", "Conversion/AttnToTile", "Conversion/ExpandFloat8", "Conversion/GraphToBufferizable",
               "Conversion/PromoteToF64", "Conversion/TileToNVVM"]
TRANSFORMS = ["Dialect/Attn/Transforms", "Dialect/Tile/Transforms"]
TARGETS = ["Target/Manifest", "Target/PTX", "Target/CPU", "Target/Header"]

# What each layer may include besides itself; lowest first. A layer is a folder
# of lib/ and include/attn/, with everything below it.
MAY_INCLUDE = {
    "Precompiled": [],  # headers of MLIR
    "Support": [],
    "TargetInfo": ["Support"],
    "Runtime": ["Support"],
    "Schedule": ["Support", "TargetInfo"],
    "Distributed": ["Support", "TargetInfo", "Schedule"],
    "Reference": ["Support"],
    "Simulator": ["Support", "Runtime"],
    "Dialect/Attn/IR": DATA,
    "Dialect/Attn/Utils": DATA + ["Dialect/Attn/IR"],
    "Dialect/PTX/IR": [],
    "Dialect/Tile/IR": DATA + ["Dialect/Attn/IR"],
    "Dialect/Launch/IR": ["Dialect/Attn/IR", "Dialect/Tile/IR"],
    "Analysis": IR + DATA,
    "Analysis/Elements": [],  # of tensors, whatever they are for
    "Interpreter": ["Support", "Reference", "Runtime", "Dialect/Attn/IR", "Dialect/Attn/Utils"],
    "Dialect/Attn/Sharding": ["Dialect/Attn/IR"],  # MLIR's shard dialect, for those who register it
    "Dialect/Attn/Transforms": PASSES,
    "Dialect/Tile/Transforms": PASSES,
    "Conversion": [],  # Passes.h, which declares them all
    "Conversion/TosaToAttn": ["Analysis/Elements"],
    "Conversion/LinalgToAttn": PASSES + ["Analysis/Elements", "Conversion", "Conversion/TosaToAttn"],
    "Conversion/AttnToLinalg": PASSES + ["Conversion"],
    "Conversion/AttnToVector": PASSES + ["Conversion"],
    "Conversion/AttnToTile": PASSES + ["Conversion"],
    "Conversion/ExpandFloat8": PASSES + ["Conversion"],
    "Conversion/GraphToBufferizable": PASSES + ["Conversion"],
    "Conversion/PromoteToF64": PASSES + ["Conversion"],
    "Conversion/TileToNVVM": PASSES + ["Conversion"],
    "Target/Manifest": IR + ["Support", "Schedule", "Runtime"],
    "Target/PTX": IR + ["Support", "TargetInfo"],
    "Target/Header": ["Support", "Runtime"],
    "Target/CPU": IR + ["Support", "TargetInfo", "Runtime"],
    "Pipelines": PASSES + TRANSFORMS + CONVERSIONS + TARGETS + ["Runtime"],
    "CAPI": PASSES + ["Pipelines", "Runtime", "Interpreter", "Target/CPU"],
}

# Applications link these, or they must be able to contradict the compiler: no
# MLIR, and of LLVM nothing but its Support library.
WITHOUT_MLIR = ["Support", "TargetInfo", "Runtime", "Schedule", "Distributed", "Reference",
                "Simulator", "Target/Header"]
ONLY_LLVM = ("llvm/ADT/", "llvm/Support/")

INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def layer_of(path):
    """The layer of a path below lib/ or include/attn/; None outside of them."""
    matches = [layer for layer in MAY_INCLUDE if (path + "/").startswith(layer + "/")]
    return max(matches, key=len, default=None)


def fault(layer, header):
    """Why `layer` must not include `header`, or None if it may."""
    if header.startswith("attn/"):
        target = layer_of(header[len("attn/"):])
        if target is None:
            return f"{layer} includes {header}, which is in no layer"
        if target != layer and target not in MAY_INCLUDE[layer]:
            return f"{layer} includes {header} of {target}"
    elif layer in WITHOUT_MLIR:
        if header.startswith(("mlir/", "mlir-c/")):
            return f"{layer} includes {header} of MLIR"
        if header.startswith("llvm/") and not header.startswith(ONLY_LLVM):
            return f"{layer} includes {header} of LLVM beyond its Support library"
    return None


def main(root):
    faults, files = [], 0
    for tree in (root / "lib", root / "include" / "attn"):
        for path in sorted(tree.rglob("*")):
            if path.suffix not in (".cpp", ".h", ".td"):
                continue
            files += 1
            layer = layer_of(path.relative_to(tree).as_posix())
            name = path.relative_to(root)
            if layer is None:
                faults.append(f"{name}:1: is in no layer")
                continue
            text = path.read_text()
            for include in INCLUDE.finditer(text):
                if message := fault(layer, include[1]):
                    line = text.count("\n", 0, include.start(1)) + 1
                    faults.append(f"{name}:{line}: {message}")
    print("\n".join(faults + [f"{files} files, {len(faults)} includes against the layers"]))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
