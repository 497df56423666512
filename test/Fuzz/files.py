"""Good and damaged files of the other formats that the programs read: .npy, targets, block masks, requests of attn-run --serve."""

import json
import math
import struct

NPY_TYPES = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i1": "|b1", "i8": "|i1", "i32": "<i4", "i64": "<i8", "bf16": "<V2"}
NPY_TYPES |= {"f8E4M3FN": "<V1", "f8E5M2": "<f1"}
HEADER_VALUES = ["<f2", "<f4", ">f2", "<c8", "|O", "<V2", "True", "()", "(0,)", "(-1,)", "(4294967296, 4294967296)", "(9223372036854775807,)",
                 "(99999999999999999999,)", "(1, 2, 3, 64)", "(1.5,)", "'", "{", "\n", "\0", "\xff"]  # fmt: skip
EXTREMES = [-(1 << 63), -(1 << 31), -64, -1, 0, 1, 2, 63, 1 << 31, 1 << 32, (1 << 57) + 1, 1 << 62, (1 << 63) - 1, 1 << 63, 0.5, None, "1", [1]]
TARGETS = "sm_80 sm_86 sm_89 sm_90a sm_100a sm_120 cpu a100 h100 sm_99".split()
TARGET_FIELDS = """smem-bytes l2-bytes sm-count registers-per-sm registers-per-thread cluster-ctas clock-ghz dram-gbps l2-gbps dsmem-gbps f16-tflops
f8-tflops ex2-per-clock lanes-per-clock smem-bytes-per-clock tmem-bytes-per-clock fill-bytes-per-clock wgmma-share mma-sync-share iteration-clocks
load-clocks launch-us backward-tile-clocks""".split()
TARGET_NUMBERS = "0 1 -1 0.5 17 108 4096 65536 232448 1e5 1e300 1e-300 inf nan 2147483648 4294967296 9223372036854775807 0x10 many".split()
MODULE = """!q = tensor<?x?x?x64xf16>
func.func @f(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  return %o : !q
}
"""


def make_npy(rng, dtype, shape):
    """A .npy file of small numbers."""
    size = int(NPY_TYPES[dtype][2:])
    header = f"{{'descr': '{NPY_TYPES[dtype]}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = rng.randbytes(math.prod(shape) * size)
    if dtype in ("i32", "i64", "f64"):
        data = b"".join(rng.randrange(4).to_bytes(size, "little") for _ in range(math.prod(shape)))
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def make_inputs(rng, manifest):
    """Files of the operands that a kernel reads, by extension."""
    sizes, files, program = {}, {}, json.loads(manifest)
    for operand in program.get("programs", [program])[0]["operands"]:
        shape = [extent if isinstance(extent, int) else sizes.setdefault(extent, rng.choice([1, 1, 2, 3, 17, 33])) for extent in operand["shape"]]
        if operand["role"] != "output" and math.prod(shape) < 1 << 20:
            files[f".{len(files)}.npy"] = make_npy(rng, operand["dtype"], shape)
    return files


def damage_bytes(rng, data):
    """Bytes that are missing, changed or twice."""
    at, kind = rng.randrange(min(len(data), 160) if rng.random() < 0.7 else len(data)), rng.randrange(4)
    middle = [b"", bytes([rng.choice([0, 1, 0x27, 0x28, 0x7F, 0xFF])]), data[at:at + 9] * 2, rng.randbytes(4)][kind]
    return data[:at] + middle + (data[at + 1:] if rng.random() < 0.8 else b"")


def damage_npy(rng, data):
    """Another length, version or dictionary in the header, or any bytes."""
    kind = rng.randrange(4)
    if kind == 0:
        return data[:6] + bytes([rng.choice([0, 1, 2, 3, 255]), 0]) + data[8:]
    if kind == 1:
        return data[:8] + struct.pack("<H", rng.choice([0, 1, 10, 54, 118, 65535])) + data[10:]
    if kind == 2:
        (length,) = struct.unpack("<H", data[8:10])
        header, rest = data[10:10 + length].decode(), data[10 + length:]
        old = rng.choice([header[header.index("'descr': '") + 10:].split("'")[0], "False", header[header.index("("):header.index(")") + 1], "'shape'"])
        header = header.replace(old, rng.choice(HEADER_VALUES), 1).encode("latin-1")
        return data[:8] + struct.pack("<H", len(header)) + header + rest
    return damage_bytes(rng, data)


def draw_arrays(rng):
    """attn-run with arrays of which one is damaged, or all are good and of other sizes than each other."""
    sizes = [[rng.choice([1, 2]), rng.choice([1, 2, 4]), rng.choice([0, 1, 3, 17]), rng.choice([64, 64, 64, 32])] for _ in "qkv"]
    if rng.random() < 0.8:
        sizes = [sizes[0]] * 3
    arrays = [make_npy(rng, rng.choice(["f16", "f16", "f16", "f32"]) if rng.random() < 0.1 else "f16", shape) for shape in sizes]
    if rng.random() < 0.9:
        at = rng.randrange(3)
        arrays[at] = damage_npy(rng, arrays[at])
    files = {f".{i}.npy": array for i, array in enumerate(arrays)} | {".mlir": MODULE}
    return files, ["attn-run", "{}.mlir", *(f"--input={{}}.{i}.npy" for i in range(3)), "--output={}.o.npy"], ""


