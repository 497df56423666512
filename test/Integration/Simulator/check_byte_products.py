"""Compiles O = (Q K^T) V of 8-bit operands at the tile level, executes its PTX in the simulator, and compares exactly.

Inputs are small numbers that the types hold, so that all sums are exact; Q K^T is rounded to the type before it is
multiplied by V, as the kernel does. Standard library only.
"""

import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

FORMATS = {"f8E4M3FN": (3, 7, 448.0), "f8E5M2": (2, 15, 57344.0)}  # bits of fraction, bias, largest


def decode_byte(byte, dtype):
    fraction_bits, bias, _ = FORMATS[dtype]
    exponent, fraction = byte >> fraction_bits & (1 << 7 - fraction_bits) - 1, byte & (1 << fraction_bits) - 1
    significand = fraction + (1 << fraction_bits) * (exponent > 0)
    return math.copysign(significand * 2.0 ** (max(exponent, 1) - bias - fraction_bits), -1 if byte & 128 else 1)


def make_table(dtype):
    """The finite values in ascending order of their magnitude."""
    return [decode_byte(byte, dtype) for byte in range(128) if decode_byte(byte, dtype) <= FORMATS[dtype][2]]


def encode_byte(x, dtype, table):
    """The nearest one, ties to even, the largest of what is beyond."""
    byte = min(range(len(table)), key=lambda i: (abs(table[i] - abs(x)), i % 2))
    return byte | (128 if x < 0 else 0)


