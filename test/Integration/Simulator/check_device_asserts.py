"""Compiles masks that read data with --device-asserts and runs them on good and on bad data.

usage: check_device_asserts.py TARGET: sm_80 or sm_90a; half of the data for each of them but in a long run. Good data must give the results that --verify expects; each kind of
bad data must stop the simulator with its message, at the line of the op that reads it. Standard library only.
"""

import copy
import os
import struct
import subprocess
import sys
import tempfile

import check_data_masks
from check_data_masks import Tensor
from sweep import LONG

LENGTHS = [40, 0, 60]


def packed(offsets):
    case = check_data_masks.packed(LENGTHS, LENGTHS, "top_left")
    case.tensors = [Tensor([len(offsets)], offsets), case.tensors[1]]
    return case


def blocks(change):
    """Four row blocks of up to four partial and four full key blocks."""
    case = check_data_masks.blocks(256, 256, 64, 64, 0.9, 1)
    case.tensors = copy.deepcopy(case.tensors)
    change(*case.tensors)
    return case


def set_entry(table, row, slot, value):
    table.values[row * table.shape[3] + slot] = value


def add_to_both(counts, table, full_counts, full_table):
    """The first full block of row 0 becomes a partial one too."""
    full = full_table.values[0]
    listed = sorted({full, *table.values[: counts.values[0]]})
    counts.values[0] = len(listed)
    table.values[: len(listed)] = listed


def swap(counts, table, full_counts, full_table):
    row = next(r for r, count in enumerate(counts.values) if count > 1)
    start = row * table.shape[3]
    table.values[start], table.values[start + 1] = table.values[start + 1], table.values[start]


class Lengths:
    """Keys of two sequences."""

    rows, keys = 20, 70

    def __init__(self, values):
        self.tensor = Tensor([len(values)], values)

    def module(self):
        return """func.func @f(%q: tensor<2x1x?x32xf16>, %k: tensor<2x1x?x32xf16>, %n: tensor<2xi32>) -> tensor<2x1x?x32xf16> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      : tensor<2x1x?x32xf16>, tensor<2x1x?x32xf16>, tensor<2x1x?x32xf16> -> tensor<2x1x?x32xf16>
  return %o : tensor<2x1x?x32xf16>
}
"""

    def write_inputs(self, folder):
        path = os.path.join(folder, "lengths.npy")
        self.tensor.write(path)
        return [f"--input=arg2={path}"]


class Heads:
    """Four query heads whose key heads, two, a map selects."""

    rows, keys = 20, 70

    def __init__(self, values):
        self.tensor = Tensor([len(values)], values)

    def module(self):
        return """func.func @f(%q: tensor<1x4x?x32xf16>, %k: tensor<1x2x?x32xf16>, %m: tensor<4xi32>) -> tensor<1x4x?x32xf16> {
  %key = attn.select_heads %k[%m] : tensor<1x2x?x32xf16>[tensor<4xi32>] -> tensor<1x4x?x32xf16>
  %o = attn.attention %q, %key, %key : tensor<1x4x?x32xf16>, tensor<1x4x?x32xf16>, tensor<1x4x?x32xf16> -> tensor<1x4x?x32xf16>
  return %o : tensor<1x4x?x32xf16>
}
"""

    def write_inputs(self, folder):
        path = os.path.join(folder, "map.npy")
        self.tensor.write(path)
        return [f"--input=arg2={path}"]


class Positions:
    """Queries that are turned by rows of a table of 50."""

    rows, keys = 4, 40

    def __init__(self, values):
        self.tensor = Tensor([1, len(values)], values)

    def module(self):
        return """func.func @f(%q: tensor<2x1x4x32xf16>, %k: tensor<2x1x?x32xf16>, %t: tensor<50x16xf32>, %p: tensor<1x4xi32>) -> tensor<2x1x4x32xf16> {
  %turned = attn.rotary %q, %t, %t halves positions(%p : tensor<1x4xi32>) : tensor<2x1x4x32xf16>, tensor<50x16xf32>
  %o = attn.attention %turned, %k, %k : tensor<2x1x4x32xf16>, tensor<2x1x?x32xf16>, tensor<2x1x?x32xf16> -> tensor<2x1x4x32xf16>
  return %o : tensor<2x1x4x32xf16>
}
"""

    def write_inputs(self, folder):
        path = os.path.join(folder, "positions.npy")
        self.tensor.write(path)
        return [f"--input=arg3={path}"]


class Floats:
    """One tensor of f32, argument `argument` of a module."""

    rows, keys = 20, 40

    def __init__(self, argument, shape, values):
        self.argument, self.shape, self.values = argument, shape, values

    def write_inputs(self, folder):
        path = os.path.join(folder, "descale.npy")
        with open(path, "wb") as f:
            header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(self.shape)}).encode()
            header += b" " * (-(len(header) + 11) % 64) + b"\n"
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            f.write(struct.pack(f"<{len(self.values)}f", *self.values))
        return [f"--input=arg{self.argument}={path}"]


