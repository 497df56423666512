"""Writes q, k, v and lengths around a tile of 64 keys: what is stored behind a length is NaN.

lengths-inputs.py FOLDER [f16|f8E4M3FN]
"""

import random
import sys

from npy import write

LENGTHS, ROWS, KEYS, DIM = [191, 63, 65, 0], 140, 200, 64
#: A type's numbers and its NaN: halves, or codes of f8E4M3FN up to 4 in size.
TYPES = {
    "f16": ("<f2", lambda rng: rng.gauss(0, 1), float("nan")),
    "f8E4M3FN": ("|u1", lambda rng: rng.randrange(0x48) | rng.choice((0, 0x80)), 0x7F),
}


def main():
    rng = random.Random(1)
    batches = len(LENGTHS)
    dtype, draw, nan = TYPES[sys.argv[2] if len(sys.argv) > 2 else "f16"]
    write(sys.argv[1], "q", dtype, (batches, 1, ROWS, DIM), [draw(rng) for _ in range(batches * ROWS * DIM)])
    for name in ("k", "v"):
        rows = ([draw(rng) if j < n else nan for _ in range(DIM)] for n in LENGTHS for j in range(KEYS))
        write(sys.argv[1], name, dtype, (batches, 1, KEYS, DIM), [value for row in rows for value in row])
    write(sys.argv[1], "n", "<i4", (batches,), LENGTHS)


main()
