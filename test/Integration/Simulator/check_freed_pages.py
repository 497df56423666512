"""Windows over pages of which those left of all that a sequence's rows see have been freed: their entries are a null page of NaN, or no
page, and rows left of the window in the last page are NaN. The bits are those of finite rows everywhere, the results those of numpy.

usage: check_freed_pages.py DEVICE [CASE...]
"""

import subprocess
import sys
import tempfile

import numpy as np

LENGTHS, COLUMNS, WINDOW, D = [150, 0, 33, 200], 256, 37, 64
WGMMA, TENSOR = 'mma = "wgmma", tile_m = 128, warps = 8, stages = 2', 'mma = "tcgen05", tile_m = 128, warps = 4, stages = 2'
SPLIT, LARGE = 'kind = "split_kv", mma = "mma_sync"', 'kind = "large_cache", mma = "mma_sync", stages = 2'
#: Entries of pages that have been freed: the null page, or none.
FREED = [0], [2147480000, -1]
# Of each device: rows, page, type of the cache, schedule. The values of a latent cache are columns of the keys; "float8" has a query of it, too;
# rows of "scales" have a scale each, in pages by the same table.
CASES = {
    "cpu": {
        "decode": (1, 16, "f16", ""),
        "several": (4, 8, "f16", ""),
        "chunk": (70, 16, "f16", "tile_m = 32, tile_n = 32"),
        "bytes": (4, 16, "f8E4M3FN", ""),
        "scales": (4, 16, "scales", ""),
        "offsets": (4, 16, "offsets", ""),
    },
    "sim:sm_80": {
        "offsets": (4, 16, "offsets", f"{SPLIT}, splits = 2, tile_n = 32"),
        "decode": (1, 16, "f16", f"{SPLIT}, splits = 3, tile_n = 64, pack_gqa = true"),
        "several": (4, 4, "f16", f"{SPLIT}, splits = 2, tile_n = 32"),
        "part": (1, 128, "f16", f"{SPLIT}, split_keys = 32, tile_n = 16"),
        "chosen": (4, 16, "f16", ""),
        "plan": (4, 16, "f16", f'{SPLIT}, split_keys = 64, balance = "plan", persistent_ctas = 3, tile_n = 32'),
        "share": (1, 16, "f16", f'{SPLIT}, split_keys = 32, balance = "share", tile_n = 32'),
        "chunk": (70, 16, "f16", f"{LARGE}, tile_m = 64, tile_n = 64, warps = 4"),
        "bytes": (4, 16, "f8E4M3FN", f"{SPLIT}, splits = 2, tile_n = 32"),
        "latent": (1, 16, "latent", f"{SPLIT}, splits = 2, tile_n = 32"),
        "scales": (4, 16, "scales", f"{SPLIT}, splits = 2, tile_n = 32"),
        "prefix": (4, 16, "f16", f'{SPLIT}, split_keys = 64, tile_n = 32, invariance = "prefix"'),
    },
    "sim:sm_90a": {
        "offsets": (70, 16, "offsets", f"{WGMMA}, tile_n = 64"),
        "decode": (1, 16, "f16", f"{SPLIT}, splits = 3, tile_n = 64, pack_gqa = true"),
        "chunk": (70, 16, "f16", f"{WGMMA}, tile_n = 64"),
        "part": (4, 256, "f16", f"{WGMMA}, tile_n = 16"),
        "split": (4, 16, "f16", f'kind = "split_kv", {WGMMA}, splits = 2, tile_n = 64'),
        "widened": (70, 8, "f8E5M2", f"{WGMMA}, tile_n = 64"),
        "float8": (70, 16, "float8", f"{WGMMA}, tile_n = 64"),
        "scales": (70, 16, "scales", f"{WGMMA}, tile_n = 64"),
        "latent": (70, 64, "latent", 'mma = "wgmma", tile_m = 64, tile_n = 64, warps = 8, stages = 2'),
        "bytes": (1, 16, "f8E4M3FN", f"{SPLIT}, splits = 2, tile_n = 32"),
    },
    "sim:sm_100a": {
        "chunk": (70, 16, "f16", f"{TENSOR}, tile_n = 64"),
        "decode": (1, 8, "f16", f'kind = "split_kv", {TENSOR}, splits = 2, tile_n = 64, pack_gqa = true'),
        "widened": (4, 16, "f8E4M3FN", f"{TENSOR}, tile_n = 64"),
        "float8": (70, 64, "float8", f"{TENSOR}, tile_n = 64"),
        "scales": (70, 16, "scales", f"{TENSOR}, tile_n = 64"),
    },
}


