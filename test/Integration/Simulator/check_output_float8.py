"""Outputs of 8 bits, times a scale: those in f32 of the same kernel, times the scale, rounded, bit for bit.

usage: check_output_float8.py DEVICE: cpu, sim:sm_89, sim:sm_90a, ...; half of the cases for each target but in a long run.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from check_float8 import decode_table, encode
from sweep import LONG

#: Inputs, output, columns, scale, schedule; (B, Hq, Hkv, M, N, D) are below. A scale of 3000 takes many numbers beyond the largest.
CASES = [
    ("f8E4M3FN", "f8E4M3FN", 64, 37.0, ""),
    ("f8E4M3FN", "f8E4M3FN", 64, 3000.0, ""),
    ("f8E5M2", "f8E5M2", 64, 1e5, ""),
    ("f8E4M3FN", "f8E5M2", 64, 0.3, 'kind = "split_kv", splits = 3'),
    ("f8E4M3FN", "f8E4M3FN", 64, 3000.0, 'kind = "split_kv", splits = 3'),
    ("f16", "f8E4M3FN", 56, 3000.0, ""),
    ("f16", "f8E4M3FN", 64, 19.0, "pack_gqa = true"),
    ("f16", "f8E5M2", 80, 1e-3, "tile_dv = 64"),
    ("f16", "f8E4M3FN", 64, 11.0, 'kind = "small_cache"'),
]
#: Of sm_90a alone: CTAs with several tiles each.
PERSISTENT = [
    ("f8E4M3FN", "f8E4M3FN", 64, 37.0, "persistent_ctas = 3"),
    ("f8E4M3FN", "f8E4M3FN", 64, 37.0, "persistent_ctas = 3, output_tile = true"),
]
SIZES = 2, 4, 2, 37, 133, 64


def program(dtype, out, columns, schedule):
    b, hq, hkv, m, n, d = SIZES
    q, k, v = f"tensor<{b}x{hq}x{m}x{d}x{dtype}>", f"tensor<{b}x{hkv}x{n}x{d}x{dtype}>", f"tensor<{b}x{hkv}x{n}x{columns}x{dtype}>"
    o, y = (f"tensor<{b}x{hq}x{m}x{columns}x{element}>" for element in ("f32", out))
    attributes = f"{{schedule = #attn.schedule<{schedule}>}}" if schedule else ""
    # The first three rows see no key.
    attention = f"""attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {{
    %c3 = arith.constant 3 : index
    %seen = arith.cmpi uge, %i, %c3 : index
    attn.yield %seen : i1
  }} {attributes} : {q}, {k}, {v} -> {o}"""
    return f"""func.func @whole(%q: {q}, %k: {k}, %v: {v}) -> {o} {{
  %o = {attention}
  return %o : {o}
}}
func.func @scaled(%q: {q}, %k: {k}, %v: {v}, %scale: tensor<1xf32>) -> {y} {{
  %o = {attention}
  %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {{
    %c0 = arith.constant 0 : index
    %s = tensor.extract %scale[%c0] : tensor<1xf32>
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  }} : {o} -> {y}
  return %y : {y}
}}
"""


def run(folder, device, function, arrays):
    command = ["attn-run", f"{folder}/f.mlir", f"--function={function}", f"--device={device}", f"--output={folder}/o.npy"]
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        command.append(f"--input={folder}/{i}.npy")
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{function}: {result.stdout}{result.stderr}")
    return np.load(folder / "o.npy")


def check(device, case):
    dtype, out, columns, scale, schedule = case
    b, hq, hkv, m, n, d = SIZES
    rng = np.random.default_rng(7)
    arrays = [rng.normal(size=shape) for shape in ((b, hq, m, d), (b, hkv, n, d), (b, hkv, n, columns))]
    arrays = [encode(x, dtype) if dtype != "f16" else x.astype(np.float16) for x in arrays]
    # A NaN in a column of the values of one head.
    arrays[2][0, 1, 5, 7] = 0x7F if dtype != "f16" else np.nan
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f.mlir").write_text(program(dtype, out, columns, schedule))
        whole = run(folder, device, "whole", arrays)
        codes = run(folder, device, "scaled", [*arrays, np.full(1, scale, np.float32)]).view(np.uint8)
    expected = whole * np.float32(scale)
    is_nan = np.isnan(expected)
    found = decode_table(out)[codes]
    assert is_nan.any() and (np.isnan(found) == is_nan).all(), f"{case}: NaN at other places"
    assert (codes[:, :, :3][~is_nan[:, :, :3]] == 0).all(), f"{case}: rows without keys"
    wrong = (codes != encode(np.nan_to_num(expected), out)) & ~is_nan
    assert not wrong.any(), f"{case}: {wrong.sum()} of {wrong.size} codes differ, the first from {expected[wrong][0]}: {found[wrong][0]}"
    return np.nanmax(np.abs(found))


def run_ptx(folder, text, arrays):
    """Codes that PTX gives, with all checks of the simulator."""
    (folder / "mutant.ptx").write_text(text)
    command = ["attn-sim", f"{folder}/mutant.ptx", f"--manifest={folder}/k.json", f"--output={folder}/o.npy", "--check"]
    command += [f"--input={folder}/{i}.npy" for i in range(len(arrays))]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return np.load(folder / "o.npy").view(np.uint8)


def check_mutants(target):
    """What is wrong in a conversion is found by these numbers: exchanged operands, everywhere or once, and another type."""
    case = CASES[0]
    dtype, out, columns, scale, schedule = case
    rng = np.random.default_rng(7)
    b, hq, hkv, m, n, d = SIZES
    shapes = (b, hq, m, d), (b, hkv, n, d), (b, hkv, n, columns)
    arrays = [*(encode(rng.normal(size=shape), dtype) for shape in shapes), np.full(1, scale, np.float32)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
        text = program(dtype, out, columns, schedule)
        (folder / "f.mlir").write_text(text[text.index("func.func @scaled") :])
        subprocess.run(["attn-opt", f"{folder}/f.mlir", f"--target={target}", "--emit=ptx,manifest", "-o", f"{folder}/k"], check=True)
        manifest = json.loads((folder / "k.json").read_text())
        del manifest["ptx_digest"]
        (folder / "k.json").write_text(json.dumps(manifest))
        ptx = (folder / "k.ptx").read_text()
        right = run_ptx(folder, ptx, arrays)
        store = ptx.rindex("cvt.rn.satfinite.e4m3x2.f32 %bytes0")
        operands = re.compile(r"(e4m3x2.f32 %bytes0), (%\w+), (%\w+)")
        mutants = {
            "operands": operands.sub(r"\1, \3, \2", ptx),
            "one pair": ptx[:store] + operands.sub(r"\1, \3, \2", ptx[store:]),
            "type": ptx[:store] + ptx[store:].replace("e4m3x2.f32 %bytes0", "e5m2x2.f32 %bytes0", 1),
        }
        for kind, mutant in mutants.items():
            assert mutant != ptx, f"no mutant {kind}"
            assert (run_ptx(folder, mutant, arrays) != right).any(), f"mutant {kind} is not found"


def main():
    device = sys.argv[1]
    cases = [case for case in CASES if device != "cpu" or case[4] == "" or "small_cache" in case[4]]
    cases += PERSISTENT if device == "sim:sm_90a" else []
    if not LONG:
        cases = cases[device != "sim:sm_89" :: 2]
    largest = [check(device, case) for case in cases]
    if device.startswith("sim:"):
        check_mutants(device.removeprefix("sim:"))
    assert 448 in largest, "no number was beyond the largest"
    print("PASS")


if __name__ == "__main__":
    main()
