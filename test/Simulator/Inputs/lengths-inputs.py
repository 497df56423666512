"""Writes q, k, v and lengths around a tile of 64 keys: what is stored behind a length is NaN.

lengths-inputs.py FOLDER
"""

import os
import random
import struct
import sys

LENGTHS, ROWS, KEYS, DIM = [191, 63, 65, 0], 140, 200, 64


def write(name, shape, code, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % ({"e": "<f2", "i": "<i4"}[code], tuple(shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(os.path.join(sys.argv[1], name + ".npy"), "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack(f"<{len(values)}{code}", *values))


def main():
    rng = random.Random(1)
    batches = len(LENGTHS)
    write("q", (batches, 1, ROWS, DIM), "e", [rng.gauss(0, 1) for _ in range(batches * ROWS * DIM)])
    for name in ("k", "v"):
        rows = ([rng.gauss(0, 1) if j < n else float("nan") for _ in range(DIM)] for n in LENGTHS for j in range(KEYS))
        write(name, (batches, 1, KEYS, DIM), "e", [value for row in rows for value in row])
    write("n", (batches,), "i", LENGTHS)


main()
