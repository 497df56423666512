"""Masks whose numbers wrap around, by i64 and i32 data from the ends of their ranges: results against float64.

usage: check_extreme_data.py DEVICE...: cpu, sim:sm_80, sim:sm_90a; each mask on one of them, on all in a long run.
Sums and differences of such data wrap in 64 bits, as docs/Spec.md has it, and no bound of keys may be made as if they did not.
Standard library only.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from sweep import LONG

LEAST, MOST = -(1 << 63), (1 << 63) - 1
#: By head: x and y in i64, z in i32. By row: w in i64.
X = [3, LEAST, -1, MOST, 20, LEAST + 2, 1 << 62, -(1 << 62)]
Y = [5, MOST, LEAST, (1 << 62) + 5, (1 << 40) + 1, 1 << 41, 17, -3]
Z = [3, -(1 << 31), -1, (1 << 31) - 1, 20, 2 - (1 << 31), 1 << 30, -(1 << 30)]
W = [X[i * 5 % 8] if i % 3 == 0 else i - 7 for i in range(70)]

#: Ops that end in %r.
MASKS = {
    "key plus data": "%s = arith.addi %j, %x : index\n %r = arith.cmpi sle, %s, %c100 : index",
    "key less data": "%s = arith.subi %j, %x : index\n %r = arith.cmpi slt, %s, %i : index",
    "row plus data": "%s = arith.addi %i, %x : index\n %r = arith.cmpi sge, %s, %j : index",
    "row less data": "%s = arith.subi %i, %x : index\n %r = arith.cmpi sle, %s, %j : index",
    "above data": "%r = arith.cmpi sgt, %j, %x : index",
    "between data": "%a = arith.cmpi sle, %x, %j : index\n %b1 = arith.cmpi slt, %j, %y : index\n %r = arith.andi %a, %b1 : i1",
    "data below data": "%r = arith.cmpi sle, %x, %y : index",
    "data less data": "%s = arith.subi %x, %y : index\n %r = arith.cmpi slt, %s, %j : index",
    "negated data": "%s = arith.subi %c0, %x : index\n %r = arith.cmpi sle, %s, %j : index",
    "twice data": "%s = arith.muli %x, %c2 : index\n %r = arith.cmpi slt, %j, %s : index",
    "quotient": "%s = arith.divsi %x, %c7 : index\n %r = arith.cmpi sle, %s, %j : index",
    "remainder": "%s = arith.remsi %x, %c7 : index\n %r = arith.cmpi sle, %s, %j : index",
    "in 32 bits": "%s = arith.index_cast %j : index to i32\n %t = arith.addi %s, %z : i32\n"
                  " %u = arith.index_cast %i : index to i32\n %r = arith.cmpi sge, %t, %u : i32",
    "key plus data of the row": "%s = arith.addi %j, %w : index\n %r = arith.cmpi sle, %s, %i : index",
    "row less data of the row": "%s = arith.subi %i, %w : index\n %r = arith.cmpi sge, %j, %s : index",
    "above data of the row": "%r = arith.cmpi sgt, %j, %w : index",
    "data below data of the row": "%r = arith.cmpi slt, %x, %w : index",
}  # fmt: skip
MODULE = """!q = tensor<1x8x70x32xf16>
!k = tensor<1x8x300x32xf16>
func.func @f(%q: !q, %k: !k, %v: !k, %xs: tensor<8xi64>, %ys: tensor<8xi64>, %zs: tensor<8xi32>, %ws: tensor<70xi64>) -> !q {
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c100 = arith.constant 100 : index
    %x0 = tensor.extract %xs[%h] : tensor<8xi64>
    %x = arith.index_cast %x0 : i64 to index
    %y0 = tensor.extract %ys[%h] : tensor<8xi64>
    %y = arith.index_cast %y0 : i64 to index
    %z = tensor.extract %zs[%h] : tensor<8xi32>
    %w0 = tensor.extract %ws[%i] : tensor<70xi64>
    %w = arith.index_cast %w0 : i64 to index
    MASK
    attn.yield %r : i1
  } : !q, !k, !k -> !q
  return %o : !q
}
"""


def write_npy(path, letter, data):
    header = f"{{'descr': '<i{8 if letter == 'q' else 4}', 'fortran_order': False, 'shape': ({len(data)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(data)}{letter}", *data))


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder, inputs = Path(name), []
        for number, (letter, data) in enumerate((("q", X), ("q", Y), ("i", Z), ("q", W)), 3):
            write_npy(folder / f"{number}.npy", letter, data)
            inputs.append(f"--input=arg{number}={folder / f'{number}.npy'}")
        for number, (mask, body) in enumerate(MASKS.items()):
            (folder / "case.mlir").write_text(MODULE.replace("MASK", body))
            for device in sys.argv[1:] if LONG else [sys.argv[1:][number % len(sys.argv[1:])]]:
                command = ["attn-run", folder / "case.mlir", f"--device={device}", "--verify", "--random=1", *inputs]
                result = subprocess.run(command, capture_output=True, text=True)
                if result.returncode:
                    failed += 1
                    print(f"{mask} on {device}: {result.stdout}{result.stderr}")
    print(f"{len(MASKS)} masks, {failed} runs failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
