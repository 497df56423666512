"""Compiles one attention for a GPU, executes its PTX in the simulator, and compares with float64.

Knows nothing of the compiler but its command line: the kernel is run from PTX and manifest alone, and the reference is
written out below in plain Python. The error rule: at most twice the error of the same attention computed unfused with
the scores in float64, P rounded to the type of the products and the output rounded; both against float64. Of f32, whose
products are tf32, the unfused one rounds query, key and value too. Standard library only.
"""

import argparse
import math
import os
import random
import struct
import subprocess
import sys
import tempfile


def round_operand(x, dtype):
    """The nearest f16 or bf16 to the float x, ties to even; of f32 the nearest tf32, ties away from zero."""
    if dtype == "f16":
        return struct.unpack("<e", struct.pack("<e", x))[0]
    if dtype == "f32":
        bits = struct.unpack("<I", struct.pack("<f", x))[0]
        return struct.unpack("<f", struct.pack("<I", (bits + 0x1000) & 0xFFFFE000))[0]
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def round_element(x, dtype):
    """The nearest element of a tensor."""
    return struct.unpack("<f", struct.pack("<f", x))[0] if dtype == "f32" else round_operand(x, dtype)


def encode(values, dtype):
    if dtype == "f32":
        return struct.pack(f"<{len(values)}f", *values)
    if dtype == "f16":
        return struct.pack(f"<{len(values)}e", *values)
    return b"".join(struct.pack("<f", x)[2:] for x in values)  # already rounded


def decode(data, dtype):
    if dtype == "f32":
        return struct.unpack(f"<{len(data) // 4}f", data)
    if dtype == "f16":
        return struct.unpack(f"<{len(data) // 2}e", data)
    return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]


NPY_TYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<V2"}


def write_npy(path, shape, values, dtype):
    dims = "".join(f"{n}, " for n in shape)
    header = f"{{'descr': '{NPY_TYPES[dtype]}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + encode(values, dtype))


def read_npy(path, dtype):
    data = open(path, "rb").read()
    return decode(data[10 + struct.unpack("<H", data[8:10])[0] :], dtype)


def module_text(a):
    """The attention as attn-opt takes it, all sizes dynamic but the head dimensions."""
    q, v = f"tensor<?x?x?x{a.D}x{a.dtype}>", f"tensor<?x?x?x{a.Dv}x{a.dtype}>"
    arguments, clauses = f"%q: {q}, %k: {q}, %v: {v}", []
    if a.bias:
        arguments += ", %bias: tensor<1x1x?x?xf32>"
        clauses.append("bias(%bias : tensor<1x1x?x?xf32>)")
    if a.soft_cap:
        clauses.append(f"score_mod soft_cap({a.soft_cap})")
    if a.mask:
        clauses.append(f"mask_mod {a.mask}")
    return f"""func.func @attention({arguments}) -> ({v}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v {" ".join(clauses)}
      : {q}, {q}, {v} -> {v}, tensor<?x?x?xf32>
  return %o, %lse : {v}, tensor<?x?x?xf32>
}}
"""


def strides_of(a, shape):
    """Strides in device memory, in elements, of [B, H, rows, D]."""
    batch, heads, rows, width = shape
    if a.layout == "bnhd":
        return rows * heads * width, width, heads * width, 1
    if a.layout == "packed":  # query, key and value side by side in a row
        row = a.Hq * a.D + a.Hkv * (a.D + a.Dv)
        return rows * row, width, row, 1
    if a.layout == "padded":
        return heads * rows * (width + 8) + 64, rows * (width + 8) + 16, width + 8, 1
    return heads * rows * width, rows * width, width, 1


def is_visible(a, i, j):
    if not a.mask:
        return True
    name, _, parameters = a.mask.rstrip(")").partition("(")
    if name == "causal":
        return j <= i + (a.N - a.M if parameters == "bottom_right" else 0)
    left, right = (int(x) for x in parameters.split(","))
    return i - left <= j <= i + right


largest_logit = 0.0


def attend(a, q, keys, values, i, bias):
    """One query row: output, LSE and the output of the unfused 16-bit computation."""
    global largest_logit
    scores = []
    for j, k in enumerate(keys):
        s = math.fsum(x * y for x, y in zip(q, k)) / math.sqrt(a.D)
        if bias is not None:
            s += bias[i * a.N + j]
        if a.soft_cap:
            s = a.soft_cap * math.tanh(s / a.soft_cap)
        largest_logit = max(largest_logit, abs(s))
        scores.append(s if is_visible(a, i, j) else -math.inf)
    top = max(scores, default=-math.inf)
    if top == -math.inf:
        return [0.0] * a.Dv, -math.inf, [0.0] * a.Dv
    p = [math.exp(s - top) for s in scores]
    total = math.fsum(p)
    exact = [x / total for x in p]
    rounded = [round_operand(x, a.dtype) for x in exact]
    out = [math.fsum(w * v[d] for w, v in zip(exact, values)) for d in range(a.Dv)]
    unfused = [round_element(math.fsum(w * v[d] for w, v in zip(rounded, values)), a.dtype) for d in range(a.Dv)]
    return out, top + math.log(total), unfused


def rows(flat, width):
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def reference(a, q, k, v, bias):
    """Outputs, LSEs, and those of the unfused computation."""
    outputs, lses, unfused = attend_all(a, q, k, v, bias)
    if a.dtype != "f32":
        return outputs, lses, unfused, lses
    rounded = ([round_operand(x, "f32") for x in values] for values in (q, k, v))
    _, unfused_lses, unfused = attend_all(a, *rounded, bias)
    return outputs, lses, unfused, unfused_lses


