"""What a decode step spends on each byte of its cache, by attn-sim --timing: warp instructions, bytes of shared memory, bytes on their way to an SM.

usage: check_decode_counts.py
The limits are far below what an SM can issue while its share of a byte comes: 0.3 warp instructions of an A100, 0.19 of an H200. A cache of 8 bits has numbers
to widen, which sm_80 has no instruction for; a query of bf16 beside one becomes f16 first. An SM can move 128 bytes of shared memory in a clock in which 13 to 21
come from DRAM; about as many bytes have to be on their way to it as come in a microsecond, while its CTAs share what comes.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import few

HEADS, KEY_HEADS, KEYS = 32, 8, 16384
#: So few that each has some hundred keys, as those of a device that has more to do.
CTAS = 256
#: What the compiler chooses by itself.
CHOSEN = ("tile_m", "tile_n", "stages", "warps", "query_in_registers", "pack_gqa")
#: Bytes on their way to an SM; of sm_90a an H100's.
IN_FLIGHT = {"sm_80": 32_000, "sm_90a": 48_000}
#: The target, the types of cache and query, D, the page, and the most warp instructions for a byte of the cache.
CASES = [
    (target, *types, dim, page, limit)
    for target, *limits in (("sm_90a", 0.025, 0.032, 0.07, 0.075), ("sm_80", 0.029, 0.036, 0.172, 0.177))
    for types, dim, page, limit in (
        (("bf16", "bf16"), 128, 64, limits[0]), (("bf16", "bf16"), 128, 16, limits[0]), (("bf16", "bf16"), 128, None, limits[0]),
        (("bf16", "bf16"), 64, 64, limits[1]), (("f8E4M3FN", "f16"), 128, 64, limits[2]), (("f8E4M3FN", "bf16"), 128, 64, limits[3]),
    )
]  # fmt: skip


def module(cache, query_type, dim, page):
    query, table = f"tensor<?x{HEADS}x1x{dim}x{query_type}>", "tensor<?x?xi32>"
    keys = f"tensor<?x{KEY_HEADS}x?x{dim}x{cache}>"
    descale = "descale(%d, %d : tensor<1xf32>, tensor<1xf32>)" if cache != "bf16" else ""
    if page is None:
        views, arguments, key, value = "", f"%k: {keys}, %v: {keys}", "%k", "%v"
    else:
        pool = f"tensor<?x{KEY_HEADS}x{page}x{dim}x{cache}>"
        views = f"  %kv = attn.paged %k[%table] : {pool}[{table}] -> {keys}\n  %vv = attn.paged %v[%table] : {pool}[{table}] -> {keys}\n"
        arguments, key, value = f"%k: {pool}, %v: {pool}, %table: {table}", "%kv", "%vv"
    return f"""func.func @decode(%q: {query}, {arguments}, %n: tensor<?xi32>{', %d: tensor<1xf32>' if descale else ''}) -> {query} {{
{views}  %o = attn.attention %q, {key}, {value} {descale} lengths(key %n : tensor<?xi32>)
      : {query}, {keys}, {keys} -> {query}
  return %o : {query}
}}
"""


def emit(folder, target, *options):
    """The schedule of the kernel, and its cost."""
    subprocess.run(["attn-opt", folder / "decode.mlir", f"--target={target}", "--emit=ptx,manifest,report", "-o", folder / "k", *options], check=True)
    return json.loads((folder / "k.report.json").read_text())["selections"][0]["ranked"][0]


def check(target, cache, query_type, dim, page, limit):
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "decode.mlir").write_text(module(cache, query_type, dim, page))
        chosen = emit(folder, target)
        assert chosen["schedule"]["balance"] == "share", chosen
        fields = " ".join(f"{name}={int(chosen['schedule'][name])}" for name in CHOSEN)
        selection = emit(folder, target, f"--schedule={fields} mma=mma_sync kind=split_kv balance=share persistent_ctas={CTAS}")
        rows = (1, KEY_HEADS, KEYS, dim) if page is None else (KEYS // page, KEY_HEADS, page, dim)
        draw = lambda shape: rng.integers(0x3C00, 0x3F00, shape).astype(np.uint16).view(np.float16 if query_type == "f16" else np.uint16)  # noqa: E731
        stored = (lambda shape: rng.integers(0x20, 0x48, shape).astype(np.uint8)) if cache != "bf16" else draw
        arrays = {"query": draw((1, HEADS, 1, dim)), "key": stored(rows), "value": stored(rows), "key_lengths": np.array([KEYS], np.int32)}
        arrays.update(descale_key=np.ones(1, np.float32), descale_value=np.ones(1, np.float32))
        if page is not None:
            arrays.update(key_table=rng.permutation(KEYS // page).astype(np.int32)[None])
        operands = [operand["name"] for operand in json.loads((folder / "k.json").read_text())["operands"] if operand["role"] == "input"]
        command = ["attn-sim", folder / "k.ptx", "--timing", f"--ctas-per-sm={selection['cost']['ctas_per_sm']}"]
        for operand in operands:
            np.save(folder / f"{operand}.npy", arrays[operand])
            command.append(f"--input={folder}/{operand}.npy")
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"FAIL: {run.stdout}{run.stderr}")
    text = re.search(r"keys and values: ([\d,]+) bytes; for each ([\d.]+) warp instructions and ([\d.]+) bytes of shared memory; ([\d,]+) on their way", run.stdout)
    bytes_read, in_flight = (int(text[i].replace(",", "")) for i in (1, 4))
    print(f"{target} {cache} beside {query_type} D={dim} page={page}: {text[2]} warp instructions, {text[3]} bytes of shared memory; {in_flight} bytes on their way to an SM", flush=True)
    assert bytes_read == 2 * KEYS * KEY_HEADS * dim * (1 if cache != "bf16" else 2), bytes_read
    # Written once, read once; and a narrowed query.
    assert float(text[2]) <= limit and float(text[3]) <= (2.1 if query_type == cache else 2.2), text[0]
    assert in_flight >= IN_FLIGHT[target], in_flight


if __name__ == "__main__":
    for case in few(CASES):
        check(*case)
    print("PASS")
