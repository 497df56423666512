"""Writes a vector of i32 to FILE.

integers.py FILE NUMBER,NUMBER,...
"""

import struct
import sys

numbers = [int(number) for number in sys.argv[2].split(",")]
header = repr({"descr": "<i4", "fortran_order": False, "shape": (len(numbers),)})
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{len(numbers)}i", *numbers))
