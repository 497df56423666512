"""invariance="prefix" on random prompts: tokens of `decode` have the bits that `prefill` gives them, whatever the sizes, masks, pages and splits are.

usage: prefix_random.py [SEED [CASES]]; 2 cases, 6 in a long run. Ends with how many cases differ, and which.
"""

import random
import sys

import numpy as np

import attn_mlir
from attn_mlir import mask
from sweep import LONG

MASKS = (
    lambda b, h, i, j: (j % 5 != 1) | (h % 2 == 0),
    lambda b, h, i, j: (j < 20) | (j > 50),
    lambda b, h, i, j: (mask.key_length() - mask.query_length() + i - j) % 3 != 1,
    lambda b, h, i, j: (j // 32) % 2 == 0,
)


def draw(rng):
    """(query, pools, table, options) of a prompt."""
    dim, key_heads, page, length = rng.choice([16, 32, 64, 72, 80, 96, 128, 192, 256]), rng.choice([1, 2]), rng.choice([1, 3, 8, 16, 64]), rng.choice([5, 40, 65, 130, 200])
    heads, value_dim, pages = key_heads * rng.choice([1, 2, 4, 8]), rng.choice([dim, dim, 32, 64]), -(-length // page)
    normal = np.random.default_rng(rng.randrange(1 << 30)).standard_normal
    pools = [normal((pages, key_heads, page, d)).astype(np.float16) for d in (dim, value_dim)]
    query = (normal((length, heads, dim)) * rng.choice([1, 1, 8])).astype(np.float16)
    options = {"target": rng.choice(["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120"])}
    options["window"] = rng.choice([None, (rng.choice([0, 3, 64, 100]), 0), (rng.choice([10, 70, 100]), rng.choice([0, 5]))])
    if rng.random() < 0.2:
        options["soft_cap"] = 5.0
    if rng.random() < 0.2:
        options["sink"] = normal(heads).astype(np.float16)
    if rng.random() < 0.3:
        options["mask_mod"] = rng.choice(MASKS)
    split = rng.choice([0, 0, 64, 128])
    if split and split % page == 0:
        options["fixed_split_size"] = split // page
    return query, pools, np.arange(pages, dtype=np.int32)[None], options


def differs(rng):
    """What of a case has other bits; None if nothing."""
    query, pools, table, options = draw(rng)
    options.update(device="sim", invariance="prefix", return_lse=True)
    length = len(query)
    output, lse = attn_mlir.prefill(query, *pools, table, np.asarray([length], np.int32), np.asarray([0, length], np.int32), length, **options)
    for _ in range(3):
        at, count = rng.randrange(length), rng.choice([1, 1, 2, 7, 16])
        rows = slice(max(at + 1 - count, 0), at + 1)
        tokens = np.ascontiguousarray(query[rows].swapaxes(0, 1)[None])
        got = attn_mlir.decode(tokens, *pools, table, np.asarray([at + 1], np.int32), **options)
        wanted = output[rows].swapaxes(0, 1), lse[:, rows]
        if any(x[0].tobytes() != np.ascontiguousarray(y).tobytes() for x, y in zip(got, wanted)):
            return f"rows {rows.start} to {at} of {query.shape}, pools {[pool.shape for pool in pools]}, {options}"
    return None


def main(seed=1, cases=6 if LONG else 2):
    found = 0
    for case in range(int(cases)):
        if (what := differs(random.Random(f"{seed}/{case}"))) is not None:
            found += 1
            print(f"case {case}: {what}", flush=True)
    print(f"seed {seed}: {cases} cases, {found} differ")
    sys.exit(found != 0)


main(*sys.argv[1:])
