"""attn-schedule and attn-opt choose the same schedule for the same problem, over random problems.

usage: agree.py [--cases N] [--seed N]
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

#: Of attn-schedule, and of mask_mod.
MASKS = {
    "full": "",
    "causal": "mask_mod causal(bottom_right)",
    "causal@top_left": "mask_mod causal(top_left)",
    "window:256@top_left": "mask_mod sliding_window(255, 0)",
    "local:40,8@top_left": "mask_mod sliding_window(40, 8)",
}


def draw(rng, target):
    heads, group = rng.choice([1, 2, 8, 16]), rng.choice([1, 1, 2, 4, 8])
    head_dim = rng.choice([16, 32, 64, 80, 96, 128, 192, 256, 512])
    dtype = rng.choice(["f16", "bf16"]) if target != "cpu" else "f32"
    mask = rng.choice(list(MASKS))
    return {
        "B": rng.choice([1, 2, 4]), "Hq": heads * group, "Hkv": heads,
        "M": rng.choice([1, 7, 64, 200, 512, 1024, 4096, 16384]), "N": rng.choice([1, 100, 512, 1000, 4096, 16384]),
        "D": head_dim, "Dv": rng.choice([head_dim, head_dim, 64]), "dtype": dtype, "mask": mask, "lse": rng.choice([0, 1]),
    }  # fmt: skip


def write(p, name):
    q, k, v, o = (
        f"tensor<{p['B']}x{heads}x{rows}x{columns}x{p['dtype']}>"
        for heads, rows, columns in (
            (p["Hq"], p["M"], p["D"]), (p["Hkv"], p["N"], p["D"]), (p["Hkv"], p["N"], p["Dv"]), (p["Hq"], p["M"], p["Dv"]),
        )
    )  # fmt: skip
    lse = f", tensor<{p['B']}x{p['Hq']}x{p['M']}xf32>" if p["lse"] else ""
    count, used = (":2", "%o#0, %o#1") if lse else ("", "%o")
    return (
        f"func.func @{name}(%q: {q}, %k: {k}, %v: {v}) -> ({o}{lse}) {{\n"
        f"  %o{count} = attn.attention %q, %k, %v {MASKS[p['mask']]} : {q}, {k}, {v} -> {o}{lse}\n"
        f"  return {used} : {o}{lse}\n}}\n"
    )


def chosen_by_opt(problems, target, fields):
    """The fields of each schedule, as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problems.mlir")
        with open(path, "w") as f:
            f.writelines(write(p, f"f{i}") for i, p in enumerate(problems))
        options = f"target={target}" + (f" target-fields={fields}" if fields else "")
        command = ["attn-opt", path, f"--attn-select-schedule={options}"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [dict(re.findall(r"(\w+) = ([\w.]+)", fields)) for fields in re.findall(r"#attn\.schedule<([^>]*)>", text)]


def chosen_by_schedule(problem, target, fields):
    command = ["attn-schedule", "--problem", " ".join(f"{k}={v}" for k, v in problem.items()), f"--target={target}", "--json", "--top=1"]
    command += [f"--set-target={fields}"] if fields else []
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["ranked"][0]["schedule"]


def differences(mine, other):
    """Of the fields that both name: attn-opt writes no fields that have their default."""
    names = {"true": "1", "false": "0"}
    read = lambda value: names.get(str(value).lower(), str(value).lower())  # noqa: E731
    return {k: (v, other[k]) for k, v in mine.items() if k in other and read(v) != read(other[k])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=24, help="for each target and each size of shared memory")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    wrong = count = 0
    for target, settings in (("sm_80", ["", "smem-bytes=16384"]), ("sm_90a", ["", "smem-bytes=65536"]), ("cpu", [""])):
        for fields in settings:
            problems = [draw(rng, target) for _ in range(options.cases)]
            schedules = chosen_by_opt(problems, target, fields)
            assert len(schedules) == len(problems)
            for problem, emitted in zip(problems, schedules):
                count += 1
                listed = chosen_by_schedule(problem, target, fields)
                if different := differences(emitted, listed):
                    wrong += 1
                    print(f"{target} {fields} {problem}: attn-opt and attn-schedule: {different}")
    print(f"{count - wrong} of {count} agree")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