def write_npy(path, shape, data, descr):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def kernel_text(a):
    def shared(rows, cols):
        swizzle = next(s for s in (128, 64, 32) if cols % s == 0)
        return f"!attn_tile.shared<{rows}x{cols}x{a.dtype}, swizzle = {swizzle}>"

    def view(rows, cols, dtype=a.dtype):
        return f"!attn_tile.global<{rows}x{cols}x{dtype}>"

    def fragment(cols, dtype, layout):
        return f"!attn_tile.fragment<{a.M}x{cols}x{dtype}, {layout}>"

    shapes = {"q": (a.M, a.D), "k": (a.N, a.D), "v": (a.N, a.Dv)}
    lines, offset = [], 0
    for name, shape in shapes.items():
        lines.append(f"%t{name} = attn_tile.alloc {{offset = {offset} : i64}} : {shared(*shape)}")
        lines.append(f"attn_tile.copy_async %{name}[%c0] to %t{name} : {view(*shape)} to {shared(*shape)}")
        offset += -(-shape[0] * shape[1] // 1024) * 1024
    left, left_type = "%tq", shared(a.M, a.D)
    lines += ["attn_tile.commit_group", "attn_tile.wait_group 0", "gpu.barrier"]
    if a.registers:
        left, left_type = "%qr", fragment(a.D, a.dtype, "operand_a")
        lines.append(f"%qr = attn_tile.load_operand %tq : {shared(a.M, a.D)} -> {left_type}")
    scores, output = fragment(a.N, "f32", "accumulator"), fragment(a.Dv, "f32", "quads")
    operand = fragment(a.N, a.dtype, "operand_pairs")
    lines += [
        f"%zs = attn_tile.fill 0.0 : {scores}",
        f"%s = attn_tile.mma {left}, %tk transpose_b, %zs : {left_type}, {shared(a.N, a.D)}, {scores}",
        f"%p = attn_tile.to_operand %s : {scores} -> {operand}",
        f"%zo = attn_tile.fill 0.0 : {output}",
        f"%r = attn_tile.mma %p, %tv, %zo : {operand}, {shared(a.N, a.Dv)}, {output}",
        # The column, so that maps of this layout are held to it.
        f"%o = attn_tile.map %r : ({output}) -> {output} {{",
        "^bb0(%x: f32, %row: i32, %column: i32):",
        "  %f = arith.sitofp %column : i32 to f32",
        "  %sum = arith.addf %x, %f : f32",
        "  attn_tile.yield %sum : f32",
        "}",
        f"attn_tile.store %o, %out[%c0] : {output}, {view(a.M, a.columns, 'f32')}",
        "attn_tile.return",
    ]
    parameters = ", ".join(f"%{name}: {view(*shape)}" for name, shape in shapes.items())
    body = "\n  ".join(lines)
    return f"""module attributes {{attn.normal_form = #attn.normal_form<tile>}} {{
attn_tile.kernel @product({parameters}, %out: {view(a.M, a.columns, 'f32')}) warps({a.warps}) {{
  %c0 = arith.constant 0 : index
  {body}
}}
}}
""", offset


def manifest(a, shared_bytes):
    shapes = {"q": (a.M, a.D), "k": (a.N, a.D), "v": (a.N, a.Dv)}
    operands = [{"name": n, "role": "input", "dtype": "i8", "shape": s, "alignment_bytes": 16} for n, s in shapes.items()]
    operands.append({"name": "out", "role": "output", "dtype": "f32", "shape": (a.M, a.columns)})
    parameters = []
    for operand in operands:
        parameters.append({"kind": "pointer", "operand": operand["name"]})
        parameters.append({"kind": "i64", "value": f"stride({operand['name']}, 0)"})
    kernel = {"entry": "product", "grid": [1], "block": [32 * a.warps], "shared_bytes": shared_bytes, "parameters": parameters}
    return {"schema": "attn-mlir/manifest/1", "name": "product", "target": a.target, "ptx": "product.ptx", "operands": operands, "kernels": [kernel]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in dict(M=32, N=64, D=64, Dv=96, columns=0, warps=2, seed=0).items():
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--dtype", choices=list(FORMATS), default="f8E4M3FN")
    parser.add_argument("--target", default="sm_89")
    parser.add_argument("--ptxas", help="an assembler that the PTX must pass, too")
    parser.add_argument("--registers", action="store_true", help="the left operand in registers")
    a = parser.parse_args()
    a.columns = a.columns or a.Dv
    generator = random.Random(a.seed)
    table = make_table(a.dtype)
    draw = lambda rows, cols, values: [[generator.choice(values) for _ in range(cols)] for _ in range(rows)]
    inputs = {
        "q": draw(a.M, a.D, [-1, 0, 0, 1]),
        "k": draw(a.N, a.D, [-2, -1, 0, 1, 0.5]),
        "v": draw(a.N, a.Dv, [-3, -1.5, 0.25, 1, 2, 3]),
    }
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "product")
        text, shared_bytes = kernel_text(a)
        with open(base + ".mlir", "w") as f:
            f.write(text)
        with open(base + ".json", "w") as f:
            json.dump(manifest(a, shared_bytes), f)
        subprocess.run(["attn-opt", base + ".mlir", f"--target={a.target}", "--emit=ptx", "-o", base], check=True)
        if a.ptxas:
            subprocess.run([a.ptxas, f"-arch={a.target}", base + ".ptx", "-o", base + ".cubin"], check=True)
        command = ["attn-sim", base + ".ptx", "--check", "--output", base + ".out.npy"]
        for name, rows in inputs.items():
            data = bytes(encode_byte(x, a.dtype, table) for row in rows for x in row)
            write_npy(f"{base}.{name}.npy", (len(rows), len(rows[0])), data, "|i1")
            command += ["--input", f"{base}.{name}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        data = open(base + ".out.npy", "rb").read()
    data = data[10 + struct.unpack("<H", data[8:10])[0] :]
    actual = struct.unpack(f"<{a.M * a.columns}f", data)
    round_byte = lambda x: math.copysign(table[encode_byte(x, a.dtype, table) & 127], x)
    for i, q in enumerate(inputs["q"]):
        p = [round_byte(math.fsum(x * y for x, y in zip(q, k))) for k in inputs["k"]]
        for c in range(a.columns):
            expected = c + math.fsum(w * v[c] for w, v in zip(p, inputs["v"]))
            if actual[i * a.columns + c] != expected:
                sys.exit(f"FAIL {vars(a)}: row {i}, column {c}: expected {expected}, got {actual[i * a.columns + c]}")
    print("PASS")


if __name__ == "__main__":
    main()