SCALED = """{} (%x: f32, %b: index, %h: index, %i: index, %j: index) {{
    %page = arith.constant PAGE : index
    %c = arith.divui %j, %page : index
    %r = arith.remui %j, %page : index
    %e = tensor.extract %t[%b, %c] : TABLE
    %p = arith.index_cast %e : i32 to index
    %f = tensor.extract %{}[%p, %r] : tensor<?xPAGExf32>
    %y = arith.mulf %x, %f : f32
    attn.yield %y : f32
  }}"""


def get_module(rows, page, cache, schedule):
    stored = {"latent": "f16", "offsets": "f16", "float8": "f8E4M3FN", "scales": "f8E4M3FN"}.get(cache, cache)
    query, output = ("f8E4M3FN", "f16") if cache == "float8" else ("f16", "f16")
    columns, values = (576, 512) if cache == "latent" else (D, D)
    heads, batches = 4, len(LENGTHS)
    pool, table = f"tensor<?x1x{page}x{columns}x{stored}>", f"tensor<{batches}x{COLUMNS // page}xi32>"
    key, value = (f"tensor<{batches}x1x{COLUMNS}x{n}x{stored}>" for n in (columns, values))
    q, o = f"tensor<{batches}x{heads}x{rows}x{columns}x{query}>", f"tensor<{batches}x{heads}x{rows}x{values}x{output}>"
    value_pool = f"tensor<?x1x{page}x{values}x{stored}>"
    slices = "%v0 = tensor.extract_slice %kp[0, 0, 0, 0] [%pages, 1, PAGE, 512] [1, 1, 1, 1] : KP to VP" if cache == "latent" else ""
    text = """
func.func @window(%q: Q, %kp: KP, VARG%t: TABLE, %n: tensor<BATCHESxi32>SARG) -> O {
  %c0 = arith.constant 0 : index
  %pages = tensor.dim %kp, %c0 : KP
  SLICES
  %k = attn.paged %kp[%t] : KP[TABLE] -> KEY
  %v = attn.paged VPOOL[%t] : VP[TABLE] -> VALUE
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<BATCHESxi32>) scale(0.125) SCOREMOD mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %m = attn.length query
    %l = attn.length key
    %d = arith.subi %l, %m : index
    %p = arith.addi %i, %d : index
    %w = arith.constant WINDOW : index
    %lo = arith.subi %p, %w : index
    %x = arith.cmpi sgt, %j, %lo : index
    %y = arith.cmpi sle, %j, %p : index
    %s = arith.andi %x, %y : i1
    attn.yield %s : i1
  } PROBMOD {schedule = #attn.schedule<SCHEDULE>} : Q, KEY, VALUE -> O
  return %o : O
}
"""
    names = {"SARG": ", %ks: tensor<?xPAGExf32>, %vs: tensor<?xPAGExf32>", "SCOREMOD": SCALED.format("score_mod", "ks"), "PROBMOD": SCALED.format("prob_mod", "vs")}
    if cache == "offsets":
        text = text.replace("%t: TABLE", f"%t: tensor<?xi32>, %ptr: tensor<{batches + 1}xi32>").replace("[%t]", "[%t, %ptr]")
        text = text.replace("[TABLE]", f"[tensor<?xi32>, tensor<{batches + 1}xi32>]")
    if cache != "scales":
        names = dict.fromkeys(names, "")
    names |= {"SLICES": slices, "VARG": "" if slices else f"%vp: {value_pool}, ", "VPOOL": "%v0" if slices else "%vp", "BATCHES": batches, "WINDOW": WINDOW}
    names |= {"SCHEDULE": schedule, "TABLE": table, "KEY": key, "VALUE": value, "KP": pool, "VP": value_pool, "PAGE": page, "Q": q, "O": o}
    for name, meaning in names.items():
        text = text.replace(name, str(meaning))
    return text.replace(" {schedule = #attn.schedule<>}", "")


def run(module, device, folder, sets, verifies=False):
    """The results of sets of inputs, by a module that is compiled once."""
    names = [[f"{folder}/{n}.{i}.npy" for n in range(len(sets))] for i in range(len(sets[0]))]
    for i, files in enumerate(names):
        for file, inputs in zip(files, sets):
            np.save(file, inputs[i])
    outputs = [f"{folder}/o.{n}.npy" for n in range(len(sets))]
    command = ["attn-run", module, f"--device={device}", *(f"--input={';'.join(files)}" for files in names), f"--output={';'.join(outputs)}"]
    made = subprocess.run([*command, *(["--verify"] if verifies else [])], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"FAIL: {made.stdout}{made.stderr}")
    return [np.load(file) for file in outputs]