def attend_all(a, q, k, v, bias):
    outputs, lses, unfused = [], [], []
    q, k, v = rows(q, a.D), rows(k, a.D), rows(v, a.Dv)
    for b in range(a.B):
        for h in range(a.Hq):
            first = (b * a.Hkv + h // (a.Hq // a.Hkv)) * a.N
            for i in range(a.M):
                row = q[(b * a.Hq + h) * a.M + i]
                o, lse, u = attend(a, row, k[first : first + a.N], v[first : first + a.N], i, bias)
                outputs += o
                lses.append(lse)
                unfused += u
    return outputs, lses, unfused


def worst(actual, expected):
    """Largest difference; NaN or a wrong infinity counts as infinite."""
    error = 0.0
    for x, y in zip(actual, expected):
        difference = 0.0 if x == y else abs(x - y)
        error = max(error, math.inf if math.isnan(difference) else difference)
    return error


def frobenius(actual, expected):
    norm = math.sqrt(math.fsum(y * y for y in expected)) or 1.0
    return math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(actual, expected))) / norm


def check(a, folder):
    base = os.path.join(folder, "attention")
    with open(base + ".mlir", "w") as f:
        f.write(module_text(a))
    options = [f"--schedule={a.schedule}"] if a.schedule else []
    options += ["--allow-tf32"] if a.dtype == "f32" else []
    subprocess.run(
        ["attn-opt", base + ".mlir", f"--target={a.target}", "--emit=ptx,manifest", "-o", base, *options], check=True
    )
    generator = random.Random(a.seed)
    shapes = {"q": (a.B, a.Hq, a.M, a.D), "k": (a.B, a.Hkv, a.N, a.D), "v": (a.B, a.Hkv, a.N, a.Dv)}
    inputs = {}
    for name, shape in shapes.items():
        draw = lambda: round_element(generator.gauss(0, a.magnitude if name != "v" else 1), a.dtype)
        inputs[name] = [draw() for _ in range(math.prod(shape))]
        write_npy(f"{base}.{name}.npy", shape, inputs[name], a.dtype)
    bias = None
    if a.bias:
        bias = [struct.unpack("<f", struct.pack("<f", generator.gauss(0, 1)))[0] for _ in range(a.M * a.N)]
        write_npy(base + ".bias.npy", (1, 1, a.M, a.N), bias, "f32")
    command = ["attn-sim", base + ".ptx", "--manifest", base + ".json", "--check"]
    for name in list(inputs) + (["bias"] if a.bias else []):
        command += ["--input", f"{base}.{name}.npy"]
    command += ["--output", base + ".o.npy", "--output", base + ".lse.npy"]
    operands = {"query": shapes["q"], "key": shapes["k"], "value": shapes["v"], "output": (a.B, a.Hq, a.M, a.Dv)}
    for name, shape in operands.items():
        command += ["--strides", name + "=" + ",".join(map(str, strides_of(a, shape)))]
    runs = []
    for seed in range(a.schedule_seed, a.schedule_seed + a.schedules):
        subprocess.run([*command, f"--seed={seed}"], check=True, stdout=subprocess.DEVNULL)
        runs.append((read_npy(base + ".o.npy", a.dtype), read_npy(base + ".lse.npy", "f32")))
        if list(map(repr, runs[-1])) != list(map(repr, runs[0])):
            return f"schedules {a.schedule_seed} and {seed} differ"
    output, lse = runs[0]
    expected, expected_lse, unfused, unfused_lse = reference(a, inputs["q"], inputs["k"], inputs["v"], bias)
    if len(output) != len(expected) or len(lse) != len(expected_lse):
        return f"expected {len(expected)} and {len(expected_lse)} results, got {len(output)} and {len(lse)}"
    epsilon = 2**-8 if a.dtype == "bf16" else 2**-11
    largest = max((abs(x) for x in expected), default=0.0)
    limits = {
        "output, largest error": (worst(output, expected), 2 * max(worst(unfused, expected), epsilon * largest)),
        "output, relative error": (frobenius(output, expected), 2 * max(frobenius(unfused, expected), epsilon / 2)),
        "LSE, largest error": (worst(lse, expected_lse), max(2 * worst(unfused_lse, expected_lse), 1e-5 * max(1.0, a.magnitude**2))),
    }
    failures = [f"{name}: expected at most {limit:.3g}, got {error:.3g}" for name, (error, limit) in limits.items() if not error <= limit]
    return "; ".join(failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in dict(B=1, Hq=2, Hkv=1, M=70, N=90, D=64, Dv=0, seed=0, schedule_seed=0, schedules=1).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=default)
    parser.add_argument("--dtype", choices=["f16", "bf16", "f32"], default="f16")
    parser.add_argument("--mask", default="", help="as in the assembly: causal(top_left), sliding_window(8, 0), ...")
    parser.add_argument("--soft-cap", type=float, default=0.0)
    parser.add_argument("--bias", action="store_true")
    parser.add_argument("--magnitude", type=float, default=1.0, help="standard deviation of query and key")
    parser.add_argument("--layout", choices=["bhnd", "bnhd", "packed", "padded"], default="bhnd", help="in device memory")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--schedule", default="", help="fields of the schedule that are given: 'kind=small_cache tile_m=32'")
    a = parser.parse_args()
    a.Dv = a.Dv or a.D
    with tempfile.TemporaryDirectory() as folder:
        failure = check(a, folder)
    if failure:
        sys.exit(f"FAIL {vars(a)}: {failure}")
    print(f"PASS, largest logit {largest_logit:.0f}")


if __name__ == "__main__":
    main()