def draw_target_file(rng):
    """A file of a target's numbers, of any, for each program that reads it."""
    lines = [f"base = {rng.choice(TARGETS)}"] * (rng.random() < 0.95)
    lines += [f"{name} = {rng.choice(TARGET_NUMBERS)}" for name in rng.sample(TARGET_FIELDS, rng.choice([0, 1, 1, 2, 4]))]
    lines += rng.choice([[], [], ["name = mine"], ["name ="], ["#"], ["= 1"], ["x = 1"], ["base = sm_80"], ["a\0b = 1"], ["\xff = 1"]])
    text = "\n".join(lines if rng.random() < 0.9 else rng.sample(lines, len(lines))) + "\n"
    if rng.random() < 0.2:
        text = damage_bytes(rng, text.encode("latin-1")).decode("latin-1")
    problem = f"--problem=M=64 N={rng.choice([1, 64, 4096])} D=64{rng.choice(['', ' pass=backward', ' mask=causal', ' dtype=f8E4M3FN'])}"
    command = rng.choice([["attn-schedule", problem], ["attn-opt", "{}.mlir", "--emit=manifest", "-o", "-"]])
    return {".target": text, ".mlir": MODULE}, [*command, "--target-file={}.target"], ""


def draw_block_mask(rng):
    """Who sees whom, as a picture: nearly a square of the right size."""
    chunks = rng.choice([1, 2, 4, 8, 33])
    rows = ["".join(rng.choice(".+#") for _ in range(chunks)) for _ in range(chunks)]
    if rng.random() < 0.5:
        rows[rng.randrange(chunks)] += rng.choice(["#", "x", " ", "\0", "\r"])
    if rng.random() < 0.2:
        rows.insert(rng.randrange(chunks + 1), rng.choice(["", "#", rows[0]]))
    text = "\n".join(rows) + rng.choice(["\n", "\n", ""])
    tokens, ranks = chunks * 64 - rng.choice([0, 0, 1, 63]), rng.choice([1, 2, 3, 8])
    command = ["attn-schedule", f"--problem=H=2 M={tokens} N={tokens} D=64", f"--ranks={ranks}", "--blocks={}.blocks", f"--chunk={rng.choice([64, 64, 64, 1, 63])}"]
    if rng.random() < 0.3:
        command.append(f"--head-shards={rng.choice([0, 1, 2, 3, 8, -1])}")
    if rng.random() < 0.3:
        command.append(f"--placement={rng.choice(['contiguous', 'zigzag', 'striped', 'documents', 'heap', 'x'])}")
    if rng.random() < 0.3:
        command.append(f"--scheme={rng.choice(['group-cast', 'group-cast, own first', 'all-gather', 'ring', 'all-to-all', 'x'])}")
    return {".blocks": text}, command, ""


def draw_requests(rng):
    """Requests to a server, of which some are wrong; a damaged object to begin with."""
    lines, memory = [], "{}.memory"
    for _ in range(rng.randint(1, 4)):
        shape = [1, 1, rng.choice([0, 1, 5]), 64]
        arguments = [{"dtype": "f16", "shape": list(shape), "offset": 1024 * i} for i in range(3)]
        request = {"memory": memory, "arguments": arguments, "results_at": 4096}
        for _ in range(rng.choice([0, 1, 1, 2])):
            place = rng.choice(arguments)
            kind = rng.randrange(6)
            if kind == 0:
                place["shape"] = [*shape]
                place["shape"][rng.randrange(4)] = rng.choice(EXTREMES)
            elif kind == 1:
                place["offset"] = rng.choice(EXTREMES)
            elif kind == 2:
                request["results_at"] = rng.choice(EXTREMES)
            elif kind == 3:
                request["memory"] = rng.choice(["", ".", "/dev/null", "{}.absent", "a\0b", 1, None])
            elif kind == 4:
                place[rng.choice(["dtype", "shape"])] = rng.choice(["f32", "", [], [64], [1] * 9, {}])
            else:
                request.pop(rng.choice(list(request)), None)
        line = json.dumps(request)
        lines.append(damage_bytes(rng, line.encode()).decode("latin-1") if rng.random() < 0.15 else line)
    files, command = {".mlir": MODULE, ".memory": bytes(4096)}, ["attn-run", "{}.mlir", "--serve"]
    if rng.random() < 0.2:
        files[".object"] = rng.choice([b"", b"attn-run object \n", b"\x7fELF", b"attn-run object " + b"0" * 64 + b"\n\x7fELF"])
        command.append("--object={}.object")
    return files, command, "\n".join(lines) + rng.choice(["\n", ""])


def draw_files(rng):
    """Files by extension, a command for them, and its standard input; `{}` stands for the files' name."""
    return rng.choice([draw_arrays, draw_arrays, draw_target_file, draw_block_mask, draw_requests])(rng)
