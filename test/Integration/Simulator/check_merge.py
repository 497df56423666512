"""Merges of partial attentions by the kernel of attn.merge, against one attention over all keys in float64.

usage: check_merge.py TARGET
Keys are shared out over 1 to 33 parts at random, of which some have none: LSE -inf, and for an output NaN, which must reach nothing. Scores around 0, 80, -80
and -10000; a sink; parts of f32, f16; merges of merges.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import LONG

HEADS, COLUMNS = 3, 40


def compile_merge(folder, target, dtype, has_sink):
    o, l = f"tensor<?x?x{HEADS}x?x{COLUMNS}x{dtype}>", f"tensor<?x?x{HEADS}x?xf32>"
    r, s = f"tensor<?x{HEADS}x?x{COLUMNS}x{dtype}>", f"tensor<?x{HEADS}x?xf32>"
    sink = (f", %s: tensor<{HEADS}xf32>", f" sink(%s : tensor<{HEADS}xf32>)") if has_sink else ("", "")
    name = f"merge_{dtype}_{has_sink}"
    (folder / f"{name}.mlir").write_text(f"""func.func @{name}(%o: {o}, %l: {l}{sink[0]}) -> ({r}, {s}) {{
  %r:2 = attn.merge outputs(%o : {o}) lses(%l : {l}){sink[1]} -> {r}, {s}
  return %r#0, %r#1 : {r}, {s}
}}
""")
    subprocess.run(["attn-opt", folder / f"{name}.mlir", f"--target={target}", "--emit=ptx,manifest", "-o", folder / name], check=True)
    return folder / f"{name}.ptx"


def merge(ptx, folder, inputs):
    for number, array in enumerate(inputs):
        np.save(folder / f"{number}.npy", array)
    command = ["attn-sim", ptx, *(f"--input={folder}/{i}.npy" for i in range(len(inputs))), f"--output={folder}/o.npy", f"--output={folder}/l.npy"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"FAIL: {run.stdout}{run.stderr}")
    return np.load(folder / "o.npy"), np.load(folder / "l.npy")


def attend(scores, values, sink=None):
    """Output and LSE over the keys, float64; 0 and -inf without any."""
    all_scores = scores if sink is None else np.concatenate([scores, np.broadcast_to(sink[:, None, None], (*scores.shape[:3], 1))], 3)
    if all_scores.shape[3] == 0:
        return np.zeros((*scores.shape[:3], COLUMNS)), np.full(scores.shape[:3], -np.inf)
    top = all_scores.max(3, keepdims=True)
    lse = top[..., 0] + np.log(np.exp(all_scores - top).sum(3))
    return np.exp(scores - lse[..., None]) @ values, lse


def close(found, exact, part_type):
    """An LSE in f32 is off by half a unit in its last place, and each weight by as much."""
    (o, l), (exact_o, exact_l) = found, exact
    largest = np.abs(exact_l[np.isfinite(exact_l)]).max(initial=0)
    tolerance = (2e-6 if part_type == np.float32 else 2e-3) + 1.2e-7 * largest
    assert np.abs(o.astype(np.float64) - exact_o).max() <= tolerance * max(1, np.abs(exact_o).max()), np.abs(o - exact_o).max()
    finite = np.isfinite(exact_l)
    assert (np.isfinite(l) == finite).all() and (l[~finite] == -np.inf).all(), l
    assert finite.sum() == 0 or (np.abs(l - exact_l)[finite] <= 3e-7 * np.maximum(np.abs(exact_l[finite]), 1) + 1e-6).all()


def main():
    target, rng = sys.argv[1], np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for dtype in (np.float32, np.float16):
            for has_sink in (False, True):
                ptx = compile_merge(folder, target, "f32" if dtype == np.float32 else "f16", has_sink)
                for trial in range(12 if LONG else 5):
                    parts, keys = int(rng.choice([1, 2, 5, 33])), int(rng.choice([0, 1, 20, 100]))
                    batches, rows = int(rng.choice([1, 2])), int(rng.choice([1, 5]))
                    scores = rng.standard_normal((batches, HEADS, rows, keys)) * 3 + rng.choice([0, 80, -80, -1e4])
                    values = rng.standard_normal((batches, HEADS, keys, COLUMNS))
                    owner = rng.integers(0, parts, keys)
                    outputs = np.zeros((parts, batches, HEADS, rows, COLUMNS), dtype)
                    lses = np.zeros((parts, batches, HEADS, rows), np.float32)
                    for part in range(parts):
                        mine = owner == part
                        o, l = attend(scores[..., mine], values[..., mine, :])
                        outputs[part], lses[part] = o if mine.any() else np.nan, l
                    sink = [(rng.standard_normal(HEADS) + scores.mean() if keys else rng.standard_normal(HEADS)).astype(np.float32)] if has_sink else []
                    found = merge(ptx, folder, [outputs, lses, *sink])
                    close(found, attend(scores, values, *sink), dtype)
                    if has_sink or parts < 3 or dtype != np.float32:
                        continue
                    # Of the first parts, then of that and the others.
                    first = merge(ptx, folder, [outputs[: parts // 2], lses[: parts // 2]])
                    rest = merge(ptx, folder, [outputs[parts // 2 :], lses[parts // 2 :]])
                    close(merge(ptx, folder, [np.stack([first[0], rest[0]]), np.stack([first[1], rest[1]])]), attend(scores, values), dtype)
    print("PASS")


if __name__ == "__main__":
    main()