class Descales(Floats):
    """Keys and values of 8 bits of two batches, with a descale for each key head."""

    def __init__(self, *values):
        super().__init__(2, [2, 2], values)

    def module(self):
        return """func.func @f(%q: tensor<2x4x?x32xf16>, %k: tensor<2x2x?x32xi8>, %d: tensor<2x2xf32>) -> tensor<2x4x?x32xf16> {
  %o = attn.attention %q, %k, %k descale(%d, %d : tensor<2x2xf32>, tensor<2x2xf32>)
      : tensor<2x4x?x32xf16>, tensor<2x2x?x32xi8>, tensor<2x2x?x32xi8> -> tensor<2x4x?x32xf16>
  return %o : tensor<2x4x?x32xf16>
}
"""


class Dequantized(Floats):
    """The same of one head, by an op of its own."""

    def __init__(self, value):
        super().__init__(2, [1], [value])

    def module(self):
        return """func.func @f(%q: tensor<1x1x?x32xf16>, %k: tensor<1x1x?x32xi8>, %d: tensor<1xf32>) -> tensor<1x1x?x32xf16> {
  %w = attn.dequantize %k descale(%d : tensor<1xf32>) : tensor<1x1x?x32xi8> -> tensor<1x1x?x32xf16>
  %o = attn.attention %q, %w, %w : tensor<1x1x?x32xf16>, tensor<1x1x?x32xf16>, tensor<1x1x?x32xf16> -> tensor<1x1x?x32xf16>
  return %o : tensor<1x1x?x32xf16>
}
"""


class Quantized(Floats):
    """Rows that are divided by a descale, for a pool of 8 bits."""

    rows = keys = None

    def __init__(self, value):
        super().__init__(2, [1], [value])

    def module(self):
        return """func.func @f(%p: tensor<1x1x16x32xi8>, %r: tensor<3x1x32xf16>, %d: tensor<1xf32>, %s: tensor<3xi32>) -> tensor<1x1x16x32xi8> {
  %a = attn.append %r into %p slots(%s : tensor<3xi32>) descale(%d : tensor<1xf32>) : tensor<3x1x32xf16> into tensor<1x1x16x32xi8>
  return %a : tensor<1x1x16x32xi8>
}
"""


class Pages:
    """Keys of two sequences in pages of 16 of a pool of 9: entries and offsets of a table, and lengths."""

    rows, keys = 4, None

    def __init__(self, entries, offsets, lengths):
        self.tensors = [Tensor([len(values)], values) for values in (entries, offsets, lengths)]

    def module(self):
        return """func.func @f(%q: tensor<2x1x?x32xf16>, %p: tensor<9x1x16x32xf16>, %t: tensor<?xi32>, %o: tensor<3xi32>, %n: tensor<2xi32>) -> tensor<2x1x?x32xf16> {
  %k = attn.paged %p[%t, %o] : tensor<9x1x16x32xf16>[tensor<?xi32>, tensor<3xi32>] -> tensor<2x1x?x32xf16>
  %a = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      : tensor<2x1x?x32xf16>, tensor<2x1x?x32xf16>, tensor<2x1x?x32xf16> -> tensor<2x1x?x32xf16>
  return %a : tensor<2x1x?x32xf16>
}
"""

    def write_inputs(self, folder):
        inputs = []
        for i, tensor in enumerate(self.tensors):
            path = os.path.join(folder, f"pages{i}.npy")
            tensor.write(path)
            inputs.append(f"--input=arg{2 + i}={path}")
        return inputs


