"""Writes and reads .npy files without NumPy, and attention in plain Python."""

import ast
import math
import struct
import sys

CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "|b1": "?", "<V2": "H", "<f2": "e"}


def write(path, descr, shape, values):
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack(f"<{len(values)}{CODES[descr]}", *values))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    code = CODES[header["descr"]]
    values = struct.unpack(
        f"<{(len(data) - 10 - length) // struct.calcsize(code)}{code}",
        data[10 + length :],
    )
    return header["shape"], values


def attention(queries, keys, values, heads, rows, columns, dim):
    """Causal attention of `heads` query heads over one key head."""
    scale = 1 / math.sqrt(dim)
    output, lse = [], []
    for h in range(heads):
        for i in range(rows):
            query = queries[(h * rows + i) * dim :][:dim]
            scores = [
                scale * sum(a * b for a, b in zip(query, keys[j * dim :][:dim]))
                for j in range(min(i + 1, columns))
            ]
            weights = [math.exp(s) for s in scores]
            total = sum(weights)
            lse.append(math.log(total))
            for d in range(dim):
                parts = (w * values[j * dim + d] for j, w in enumerate(weights))
                output.append(sum(parts) / total)
    return output, lse


def compare(first, second):
    """Prints how far two files of the same shape are apart."""
    (shape, a), (other_shape, b) = read(first), read(second)
    assert shape == other_shape, (shape, other_shape)
    error = max(abs(x - y) for x, y in zip(a, b))
    assert 0 < max(map(abs, a)) < 10
    print("largest difference", "below 0.002" if error < 0.002 else error)


def main(mode, folder, *other):
    if mode == "close":
        return compare(folder, *other)
    rows, columns, dim, heads = 3, 5, 4, 2
    q = [math.sin(1.7 * i) for i in range(heads * rows * dim)]
    k = [math.cos(2.3 * i) for i in range(columns * dim)]
    v = [math.sin(0.9 * i + 1) for i in range(columns * dim)]
    if mode == "write":
        write(f"{folder}/q.npy", "<f4", (1, heads, rows, dim), q)
        write(f"{folder}/k.npy", "<f4", (1, 1, columns, dim), k)
        write(f"{folder}/v.npy", "<f4", (1, 1, columns, dim), v)
        write(f"{folder}/short.npy", "<f4", (1, 1, columns - 1, dim), v[:-dim])
        write(f"{folder}/wide.npy", "<f8", (1, 1, columns, dim), v)
        write(f"{folder}/flat.npy", "<f4", (columns * dim,), v)
        return
    expected_output, expected_lse = attention(q, k, v, heads, rows, columns, dim)
    for name, shape, expected in (
        ("o", (1, heads, rows, dim), expected_output),
        ("lse", (1, heads, rows), expected_lse),
    ):
        actual_shape, actual = read(f"{folder}/{name}.npy")
        assert actual_shape == shape, (name, actual_shape)
        error = max(abs(a - b) for a, b in zip(actual, expected))
        assert error < 1e-6, (name, error)
    print("python agrees")


if __name__ == "__main__":
    main(*sys.argv[1:])
