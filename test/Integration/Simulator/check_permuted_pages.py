"""Runs @paged of FILE over the same keys and values in pages at different places, and @behind over them behind each other: the
same bits, whatever stands in other pages, behind the lengths and in entries there.

usage: check_permuted_pages.py FILE DEVICE
"""

import subprocess
import sys
import tempfile

import numpy as np

LENGTHS, KEYS, PAGE, ROWS, D = [150, 0, 33], 192, 16, 40, 64


def run(path, device, function, folder, inputs):
    names = []
    for number, array in enumerate(inputs):
        names.append(f"--input={folder}/{number}.npy")
        np.save(f"{folder}/{number}.npy", array)
    outputs = [f"--output={folder}/{name}.npy" for name in ("o", "lse")]
    subprocess.run(["attn-run", path, f"--function={function}", f"--device={device}", *names, *outputs], check=True)
    return [np.load(f"{folder}/{name}.npy").tobytes() for name in ("o", "lse")]


def put(rows, table, pages, rng):
    """The rows that exist, in the pages of `table`; NaN and infinities elsewhere."""
    pool = np.full((pages, 1, PAGE, D), np.nan, np.float16)
    pool[rng.random(pool.shape) < 0.5] = np.inf
    for b, length in enumerate(LENGTHS):
        for j in range(length):
            pool[table[b, j // PAGE], 0, j % PAGE] = rows[b, 0, j]
    return pool


def main():
    path, device = sys.argv[1:]
    rng = np.random.default_rng(1)
    batches, columns = len(LENGTHS), KEYS // PAGE
    q, k, v = (rng.standard_normal((batches, heads, rows, D)).astype(np.float16) for heads, rows in [(2, ROWS), (1, KEYS), (1, KEYS)])
    lengths = np.array(LENGTHS, np.int32)
    with tempfile.TemporaryDirectory() as folder:
        expected = run(path, device, "behind", folder, [q, k, v, lengths])
        for trial in range(3):
            pages = batches * columns + trial
            table = rng.permutation(pages)[: batches * columns].reshape(batches, columns).astype(np.int32)
            pools = [put(rows, table, pages, rng) for rows in (k, v)]
            for b, length in enumerate(LENGTHS):
                table[b, -(-length // PAGE) :] = rng.choice([-1, 2147480000, pages], columns - -(-length // PAGE))
            if run(path, device, "paged", folder, [q, *pools, table, lengths]) != expected:
                sys.exit(f"FAIL: other bits in trial {trial}")
    print("PASS")


if __name__ == "__main__":
    main()