GOOD = {
    "pages": lambda: Pages([8, 0, 3, -1], [0, 2, 4], [32, 15]),
    "no pages": lambda: Pages([7], [1, 1, 1], [0, 0]),
    "positions": lambda: Positions([49, 0, 3, 3]),
    "lengths": lambda: Lengths([0, 70]),
    "heads": lambda: Heads([1, 0, 1, 1]),
    "descales": lambda: Descales(0.5, 0, -2, 1e-30),
    "dequantized": lambda: Dequantized(-0.25),
    "quantized": lambda: Quantized(1e-3),
    "packed": lambda: check_data_masks.packed(LENGTHS, LENGTHS, "top_left"),
    "blocks": lambda: blocks(lambda *lists: None),
    "blocks by head": lambda: check_data_masks.blocks(128, 128, 64, 64, 0.6, 3, per_head=True),
}
# Bad data, what is said, and the op that reads it.
BAD = {
    "length": (lambda: Lengths([3, 71]), "expected key lengths from 0 to the number of positions", "attn.attention"),
    "negative length": (lambda: Lengths([-1, 70]), "expected key lengths from 0 to the number of positions", "attn.attention"),
    "head": (lambda: Heads([0, 1, 2, 0]), "expected entries of the map that are heads of its source", "%key = attn.select_heads"),
    "negative head": (lambda: Heads([0, -1, 1, 0]), "expected entries of the map that are heads of its source", "%key = attn.select_heads"),
    "position": (lambda: Positions([3, 50, 0, 1]), "expected positions that are rows of the tables", "%turned = attn.rotary"),
    "negative position": (lambda: Positions([3, 4, 0, -1]), "expected positions that are rows of the tables", "%turned = attn.rotary"),
    "page": (lambda: Pages([8, 0, 9, 1], [0, 2, 4], [32, 15]), "expected entries that are pages of the pool", "%k = attn.paged"),
    "length beyond pages": (lambda: Pages([8, 0, 3, 1], [0, 1, 4], [17, 15]), "expected key lengths of at most the pages of their batch", "%k = attn.paged"),
    "offsets of pages": (lambda: Pages([8, 0, 3, 1], [0, 2, 5], [32, 15]), "expected offsets from 0 to the number of rows", "%k = attn.paged"),
    "order of pages": (lambda: Pages([8, 0, 3, 1], [2, 1, 4], [0, 15]), "expected ascending offsets, of sequences with room in the view", "%k = attn.paged"),
    "NaN descale": (lambda: Descales(1, 1, float("nan"), 1), "expected finite descales", "attn.attention"),
    "infinite descale": (lambda: Descales(1, float("inf"), 1, 1), "expected finite descales", "attn.attention"),
    "infinite descale below 0": (lambda: Dequantized(float("-inf")), "expected finite descales", "%w = attn.dequantize"),
    "descale of 0": (lambda: Quantized(0), "expected finite descales above 0", "attn.append"),
    "first offset": (lambda: packed([1, 40, 40, 100]), "expected offsets[0] to be 0", "attn.segment"),
    "decrease": (lambda: packed([0, 60, 40, 100]), "expected offsets that do not decrease", "attn.segment"),
    "past the end": (lambda: packed([0, 40, 40, 101]), "expected offsets up to the number of query positions", "attn.segment"),
    "too many": (lambda: blocks(lambda c, t, fc, ft: c.values.__setitem__(1, 5)), "expected num_blocks from 0 to the room for indices", "%partial = attn.block_listed"),
    "negative count": (lambda: blocks(lambda c, t, fc, ft: fc.values.__setitem__(3, -1)), "expected num_blocks from 0 to the room for indices", "%full = attn.block_listed"),
    "no such block": (lambda: blocks(lambda c, t, fc, ft: set_entry(ft, 2, 0, 4)), "expected indices below the number of key blocks", "%full = attn.block_listed"),
    "descending": (lambda: blocks(swap), "expected indices to ascend", "%partial = attn.block_listed"),
    "in two lists": (lambda: blocks(add_to_both), "expected blocks that are in no other list", "%partial = attn.block_listed"),
}


def run(case, folder, *options):
    """The module's text, and the process that ran it."""
    path = os.path.join(folder, "mask.mlir")
    with open(path, "w") as f:
        f.write(case.module())
    command = ["attn-run", path, "--random=3", *options]
    sizes = [f"{name}={size}" for name, size in (("M", case.rows), ("N", case.keys)) if size]
    command += ["--shape=" + ",".join(sizes)] * bool(sizes) + case.write_inputs(folder)
    return case.module(), subprocess.run(command, capture_output=True, text=True)


def main():
    target = sys.argv[1]
    checked = [f"--device=sim:{target}", "--device-asserts"]
    with tempfile.TemporaryDirectory() as folder:
        mine = slice(None) if LONG else slice(target == "sm_90a", None, 2)
        good, bad = list(GOOD.items())[mine], list(BAD.items())[mine]
        for name, make in good:
            _, process = run(make(), folder, *checked, "--verify")
            if process.returncode:
                sys.exit(f"{name}: expected success, got {process.stdout + process.stderr}")
        for name, (make, message, op) in bad:
            text, process = run(make(), folder, *checked)
            lines = [number for number, line in enumerate(text.split("\n"), 1) if op in line]
            said = process.stdout + process.stderr
            expected = [f"device assertion failed: {message} ({os.path.join(folder, 'mask.mlir')}:{line}," for line in lines]
            if process.returncode == 0 or not any(e in said for e in expected):
                sys.exit(f"{name}: expected one of {expected}, got {said}")
            if isinstance(make(), Quantized):  # The interpreter's words are the same.
                said = run(make(), folder, "--verify")[1]
                if said.returncode == 0 or f"op {message}, got " not in said.stderr:
                    sys.exit(f"{name}: expected '{message}' of --verify, got {said.stdout + said.stderr}")
    print(f"{len(good)} good, {len(bad)} bad")


if __name__ == "__main__":
    main()
