"""Draws layouts of fragments, and executes what is computed of the rows of a fragment in each, exactly.

A matrix is made of its coordinates, so that each lane has to know those of its elements; its rows are summed and their
maxima found, the sums brought to the lanes of another layout, and from there to those of a third. Standard library only.
"""

import argparse
import json
import os
import random
import struct
import subprocess
import tempfile

MOST_ELEMENTS = 32 * 64  # of a warp

NAMED = [  # bases of elements and of lanes
    ([(0, 1), (8, 0)], [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]),
    ([], [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]),
    ([(0, 2), (8, 0), (0, 1)], [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]),
]


def draw_layout(generator):
    """One of those of instructions, or any: bits of rows and columns dealt out to elements and lanes."""
    if generator.random() < 0.3:
        return generator.choice(NAMED)
    bits = 5 + generator.randrange(4)
    row_bits = generator.randrange(min(bits, 6) + 1)
    bases = [(1 << i, 0) for i in range(row_bits)] + [(0, 1 << i) for i in range(bits - row_bits)]
    generator.shuffle(bases)
    return bases[5:], bases[:5]


def rows_of(layout):
    """What there is for each row: without columns, and without elements that no longer differ."""
    elements, lanes = layout
    return [(r, 0) for r, _ in elements if r], [(r, 0) for r, _ in lanes]


def text_of(layout):
    elements, lanes = ("[" + ", ".join(f"[{r}, {c}]" for r, c in bases) + "]" for bases in layout)
    return f"layout<elements = {elements}, lanes = {lanes}>"


def unit_of(layout):
    bases = layout[0] + layout[1]
    return 1 + sum(r for r, _ in bases), 1 + sum(c for _, c in bases)


def kernel_text(layouts, rows, columns, warps):
    matrix = f"!attn_tile.fragment<{rows}x{columns}xf32, {text_of(layouts[0])}>"
    vectors = [f"!attn_tile.fragment<{rows}xf32, {text_of(rows_of(layout))}>" for layout in layouts]
    view = f"!attn_tile.global<{rows}xf32>"
    return f"""module attributes {{attn.normal_form = #attn.normal_form<tile>}} {{
attn_tile.kernel @rows(%in: {view}, %sums: {view}, %maxima: {view}) warps({warps}) {{
  %c0 = arith.constant 0 : index
  %f = attn_tile.map : () -> {matrix} {{
  ^bb0(%row: i32, %column: i32):
    %c7 = arith.constant 7 : i32
    %c63 = arith.constant 63 : i32
    %square = arith.muli %column, %column : i32
    %part = arith.muli %row, %c7 : i32
    %sum = arith.addi %square, %part : i32
    %low = arith.andi %sum, %c63 : i32
    %x = arith.sitofp %low : i32 to f32
    attn_tile.yield %x : f32
  }}
  %zero = attn_tile.fill 0.0 : {vectors[0]}
  %in0 = attn_tile.load_row %in[%c0] : {view} -> {vectors[0]}
  %weighted = attn_tile.map %f, %in0 : ({matrix}, {vectors[0]}) -> {matrix} {{
  ^bb0(%x: f32, %y: f32, %row: i32, %column: i32):
    %product = arith.mulf %x, %y : f32
    attn_tile.yield %product : f32
  }}
  %s = attn_tile.row_reduce sum %weighted, %zero : {matrix}, {vectors[0]}
  %s0 = attn_tile.row_all_reduce sum %s : {vectors[0]}
  %s1 = attn_tile.convert_layout %s0 : {vectors[0]} -> {vectors[1]}
  %s2 = attn_tile.convert_layout %s1 : {vectors[1]} -> {vectors[2]}
  attn_tile.store %s2, %sums[%c0] : {vectors[2]}, {view}
  %m = attn_tile.row_reduce max %f, %zero : {matrix}, {vectors[0]}
  %m0 = attn_tile.row_all_reduce max %m : {vectors[0]}
  attn_tile.store %m0, %maxima[%c0] : {vectors[0]}, {view}
  attn_tile.return
}}
}}
"""


def manifest(rows, warps, target):
    operands = [{"name": "in", "role": "input", "dtype": "f32", "shape": [rows], "alignment_bytes": 16}]
    operands += [{"name": name, "role": "output", "dtype": "f32", "shape": [rows]} for name in ("sums", "maxima")]
    parameters = [{"kind": "pointer", "operand": operand["name"]} for operand in operands]
    kernel = {"entry": "rows", "grid": [1], "block": [32 * warps], "shared_bytes": 0, "parameters": parameters}
    return {"schema": "attn-mlir/manifest/1", "name": "rows", "target": target, "ptx": "rows.ptx", "operands": operands, "kernels": [kernel]}


def write_npy(path, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}f", *values)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    data = open(path, "rb").read()
    data = data[10 + struct.unpack("<H", data[8:10])[0] :]
    return struct.unpack(f"<{len(data) // 4}f", data)


def check(folder, generator, target):
    """Returns what is wrong, if anything."""
    layouts = [draw_layout(generator) for _ in range(3)]
    units = [unit_of(layout) for layout in layouts]
    warps = generator.choice([1, 2, 4])
    rows = max(row for row, _ in units) * generator.choice([1, 1, 2, 3])
    columns = units[0][1] * generator.choice([1, 1, 2, 3])
    if rows * columns > MOST_ELEMENTS:
        return check(folder, generator, target)
    rows *= warps
    base = os.path.join(folder, "rows")
    with open(base + ".mlir", "w") as f:
        f.write(kernel_text(layouts, rows, columns, warps))
    with open(base + ".json", "w") as f:
        json.dump(manifest(rows, warps, target), f)
    weights = [generator.choice([-2, -1, 1, 2, 3]) for _ in range(rows)]
    write_npy(base + ".in.npy", weights)
    subprocess.run(["attn-opt", base + ".mlir", f"--target={target}", "--emit=ptx", "-o", base], check=True)
    outputs = [base + ".sums.npy", base + ".maxima.npy"]
    command = ["attn-sim", base + ".ptx", "--check", "--input", base + ".in.npy"]
    for output in outputs:
        command += ["--output", output]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    sums, maxima = map(read_npy, outputs)
    for row in range(rows):
        values = [(column * column + 7 * row) % 64 for column in range(columns)]
        expected = weights[row] * sum(values), max(values)
        if (sums[row], maxima[row]) != expected:
            return f"{warps} warps, {rows} x {columns}, {[text_of(layout) for layout in layouts]}: row {row}: expected {expected}, got {sums[row], maxima[row]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--target", default="sm_80")
    options = parser.parse_args()
    generator = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.cases):
            wrong = check(folder, generator, options.target)
            if wrong:
                raise SystemExit("FAIL: " + wrong)
    print(f"PASS: {options.cases} cases")


if __name__ == "__main__":
    main()
