"""Writes q, pools of keys and values, a table and lengths: NaN in rows that nobody has, no pages behind the lengths.

paged-inputs.py FOLDER [PAGE COLUMNS HEADS ROWS LENGTH,LENGTH,...]
"""

import random
import sys

from npy import write

LENGTHS, PAGE, COLUMNS, DIM, HEADS, ROWS = [30, 0, 41], 12, 4, 64, 4, 1
if len(sys.argv) > 2:
    PAGE, COLUMNS, HEADS, ROWS = (int(number) for number in sys.argv[2:6])
    LENGTHS = [int(number) for number in sys.argv[6].split(",")]


def main():
    rng = random.Random(1)
    pages = len(LENGTHS) * COLUMNS
    order = rng.sample(range(pages), pages)
    table = [order[b * COLUMNS + c] if c * PAGE < n else (-1, 2147480000)[c % 2] for b, n in enumerate(LENGTHS) for c in range(COLUMNS)]
    used = {table[b * COLUMNS + j // PAGE] * PAGE + j % PAGE for b, n in enumerate(LENGTHS) for j in range(n)}
    write(sys.argv[1], "q", "<f2", (len(LENGTHS), HEADS, ROWS, DIM), [rng.gauss(0, 1) for _ in range(len(LENGTHS) * HEADS * ROWS * DIM)])
    for name in ("k", "v"):
        rows = ([rng.gauss(0, 1) if row in used else float("nan") for _ in range(DIM)] for row in range(pages * PAGE))
        write(sys.argv[1], name, "<f2", (pages, 1, PAGE, DIM), [value for row in rows for value in row])
    write(sys.argv[1], "t", "<i4", (len(LENGTHS), COLUMNS), table)
    write(sys.argv[1], "n", "<i4", (len(LENGTHS),), LENGTHS)


main()
