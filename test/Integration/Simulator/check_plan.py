"""The plan of a worklist (balance = "plan", or "share"), and what it gives.

usage: check_plan.py list|sequences|shares|replay|balance
list: the worklist alone, for random lengths with zeros: which splits there are, each once, the longest first, so that CTAs that take every
n-th have nearly as much. sequences: the same of packed ones, whose entries name row tiles, and of offsets that do not ascend. shares: the same of a plan that chooses
how long ranges are, of tensors and of packed ones: no two states in one place, and the bits of a plan with ranges of that length. replay: a launch is the same for all lengths, and gives the bits of the kernel whose grid has a CTA for each split.
balance: clocks of the longest CTA over the mean for lengths by Zipf's law.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import LONG

HEADS, KEY_HEADS, D, SPLIT, TILE = 4, 2, 64, 32, 16


def compile_decode(folder, target, balance, ctas=8, keys=None, unit=SPLIT):
    n = "?" if keys is None else keys
    q, k, o = f"tensor<?x{HEADS}x1x{D}xf16>", f"tensor<?x{KEY_HEADS}x{n}x{D}xf16>", f"tensor<?x{HEADS}x1x{D}xf16>"
    plan = f', balance = "{balance}", persistent_ctas = {ctas}' if balance != "grid" else ""
    (folder / "decode.mlir").write_text(f"""func.func @decode(%q: {q}, %k: {k}, %v: {k}, %n: tensor<?xi32>) -> {o} {{
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>)
      {{schedule = #attn.schedule<kind = "split_kv", mma = "mma_sync", split_keys = {unit}, tile_n = 16, tile_m = 16, stages = 2, warps = 1, pack_gqa = true{plan}>}} : {q}, {k}, {k} -> {o}
  return %o : {o}
}}
""")
    subprocess.run(["attn-opt", folder / "decode.mlir", f"--target={target}", "--emit=ptx,manifest", "-o", folder / balance], check=True)
    return folder / f"{balance}.ptx"


def compile_sequences(folder, balance="plan", ctas=8):
    q, k = f"tensor<?x{HEADS}x{D}xf16>", f"tensor<?x{KEY_HEADS}x?x{D}xf16>"
    b = f"tensor<?x{HEADS}x?x{D}xf16>"
    (folder / "sequences.mlir").write_text(f"""func.func @decode(%qp: {q}, %k: {k}, %v: {k}, %offsets: tensor<?xi32>, %n: tensor<?xi32>) -> {q} {{
  %q = attn.ragged %qp[%offsets] : {q}[tensor<?xi32>] -> {b}
  %m = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %r = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %m : tensor<?xi32>)
      {{schedule = #attn.schedule<kind = "split_kv", mma = "mma_sync", split_keys = {SPLIT}, tile_n = 16, tile_m = 16, stages = 2, warps = 1, balance = "{balance}", persistent_ctas = {ctas}>}}
      : {b}, {k}, {k} -> {b}
  %zero = arith.constant 0 : index
  %rows = tensor.dim %qp, %zero : {q}
  %e = tensor.empty(%rows) : {q}
  %o = attn.pack %r[%offsets] into %e : {b}[tensor<?xi32>] into {q}
  return %o : {q}
}}
""")
    subprocess.run(["attn-opt", folder / "sequences.mlir", "--target=sm_80", "--emit=ptx,manifest", "-o", folder / "plan"], check=True)
    return folder / "plan.ptx"


def simulate(ptx, folder, inputs, *options):
    for number, array in enumerate(inputs):
        np.save(folder / f"{number}.npy", array)
    command = ["attn-sim", ptx, *(f"--input={folder}/{i}.npy" for i in range(len(inputs))), f"--output={folder}/out.npy", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"FAIL: {run.stdout}{run.stderr}")
    return np.load(folder / "out.npy"), run.stdout


def random_lengths(rng, batches, keys):
    lengths = rng.integers(0, keys + 1, batches)
    lengths[rng.random(batches) < rng.choice([0, 0.3, 1])] = 0
    lengths[rng.random(batches) < 0.2] = rng.choice([1, SPLIT - 1, SPLIT, SPLIT + 1, keys])
    return lengths.astype(np.int32)


def plan_alone(manifest, numbers, output):
    """The manifest with the worklist as an output, by the kernel that writes it alone."""
    data = json.loads(manifest)
    data["kernels"] = [kernel for kernel in data["kernels"] if kernel["entry"] == "decode_plan"]
    data["workspaces"], data["predicted_bytes"] = [], []
    data["operands"] = [operand for operand in data["operands"] if operand["role"] == "input"]
    data["operands"].append({"name": "worklist", "role": "output", "dtype": "i32", "shape": [numbers]})
    data["operands"].append({"name": "output", "role": "inout", "dtype": "f16", "shape": output})
    for parameter in data["kernels"][0]["parameters"]:
        if parameter.pop("workspace", None):
            parameter["operand"] = "worklist"
    return json.dumps(data)


def read_splits(entries, count, words, splits):
    """The batches and splits of a list, as batch * splits + split."""
    return entries[: words * count : words] * splits + entries[1 : words * count : words]


def check_list():
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ptx = compile_decode(folder, "sm_80", "plan")
        manifest = (folder / "plan.json").read_text()
        for trial in range(24 if LONG else 10):
            batches, keys = (int(rng.integers(1, 80)), int(rng.integers(1, 400))) if trial else (33, 1)
            splits = -(-keys // SPLIT)
            lengths = random_lengths(rng, batches, keys)
            if trial % 5 == 4:  # what lengths should not be
                lengths[rng.integers(0, batches)] = rng.choice([-1, -(2**31), 2**31 - 1])
            (folder / "plan.json").write_text(plan_alone(manifest, 1 + 2 * batches * splits, ["B0", HEADS, 1, D]))
            q, k = np.zeros((batches, HEADS, 1, D), np.float16), np.zeros((batches, KEY_HEADS, keys, D), np.float16)
            worklist, _ = simulate(ptx, folder, [q, k, k, lengths, q])
            lengths = np.clip(lengths.astype(np.int64), 0, splits * SPLIT)
            count = int(worklist[0])
            items = read_splits(worklist[1:], count, 2, splits)
            expected = [b * splits + s for b, n in enumerate(lengths) for s in range(max(-(-n // SPLIT), 1))]
            assert count == len(expected) and sorted(items) == expected, (trial, count, len(expected))
            payload = np.clip(lengths[items // splits] - items % splits * SPLIT, 0, SPLIT)
            assert (np.diff(payload) <= 0).all(), (trial, payload)
            for ctas in (1, 7, 132):
                # In turns, every other time from the last CTA on.
                loads = [payload[cta :: 2 * ctas].sum() + payload[2 * ctas - 1 - cta :: 2 * ctas].sum() for cta in range(ctas)]
                assert max(loads) - min(loads) <= SPLIT, (trial, ctas, loads)


def check_sequences():
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ptx = compile_sequences(folder)
        manifest = (folder / "plan.json").read_text()
        for trial in range(24 if LONG else 10):
            batches, keys = int(rng.integers(1, 60)), int(rng.integers(1, 300))
            splits = -(-keys // SPLIT)
            lengths = random_lengths(rng, batches, keys)
            _, offsets = draw_rows(rng, batches)
            ascends = trial % 5 != 4
            if not ascends:
                offsets = rng.integers(-5, offsets[-1] + 5, batches + 1).astype(np.int32)
            total = max(int(offsets[-1]), 1) if ascends else 300
            room = (batches + total // 16) * splits
            (folder / "plan.json").write_text(plan_alone(manifest, 1 + 3 * room, ["R0", HEADS, D]))
            q, k = np.zeros((total, HEADS, D), np.float16), np.zeros((batches, KEY_HEADS, keys, D), np.float16)
            worklist, _ = simulate(ptx, folder, [q, k, k, offsets, lengths, q])
            count = int(worklist[0])
            items, tiles = read_splits(worklist[1:], count, 3, splits), worklist[3 : 3 + 3 * count : 3]
            found = np.minimum(offsets[1:], total) - np.maximum(offsets[:-1], 0)
            expected = [
                (b * splits + s, t) for b, n in enumerate(lengths) for s in range(max(-(-n // SPLIT), 1)) for t in range(-(-max(found[b], 0) // 16))
            ]
            if not ascends:
                assert count == min(len(expected), room) and set(zip(items, tiles)) <= set(expected), (trial, count, len(expected), room)
                continue
            assert count == len(expected) and sorted(zip(items, tiles)) == expected, (trial, count, len(expected))
            payload = np.clip(lengths[items // splits] - items % splits * SPLIT, 0, SPLIT)
            assert (np.diff(payload) <= 0).all(), (trial, payload)


def draw_rows(rng, batches):
    """Rows of sequences behind each other, and where they begin."""
    rows = rng.integers(0, 60, batches) * (rng.random(batches) < rng.choice([0.1, 0.6, 1]))
    rows[rng.integers(0, batches)] = rng.choice([1, 15, 16, 17])
    return rows, np.concatenate([[0], np.cumsum(rows)]).astype(np.int32)


def get_share(lengths, tiles, groups, ctas):
    """The keys of a range that a plan chooses: those of all row tiles over the CTAs, in whole tiles, but SPLIT at least."""
    return max(TILE * -(-int((-(-lengths // TILE) * tiles).sum()) * groups // ctas), SPLIT)


def check_share(rng, folder, is_packed, ctas):
    """One worklist of a plan that chooses ranges. Each row tile counts."""
    ptx = compile_sequences(folder, "share", ctas) if is_packed else compile_decode(folder, "sm_80", "share", ctas)
    manifest = folder / f"{ptx.stem}.json"
    text, room = manifest.read_text(), {space["name"]: space for space in json.loads(manifest.read_text())["workspaces"]}
    assert "worklist" in room and "partial_output" in room, room
    batches, keys = int(rng.integers(1, 60)), int(rng.integers(1, 700))
    lengths = random_lengths(rng, batches, keys)
    rows, offsets = draw_rows(rng, batches) if is_packed else (np.ones(batches, int), None)
    tiles = -(-rows // 16) if is_packed else rows
    groups = HEADS if is_packed else KEY_HEADS  # what a row tile of the list stands for
    most = -(-keys // SPLIT)
    words = (ctas // groups + (batches + int(rows.sum()) // 16 if is_packed else batches)) * (3 if is_packed else 2) + batches + 2
    output = ["R0", HEADS, D] if is_packed else ["B0", HEADS, 1, D]
    manifest.write_text(plan_alone(text, words, output))
    q = np.zeros((max(int(rows.sum()), 1), HEADS, D) if is_packed else (batches, HEADS, 1, D), np.float16)
    k = np.zeros((batches, KEY_HEADS, keys, D), np.float16)
    worklist, _ = simulate(ptx, folder, [q, k, k, *([offsets] if is_packed else []), lengths, q])
    count, length, first, entries = int(worklist[0]), int(worklist[1]), worklist[2 : 2 + batches], worklist[2 + batches :]
    lengths = np.clip(lengths.astype(np.int64), 0, most * SPLIT)
    assert length == get_share(lengths, tiles, groups, ctas), length
    items = read_splits(entries, count, 3 if is_packed else 2, most)
    named = entries[2 : 3 * count : 3] if is_packed else np.zeros(count, int)
    expected = [(b * most + s, t) for b, n in enumerate(lengths) for s in range(max(-(-n // length), 1)) for t in range(tiles[b])]
    assert count == len(expected) and sorted(zip(items, named)) == expected, (count, len(expected))
    payload = np.clip(lengths[items // most] - items % most * length, 0, length)
    assert (np.diff(payload) <= 0).all() and int((payload == length).sum()) * groups <= max(ctas, groups * int(tiles.max())), payload
    # The states of a sequence's ranges are behind those of the sequence before.
    states = np.maximum(-(-lengths // length), 1) * rows
    assert (first == np.cumsum(states) - states).all(), (first, states)
    assert states.sum() <= (ctas // groups * 16 + rows.sum() if is_packed else ctas // groups + batches), states.sum()
    return length


def check_shares():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lengths = {check_share(rng, folder, trial % 2 == 1, int(rng.choice([1, 7, 40, 132]))) // TILE for trial in range(32 if LONG else 12)}
        assert len(lengths) > 3, lengths
        # 6 sequences of up to 300 keys for 12 CTAs: as by a plan with ranges of the length that follows.
        q, k, v = (rng.standard_normal((6, h, m, D)).astype(np.float16) for h, m in [(HEADS, 1), (KEY_HEADS, 300), (KEY_HEADS, 300)])
        shares = compile_decode(folder, "sm_90a", "share", 12)
        for lengths in (np.full(6, 300, np.int32), np.array([0, 7, 300, 64, 0, 100], np.int32), np.zeros(6, np.int32)):
            length = get_share(lengths, 1, KEY_HEADS, 12)
            plan = compile_decode(folder, "sm_90a", "plan", 12, unit=length)
            found, exact = (simulate(ptx, folder, [q, k, v, lengths])[0] for ptx in (shares, plan))
            assert found.tobytes() == exact.tobytes(), (lengths, length)


def check_replay():
    """Eight rounds of one launch, down to all sequences empty and up to all of them full."""
    rng = np.random.default_rng(2)
    batches, keys = 6, 150
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = [compile_decode(folder, "sm_90a", balance) for balance in ("plan", "grid")]
        q, k, v = (rng.standard_normal((batches, h, m, D)).astype(np.float16) for h, m in [(HEADS, 1), (KEY_HEADS, keys), (KEY_HEADS, keys)])
        grids = set()
        for trial in range(8):
            lengths = random_lengths(rng, batches, keys) if trial > 1 else np.full(batches, trial * keys, np.int32)
            results = []
            for ptx in kernels:
                results.append(simulate(ptx, folder, [q, k, v, lengths], f"--report={folder}/{ptx.stem}.report"))
            report = json.loads((folder / "plan.report").read_text())
            grids.add(str([kernel["grid"] for kernel in report["kernels"]]))
            assert results[0][0].tobytes() == results[1][0].tobytes(), (trial, lengths)
        assert len(grids) == 1, grids
        # Each lane of a warp reads: both numbers for a split and group of heads, and their number for each CTA.
        items = int(np.maximum(-(-lengths // SPLIT), 1).sum())
        worklist = next(w for w in report["workspaces"] if w["name"] == "worklist")
        assert (worklist["read"], worklist["write"]) == (4 * 32 * (2 * items * KEY_HEADS + 8), 4 * (1 + 2 * items)), worklist


def check_balance():
    """Of 32 sequences, by far the longest of which has 1000 keys."""
    keys, ctas = 1000, 16
    lengths = np.maximum(keys / np.arange(1, 33), 1).astype(np.int32)
    np.random.default_rng(3).shuffle(lengths)
    q, k = np.ones((32, HEADS, 1, D), np.float16), np.ones((32, KEY_HEADS, keys, D), np.float16)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        longest = {}
        for balance in ("plan", "share", "grid"):
            _, text = simulate(compile_decode(folder, "sm_80", balance, ctas), folder, [q, k, k, lengths], "--timing")
            of_kernels = dict(re.findall(r"\n(\w+)\nrole.*?takes ([\d.]+) of the mean", text, re.DOTALL))
            longest[balance] = float(of_kernels["decode"])
        print(f"the longest CTA takes {longest['plan']} of the mean with a plan, {longest['share']} with one that chooses ranges, {longest['grid']} without")
        assert longest["plan"] <= 1.1 < longest["share"] <= 1.5 < 1.7 < longest["grid"]


if __name__ == "__main__":
    {"list": check_list, "sequences": check_sequences, "shares": check_shares, "replay": check_replay, "balance": check_balance}[sys.argv[1]]()
    print("PASS")
