"""Runs attention under masks that read tensors and holds what was visited to brute force over all pairs.

usage: check_data_masks.py DEVICE[,FIELDS] [NAME...]: cpu, sim:sm_80 or sim:sm_90a; all masks, or these. The results are
compared with float64 (attn-run --verify). In the simulator, the bytes read of K and V and the products computed must be those
of the key tiles in which some pair is visible, and no others; unless FIELDS of another schedule are given, which may visit more.
Standard library only.
"""

import itertools
import json
import os
import random
import struct
import subprocess
import sys

from check_masks import SCHEDULES, D, check_all, share


class Tensor:
    """A captured tensor: dtype i32 or i1, row-major."""

    def __init__(self, shape, values, dtype="i32"):
        self.shape, self.values, self.dtype = tuple(shape), list(values), dtype
        assert len(self.values) == self.count(self.shape)

    @staticmethod
    def count(shape):
        return shape[0] * Tensor.count(shape[1:]) if shape else 1

    def __getitem__(self, index):
        position = 0
        for i, size in zip(index if isinstance(index, tuple) else (index,), self.shape):
            position = position * size + i
        return self.values[position]

    def type(self, broadcast=2):
        """Dynamic but for the leading dimensions of 1 of a block list."""
        sizes = ["1" if size == 1 and len(self.shape) > 2 and dim < broadcast else "?" for dim, size in enumerate(self.shape)]
        return f"tensor<{'x'.join(sizes)}x{self.dtype}>"

    def write(self, path):
        header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"
        header %= ("<i4" if self.dtype == "i32" else "|b1", "".join(f"{size}, " for size in self.shape))
        header += " " * (-(len(header) + 11) % 64) + "\n"
        with open(path, "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            f.write(struct.pack(f"<{len(self.values)}{'i' if self.dtype == 'i32' else '?'}", *self.values))


class Case:
    """Sizes, captured tensors, the region's ops (which end in %r) and the same predicate in Python."""

    def __init__(self, rows, keys, tensors, body, mask, batches=1, heads=1):
        self.rows, self.keys, self.tensors, self.body, self.mask = rows, keys, tensors, body, mask
        self.batches, self.heads = batches, heads

    def module(self, fields="", rows="?", keys="?", key_heads=None):
        clause = f"{{schedule = #attn.schedule<{fields}>}}" if fields else ""
        q, lse = f"tensor<{self.batches}x{self.heads}x{rows}x{D}xf16>", f"tensor<{self.batches}x{self.heads}x{rows}xf32>"
        k = f"tensor<{self.batches}x{key_heads or self.heads}x{keys}x{D}xf16>"
        body = self.body
        for number, tensor in enumerate(self.tensors):
            body = body.replace(f"T{number}", tensor.type())
        arguments = "".join(f", %t{i}: {tensor.type()}" for i, tensor in enumerate(self.tensors))
        return f"""func.func @attention(%q: {q}, %k: {k}, %v: {k}{arguments}) -> ({q}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {{
        {body.strip()}
        attn.yield %r : i1
      }} {clause} : {q}, {k}, {k} -> {q}, {lse}
  return %o, %lse : {q}, {lse}
}}
"""

    def write_inputs(self, folder):
        """Writes the tensors, which follow Q, K and V; options of attn-run that read them."""
        options = []
        for number, tensor in enumerate(self.tensors):
            path = os.path.join(folder, f"capture{number}.npy")
            tensor.write(path)
            options.append(f"--input=arg{3 + number}={path}")
        return options

    def count_tiles(self, tile_m, tile_n):
        """Key tiles with a visible pair, and the keys in them, over all row tiles, heads and batches."""
        tiles = keys_in_tiles = 0
        for b, h in itertools.product(range(self.batches), range(self.heads)):
            for m in range(0, self.rows, tile_m):
                for n in range(0, self.keys, tile_n):
                    rows, keys = range(m, min(m + tile_m, self.rows)), range(n, min(n + tile_n, self.keys))
                    if any(self.mask(b, h, i, j) for i in rows for j in keys):
                        tiles += 1
                        keys_in_tiles += len(keys)
        return tiles, keys_in_tiles


def documents(lengths, causal=False, shuffled=False):
    """Ids of documents that lie behind each other; shuffled: the documents are in pieces of 40."""
    ids = [d for d, length in enumerate(lengths) for _ in range(length)]
    if shuffled:
        pieces = [ids[i : i + 40] for i in range(0, len(ids), 40)]
        random.Random(5).shuffle(pieces)
        ids = sum(pieces, [])
    doc = Tensor([len(ids)], ids)
    body = """
        %x = tensor.extract %t0[%i] : T0
        %y = tensor.extract %t0[%j] : T0
        %same = arith.cmpi eq, %x, %y : i32
        %past = arith.cmpi sle, %j, %i : index
        %true = arith.constant true
        %r = arith.andi %same, %""" + ("past" if causal else "true") + " : i1"
    return Case(len(ids), len(ids), [doc], body, lambda b, h, i, j: doc[i] == doc[j] and (j <= i or not causal))


def documents_by_batch(lengths):
    """Documents that lie behind each other, others in each batch of as many positions, causal."""
    ids = [d for of_batch in lengths for d, length in enumerate(of_batch) for _ in range(length)]
    size = len(ids) // len(lengths)
    doc = Tensor([len(lengths), size], ids)
    body = """
        %x = tensor.extract %t0[%b, %i] : T0
        %y = tensor.extract %t0[%b, %j] : T0
        %same = arith.cmpi eq, %x, %y : i32
        %past = arith.cmpi sle, %j, %i : index
        %r = arith.andi %same, %past : i1"""
    return Case(size, size, [doc], body, lambda b, h, i, j: doc[b, i] == doc[b, j] and j <= i, batches=len(lengths))


def packed(queries, keys, alignment=None):
    """Packed sequences by their offsets; alignment: causal, within each, top_left or bottom_right."""
    starts_q, starts_k = ([sum(lengths[:s]) for s in range(len(lengths) + 1)] for lengths in (queries, keys))
    cu_q, cu_k = Tensor([len(starts_q)], starts_q), Tensor([len(starts_k)], starts_k)

    def entry(name, tensor, position):
        return f"""%{name}32 = tensor.extract %t{tensor}[%{position}] : T{tensor}
        %{name} = arith.index_cast %{name}32 : i32 to index
        """

    body = """
        %s = attn.segment %t0 at %i : T0
        %c1 = arith.constant 1 : index
        %s1 = arith.addi %s, %c1 : index
        """
    body += entry("k0", 1, "s") + entry("k1", 1, "s1") + entry("q0", 0, "s") + entry("q1", 0, "s1")
    body += """%from = arith.cmpi sge, %j, %k0 : index
        %to = arith.cmpi slt, %j, %k1 : index
        %in = arith.andi %from, %to : i1
        """
    if alignment:
        body += f"""%key = arith.subi %j, %k{int(alignment == 'bottom_right')} : index
        %row = arith.subi %i, %q{int(alignment == 'bottom_right')} : index
        %past = arith.cmpi sle, %key, %row : index
        """
    body += f"%r = arith.andi %in, %{'past' if alignment else 'to'} : i1"

    def mask(b, h, i, j):
        s = max(s for s in range(len(queries)) if starts_q[s] <= i)
        distance = (j - starts_k[s]) - (i - starts_q[s])
        if alignment == "bottom_right":
            distance -= keys[s] - queries[s]
        return starts_k[s] <= j < starts_k[s + 1] and (not alignment or distance <= 0)

    return Case(starts_q[-1], starts_k[-1], [cu_q, cu_k], body, mask)


def segments(lengths, how, causal=False):
    """Rows and keys of one packed sequence: by the bounds of the row's segment, or as the same number of both."""
    starts = [sum(lengths[:s]) for s in range(len(lengths) + 1)]
    body = "%s = attn.segment %t0 at %i : T0\n        "
    if how == "equal":
        body += "%t = attn.segment %t0 at %j : T0\n        %in = arith.cmpi eq, %s, %t : index\n        "
    else:
        body += """%c1 = arith.constant 1 : index
        %next = arith.addi %s, %c1 : index
        %begin32 = tensor.extract %t0[%s] : T0
        %begin = arith.index_cast %begin32 : i32 to index
        %end32 = tensor.extract %t0[%next] : T0
        %end = arith.index_cast %end32 : i32 to index
        %from = arith.cmpi sle, %begin, %j : index
        %to = arith.cmpi slt, %j, %end : index
        %in = arith.andi %from, %to : i1
        """
    body += f"%past = arith.cmpi {'sle, %j, %i' if causal else 'eq, %i, %i'} : index\n        %r = arith.andi %in, %past : i1"

    def mask(b, h, i, j):
        s, t = (max(s for s in range(len(lengths)) if starts[s] <= at) for at in (i, j))
        return s == t and (not causal or j <= i)

    return Case(starts[-1], starts[-1], [Tensor([len(starts)], starts)], body, mask)


def blocks(rows, keys, block_m, block_n, density, seed, per_head=False):
    """Blocks chosen at random, some of them full, in FlexAttention's lists; partial ones have a diagonal pattern."""
    generator = random.Random(seed)
    heads = 2 if per_head else 1
    row_blocks, key_blocks = -(-rows // block_m), -(-keys // block_n)
    partial, full = {}, {}
    for at in itertools.product(range(heads), range(row_blocks)):
        chosen = [c for c in range(key_blocks) if generator.random() < density]
        full[at] = [c for c in chosen if generator.random() < 0.5]
        partial[at] = [c for c in chosen if c not in full[at]]

    def lists(of):
        entries = [of[at] for at in itertools.product(range(heads), range(row_blocks))]
        rest = [-1] * key_blocks  # what is behind the entries that count is never looked at
        table = [c for row in entries for c in (row + rest)[:key_blocks]]
        counts = Tensor([1, heads, row_blocks], [len(row) for row in entries])
        return counts, Tensor([1, heads, row_blocks, key_blocks], table)

    body = f"""
        %full = attn.block_listed %t2, %t3 at(%b, %h, %i, %j) block [{block_m}, {block_n}] : T2, T3
        %partial = attn.block_listed %t0, %t1 at(%b, %h, %i, %j) block [{block_m}, {block_n}] : T0, T1
        %c3 = arith.constant 3 : index
        %sum = arith.addi %i, %j : index
        %rest = arith.remsi %sum, %c3 : index
        %some = arith.cmpi sle, %rest, %c1 : index
        %in = arith.andi %partial, %some : i1
        %r = arith.ori %full, %in : i1"""
    body = "%c1 = arith.constant 1 : index" + body

    def mask(b, h, i, j):
        at, block = (h if per_head else 0, i // block_m), j // block_n
        return block in full[at] or (block in partial[at] and (i + j) % 3 <= 1)

    return Case(rows, keys, [*lists(partial), *lists(full)], body, mask, heads=2)


def table(rows, keys, block, per_batch=False):
    """A matrix of conditions, one for each block of pairs."""
    row_blocks, key_blocks, batches = -(-rows // block), -(-keys // block), 2 if per_batch else 1
    generator = random.Random(9)
    seen = Tensor([batches, row_blocks, key_blocks], [generator.random() < 0.3 for _ in range(batches * row_blocks * key_blocks)], "i1")
    body = f"""
        %block = arith.constant {block} : index
        %c0 = arith.constant 0 : index
        %x = arith.divsi %i, %block : index
        %y = arith.divsi %j, %block : index
        %r = tensor.extract %t0[{'%b' if per_batch else '%c0'}, %x, %y] : T0"""
    return Case(rows, keys, [seen], body, lambda b, h, i, j: seen[b if per_batch else 0, i // block, j // block], batches=batches)


def ragged(lengths, size):
    """Batches of padded sequences, causal: rows and keys behind a sequence's length do not exist."""
    body = """
        %len32 = tensor.extract %t0[%b] : T0
        %len = arith.index_cast %len32 : i32 to index
        %row = arith.cmpi slt, %i, %len : index
        %past = arith.cmpi sle, %j, %i : index
        %r = arith.andi %row, %past : i1"""
    return Case(size, size, [Tensor([len(lengths)], lengths)], body, lambda b, h, i, j: j <= i < lengths[b], batches=len(lengths))


def periodic(size):
    body = """
        %c150 = arith.constant 150 : index
        %difference = arith.subi %i, %j : index
        %c600 = arith.constant 600 : index
        %positive = arith.addi %difference, %c600 : index
        %rest = arith.remsi %positive, %c150 : index
        %c8 = arith.constant 8 : index
        %r = arith.cmpi slt, %rest, %c8 : index"""
    return Case(size, size, [], body, lambda b, h, i, j: (i - j + 600) % 150 < 8)


NASTY = [0, 1, 63, 64, 65, 0, 31, 32, 33, 2, 0]
CASES = {
    "documents": lambda: documents([40, 70, 1, 33, 64, 65, 27]),
    "documents-causal": lambda: documents([63, 64, 65, 1, 1, 100], causal=True),
    "documents-in-pieces": lambda: documents([80, 120, 50, 150], shuffled=True),
    "packed": lambda: packed(NASTY, NASTY),
    "packed-causal": lambda: packed(NASTY, NASTY, "top_left"),
    "packed-queries-and-keys": lambda: packed([1, 70, 5, 64, 30], [64, 70, 130, 1, 65], "bottom_right"),
    "packed-more-queries": lambda: packed([50, 70, 64], [20, 30, 64], "bottom_right"),
    "packed-without-keys": lambda: packed([64, 70, 10], [0, 100, 0]),
    "segments-bounds": lambda: segments([40, 70, 1, 33, 64, 65, 27], "bounds"),
    "segments-bounds-causal": lambda: segments([100, 0, 3, 197], "bounds", causal=True),
    "segments-equal": lambda: segments([63, 64, 0, 65, 1, 1, 100], "equal"),
    "segments-equal-causal": lambda: segments([0, 150, 20, 130], "equal", causal=True),
    "blocks": lambda: blocks(384, 512, 128, 128, 0.4, 1),
    "blocks-ragged": lambda: blocks(300, 430, 128, 64, 0.5, 2),
    "blocks-by-head": lambda: blocks(256, 256, 64, 64, 0.4, 3, per_head=True),
    "blocks-none": lambda: blocks(200, 200, 64, 64, 0.0, 4),
    "blocks-all": lambda: blocks(200, 200, 64, 64, 1.0, 4),
    "blocks-smaller-than-tiles": lambda: blocks(130, 200, 16, 48, 0.2, 6),
    "table": lambda: table(300, 400, 100),
    "table-by-batch": lambda: table(200, 260, 50, per_batch=True),
    "documents-by-batch": lambda: documents_by_batch([[100, 33, 64], [197], [1, 63, 65, 68]]),
    "ragged": lambda: ragged([0, 1, 63, 64, 65, 200], 200),
    "periodic": lambda: periodic(500),
}


def check(device, name, folder):
    case = CASES[name]()
    device, _, fields = device.partition(",")
    tile_m, tile_n, schedule = SCHEDULES[device]
    counts_tiles = schedule and not fields
    if counts_tiles:
        fields = f'kind = "large_cache", tile_m = {tile_m}, tile_n = {tile_n}, tile_d = {D}, tile_dv = {D}, {schedule}'
    path, report = os.path.join(folder, name + ".mlir"), os.path.join(folder, name + ".json")
    with open(path, "w") as f:
        f.write(case.module(fields))
    command = ["attn-run", path, f"--device={device}", "--random=3", "--verify", f"--shape=M={case.rows},N={case.keys}"]
    command += case.write_inputs(folder)
    if counts_tiles:
        command.append(f"--report={report}")
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return process.stdout + process.stderr
    if not counts_tiles:
        return ""
    with open(report) as f:
        counts = json.load(f)
    tiles, keys_in_tiles = case.count_tiles(tile_m, tile_n)
    read = {operand["name"]: operand["read"] for operand in counts["operands"]}
    flops = sum(kernel["counters"]["mma_flops"] for kernel in counts["kernels"])
    expected = {"key bytes": keys_in_tiles * D * 2, "value bytes": keys_in_tiles * D * 2, "flops": tiles * tile_m * tile_n * D * 4}
    actual = {"key bytes": read["key"], "value bytes": read["value"], "flops": flops}
    wrong = [f"{what}: expected {expected[what]}, got {actual[what]}" for what in expected if actual[what] != expected[what]]
    return "; ".join(wrong)


def main():
    check_all(check, sys.argv[1], sys.argv[2:] or share(CASES, sys.argv[1], 5))


if __name__ == "__main__":
    main()
