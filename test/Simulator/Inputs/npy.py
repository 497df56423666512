"""Writes .npy files without NumPy."""

import struct
from pathlib import Path

CODES = {"|u1": "B", "<f2": "e", "<f4": "f", "<V2": "H", "<i4": "i", "<i8": "q"}


def write(folder, name, kind, shape, values):
    """folder/name.npy of numbers of `kind`, as NumPy spells it, in C order."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, tuple(shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
    Path(folder, name + ".npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
