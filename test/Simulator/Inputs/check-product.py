"""Checks that D = A B^T exactly: check-product.py A.npy B.npy D.npy (bf16 or f16, the same, f32)."""

import ast
import struct
import sys


def read(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    body = data[10 + length :]
    if header["descr"] == "<u2":
        words = struct.unpack("<%dH" % (len(body) // 2), body)
        values = struct.unpack("<%df" % len(words), struct.pack("<%dI" % len(words), *[w << 16 for w in words]))
    else:
        code = {"<f2": "e", "<f4": "f"}[header["descr"]]
        values = struct.unpack("<%d%s" % (len(body) // struct.calcsize(code), code), body)
    return header["shape"], values


def main():
    (m, k), a = read(sys.argv[1])
    (n, _), b = read(sys.argv[2])
    shape, d = read(sys.argv[3])
    wrong = sum(
        d[i * n + j] != sum(a[i * k + c] * b[j * k + c] for c in range(k)) for i in range(0, m, 5) for j in range(n)
    )
    print("shape", shape, "wrong", wrong)


main()
