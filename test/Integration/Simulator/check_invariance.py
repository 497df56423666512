"""The bits of a sequence, alone and in batches: others before and behind it, empty ones, longer tensors, its keys in pages of several
sizes at any places. Shapes are static, and the compiler chooses for each what the schedule leaves open.

usage: check_invariance.py DEVICE SCHEDULE [ROWS [PAGES]]: sim:sm_80, sim:sm_90a; the fields of an #attn.schedule; page sizes, 0 for none.
Results are compared with float64, too. Prints PASS, or that bits differ, and where.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import LONG

HEADS, KEY_HEADS, D, OWN = 8, 2, 64, 150
#: (lengths of the batch, which of them is the sequence's, keys of the tensors, page size or 0)
PLACES = [
    ([OWN], 0, OWN, 0), ([OWN], 0, 448, 0), ([0, OWN, 421], 1, 448, 0), ([300, 1, OWN], 2, 304, 0), ([OWN, 0], 0, 160, 0),
    ([OWN], 0, 160, 16), ([77, OWN, 421], 1, 448, 16), ([OWN, 0], 0, 320, 16), ([3, OWN], 1, 160, 1), ([OWN], 0, 152, 8),
]  # fmt: skip
if not LONG:
    PLACES = [*PLACES[:3], PLACES[6], *PLACES[8:]]


def write_module(path, lengths, keys, page, rows, schedule):
    b = len(lengths)
    q, lse, n = f"tensor<{b}x{HEADS}x{rows}x{D}xf16>", f"tensor<{b}x{HEADS}x{rows}xf32>", f"tensor<{b}xi32>"
    k = f"tensor<{b}x{KEY_HEADS}x{keys}x{D}xf16>"
    pool, table = (f"tensor<{b * keys // page + 3}x{KEY_HEADS}x{page}x{D}xf16>", f"tensor<{b}x{keys // page}xi32>") if page else (k, None)
    views = "".join(f"  %{x} = attn.paged %{x}p[%t] : {pool}[{table}] -> {k}\n" for x in "kv") if page else ""
    names, parameter = ("%kp", "%vp") if page else ("%k", "%v"), f", %t: {table}" if page else ""
    path.write_text(f"""func.func @attention(%q: {q}, {names[0]}: {pool}, {names[1]}: {pool}, %n: {n}{parameter}) -> ({q}, {lse}) {{
{views}  %o, %lse = attn.attention %q, %k, %v lengths(key %n : {n}) mask_mod causal(bottom_right)
      {{schedule = #attn.schedule<{schedule}>}} : {q}, {k}, {k} -> {q}, {lse}
  return %o, %lse : {q}, {lse}
}}
""")


def in_pages(rows, lengths, page, rng):
    """A pool of NaN with the rows that exist in pages at random places, and their table, with no page behind a length."""
    pages = rows.shape[0] * rows.shape[2] // page
    table = rng.permutation(pages + 3)[:pages].reshape(rows.shape[0], -1).astype(np.int32)
    for b, length in enumerate(lengths):
        table[b, -(-length // page) :] = 2147480000
    return table, lambda x: scatter(x, lengths, table, page, pages + 3)


def scatter(rows, lengths, table, page, pages):
    pool = np.full((pages, KEY_HEADS, page, D), np.nan, np.float16)
    for b, length in enumerate(lengths):
        for j in range(length):
            pool[table[b, j // page], :, j % page] = rows[b, :, j]
    return pool


def attend(q, k, v, lengths):
    """In float64."""
    output, lse = np.zeros(q.shape), np.full(q.shape[:3], -np.inf)
    m, group = q.shape[2], HEADS // KEY_HEADS
    for b, length in enumerate(lengths):
        for h in range(HEADS):
            scores = q[b, h].astype(float) @ k[b, h // group, :length].astype(float).T / D**0.5
            scores[np.arange(length) > np.arange(m)[:, None] + length - m] = -np.inf
            for i, row in enumerate(scores):
                if np.isfinite(row).any():
                    lse[b, h, i] = np.log(np.exp(row - row.max()).sum()) + row.max()
                    output[b, h, i] = np.exp(row - lse[b, h, i]) @ v[b, h // group, :length].astype(float)
    return output, lse


def run(folder, device, place, rows, schedule, own):
    lengths, at, keys, page = place
    rng = np.random.default_rng(len(lengths) + keys)
    q, k, v = (rng.standard_normal((len(lengths), h, m, D)).astype(np.float16) for h, m in [(HEADS, rows), (KEY_HEADS, keys), (KEY_HEADS, keys)])
    q[at], k[at, :, :OWN], v[at, :, :OWN] = own
    expected = attend(q, k, v, lengths)
    for b, length in enumerate(lengths):
        k[b, :, length:], v[b, :, length:] = np.nan, np.nan
    inputs = [q, k, v, np.array(lengths, np.int32)]
    if page:
        table, put = in_pages(k, lengths, page, rng)
        inputs = [q, put(k), put(v), inputs[3], table]
    write_module(folder / "module.mlir", lengths, keys, page, rows, schedule)
    for number, array in enumerate(inputs):
        np.save(folder / f"{number}.npy", array)
    command = ["attn-run", folder / "module.mlir", f"--device={device}", *(f"--input={folder}/{i}.npy" for i in range(len(inputs)))]
    subprocess.run([*command, f"--output={folder}/o.npy", f"--output={folder}/lse.npy"], check=True, stdout=subprocess.DEVNULL)
    results = [np.load(folder / f"{name}.npy") for name in ("o", "lse")]
    np.testing.assert_allclose(results[0], expected[0], atol=2e-3)
    np.testing.assert_allclose(results[1], expected[1], atol=2e-3)
    return b"".join(result[at].tobytes() for result in results)


def vanishing(rows):
    """A sequence whose last keys weigh so little beside the first ones that a split of them adds less than any number: -0."""
    q, k, v = (np.zeros((h, m, D), np.float16) for h, m in [(HEADS, rows), (KEY_HEADS, OWN), (KEY_HEADS, OWN)])
    q[..., 0] = 8  # the score is the first column of k
    k[:, 3:, 0] = -100
    k[:, 3, 0], k[:, OWN - 2, 0], k[:, OWN - 1, 0] = 80, 0, -9.5
    v[:, OWN - 1] = -(2.0**-24)
    return q, k, v


def main():
    device, schedule, rows, pages = (*sys.argv[1:], *["1", "0,1,8,16"][len(sys.argv) - 3 :])
    rows, places = int(rows), [place for place in PLACES if str(place[3]) in pages.split(",")]
    rng = np.random.default_rng(7)
    own = [rng.standard_normal((h, m, D)).astype(np.float16) for h, m in [(HEADS, rows), (KEY_HEADS, OWN), (KEY_HEADS, OWN)]]
    with tempfile.TemporaryDirectory() as folder:
        bits = [run(Path(folder), device, place, rows, schedule, own) for place in places]
        # Longer tensors have more splits without keys.
        if "split_keys" in schedule:
            zeros = [run(Path(folder), device, place, rows, schedule, vanishing(rows)) for place in PLACES[:2]]
            places, bits = places + PLACES[:1], bits + ([bits[0]] if zeros[0] == zeros[1] else zeros[:1])
    others = [place for place, result in zip(places, bits) if result != bits[0]]
    print(f"bits differ in {len(others)} of {len(places) - 1} places: {others}" if others else f"PASS: {len(places)} places")


if __name__ == "__main__":
    main()
