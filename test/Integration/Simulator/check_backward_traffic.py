"""Holds the cost model to what the kernels of the backward move: for each problem, the bytes that attn-sim counts of each
operand between global memory and the SMs, all kernels together, must equal those that attn-schedule predicts.

usage: check_backward_traffic.py TARGET...

What is left out: where there is no TMA each lane reads LSE and delta for itself, from L1 but for the first; attn-sim counts
every lane.
"""

import json
import os
import subprocess
import sys
import tempfile

import check_traffic

# Sizes on and off the tiles; masks; grouped heads; dK and dV together and apart; gradients in slices.
PROBLEMS = [
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
]
# Of these, one kernel for all gradients, too, where the target has it: by each of the two ways to dQ, as they are and in groups.
FUSED = [
    "M=256 N=384 D=128",
    "Hq=2 Hkv=1 M=256 N=256 D=128 mask=causal@top_left",
    "M=128 N=200 D=128 dtype=f16",
    "Hq=4 Hkv=2 M=384 N=128 D=64",
    "M=128 N=300 D=64 mask=causal",
    "M=384 N=384 D=64 mask=local:70,0@top_left",
]
# Operands of the manifest that the model has under another name.
NAMES = {
    "d_output": "output_gradient",
    "d_query": "query_gradient",
    "d_key": "key_gradient",
    "d_value": "value_gradient",
    "d_query_sums": "query_sums",
    "lse_base2": "lse",
}


def module_text(p, dtype, fused):
    query, key = f"{p['B']}x{p['Hq']}x{p['M']}x", f"{p['B']}x{p['Hkv']}x{p['N']}x"
    q, o, lse = f"tensor<{query}{p['D']}x{dtype}>", f"tensor<{query}{p['Dv']}x{dtype}>", f"tensor<{query}f32>"
    k, v = f"tensor<{key}{p['D']}x{dtype}>", f"tensor<{key}{p['Dv']}x{dtype}>"
    return f"""func.func @grad(%q: {q}, %k: {k}, %v: {v}, %o: {o}, %lse: {lse}, %do: {o}) -> ({q}, {k}, {v}) {{
  %d:3 = attn.attention_backward %q, %k, %v output(%o : {o}) lse(%lse : {lse}) d_output(%do : {o})
      {check_traffic.mask_clause(p['mask'])} {{schedule = #attn.schedule<fused = {str(fused).lower()}>}} : {q}, {k}, {v} -> {q}, {k}, {v}
  return %d#0, %d#1, %d#2 : {q}, {k}, {v}
}}
"""


def predict(problem, target, fused):
    """Bytes (read, written) of each operand, with the schedules that the compiler chooses, and whether these use TMA."""
    total = {}
    command = ["attn-schedule", f"--problem={problem} pass=backward", f"--target={target}", "--json"]
    command.append(f"--schedule=fused={int(fused)}")
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"FAIL {problem}: {run.stderr}")
    kernels = json.loads(run.stdout)["kernels"]
    for kernel in kernels:
        for name, moved in kernel["operands"].items():
            read, written = total.get(name, (0, 0))
            total[name] = (read + moved["read_bytes"], written + moved["written_bytes"])
    return total, any("mma=wgmma" in kernel["text"] for kernel in kernels)


def measure(problem, target, fused, folder):
    fields = check_traffic.parse(problem)
    p = {name: int(fields.get(name, default)) for name, default in dict(B=1, Hq=1, M=0, N=0, D=0).items()}
    p["Hkv"], p["Dv"] = int(fields.get("Hkv", p["Hq"])), int(fields.get("Dv", p["D"]))
    p["mask"], dtype = fields.get("mask", ""), fields.get("dtype", "bf16")
    base = os.path.join(folder, "grad")
    with open(base + ".mlir", "w") as f:
        f.write(module_text(p, dtype, fused))
    subprocess.run(["attn-opt", base + ".mlir", f"--target={target}", "--emit=ptx,manifest", "-o", base], check=True)
    rows, keys = (p["B"], p["Hq"], p["M"]), (p["B"], p["Hkv"], p["N"])
    # In the order of the manifest: query, key, value, d_output, output, lse.
    shapes = [rows + (p["D"],), keys + (p["D"],), keys + (p["Dv"],), rows + (p["Dv"],), rows + (p["Dv"],), rows]
    command = ["attn-sim", base + ".ptx", "--manifest", base + ".json", "--check", "--report", base + ".report.json"]
    for i, shape in enumerate(shapes):
        check_traffic.write_zeros(f"{base}.{i}.npy", shape, "f32" if len(shape) == 3 else dtype)
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
        for target in sys.argv[1:]:
            cases = [(p, False) for p in PROBLEMS] + [(p, True) for p in FUSED if target == "sm_90a"]
            for problem, fused in cases:
                predicted, by_tma = predict(problem, target, fused)
                measured = measure(problem, target, fused, folder)
                for name in () if by_tma else ("lse", "delta"):
                    del predicted[name], measured[name]
                wrong = [
                    f"{name}: predicted {predicted.get(name, (0, 0))}, measured {measured.get(name, (0, 0))}"
                    for name in sorted(set(predicted) | set(measured))
                    if predicted.get(name, (0, 0)) != measured.get(name, (0, 0))
                ]
                pairs += 1
                failures += bool(wrong)
                print(f"{'FAIL' if wrong else 'equal'} {target} {problem} fused={int(fused)}", *wrong, sep="\n  ")
    if failures:
        sys.exit(f"{failures} of {pairs} predictions are wrong")
    print(f"{pairs} predictions are exact")


if __name__ == "__main__":
    main()
