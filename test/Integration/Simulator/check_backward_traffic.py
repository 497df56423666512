"""Holds the cost model to what the kernels of the backward move: for each problem, the bytes that attn-sim counts of each
operand between global memory and the SMs, all kernels together, must equal those that attn-schedule predicts.

usage: check_backward_traffic.py large|fused|float8|stored|pairs|small TARGET...: each problem on one of the targets, on all in a long run

What is left out: where there is no TMA each lane of a large-cache kernel reads LSE and delta for itself, from L1 but for the
first; attn-sim counts every lane. An odd number of keys makes rows of the small cache one element longer.
"""

import json
import os
import subprocess
import sys
import tempfile

import check_traffic
from sweep import LONG

# Sizes on and off the tiles; masks; grouped heads; dK and dV together and apart; gradients in slices.
LARGE = [
    "M=128 N=128 D=64",
    "M=256 N=384 D=128",
    "Hq=4 Hkv=2 M=256 N=128 D=64",
    "M=256 N=256 D=64 mask=causal@top_left",
    "Hq=2 Hkv=1 M=256 N=256 D=128 mask=causal@top_left",
    "M=128 N=300 D=64 mask=causal",
    "M=384 N=384 D=64 mask=local:70,0@top_left",
    "M=128 N=200 D=128 dtype=f16",
    "M=128 N=128 D=256",
    "M=128 N=128 D=192 Dv=128 mask=causal",
    "Hq=2 Hkv=1 M=64 N=48 D=512",
    "M=64 N=48 D=320 Dv=512",
    "Hq=2 Hkv=1 M=128 N=200 D=64 mask=causal normalization=none",
]
# One kernel for all gradients: by each of the two ways to dQ, as they are and in groups.
FUSED = [
    "M=256 N=384 D=128",
    "Hq=2 Hkv=1 M=256 N=256 D=128 mask=causal@top_left",
    "M=128 N=200 D=128 dtype=f16",
    "Hq=4 Hkv=2 M=384 N=128 D=64",
    "M=128 N=300 D=64 mask=causal",
    "M=384 N=384 D=64 mask=local:70,0@top_left",
]
# Products of 8 bits, which on sm_90a take some tiles twice, the second time to transpose them.
FLOAT8 = [
    ("M=128 N=128 D=64 dtype=f8E4M3FN", "promote=0"),
    ("M=256 N=384 D=128 dtype=f8E5M2", "promote=0"),
    ("Hq=4 Hkv=2 M=256 N=300 D=128 mask=causal dtype=f8E4M3FN", "promote=1"),
    ("M=128 N=300 D=192 Dv=128 dtype=f8E4M3FN", "promote=1"),
    ("M=384 N=384 D=64 mask=local:70,0@top_left dtype=f8E4M3FN out=f16", "promote=0"),
]
# Gradients in types of their own, and with the largest magnitudes of their rows: of products of 8 bits and of 16.
STORED = [
    ("Hq=4 Hkv=2 M=256 N=300 D=128 mask=causal dtype=f8E4M3FN d_query=f8E5M2 d_key=f8E5M2 d_value=f8E4M3FN amax=1", "promote=0"),
    ("M=100 N=200 D=64 dtype=f16 d_query=f8E4M3FN d_key=f8E4M3FN d_value=f8E4M3FN amax=1", ""),
    ("Hq=2 Hkv=1 M=128 N=200 D=128 d_key=f8E5M2", ""),
    ("M=128 N=300 D=128 mask=causal dtype=f8E4M3FN out=f32 d_query=f32 d_value=f8E5M2", "promote=1"),
    ("M=200 N=100 D=64 d_query=f32 d_key=f32 d_value=f32", "fused=0"),
]
# Tiles by multicast and by halves of a pair: odd numbers of tiles, one and two warpgroups, V by rows alone; under masks, by which CTAs stream what one of them sees.
PAIRS = [
    ("Hq=4 Hkv=2 M=300 N=300 D=128", "cluster_n=2 cta_pair=1 tile_m=128 tile_n=128"),
    ("M=600 N=300 D=64", "cluster_n=2 cta_pair=1 tile_m=128 tile_n=128"),
    ("Hq=2 Hkv=1 M=300 N=300 D=128", "cluster_n=2 cta_pair=0 tile_m=128 tile_n=128"),
    ("M=300 N=700 D=64", "cluster_n=4 tile_m=128 tile_n=128"),
    ("Hq=4 Hkv=2 M=640 N=640 D=128 mask=causal", "cluster_n=2 cta_pair=1 tile_m=128 tile_n=128"),
    ("M=700 N=500 D=64 mask=causal", "cluster_n=2 cta_pair=1 tile_m=128 tile_n=128"),
    ("M=700 N=700 D=128 mask=local:100,30@top_left", "cluster_n=2 cta_pair=0 tile_m=128 tile_n=128"),
    ("M=640 N=640 D=64 mask=causal@top_left", "cluster_n=4 tile_m=128 tile_n=128"),
]
# Small cache: rounds of whole groups of heads, and groups in several rounds; slices; row tiles that see no key.
TILES = "kind=small_cache tile_m=32 tile_n=32 tile_d=32 warps=2 "
SMALL = [
    ("M=64 N=96 D=64", TILES + "tile_dv=64 chunk_rows=64"),
    ("M=128 N=96 D=64", TILES + "tile_dv=64 chunk_rows=32"),
    ("Hq=4 Hkv=2 M=70 N=50 D=128 mask=causal", TILES + "tile_dv=64 chunk_rows=192"),
    ("B=2 Hq=4 Hkv=2 M=40 N=60 D=72 Dv=104 dtype=f16", TILES + "tile_dv=64 chunk_rows=64"),
    ("M=100 N=70 D=64 mask=causal@top_left", TILES + "tile_dv=64 chunk_rows=64"),
    ("M=100 N=40 D=64 mask=causal", TILES + "tile_dv=64 chunk_rows=64"),
    ("Hq=2 Hkv=1 M=150 N=150 D=64 mask=local:20,7@top_left", TILES + "tile_dv=64 chunk_rows=128"),
    ("M=64 N=48 D=192 Dv=128", "kind=small_cache tile_m=64 tile_n=64 tile_d=64 tile_dv=128 warps=2 chunk_rows=64"),
    ("M=96 N=64 D=512", "kind=small_cache tile_m=64 tile_n=64 chunk_rows=64"),
]
CASES = {"large": [(p, "fused=0") for p in LARGE], "fused": [(p, "fused=1") for p in FUSED], "float8": FLOAT8, "stored": STORED, "pairs": PAIRS, "small": SMALL}
# Operands of the manifest that the model has under another name.
NAMES = {
    "d_output": "output_gradient",
    "d_query": "query_gradient",
    "d_key": "key_gradient",
    "d_value": "value_gradient",
    "d_query_sums": "query_sums",
    "row_lse": "lse",
    "probabilities": "scores",
    "d_scores": "scores",
    "d_key_sums": "partials",
    "d_value_sums": "partials",
    "amax_d_query": "amax",
    "amax_d_key": "amax",
    "amax_d_value": "amax",
}


