"""usage: check_nan.py write|check FOLDER. Output and LSE [1, 1, 17(, 64)] whose row 3 is NaN and whose row 5 has no keys; what gradients are then."""

import sys

import numpy as np

ROWS, NAN, EMPTY = 17, 3, 5


def main():
    what, folder = sys.argv[1:]
    if what == "write":
        output, lse = np.zeros((1, 1, ROWS, 64), np.float16), np.full((1, 1, ROWS), 3.0, np.float32)
        output[:, :, NAN] = lse[:, :, NAN] = np.nan
        lse[:, :, EMPTY] = -np.inf
        np.save(f"{folder}/output.npy", output)
        np.save(f"{folder}/lse.npy", lse)
        return
    dq, dk, dv = (np.load(f"{folder}/{name}.npy")[0, 0] for name in ("dq", "dk", "dv"))
    assert np.isnan(dk).all() and np.isnan(dv).all(), (dk, dv)
    assert np.isnan(dq[NAN]).all() and not dq[EMPTY].any(), dq
    others = np.delete(dq, [NAN, EMPTY], axis=0)
    assert np.isfinite(others).all() and others.any(axis=1).all(), others


main()
