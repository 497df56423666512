"""Writes packed queries, keys and values and their offsets: NaN in rows of no sequence; sequences without rows, without keys, that end in
the middle of a tile, and one as long as the bound.

ragged-inputs.py FOLDER
"""

import random
import sys

from npy import write

OFFSETS = {"qo": [1, 1, 18, 50, 51], "ko": [2, 7, 37, 37, 70]}
ROWS, KEYS, HEADS, DIM = 53, 73, 2, 64


def main():
    rng = random.Random(1)
    for name, rows, heads, offsets in (("q", ROWS, HEADS, OFFSETS["qo"]), ("k", KEYS, 1, OFFSETS["ko"]), ("v", KEYS, 1, OFFSETS["ko"])):
        kept = range(offsets[0], offsets[-1])
        values = [rng.gauss(0, 1) if row in kept else float("nan") for row in range(rows) for _ in range(heads * DIM)]
        write(sys.argv[1], name, "<f2", (rows, heads, DIM), values)
    for name, offsets in OFFSETS.items():
        write(sys.argv[1], name, "<i4", (len(offsets),), offsets)


main()