def module_text(p, dtype, wide):
    """The output is of `wide`, gradients are that which do not say. Without softmax there is neither output nor lse."""
    query, key = f"{p['B']}x{p['Hq']}x{p['M']}x", f"{p['B']}x{p['Hkv']}x{p['N']}x"
    q, do, lse = f"tensor<{query}{p['D']}x{dtype}>", f"tensor<{query}{p['Dv']}x{dtype}>", f"tensor<{query}f32>"
    k, v = f"tensor<{key}{p['D']}x{dtype}>", f"tensor<{key}{p['Dv']}x{dtype}>"
    o, narrow = do.replace(dtype, wide), "bf16" if dtype.startswith("f8") and wide == "f32" else wide
    dq, dk, dv = (t.replace(dtype, narrow) for t in (q, k, v))
    rows, saved = f"%o: {o}, %lse: {lse}, ", f"output(%o : {o}) lse(%lse : {lse})"
    if p["normalization"] != "softmax":
        rows = saved = ""
    given, mods, returned = store_gradients(p, {"d_query": dq, "d_key": dk, "d_value": dv})
    types = ", ".join(returned.values())
    return f"""func.func @grad(%q: {q}, %k: {k}, %v: {v}, {rows}%do: {do}) -> ({types}) {{
  %d_query, %d_key, %d_value = attn.attention_backward %q, %k, %v {saved} d_output(%do : {do})
      {check_traffic.normalization_clause(p)} {check_traffic.mask_clause(p['mask'])} : {q}, {k}, {v} -> {', '.join(given)}
{mods}  return {', '.join(returned)} : {types}
}}
"""


