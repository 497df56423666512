"""Writes pools, new rows and slots: the first and the last row, -1, and the number of rows, which is no row.

append-inputs.py FOLDER
"""

import random
import sys

from npy import write

PAGES, HEADS, PAGE, SLOTS = 3, 2, 5, [7, -1, 0, 14, 15, 4, 6]


def main():
    rng = random.Random(1)
    normal = lambda count: [rng.gauss(0, 1) for _ in range(count)]  # noqa: E731
    pool, rows = PAGES * HEADS * PAGE, len(SLOTS) * HEADS
    write(sys.argv[1], "k_pool", "<V2", (PAGES, HEADS, PAGE, 40), [rng.randrange(1 << 14) for _ in range(pool * 40)])
    write(sys.argv[1], "v_pool", "<f2", (PAGES, HEADS, PAGE, 33), normal(pool * 33))
    write(sys.argv[1], "k", "<f4", (len(SLOTS), HEADS, 40), normal(rows * 40))
    write(sys.argv[1], "v", "<f2", (len(SLOTS), HEADS, 33), normal(rows * 33))
    write(sys.argv[1], "slots", "<i4", (len(SLOTS),), SLOTS)


main()
