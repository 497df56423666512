"""Holds the cost model to what kernels move: for each pair of a problem and a schedule, the bytes that attn-sim counts of
each operand between global memory and the SMs must equal those that attn-schedule predicts.

usage: check_traffic.py GROUP...: the pairs of these groups. Prints, for each pair, bytes over the lower bound.

What is left out, because kernels and model differ by design: row tiles that see no key at all read their query tile once
more than the model says; an odd number of keys makes the spill one element a row longer; the bias of padded rows is read.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

LARGE = "kind=large_cache mma=mma_sync pack_gqa=0 query_in_registers=0 "
HOPPER = "kind=large_cache mma=wgmma pack_gqa=0 "
SMALL = "kind=small_cache mma=mma_sync pack_gqa=0 "

# Groups of (problem, schedule). Sizes that are no multiples of the tiles, on purpose.
PAIRS = {
    "large": [
        ("M=64 N=64 D=64", "tile_m=64 tile_n=64 tile_d=64 tile_dv=64 warps=4 stages=2"),
        ("M=70 N=90 D=64 lse=1", "tile_m=64 tile_n=64 tile_d=64 tile_dv=64 warps=4 stages=2"),
        ("M=70 N=91 D=64 lse=1", "tile_m=32 tile_n=32 tile_d=64 tile_dv=64 warps=2 stages=3"),
        ("B=2 Hq=4 Hkv=2 M=33 N=50 D=32 lse=1", "tile_m=16 tile_n=48 tile_d=32 tile_dv=32 warps=1 stages=2"),
        ("M=70 N=90 D=40 dtype=f16", "tile_m=64 tile_n=64 tile_d=48 tile_dv=48 warps=4 stages=2"),
        ("M=20 N=70 D=8 Dv=24", "tile_m=32 tile_n=32 tile_d=16 tile_dv=32 warps=2 stages=2"),
        ("M=100 N=100 D=72 Dv=104 lse=1", "tile_m=64 tile_n=80 tile_d=80 tile_dv=112 warps=4 stages=2"),
        ("M=50 N=64 D=256", "tile_m=64 tile_n=32 tile_d=256 tile_dv=256 warps=4 stages=2"),
        ("M=70 N=90 D=64 normalization=none", "tile_m=64 tile_n=64 tile_d=64 tile_dv=64 warps=4 stages=2"),
        ("M=70 N=90 D=64 mask=causal normalization=sum", "tile_m=64 tile_n=64 tile_d=64 tile_dv=64 warps=4 stages=2"),
    ],
    "masked": [
        ("M=128 N=128 D=32 mask=causal lse=1", "tile_m=64 tile_n=64 tile_d=32 tile_dv=32 warps=4 stages=2"),
        ("M=100 N=150 D=32 mask=causal", "tile_m=32 tile_n=64 tile_d=32 tile_dv=32 warps=2 stages=2"),
        ("M=150 N=100 D=32 mask=causal@top_left", "tile_m=64 tile_n=32 tile_d=32 tile_dv=32 warps=4 stages=2"),
        ("M=150 N=150 D=32 mask=local:20,0@top_left", "tile_m=32 tile_n=32 tile_d=32 tile_dv=32 warps=2 stages=2"),
        ("M=150 N=150 D=32 mask=local:7,9@top_left", "tile_m=16 tile_n=48 tile_d=32 tile_dv=32 warps=1 stages=3"),
        ("Hq=6 Hkv=2 M=65 N=130 D=64 mask=causal lse=1", "tile_m=32 tile_n=32 tile_d=64 tile_dv=64 warps=2 stages=2"),
    ],
    "dv-split": [
        ("M=40 N=60 D=64 Dv=256 lse=1", "tile_m=32 tile_n=32 tile_d=64 tile_dv=128 warps=2 stages=2"),
        ("M=40 N=60 D=512", "tile_m=32 tile_n=32 tile_d=512 tile_dv=128 warps=2 stages=2"),
        ("M=33 N=60 D=576 Dv=512 lse=1", "tile_m=16 tile_n=16 tile_d=576 tile_dv=256 warps=1 stages=2"),
        ("M=40 N=60 D=64 Dv=200 mask=causal", "tile_m=16 tile_n=32 tile_d=64 tile_dv=64 warps=1 stages=2"),
        ("Hq=4 Hkv=2 M=40 N=60 D=128 Dv=320 lse=1", "tile_m=64 tile_n=64 tile_d=128 tile_dv=160 warps=4 stages=2"),
        ("M=40 N=60 D=72 Dv=72", "tile_m=16 tile_n=64 tile_d=80 tile_dv=64 warps=1 stages=3"),
    ],
    "small": [
        ("M=64 N=128 D=64", "tile_m=64 tile_n=64 tile_d=32 tile_dv=64 warps=4 stages=2 chunk_rows=64"),
        ("M=64 N=128 D=512", "tile_m=64 tile_n=128 tile_d=64 tile_dv=128 warps=4 stages=2 chunk_rows=64"),
        ("M=70 N=90 D=512 lse=1", "tile_m=64 tile_n=64 tile_d=64 tile_dv=128 warps=4 stages=2 chunk_rows=64"),
        ("M=70 N=90 D=576 Dv=512 lse=1", "tile_m=32 tile_n=64 tile_d=32 tile_dv=256 warps=2 stages=3 chunk_rows=32"),
        ("M=33 N=70 D=1024", "tile_m=32 tile_n=64 tile_d=64 tile_dv=256 warps=2 stages=2 chunk_rows=128"),
        ("M=20 N=40 D=4096", "tile_m=32 tile_n=64 tile_d=64 tile_dv=256 warps=2 stages=2 chunk_rows=64"),
        ("M=20 N=40 D=64 Dv=4096 lse=1", "tile_m=16 tile_n=64 tile_d=64 tile_dv=256 warps=1 stages=2 chunk_rows=16"),
        ("B=2 Hq=4 Hkv=2 M=40 N=50 D=264 Dv=328", "tile_m=16 tile_n=48 tile_d=32 tile_dv=128 warps=1 stages=2 chunk_rows=48"),
        ("M=50 N=72 D=48", "tile_m=16 tile_n=64 tile_d=48 tile_dv=32 warps=1 stages=3 chunk_rows=32"),
        ("M=33 N=72 D=8", "tile_m=32 tile_n=64 tile_d=16 tile_dv=16 warps=2 stages=2 chunk_rows=32"),
        ("M=130 N=40 D=128 lse=1", "tile_m=128 tile_n=64 tile_d=64 tile_dv=128 warps=8 stages=2 chunk_rows=128"),
        ("M=40 N=300 D=320 dtype=f16", "tile_m=32 tile_n=128 tile_d=64 tile_dv=128 warps=2 stages=4 chunk_rows=32"),
    ],
    "small-masked": [
        ("M=128 N=128 D=64 mask=causal", "tile_m=32 tile_n=64 tile_d=32 tile_dv=64 warps=2 stages=2 chunk_rows=64"),
        ("M=100 N=150 D=512 mask=causal lse=1", "tile_m=32 tile_n=64 tile_d=64 tile_dv=128 warps=2 stages=2 chunk_rows=64"),
        ("M=150 N=100 D=96 mask=causal@top_left", "tile_m=64 tile_n=32 tile_d=32 tile_dv=96 warps=4 stages=2 chunk_rows=64"),
        ("M=150 N=150 D=320 mask=local:20,0@top_left", "tile_m=32 tile_n=32 tile_d=64 tile_dv=128 warps=2 stages=2 chunk_rows=96"),
        ("M=150 N=150 D=64 mask=local:7,9@top_left", "tile_m=16 tile_n=48 tile_d=32 tile_dv=64 warps=1 stages=3 chunk_rows=32"),
        ("Hq=6 Hkv=2 M=65 N=130 D=264 mask=causal lse=1", "tile_m=32 tile_n=64 tile_d=64 tile_dv=128 warps=2 stages=2 chunk_rows=64"),
    ],
    # A cluster reads a tile of K or V once for all of its CTAs, also for those beyond the last row.
    "hopper": [
        ("M=128 N=128 D=64 lse=1", "tile_m=64 tile_n=64 warps=4 stages=2 cluster_m=1"),
        ("M=128 N=128 D=64 lse=1", "tile_m=64 tile_n=64 warps=4 stages=2 cluster_m=2"),
        ("B=2 Hq=4 Hkv=2 M=256 N=200 D=128", "tile_m=64 tile_n=80 tile_dv=128 warps=4 stages=2 cluster_m=2 persistent_ctas=4"),
        ("M=150 N=128 D=64", "tile_m=64 tile_n=64 warps=4 stages=2 cluster_m=2"),
        ("Hq=2 M=512 N=96 D=64", "tile_m=64 tile_n=32 warps=4 stages=4 cluster_m=4 output_tile=1 persistent_ctas=8"),
    ],
    "bias": [
        ("M=64 N=128 D=32 bias=1", "tile_m=32 tile_n=32 tile_d=32 tile_dv=32 warps=2 stages=2"),
        ("Hq=2 Hkv=1 M=64 N=64 D=64 bias=1 mask=causal", "tile_m=32 tile_n=64 tile_d=64 tile_dv=64 warps=2 stages=2"),
        ("M=64 N=128 D=264 bias=1", "kind=small_cache tile_m=32 tile_n=64 tile_d=64 tile_dv=128 warps=2 stages=2 chunk_rows=32"),
    ],
}


def parse(text):
    return dict(field.split("=", 1) for field in text.split())


def mask_clause(mask):
    name, _, alignment = mask.partition("@")
    if name == "causal":
        return f"mask_mod causal({alignment or 'bottom_right'})"
    if name.startswith("local:"):
        return f"mask_mod sliding_window({name[6:].replace(',', ', ')})"
    return ""


def normalization_clause(p):
    attribute = {"softmax": "", "none": "#attn.none", "sum": "#attn.sum<1.0>"}[p["normalization"]]
    return f"normalization({attribute})" if attribute else ""


def write_zeros(path, shape, dtype):
    numpy_type = {"f16": "<f2", "bf16": "<u2", "f32": "<f4"}.get(dtype, "|u1")
    header = f"{{'descr': '{numpy_type}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    size = int(numpy_type[-1])
    for extent in shape:
        size *= extent
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(size))


def module_text(p, dtype):
    q, v = f"tensor<?x?x?x{p['D']}x{dtype}>", f"tensor<?x?x?x{p['Dv']}x{dtype}>"
    lse, results, names = "", v, "%o"
    if p["lse"]:
        results, names = f"{v}, tensor<?x?x?xf32>", "%o, %lse"
    bias = f"tensor<?x?x?x?x{dtype}>"
    argument, clause = (f", %bias: {bias}", f"bias(%bias : {bias})") if p["bias"] else ("", "")
    return f"""func.func @attention(%q: {q}, %k: {q}, %v: {v}{argument}) -> ({results}) {{
  {names} = attn.attention %q, %k, %v {clause} {normalization_clause(p)} {mask_clause(p['mask'])} : {q}, {q}, {v} -> {results}
  return {names} : {results}
}}
"""


def predict(problem, schedule, target):
    command = ["attn-schedule", f"--problem={problem}", f"--target={target}", f"--schedule={schedule}", "--json", "--top=1"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"FAIL {problem} | {schedule}: {run.stderr}")
    report = json.loads(run.stdout)
    best = report["ranked"][0]
    bytes_moved = {name: (b["read_bytes"], b["written_bytes"]) for name, b in best["cost"]["operands"].items()}
    return bytes_moved, best["ratio_to_lower_bound"]


def measure(problem, schedule, target, folder):
    fields = parse(problem)
    p = {name: int(fields.get(name, default)) for name, default in dict(B=1, Hq=1, M=0, N=0, D=0, lse=0, bias=0).items()}
    p["Hkv"], p["Dv"] = int(fields.get("Hkv", p["Hq"])), int(fields.get("Dv", p["D"]))
    p["mask"], dtype = fields.get("mask", ""), fields.get("dtype", "bf16")
    p["normalization"] = fields.get("normalization", "softmax")
    base = os.path.join(folder, "attention")
    with open(base + ".mlir", "w") as f:
        f.write(module_text(p, dtype))
    subprocess.run(["attn-opt", base + ".mlir", f"--target={target}", f"--schedule={schedule}", "--emit=ptx,manifest", "-o", base], check=True)
    shapes = [(p["B"], p["Hq"], p["M"], p["D"]), (p["B"], p["Hkv"], p["N"], p["D"]), (p["B"], p["Hkv"], p["N"], p["Dv"])]
    if p["bias"]:
        shapes.append((p["B"], p["Hq"], p["M"], p["N"]))
    command = ["attn-sim", base + ".ptx", "--manifest", base + ".json", "--check", "--report", base + ".report.json"]
    for i, shape in enumerate(shapes):
        write_zeros(f"{base}.{i}.npy", shape, dtype)
        command += ["--input", f"{base}.{i}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(base + ".report.json") as f:
        report = json.load(f)
    traffic = report.get("operands", []) + report.get("workspaces", [])
    return {entry["name"]: (entry["read"], entry["write"]) for entry in traffic}


def main():
    failures = pairs = 0
    with tempfile.TemporaryDirectory() as folder:
        for group in sys.argv[1:]:
            for problem, schedule in PAIRS[group]:
                target = "sm_90a" if group == "hopper" else "sm_80"
                if "kind=" not in schedule:
                    schedule = {"small": SMALL, "hopper": HOPPER}.get(group.partition("-")[0], LARGE) + schedule
                predicted, ratio = predict(problem, schedule, target)
                measured = measure(problem, schedule, target, folder)
                wrong = [
                    f"{name}: predicted {predicted.get(name, (0, 0))}, measured {measured.get(name, (0, 0))}"
                    for name in sorted(set(predicted) | set(measured))
                    if predicted.get(name, (0, 0)) != measured.get(name, (0, 0))
                ]
                pairs += 1
                failures += bool(wrong)
                print(f"{'FAIL' if wrong else 'equal'} {problem} | {schedule}: {ratio:.2f} x the lower bound", *wrong, sep="\n  ")
    if failures:
        sys.exit(f"{failures} of {pairs} predictions are wrong")
    print(f"{pairs} predictions are exact")


if __name__ == "__main__":
    main()
