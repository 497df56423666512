"""Writes PREFIXlarge.npy, PREFIXlow.npy and PREFIXequal.npy: slots of three tokens that are no rows of 96, and equal ones; and
PREFIX41.npy and PREFIX41long.npy, the position 41 in 32 and 64 bits.

slots.py PREFIX
"""

import struct
import sys


def write(name, shape, numbers, code="i"):
    header = repr({"descr": "<i8" if code == "q" else "<i4", "fortran_order": False, "shape": shape})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(sys.argv[1] + name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


for name, slots in {"large": (1, 96, 2), "low": (-2, 0, 1), "equal": (7, -1, 7)}.items():
    write(name, (3,), slots)
write("41", (), (41,))
write("41long", (), (41,), "q")
