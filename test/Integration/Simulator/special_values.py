"""Runs attention on inputs with NaN and infinities in the simulator, and checks what docs/Spec.md says of them.

Only the outputs that a special value can reach may be special; all others must be within the usual bound of the
reference.
"""

import argparse
import math
import os
import subprocess
import tempfile

import numpy as np

import check_kernel as kernel

NAN, INF = math.nan, math.inf


def execute(a, folder, q, k, v):
    """Output and LSE of one head, as rows."""
    base = os.path.join(folder, "attention")
    shapes = {"q": (1, 1, a.M, a.D), "k": (1, 1, a.N, a.D), "v": (1, 1, a.N, a.Dv)}
    command = ["attn-sim", base + ".ptx", "--check"]
    for (name, shape), rows in zip(shapes.items(), (q, k, v)):
        kernel.write_npy(f"{base}.{name}.npy", shape, [x for row in rows for x in row], a.dtype)
        command += ["--input", f"{base}.{name}.npy"]
    command += ["--output", base + ".o.npy", "--output", base + ".lse.npy"]
    subprocess.run(command, check=True)
    return kernel.rows(kernel.read_npy(base + ".o.npy", a.dtype), a.Dv), kernel.read_npy(base + ".lse.npy", "f32")


def dot(x, y):
    """A sum that math.fsum refuses to make: infinities of both signs are NaN."""
    return sum(s * t for s, t in zip(x, y))


def column_kinds(scores, column, top):
    """The kinds allowed for the output of one row and one column of V."""
    weighted, doubtful = set(), False
    for s, x in zip(scores, column):
        if math.isfinite(x):
            continue
        if s - top < -87:  # below the smallest f32 an exponential may be 0
            doubtful = True
        else:
            weighted.add(NAN if math.isnan(x) else x)
    if NAN in weighted or len(weighted) == 2:
        return {NAN}
    if weighted:
        return {NAN} | weighted
    return {NAN, "finite"} if doubtful else {"finite"}


def allowed(a, q, k, v, i):
    """The kinds of value allowed for each output of row i, and for its LSE: sets of "finite", NAN, INF, -INF."""
    scores = [dot(q[i], k[j]) / math.sqrt(a.D) if kernel.is_visible(a, i, j) else -INF for j in range(a.N)]
    if any(math.isnan(s) for s in scores):
        return [{NAN}] * a.Dv, {NAN}
    if INF in scores:
        return [{NAN}] * a.Dv, {NAN, INF}
    top = max(scores)
    if top == -INF:
        return [{"zero"}] * a.Dv, {-INF}
    return [column_kinds(scores, [row[d] for row in v], top) for d in range(a.Dv)], {"finite"}


def fits(value, kinds):
    if math.isnan(value):
        return NAN in kinds
    if math.isinf(value):
        return value in kinds
    return "finite" in kinds or ("zero" in kinds and value == 0)


def check(a, name, folder, q, k, v):
    output, lse = execute(a, folder, q, k, v)
    special = 0
    for i in range(a.M):
        kinds, lse_kinds = allowed(a, q, k, v, i)
        special += not all(map(math.isfinite, [lse[i], *output[i]]))
        assert fits(lse[i], lse_kinds), (name, "row", i, "lse", lse[i], lse_kinds)
        for d in range(a.Dv):
            assert fits(output[i][d], kinds[d]), (name, "row", i, "column", d, output[i][d], kinds[d])
        if lse_kinds != {"finite"}:
            continue
        clean = [[x if math.isfinite(x) else 0.0 for x in row] for row in v]
        expected, expected_lse, unfused = (rows[0] for rows in kernel.attend(a, q[i : i + 1], k, clean, first=i))
        assert abs(lse[i] - expected_lse) <= 1e-5 * max(1, abs(expected_lse)), (name, i, lse[i], expected_lse)
        limit = 2 * max(kernel.worst(unfused, expected), (2**-11 if a.dtype == "f16" else 2**-8) * 4)
        for d in range(a.Dv):
            if kinds[d] == {"finite"}:
                assert abs(output[i][d] - expected[d]) <= limit, (name, i, d, output[i][d], expected[d])
    print(f"{name}: {special} of {a.M} rows are special, as specified")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in dict(M=40, N=70, D=64, Dv=64).items():
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--dtype", choices=["f16", "bf16"], default="f16")
    parser.add_argument("--mask", default="causal(bottom_right)")
    parser.add_argument("--target", default="sm_80")
    a = parser.parse_args()
    a.bias, a.soft_cap = False, 0.0
    generator = np.random.default_rng(1)
    draw = lambda rows, width: kernel.round_operand(generator.normal(size=(rows, width)), a.dtype).tolist()
    inputs = {"q": draw(a.M, a.D), "k": draw(a.N, a.D), "v": draw(a.N, a.Dv)}
    last = a.N - 3  # seen by the last rows of a causal mask only
    cases = [
        ("no special value", []),
        ("NaN in a query", [("q", 5, 3, NAN)]),
        ("NaN in a key", [("k", last, 3, NAN)]),
        ("NaN in a value", [("v", last, 7, NAN)]),
        ("infinity in a query", [("q", 5, 3, INF)]),
        ("infinity in a key", [("k", last, 3, INF)]),
        ("infinity in a value", [("v", last, 7, INF)]),
        ("-infinity in a value", [("v", last, 7, -INF)]),
        ("infinities of both signs in a column", [("v", last, 7, INF), ("v", last - 1, 7, -INF)]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "attention")
        with open(base + ".mlir", "w") as file:
            file.write(kernel.module_text(a))
        subprocess.run(["attn-opt", base + ".mlir", f"--target={a.target}", "--emit=ptx,manifest", "-o", base], check=True)
        for name, edits in cases:
            data = {key: [list(row) for row in rows] for key, rows in inputs.items()}
            for operand, row, column, value in edits:
                data[operand][row][column] = value
            check(a, name, folder, *data.values())
        q = [[INF if d == 0 else 1.0 for d in range(a.D)] for _ in range(a.M)]
        k = [[-1.0] * a.D for _ in range(a.N)]
        check(a, "every score -inf", folder, q, k, inputs["v"])
        # A key that one row sees with an exponential of 0, next to a large one.
        data = {key: [list(row) for row in rows] for key, rows in inputs.items()}
        data["q"][a.M - 1] = [4.0] * a.D
        data["k"][0], data["k"][1] = [8.0] * a.D, [-8.0] * a.D
        data["v"][1][7] = NAN
        data["k"][2:] = [[0.0] * a.D for _ in range(a.N - 2)]
        check(a, "NaN under a weight of 0", folder, *data.values())


if __name__ == "__main__":
    main()
