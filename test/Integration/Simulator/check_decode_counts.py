"""What a decode step spends on each byte of its cache, how it asks for it, and how evenly CTAs share it, by attn-sim --timing.

usage: check_decode_counts.py
The limits are far below what an SM can issue while its share of a byte comes: 0.3 warp instructions of an A100, 0.19 of an H200. A cache of 8 bits has numbers
to widen, which sm_80 has no instruction for; a query of bf16 beside one becomes f16 first. Moves between registers are none for ptxas, nor is it to take the
halves of one, as the conversions of sm_90a do: what is issued is counted without. An SM can move 128 bytes of shared memory in a clock in which 13 to 21
come from DRAM; about as many bytes have to be on their way to it as come in a microsecond, while its CTAs share what comes. Every sector that is asked for is used
whole. The first request waits for nothing, the query's rows neither.
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
#: Instructions before the first request: some 30 read parameters, which are operands of others for ptxas; 65 find by the plan what the CTA has to do, 35 look
#: up the page and compute addresses. Of a tile of several pages all entries are read first.
MOST_BEFORE, MOST_BEFORE_OF_PAGES = 142, 147
#: Issued for a byte of numbers of 16 bits and of 8. More are on sm_80 for rows of 128 bytes: 0.031 of 64 numbers of 16 bits, 0.14 of numbers to widen.
MOST_ISSUED = {2: 0.03, 1: 0.06}
#: The target, the types of cache and query, D, the page, and the most warp instructions for a byte of the cache.
CASES = [
    (target, *types, dim, page, limit)
    for target, *limits in (("sm_90a", 0.0215, 0.0285, 0.065, 0.068), ("sm_80", 0.0255, 0.032, 0.142, 0.145))
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


#: Sequences of very different lengths, whose keys are 1025 for each CTA.
LENGTHS = (100, 5000, 16384, 300, 9000, 40, 0, 1984)
#: The target, the page, and the most that the longest CTA takes of the mean. Ranges are a CTA's share of all keys in whole tiles.
SHARES = [("sm_90a", 64, 1.1), ("sm_80", 16, 1.1)]


def compile_chosen(folder, target):
    """The kernel that the compiler chooses, but for CTAS CTAs; its schedule and cost."""
    chosen = emit(folder, target)
    assert chosen["schedule"]["balance"] == "share", chosen
    fields = " ".join(f"{name}={int(chosen['schedule'][name])}" for name in CHOSEN)
    return emit(folder, target, f"--schedule={fields} mma=mma_sync kind=split_kv balance=share persistent_ctas={CTAS}")


def make_inputs(cache, query_type, dim, page, lengths):
    """Arrays by the names of operands: pages in any order, or one sequence."""
    rng = np.random.default_rng(7)
    pages = -(-np.array(lengths) // (page or KEYS))
    rows = (pages.sum(), KEY_HEADS, page or KEYS, dim)
    draw = lambda shape: rng.integers(0x3C00, 0x3F00, shape).astype(np.uint16).view(np.float16 if query_type == "f16" else np.uint16)  # noqa: E731
    stored = (lambda shape: rng.integers(0x20, 0x48, shape).astype(np.uint8)) if cache != "bf16" else draw
    table = np.full((len(lengths), pages.max()), 2147480000, np.int32)
    table[np.arange(pages.max()) < pages[:, None]] = rng.permutation(pages.sum())
    arrays = {"query": draw((len(lengths), HEADS, 1, dim)), "key": stored(rows), "value": stored(rows), "key_table": table}
    return arrays | {"key_lengths": np.array(lengths, np.int32), "descale_key": np.ones(1, np.float32), "descale_value": np.ones(1, np.float32)}


def simulate(folder, selection, arrays):
    """What is printed, and the attention's kernel in the report."""
    operands = [operand["name"] for operand in json.loads((folder / "k.json").read_text())["operands"] if operand["role"] == "input"]
    command = ["attn-sim", folder / "k.ptx", "--timing", f"--report={folder}/report.json", f"--ctas-per-sm={selection['cost']['ctas_per_sm']}"]
    for operand in operands:
        np.save(folder / f"{operand}.npy", arrays[operand])
        command.append(f"--input={folder}/{operand}.npy")
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"FAIL: {run.stdout}{run.stderr}")
    kernels = json.loads((folder / "report.json").read_text())["kernels"]
    return run.stdout, next(kernel for kernel in kernels if kernel["entry"] == "decode")


def check_requests(kernel, page):
    """All of a sector, and early; how many instructions are before."""
    requests = {buffer["name"]: buffer["requests"] for buffer in kernel["counters"]["buffers"] if buffer["name"] in ("key", "value")}
    assert all(request["sector_use"] == 1 for request in requests.values()), requests
    before = requests["key"]["instructions_before"]
    assert before <= (MOST_BEFORE_OF_PAGES if page == 16 else MOST_BEFORE) and requests["key"]["waits_before"] == 0, requests
    return before


def check(target, cache, query_type, dim, page, limit):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "decode.mlir").write_text(module(cache, query_type, dim, page))
        selection = compile_chosen(folder, target)
        printed, kernel = simulate(folder, selection, make_inputs(cache, query_type, dim, page, [KEYS]))
    text = re.search(r"keys and values: ([\d,]+) bytes; for each ([\d.]+) warp instructions and ([\d.]+) bytes of shared memory; ([\d,]+) on their way", printed)
    bytes_read, in_flight = (int(text[i].replace(",", "")) for i in (1, 4))
    before = check_requests(kernel, page)
    instructions = kernel["counters"]["warp_instructions"]
    issued = (instructions["total"] - instructions["move"]) / bytes_read
    print(
        f"{target} {cache} beside {query_type} D={dim} page={page}: {text[2]} warp instructions, {issued:.4f} but moves, {text[3]} bytes of shared memory; "
        f"{in_flight} bytes on their way to an SM; the first behind {before} instructions",
        flush=True,
    )
    size = 2 if cache == "bf16" else 1
    assert bytes_read == 2 * KEYS * KEY_HEADS * dim * size, bytes_read
    assert issued <= MOST_ISSUED[size] or (target == "sm_80" and dim * size == 128), issued
    # Written once, read once; and a narrowed query.
    assert float(text[2]) <= limit and float(text[3]) <= (2.1 if query_type == cache else 2.2), text[0]
    assert in_flight >= IN_FLIGHT[target], in_flight


def check_shares(target, page, limit):
    """The longest CTA takes no more than a range of all that CTAs have in the mean."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "decode.mlir").write_text(module("bf16", "bf16", 128, page))
        selection = compile_chosen(folder, target)
        _, kernel = simulate(folder, selection, make_inputs("bf16", "bf16", 128, page, LENGTHS))
    tile = selection["schedule"]["tile_n"]
    tiles = sum(-(-length // tile) for length in LENGTHS) * KEY_HEADS
    most = -(-tiles // CTAS) * tile / (sum(LENGTHS) * KEY_HEADS / CTAS)
    ratio = kernel["cta_clocks"]["longest"] / kernel["cta_clocks"]["mean"]
    print(f"{target} page={page}, ranges of tiles of {tile} keys: the longest CTA takes {ratio:.3f} of the mean, a range is {most:.3f} of it", flush=True)
    check_requests(kernel, page)
    assert ratio <= most <= limit, (ratio, most)


if __name__ == "__main__":
    # A case's limit is not one of its parameters.
    for case in few(CASES, key=lambda case: case[:-1]):
        check(*case)
    for case in SHARES:
        check_shares(*case)
    print("PASS")
