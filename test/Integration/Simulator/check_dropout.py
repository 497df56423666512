"""Reads the mask of dropout off every kernel, and compares it bit by bit with the formula of docs/Spec.md.

usage: check_dropout.py FOLDER: scores of 0 and the unit matrix as value make the output 1 / (N (1 - rate)) where an element is
kept, and 0 where it is dropped; the unit matrix as gradient of the output does so for the gradient of the value. On the CPU,
fused and unfused, and in the simulator, with tiles of many sizes. Standard library only.
"""

import math
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from attn_mlir.runtime.host_array import HostArray, read_npy, write_npy
from sweep import LONG

SEED, OFFSET, RATE = -(2**63) + 12345, 2**40 + 7, 0.3
B, HQ, HKV, N, D = (2, 4, 2, 128, 128) if LONG else (2, 4, 2, 64, 64)
MASK32 = 2**32 - 1


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK32, (a >> 32) ^ c[3] ^ k[1], a & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return c


def halves(number):
    return number & MASK32, (number >> 32) & MASK32


@lru_cache(None)
def group(b, h, i, j):
    head = philox((*halves(OFFSET), b, h), halves(SEED))
    return philox((i, j, head[2], head[3]), head[:2])


def keeps(b, h, i, j):
    word = group(b, h, i & ~8, j & ~8)[2 * (i >> 3 & 1) + (j >> 3 & 1)]
    return word >= int(RATE * 2**32)


def tensor(heads, rows, dtype):
    return f"tensor<{B}x{heads}x{rows}x{D}x{dtype}>"


def forward(rows, dtype, schedule):
    q, k = tensor(HQ, rows, dtype), tensor(HKV, N, dtype)
    return f"""func.func @f(%q: {q}, %k: {k}, %v: {k}, %seed: tensor<i64>, %offset: tensor<i64>) -> {q} {{
  %s = tensor.extract %seed[] : tensor<i64>
  %t = tensor.extract %offset[] : tensor<i64>
  %o = attn.attention %q, %k, %v dropout(%s, %t) rate({RATE}) {schedule} : {q}, {k}, {k} -> {q}
  return %o : {q}
}}
"""


def backward(dtype):
    """The gradient of the value, from an LSE of log(N) = LSE."""
    q, k, lse = tensor(HQ, N, dtype), tensor(HKV, N, dtype), f"tensor<{B}x{HQ}x{N}xf32>"
    kept = tensor(HQ, N, dtype)
    return f"""func.func @f(%q: {q}, %k: {kept}, %v: {kept}, %seed: tensor<i64>, %offset: tensor<i64>, %o: {q}, %lse: {lse},
    %do: {q}) -> ({q}, {kept}, {kept}) {{
  %s = tensor.extract %seed[] : tensor<i64>
  %t = tensor.extract %offset[] : tensor<i64>
  %g:3 = attn.attention_backward %q, %k, %v output(%o : {q}) lse(%lse : {lse}) d_output(%do : {q})
      dropout(%s, %t) rate({RATE}) : {q}, {kept}, {kept} -> {q}, {kept}, {kept}
  return %g#0, %g#1, %g#2 : {q}, {kept}, {kept}
}}
"""


def units(heads, dtype):
    return HostArray.of(dtype, (B, heads, N, D), [float(i == d) for _ in range(B * heads) for i in range(N) for d in range(D)])


