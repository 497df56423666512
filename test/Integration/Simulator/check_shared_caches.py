"""Decode steps with caches in place against the same steps of the graphs as transformers exported them, whose caches are copied.

usage: check_shared_caches.py FOLDER grows|window|static DEVICE: FOLDER has mistral-dynamic-cache.mlir and shared.mlir, mistral-sliding-cache.mlir
and ring.mlir, or mistral-static-sliding-cache.mlir and static-ring.mlir.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

STEPS, ROOM, WINDOW = 3, 64, 96


def run(module, arguments, folder, device, results):
    command = ["attn-run", module, f"--device={device}"]
    for number, array in enumerate(arguments):
        np.save(folder / f"{number}.npy", array)
        command.append(f"--input=arg{number}={folder}/{number}.npy")
    names = [folder / f"out{number}.npy" for number in range(results)]
    made = subprocess.run([*command, *(f"--output={name}" for name in names)], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"FAIL: {made.stderr}")
    return [np.load(name) for name in names]


def main(models, kind, device):
    rng = np.random.default_rng(5)
    draw = lambda *shape: (rng.standard_normal(shape) / 4).astype(np.float16)  # noqa: E731
    weights = [draw(256, 256), draw(128, 256), draw(128, 256), draw(256, 256)]
    before = {"grows": 41, "window": WINDOW - 1, "static": WINDOW}[kind]
    written = before if kind == "grows" else 1000
    caches = [draw(2, 2, before, 64) for _ in range(2)]
    if kind == "grows":
        pools = [np.full((2, 2, ROOM, 64), np.nan, np.float16) for _ in range(2)]
        for pool, cache in zip(pools, caches):
            pool[:, :, :before] = cache
        modules = models / "mistral-dynamic-cache.mlir", models / "shared.mlir"
    else:  # row n of all is at n mod WINDOW
        pools = [np.full((2, 2, WINDOW, 64), np.nan, np.float16) for _ in range(2)]
        for pool, cache in zip(pools, caches):
            pool[:, :, np.arange(written - before, written) % WINDOW] = cache
            pool[:, :, written % WINDOW] = np.nan  # the place of the next
        names = {"window": ("mistral-sliding-cache", "ring"), "static": ("mistral-static-sliding-cache", "static-ring")}[kind]
        modules = [models / f"{name}.mlir" for name in names]
    with tempfile.TemporaryDirectory() as name:
        for step in range(STEPS):
            tokens = [draw(2, 1, 256), draw(1, 1, 64), draw(1, 1, 64)]
            output, *caches = run(modules[0], [*tokens, *caches, *weights], Path(name), "cpu", 3)
            length = np.array(written + step, np.int64)
            got, *pools = run(modules[1], [*tokens, *pools, *weights, length], Path(name), device, 3)
            assert np.abs(got - output).max() < 2e-2 * np.abs(output).max(), (step, np.abs(got - output).max())
            rows = np.arange(length + 1) if kind == "grows" else np.arange(length + 1 - before, length + 1) % WINDOW
            for pool, cache in zip(pools, caches):
                assert np.abs(pool[:, :, rows] - cache).max() < 1e-2, step
    print("PASS")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
