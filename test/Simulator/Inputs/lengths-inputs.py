"""Writes q, k, v and lengths around a tile of 64 keys: what is stored behind a length is NaN.

lengths-inputs.py FOLDER
"""

import random
import sys

from npy import write

LENGTHS, ROWS, KEYS, DIM = [191, 63, 65, 0], 140, 200, 64


def main():
    rng = random.Random(1)
    batches = len(LENGTHS)
    write(sys.argv[1], "q", "<f2", (batches, 1, ROWS, DIM), [rng.gauss(0, 1) for _ in range(batches * ROWS * DIM)])
    for name in ("k", "v"):
        rows = ([rng.gauss(0, 1) if j < n else float("nan") for _ in range(DIM)] for n in LENGTHS for j in range(KEYS))
        write(sys.argv[1], name, "<f2", (batches, 1, KEYS, DIM), [value for row in rows for value in row])
    write(sys.argv[1], "n", "<i4", (batches,), LENGTHS)


main()