def store_gradients(p, gradients):
    """How those of these types are stored in the types of `p`, with their amax: the types that the backward gives, output_mods behind it, and values that are returned with their types."""
    given, mods, returned, maxima = [], "", {}, {}
    for name, type in gradients.items():
        extents, _, wide = type.removesuffix(">").rpartition("x")
        result = f"{extents}x{p.get(name, wide)}>"
        is_changed = p["amax"] or name in p and p[name] != "f32"
        given.append(f"{extents}xf32>" if is_changed else result)
        if not is_changed:
            returned[f"%{name}"] = result
            continue
        values, types = f"%{name}_stored", result
        if p["amax"]:
            maxima[f"%{name}_amax"] = f"{extents.rpartition('x')[0]}xf32>"
            values, types = f"{values}, %{name}_amax", f"{result}, {maxima[f'%{name}_amax']}"
        returned[f"%{name}_stored"] = result
        mods += f"  {values} = attn.output_mod %{name} (%x: f32, %b: index, %h: index, %i: index, %c: index) {{\n    attn.yield %x : f32\n  }} : {given[-1]} -> {types}\n"
    return given, mods, {**returned, **maxima}


def predict(problem, schedule, target):
    """Bytes (read, written) of each operand, with the schedules that the compiler chooses, and whether LSE and delta count."""
    total = {}
    command = ["attn-schedule", f"--problem={problem} pass=backward", f"--schedule={schedule}", f"--target={target}", "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"FAIL {problem}: {run.stderr}")
    kernels = json.loads(run.stdout)["kernels"]
    for kernel in kernels:
        for name, moved in kernel["operands"].items():
            read, written = total.get(name, (0, 0))
            total[name] = (read + moved["read_bytes"], written + moved["written_bytes"])
    return total, any(kind in kernel["text"] for kernel in kernels for kind in ("mma=wgmma", "kind=small_cache"))


def measure(problem, schedule, target, folder):
    fields = check_traffic.parse(problem)
    p = {name: int(fields.get(name, default)) for name, default in dict(B=1, Hq=1, M=0, N=0, D=0).items()}
    p["Hkv"], p["Dv"] = int(fields.get("Hkv", p["Hq"])), int(fields.get("Dv", p["D"]))
    p["mask"], dtype = fields.get("mask", ""), fields.get("dtype", "bf16")
    p["normalization"], p["amax"] = fields.get("normalization", "softmax"), fields.get("amax") == "1"
    p.update((name, fields[name]) for name in ("d_query", "d_key", "d_value") if name in fields)
    wide = fields.get("out", "bf16" if dtype.startswith("f8") else dtype)
    base = os.path.join(folder, "grad")
    with open(base + ".mlir", "w") as f:
        f.write(module_text(p, dtype, wide))
    options = [f"--target={target}", f"--schedule={schedule}", "--emit=ptx,manifest"]
    subprocess.run(["attn-opt", base + ".mlir", *options, "-o", base], check=True)
    rows, keys = (p["B"], p["Hq"], p["M"]), (p["B"], p["Hkv"], p["N"])
    # In the order of the manifest: query, key, value, d_output, output, lse.
    shapes = [rows + (p["D"],), keys + (p["D"],), keys + (p["Dv"],), rows + (p["Dv"],), rows + (p["Dv"],), rows]
    if p["normalization"] != "softmax":
        del shapes[4:]
    command = ["attn-sim", base + ".ptx", "--manifest", base + ".json", "--check", "--report", base + ".report.json"]
    for i, shape in enumerate(shapes):
        # The output, which follows d_output, and lse.
        own = "f32" if len(shape) == 3 else wide if i == 4 else dtype
        check_traffic.write_zeros(f"{base}.{i}.npy", shape, own)
        command += ["--input", f"{base}.{i}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(base + ".report.json") as f:
        report = json.load(f)
    total = {}
    for entry in report.get("operands", []) + report.get("workspaces", []):
        name = NAMES.get(entry["name"], entry["name"])
        read, written = total.get(name, (0, 0))
        total[name] = (read + entry["read"], written + entry["write"])
    return total


def main():
    failures = pairs = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = sys.argv[2:]
        for number, target in enumerate(targets):
            for problem, schedule in CASES[sys.argv[1]] if LONG else CASES[sys.argv[1]][number :: 2 * len(targets)]:
                predicted, counts_rows = predict(problem, schedule, target)
                measured = measure(problem, schedule, target, folder)
                for name in () if counts_rows else ("lse", "delta"):
                    for total in (predicted, measured):
                        total.pop(name, None)
                wrong = [
                    f"{name}: predicted {predicted.get(name, (0, 0))}, measured {measured.get(name, (0, 0))}"
                    for name in sorted(set(predicted) | set(measured))
                    if predicted.get(name, (0, 0)) != measured.get(name, (0, 0))
                ]
                pairs += 1
                failures += bool(wrong)
                print(f"{'FAIL' if wrong else 'equal'} {target} {problem} {schedule}", *wrong, sep="\n  ")
    if failures:
        sys.exit(f"{failures} of {pairs} predictions are wrong")
    print(f"{pairs} predictions are exact")


if __name__ == "__main__":
    main()
