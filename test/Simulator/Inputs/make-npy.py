"""Writes a .npy file with a fixed pattern; needs no NumPy.

    make-npy.py FILE DTYPE SHAPE [SEED]      (bf16 64x128, f32 4)

Without a seed, element i of the flattened array is ((7 i + i // SHAPE[-1]) mod 17 - 8) / 4; with one, elements
are normal with deviation 1.
"""

import math
import random
import struct
import sys


#: Bits of fraction, bias.
FLOAT8 = {"f8E4M3FN": (3, 7), "f8E5M2": (2, 15)}


def encode_byte(value, fraction_bits, bias):
    """The f8E4M3FN or f8E5M2 nearest to a number that is in its range."""
    exponent = max(math.frexp(value)[1] - 1, 1 - bias)
    significand = round(abs(value) * 2.0 ** (fraction_bits - exponent))
    magnitude = (exponent + bias - 1 << fraction_bits) + significand  # a carry raises the exponent
    return bytes([magnitude | (128 if value < 0 else 0)])


def encode(value, dtype):
    if dtype in FLOAT8:
        return encode_byte(value, *FLOAT8[dtype])
    if dtype == "bf16":
        return struct.pack("<f", value)[2:]
    code = {"f16": "<e", "f32": "<f", "f64": "<d", "i32": "<i", "i64": "<q"}[dtype]
    return struct.pack(code, int(value) if dtype[0] == "i" else value)


def main():
    path, dtype, shape_text = sys.argv[1:4]
    shape = tuple(int(size) for size in shape_text.split("x"))
    count = 1
    for size in shape:
        count *= size
    descr = {"f8E4M3FN": "|u1", "f8E5M2": "|u1", "bf16": "<u2", "f16": "<f2", "f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8"}[dtype]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        generator = random.Random(int(sys.argv[4])) if len(sys.argv) > 4 else None
        for i in range(count):
            value = generator.gauss(0, 1) if generator else ((7 * i + i // shape[-1]) % 17 - 8) / 4
            out.write(encode(value, dtype))


main()
