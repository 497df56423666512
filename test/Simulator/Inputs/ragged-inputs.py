"""Writes packed queries, keys and values and their offsets: NaN in rows of no sequence; sequences without rows, without keys, that end in
the middle of a tile, and one as long as the bound.

ragged-inputs.py FOLDER
"""

import random
import struct
import sys
from pathlib import Path

OFFSETS = {"qo": [1, 1, 18, 50, 51], "ko": [2, 7, 37, 37, 70]}
ROWS, KEYS, HEADS, DIM = 53, 73, 2, 64


def write(name, kind, shape, code, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, tuple(shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    Path(sys.argv[1], name + ".npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    rng = random.Random(1)
    for name, rows, heads, offsets in (("q", ROWS, HEADS, OFFSETS["qo"]), ("k", KEYS, 1, OFFSETS["ko"]), ("v", KEYS, 1, OFFSETS["ko"])):
        kept = range(offsets[0], offsets[-1])
        values = [rng.gauss(0, 1) if row in kept else float("nan") for row in range(rows) for _ in range(heads * DIM)]
        write(name, "<f2", (rows, heads, DIM), "e", values)
    for name, offsets in OFFSETS.items():
        write(name, "<i4", (len(offsets),), "i", offsets)


main()
