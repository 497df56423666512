"""Packed sequences of which one has NaN in K and V: the rows of the others do not see it.

ragged.py FOLDER           writes q.npy, k.npy, v.npy and n.npy, the offsets
ragged.py FOLDER OUTPUT    compares with attention by definition in float64
"""

import sys
from pathlib import Path

import numpy as np

OFFSETS, BAD = np.array([0, 64, 64, 193, 260, 420], np.int32), 3  # the sequence [193, 260)


def attend(q, k, v):
    s = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hij,jhd->ihd", p / p.sum(-1, keepdims=True), v)


def main():
    folder = Path(sys.argv[1])
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=(420, 2, 64)).astype(np.float16) for _ in range(3))
    rows = slice(OFFSETS[BAD], OFFSETS[BAD + 1])
    k[rows] = v[rows] = np.nan
    if len(sys.argv) == 2:
        folder.mkdir(exist_ok=True)
        for name, array in (("q", q), ("k", k), ("v", v), ("n", OFFSETS)):
            np.save(folder / f"{name}.npy", array)
        return
    output = np.load(folder / sys.argv[2]).astype(np.float64)
    for number, (begin, end) in enumerate(zip(OFFSETS, OFFSETS[1:])):
        got = output[begin:end]
        if number == BAD:
            assert np.isnan(got).all(), "expected NaN of a sequence of NaN"
        elif begin < end:
            error = np.abs(got - attend(*(x[begin:end].astype(np.float64) for x in (q, k, v)))).max()
            assert error < 2e-3, f"sequence {number}: error {error}"
    print("PASS")


main()
