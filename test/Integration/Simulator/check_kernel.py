"""Compiles an attention for a GPU, executes its PTX in the simulator, and compares with float64.

    check_kernel.py [OPTION...] [+ [OPTION...]]...     one attention after the other

Knows nothing of the compiler but its command line: the kernel is run from PTX and manifest alone, and the reference is
written out below in NumPy. The error rule: at most twice the error of the same attention computed unfused with
the scores in float64, P rounded to the type of the products and the output rounded; both against float64. Of f32, whose
products are tf32, the unfused one rounds query, key and value too.
"""

import argparse
import math
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np


def round_operand(x, dtype):
    """The nearest f16 or bf16 to the floats x, ties to even; of f32 the nearest tf32, ties away from zero."""
    x = np.asarray(x, np.float64)
    if dtype == "f16":
        return x.astype(np.float16).astype(np.float64)
    bits = x.astype(np.float32).view(np.uint32)
    bits = (bits + 0x1000) & 0xFFFFE000 if dtype == "f32" else (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def round_element(x, dtype):
    """The nearest element of a tensor."""
    return np.asarray(x, np.float32).astype(np.float64) if dtype == "f32" else round_operand(x, dtype)


def encode(values, dtype):
    if dtype == "bf16":  # already rounded
        return (np.asarray(values, "<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return np.asarray(values, NPY_TYPES[dtype]).tobytes()


def decode(data, dtype):
    if dtype == "bf16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").astype(np.float64)
    return np.frombuffer(data, NPY_TYPES[dtype]).astype(np.float64)


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
        return i == i
    name, _, parameters = a.mask.rstrip(")").partition("(")
    if name == "causal":
        return j <= i + (a.N - a.M if parameters == "bottom_right" else 0)
    left, right = (int(x) for x in parameters.split(","))
    return (i - left <= j) & (j <= i + right)


largest_logit = 0.0


def attend(a, q, keys, values, bias=None, first=0):
    """Rows of a head, from row `first` on: output, LSE and the output of the unfused 16-bit computation."""
    global largest_logit
    q, keys, values = (np.asarray(x, np.float64) for x in (q, keys, values))
    i, j = first + np.arange(len(q))[:, None], np.arange(len(keys))
    s = np.einsum("id,jd->ij", q, keys) / math.sqrt(a.D)
    if bias is not None:
        s += bias
    if a.soft_cap:
        s = a.soft_cap * np.tanh(s / a.soft_cap)
    largest_logit = max(largest_logit, np.abs(s).max(initial=0))
    s = np.where(is_visible(a, i, j), s, -np.inf)
    top = s.max(1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isinf(top), 0, top)
    p = np.exp(s - shift)
    total = p.sum(1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (shift + np.log(total))[:, 0]
    exact = p / np.where(total == 0, 1, total)
    weighted = (np.einsum("ij,jd->id", weights, values) for weights in (exact, round_operand(exact, a.dtype)))
    output, unfused = weighted
    return output, lse, round_element(unfused, a.dtype)


def rows(flat, width):
    return np.reshape(flat, (-1, width))


def reference(a, q, k, v, bias):
    """Outputs, LSEs, and those of the unfused computation."""
    outputs, lses, unfused = attend_all(a, q, k, v, bias)
    if a.dtype != "f32":
        return outputs, lses, unfused, lses
    rounded = (round_operand(x, "f32") for x in (q, k, v))
    _, unfused_lses, unfused = attend_all(a, *rounded, bias)
    return outputs, lses, unfused, unfused_lses


def attend_all(a, q, k, v, bias):
    group = a.Hq // a.Hkv
    heads = [attend(a, q[b, h], k[b, h // group], v[b, h // group], bias) for b in range(a.B) for h in range(a.Hq)]
    return tuple(np.concatenate([part.ravel() for part in parts]) for parts in zip(*heads))


def worst(actual, expected):
    """Largest difference; NaN or a wrong infinity counts as infinite."""
    with np.errstate(invalid="ignore"):
        difference = np.where(actual == expected, 0, np.abs(actual - expected))
    return np.where(np.isnan(difference), np.inf, difference).max(initial=0)


def frobenius(actual, expected):
    return np.linalg.norm(actual - expected) / (np.linalg.norm(expected) or 1.0)


def check(a, folder):
    base = os.path.join(folder, "attention")
    with open(base + ".mlir", "w") as f:
        f.write(module_text(a))
    options = [f"--schedule={a.schedule}"] if a.schedule else []
    options += ["--allow-tf32"] if a.dtype == "f32" else []
    subprocess.run(
        ["attn-opt", base + ".mlir", f"--target={a.target}", "--emit=ptx,manifest", "-o", base, *options], check=True
    )
    generator = np.random.default_rng(a.seed)
    shapes = {"q": (a.B, a.Hq, a.M, a.D), "k": (a.B, a.Hkv, a.N, a.D), "v": (a.B, a.Hkv, a.N, a.Dv)}
    inputs = {}
    for name, shape in shapes.items():
        inputs[name] = round_element(generator.normal(0, a.magnitude if name != "v" else 1, shape), a.dtype)
        write_npy(f"{base}.{name}.npy", shape, inputs[name], a.dtype)
    bias = None
    if a.bias:
        bias = round_element(generator.normal(0, 1, (a.M, a.N)), "f32")
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
        if any(x.tobytes() != y.tobytes() for x, y in zip(runs[-1], runs[0])):
            return f"schedules {a.schedule_seed} and {seed} differ"
    output, lse = runs[0]
    expected, expected_lse, unfused, unfused_lse = reference(a, inputs["q"], inputs["k"], inputs["v"], bias)
    if len(output) != len(expected) or len(lse) != len(expected_lse):
        return f"expected {len(expected)} and {len(expected_lse)} results, got {len(output)} and {len(lse)}"
    epsilon = 2**-8 if a.dtype == "bf16" else 2**-11
    largest = np.abs(expected).max(initial=0)
    limits = {
        "output, largest error": (worst(output, expected), 2 * max(worst(unfused, expected), epsilon * largest)),
        "output, relative error": (frobenius(output, expected), 2 * max(frobenius(unfused, expected), epsilon / 2)),
        "LSE, largest error": (worst(lse, expected_lse), max(2 * worst(unfused_lse, expected_lse), 1e-5 * max(1.0, a.magnitude**2))),
    }
    failures = [f"{name}: expected at most {limit:.3g}, got {error:.3g}" for name, (error, limit) in limits.items() if not error <= limit]
    return "; ".join(failures)


def split(arguments):
    """Those of each attention."""
    cases = [[]]
    for argument in arguments:
        if argument == "+":
            cases.append([])
        else:
            cases[-1].append(argument)
    return cases


def main():
    global largest_logit
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
    for case in split(sys.argv[1:]):
        a = parser.parse_args(case)
        a.Dv = a.Dv or a.D
        largest_logit = 0.0
        with tempfile.TemporaryDirectory() as folder:
            failure = check(a, folder)
        if failure:
            sys.exit(f"FAIL {vars(a)}: {failure}")
        print(f"PASS, largest logit {largest_logit:.0f}")


if __name__ == "__main__":
    main()