def decode(array, cache):
    """The numbers of bytes from 0x20 to 0x47, positive and not small."""
    if array.dtype != np.uint8:
        return array.astype(np.float64)
    mantissa, bias = (2, 15) if cache == "f8E5M2" else (3, 7)
    return 2.0 ** ((array >> mantissa).astype(float) - bias) * (1 + (array & ((1 << mantissa) - 1)) / 2**mantissa)


def attend(q, k, v, first, last):
    scores = 0.125 * np.einsum("hid,jd->hij", q, k)
    j = np.arange(k.shape[0])
    scores[:, (j < first[:, None]) | (j > last[:, None])] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("hij,jd->hid", weights / weights.sum(axis=-1, keepdims=True), v)


def check(name, device, folder, rows, page, cache, schedule):
    rng = np.random.default_rng(1)
    is_byte, dim = cache not in ("f16", "latent", "offsets"), 576 if cache == "latent" else D
    draw = (lambda *s: rng.integers(0x30, 0x44, s).astype(np.uint8)) if is_byte else (lambda *s: (rng.standard_normal(s) / 2).astype(np.float16))
    nan = 0x7F if is_byte else np.nan
    columns, batches = COLUMNS // page, len(LENGTHS)
    q = draw(batches, 4, rows, dim) if cache == "float8" else (rng.standard_normal((batches, 4, rows, dim)) / 2).astype(np.float16)
    pools = [draw(batches * columns + 1, 1, page, dim) for _ in range(1 if cache == "latent" else 2)]
    scales = [rng.uniform(0.5, 2, (batches * columns + 1, page)).astype(np.float32) for _ in range(2 if cache == "scales" else 0)]
    table = (1 + rng.permutation(batches * columns)).reshape(batches, columns).astype(np.int32)
    lengths, freed, poisoned = np.array(LENGTHS, np.int32), np.zeros((batches, columns), bool), [array.copy() for array in (*pools, *scales)]
    poisoned = [array[:, None] if array.ndim == 2 else array for array in poisoned]
    nans = [nan if array.dtype == np.uint8 else np.nan for array in poisoned]
    for pool, nan in zip(poisoned, nans):
        pool[0] = nan
    for b, length in enumerate(LENGTHS):
        first = max(length - rows - WINDOW + 1, 0)
        freed[b, : first // page] = True
        for pool, nan in zip(poisoned, nans):
            pool[table[b, : first // page]] = nan
            pool[table[b, first // page], 0, : first % page] = nan
            end = table[b, length // page] if length < COLUMNS else 0
            pool[end, 0, length % page :] = nan
            pool[table[b, length // page + 1 :]] = nan
    path = f"{folder}/{name}.mlir"
    with open(path, "w") as f:
        f.write(get_module(rows, page, cache, schedule))
    # The same entries, those of all batches behind each other.
    arrange = lambda entries: [entries.reshape(-1), np.arange(batches + 1, dtype=np.int32) * columns] if cache == "offsets" else [entries]  # noqa: E731
    sets = [[q, *pools, *arrange(table), lengths, *scales]]
    poisoned, scales_poisoned = poisoned[: len(pools)], [array[:, 0] for array in poisoned[len(pools) :]]
    for what in FREED:
        entries = np.where(freed, rng.choice(what, freed.shape), table).astype(np.int32)
        sets.append([q, *poisoned, *arrange(entries), lengths, *scales_poisoned])
    expected, *others = run(path, device, folder, sets, verifies=name in ("decode", "scales", "offsets"))
    for b, length in enumerate(LENGTHS):
        keys, values = (decode(pools[i][table[b], 0].reshape(COLUMNS, dim), cache)[:length] for i in (0, -1))
        ks, vs = (array[table[b]].reshape(COLUMNS)[:length, None] for array in scales) if scales else (1, 1)
        last = np.arange(rows) + length - rows
        for i in np.flatnonzero(last >= 0):
            right = attend(decode(q[b, :, i : i + 1], cache), keys * ks, vs * values[:, : expected.shape[3]], last[i : i + 1] - WINDOW + 1, last[i : i + 1])
            error = np.abs(expected[b, :, i : i + 1] - right).max()
            if not error < 0.1 * np.abs(right).max():
                sys.exit(f"FAIL {name}: batch {b}, row {i} is off by {error}")
    for what, results in zip(FREED, others):
        if results.tobytes() != expected.tobytes():
            sys.exit(f"FAIL {name}: other bits with entries {what} left of the window")


def main():
    device, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES[device].items():
            if not names or name in names:
                check(name, device, folder, *case)
                print(f"{name}: PASS")


if __name__ == "__main__":
    main()
