"""Writes pools, new rows and slots: the first and the last row, -1, and the number of rows, which is no row.

append-inputs.py FOLDER
"""

import random
import struct
import sys
from pathlib import Path

PAGES, HEADS, PAGE, SLOTS = 3, 2, 5, [7, -1, 0, 14, 15, 4, 6]
CODES = {"<f2": "e", "<f4": "f", "<V2": "H", "<i4": "i"}


def write(name, kind, shape, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, tuple(shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
    Path(sys.argv[1], name + ".npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    rng = random.Random(1)
    normal = lambda count: [rng.gauss(0, 1) for _ in range(count)]  # noqa: E731
    pool, rows = PAGES * HEADS * PAGE, len(SLOTS) * HEADS
    write("k_pool", "<V2", (PAGES, HEADS, PAGE, 40), [rng.randrange(1 << 14) for _ in range(pool * 40)])
    write("v_pool", "<f2", (PAGES, HEADS, PAGE, 33), normal(pool * 33))
    write("k", "<f4", (len(SLOTS), HEADS, 40), normal(rows * 40))
    write("v", "<f2", (len(SLOTS), HEADS, 33), normal(rows * 33))
    write("slots", "<i4", (len(SLOTS),), SLOTS)


main()
