"""Writes block lists and offsets, right and wrong ones, into a folder."""

import os
import struct
import sys


def write(name, shape, values):
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': %s, }" % (tuple(shape),)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(os.path.join(sys.argv[1], name + ".npy"), "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack(f"<{len(values)}i", *values))


write("n", (1, 1, 2), [1, 2])
write("l", (1, 1, 2, 4), [0, 9, 9, 9, 1, 3, 9, 9])
write("l_large", (1, 1, 2, 4), [0, 9, 9, 9, 1, 4, 9, 9])
write("l_unsorted", (1, 1, 2, 4), [0, 9, 9, 9, 3, 1, 9, 9])
write("n_many", (1, 1, 2), [5, 2])
write("n_rows", (1, 1, 3), [1, 2, 0])
write("l_rows", (1, 1, 3, 4), [0] * 12)
write("cu", (4,), [0, 20, 20, 40])
write("cu_falls", (4,), [0, 20, 9, 40])
write("cu_first", (4,), [3, 20, 20, 40])
write("cu_long", (4,), [0, 20, 20, 41])
write("lengths", (2,), [0, 40])
write("lengths_long", (2,), [0, 41])
write("lengths_negative", (2,), [-1, 40])