class Checker:
    def __init__(self, folder):
        self.folder = folder
        self.failures = 0
        for name, number in (("seed", SEED), ("offset", OFFSET)):
            write_npy(folder / f"{name}.npy", HostArray.of("i64", (), [number]))

    def write(self, name, array):
        write_npy(self.folder / f"{name}.npy", array)

    def run(self, module, device, inputs, fills, results, flags=()):
        path = self.folder / "module.mlir"
        path.write_text(module)
        if flags:
            subprocess.run(["attn-opt", path, *flags, "-o", path], check=True)
        command = ["attn-run", path, f"--device={device}"]
        command += [f"--input=arg{i}={self.folder / name}.npy" for i, name in inputs.items()]
        command += [f"--fill=arg{i}={kind}" for i, kind in fills.items()]
        outputs = [self.folder / f"result{i}.npy" for i in range(results)]
        subprocess.run(command + [f"--output={output}" for output in outputs], check=True, stdout=subprocess.DEVNULL)
        return read_npy(outputs[-1])

    def compare(self, name, result, transposed):
        """Output [B, Hq, M, keys], or gradient [B, Hq, keys, M]."""
        heads, first, second = result.shape[1:]
        values, wrong = result.values(), 0
        for at, value in enumerate(values):
            second_at, rest = at % second, at // second
            first_at, rest = rest % first, rest // first
            i, j = (second_at, first_at) if transposed else (first_at, second_at)
            wrong += (value != 0) != keeps(rest // heads, rest % heads, i, j)
        self.failures += wrong > 0
        print(f"{name}: {wrong} of {len(values)} differ from the formula", flush=True)

    def check_forward(self, device, rows, dtype="bf16", schedule="", flags=()):
        self.write("value", units(HKV, dtype))
        text = f"{{schedule = #attn.schedule<{schedule}>}}" if schedule else ""
        inputs, fills = {2: "value", 3: "seed", 4: "offset"}, {0: "zeros", 1: "normal"}
        result = self.run(forward(rows, dtype, text), device, inputs, fills, 1, flags)
        self.compare(f"forward {device} M={rows} {dtype} {schedule} {' '.join(flags)}", result, False)

    def check_backward(self, device, dtype="bf16", flags=()):
        self.write("d_output", units(HQ, dtype))
        self.write("lse", HostArray.of("f32", (B, HQ, N), [math.log(N)] * (B * HQ * N)))
        inputs = {3: "seed", 4: "offset", 6: "lse", 7: "d_output"}
        fills = {0: "zeros", 1: "normal", 2: "normal", 5: "normal"}
        result = self.run(backward(dtype), device, inputs, fills, 3, flags)
        self.compare(f"backward {device} {dtype} {' '.join(flags)}", result, True)


def main():
    checker = Checker(Path(sys.argv[1]))
    unfused = ("--convert-attn-to-linalg",)
    checker.check_forward("cpu", 100, "f32")
    if LONG:
        checker.check_forward("cpu", 100, "f32", flags=unfused)
    checker.check_forward("cpu", 37, "bf16", 'tile_m = 24, tile_n = 40')
    checker.check_forward("cpu", 37, "f32", 'kind = "small_cache"')
    for device in ("sim:sm_80", "sim:sm_90a"):
        checker.check_forward(device, 100 if LONG else 70)
        checker.check_forward(device, 40, schedule="pack_gqa = true" + (', mma = "wgmma"' if device == "sim:sm_90a" else ""))
    for tile_m, tile_n, warps in ((16, 16, 1), (32, 48, 2), (128, 32, 4)) if LONG else ((32, 48, 2),):
        schedule = f'mma = "mma_sync", tile_m = {tile_m}, tile_n = {tile_n}, warps = {warps}'
        checker.check_forward("sim:sm_80", 40, schedule=schedule)
    checker.check_forward("sim:sm_80", 70, schedule='kind = "small_cache", tile_m = 32, tile_n = 32, chunk_rows = 64')
    checker.check_forward("sim:sm_90a", 70, schedule='mma = "wgmma", tile_m = 64, tile_n = 80, warps = 4')
    checker.check_forward("sim:sm_90a", 130, schedule='mma = "wgmma", cluster_m = 2')
    checker.check_backward("cpu", "f32")
    checker.check_backward("cpu", "f32", unfused)
    for device in ("sim:sm_80", "sim:sm_90a"):
        checker.check_backward(device)
    sys.exit("FAIL" if checker.failures else print("PASS"))


if __name__ == "__main__":
    main()
