"""8-bit attention against float64 of the dequantised inputs.

usage: check_float8.py DEVICE CHECK...: cpu, sim:sm_89, sim:sm_90a, ...; CHECK is a name below, or all of them.
The reference and the unfused computation, whose error a kernel may have twice, are written down here, in NumPy; so are the
formats (OCP 8-bit Floating Point Specification, section 5).
"""

import itertools
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sweep import LONG, few

#: Bits of fraction, bias; f8E4M3FN has no infinity, and NaN in one code.
FORMATS = {"f8E4M3FN": (3, 7), "f8E5M2": (2, 15)}
#: Relative RMS of the output on normal data.
NORMAL = {"f8E4M3FN": 3e-2, "f8E5M2": 6e-2}
#: Devices with tensor cores that keep so many fraction bits of a sum of 8-bit products. Kernels of sm_90a without wgmma have others.
SUM_BITS = {"sim:sm_89": 13, "sim:sm_90a": 13}


def decode_table(dtype):
    fraction_bits, bias = FORMATS[dtype]
    table = np.empty(256)
    for code in range(256):
        exponent, fraction = (code & 127) >> fraction_bits, code & ((1 << fraction_bits) - 1)
        significand = fraction + (1 << fraction_bits if exponent else 0)
        value = math.ldexp(significand, max(exponent, 1) - bias - fraction_bits)
        if dtype == "f8E5M2" and exponent == 31:
            value = math.nan if fraction else math.inf
        if dtype == "f8E4M3FN" and code & 127 == 127:
            value = math.nan
        table[code] = -value if code & 128 else value
    return table


def encode(x, dtype):
    """Codes of the nearest numbers, ties to even, the largest of what is beyond."""
    magnitudes = decode_table(dtype)[:128]
    magnitudes = magnitudes[np.isfinite(magnitudes)]
    size = np.minimum(np.abs(x), magnitudes[-1])
    above = np.clip(np.searchsorted(magnitudes, size), 1, len(magnitudes) - 1)
    low, high = size - magnitudes[above - 1], magnitudes[above] - size
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    return (code | np.where(np.signbit(x), 128, 0)).astype(np.uint8)


def visible(mask, m, n):
    i, j = np.arange(m)[:, None], np.arange(n)[None, :]
    if mask == "causal":
        return j <= i + n - m
    if mask == "window":
        return (j >= i - 20) & (j <= i + 7)
    return np.ones((m, n), bool)


MASKS = {"": "", "causal": "mask_mod causal(bottom_right)", "window": "mask_mod sliding_window(20, 7)"}


def short_products(q, k, bits):
    """q k^T of each head as tensor cores add it, 32 columns at a time: what is below so many bits of the largest term, the sum so far among them, is
    cut off (DeepSeek-V3, section 3.3.2)."""
    sums = np.zeros((*q.shape[:3], k.shape[2]))
    for begin in range(0, q.shape[3], 32):
        terms = q[:, :, :, None, begin : begin + 32] * k[:, :, None, :, begin : begin + 32]
        largest = np.maximum(np.abs(sums), np.abs(terms).max(-1))
        unit = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1))[1] - 1 - bits)
        sums = (np.trunc(sums / unit) + np.trunc(terms / unit[..., None]).sum(-1)) * unit
    return sums


def attend(case, codes, descales, rounds, bits=None, rows=slice(None)):
    """Output and LSE in float64, of `rows` of the query; `rounds`: weights are rounded as the unfused computation does it; `bits`: scores are short sums."""
    shown = visible(case.get("mask", ""), codes[0].shape[2], codes[1].shape[2])[rows]
    codes = [codes[0][:, :, rows], *codes[1:]]
    q, k, v = (decode_table(case["dtype"])[x] for x in codes)
    group = q.shape[1] // k.shape[1]
    dq, dk, dv = (np.broadcast_to(d if d.ndim == 2 else d[None, :], k.shape[:2]) for d in descales)
    k, v, dv, factor = (np.repeat(x, group, axis=1) for x in (k, v, dv, dq * dk))
    s = np.einsum("bhid,bhjd->bhij", q, k) if bits is None else short_products(q, k, bits)
    s = s * factor[..., None, None] / math.sqrt(q.shape[3])
    s = np.where(shown, s, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        lse = (np.where(np.isfinite(top), top, 0) + np.log(total))[..., 0]
        p = np.where(total > 0, p / total, 0)
    if rounds:
        p = decode_table(case["dtype"])[encode(256 * p, case["dtype"])] / 256
    # A key without weight takes no part, whatever its value holds.
    out = np.einsum("bhij,bhjd->bhid", p, np.nan_to_num(v, posinf=0, neginf=0))
    for bad in np.argwhere(~np.isfinite(v)):
        seen = p[bad[0], bad[1], :, bad[2]] != 0
        out[bad[0], bad[1], seen, bad[3]] = np.nan
    return out * dv[..., None, None], lse


def run(device, case, codes, descales, has_descales):
    dtype, out = case["dtype"], case.get("out", "bf16")
    shape = lambda x: "x".join(map(str, x))
    types = [f"tensor<{shape(x.shape)}x{dtype}>" for x in codes]
    scales = [f"tensor<{shape(d.shape)}xf32>" for d in descales]
    b, h, m, _ = codes[0].shape
    results = [f"tensor<{b}x{h}x{m}x{codes[2].shape[3]}x{out}>", f"tensor<{b}x{h}x{m}xf32>"]
    schedule = f"{{schedule = #attn.schedule<{case['schedule']}>}}" if "schedule" in case else ""
    clause = f"descale(%x, %y, %z : {', '.join(scales)})" if has_descales else ""
    arguments = ", ".join(f"%{n}: {t}" for n, t in zip("qkvxyz", types + (scales if has_descales else [])))
    text = f"""func.func @f({arguments}) -> ({', '.join(results)}) {{
  %o, %lse = attn.attention %q, %k, %v {clause} {MASKS[case.get("mask", "")]} {schedule} : {', '.join(types)} -> {', '.join(results)}
  return %o, %lse : {', '.join(results)}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "f.mlir").write_text(text)
        inputs = list(codes) + (list(descales) if has_descales else [])
        command = ["attn-run", f"{folder}/f.mlir", f"--device={device}"]
        for i, array in enumerate(inputs):
            np.save(folder / f"{i}.npy", array)
            command.append(f"--input={folder}/{i}.npy")
        command += [f"--output={folder}/o.npy", f"--output={folder}/lse.npy"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"{case}: {result.stdout}{result.stderr}{text}")
        o, lse = np.load(folder / "o.npy"), np.load(folder / "lse.npy")
    if out == "bf16":
        o = (o.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return o.astype(np.float64), lse


def rms(x):
    return math.sqrt(np.mean(np.square(x)))


def make_case(case, seed=0):
    """Codes and descales; `data`: normal, outliers (channels that are 30 times as large), spread (logits of deviation 4), steep (of 60,
    where a maximum is subtracted first)."""
    rng = np.random.default_rng(seed)
    b, hq, hkv, m, n, d, dv = case["sizes"]
    arrays = [rng.normal(size=s) for s in ((b, hq, m, d), (b, hkv, n, d), (b, hkv, n, dv))]
    if case.get("data") == "outliers":
        for x in arrays:
            x[..., :: x.shape[3] // 4] *= 30
        arrays[0] /= 60
    arrays[0] *= {"spread": 4, "steep": 60}.get(case.get("data"), 1)
    codes = [encode(x, case["dtype"]) for x in arrays]
    descales = [np.ones(1, np.float32) for _ in codes]
    if case.get("descale"):
        descales = [np.full(1, 0.75, np.float32)] + [
            rng.uniform(0.3, 2, size=(b, hkv)).astype(np.float32) for _ in range(2)
        ]
    return codes, descales


def check(device, case, codes=None, descales=None):
    if codes is None:
        codes, descales = make_case(case)
    o, lse = run(device, case, codes, descales, bool(case.get("descale")))
    expected, expected_lse = attend(case, codes, descales, rounds=False)
    unfused, _ = attend(case, codes, descales, rounds=True)
    assert np.array_equal(np.isnan(o), np.isnan(expected)), f"{case}: NaN in other places"
    finite = np.isfinite(expected)
    error, allowed = rms((o - expected)[finite]), rms((unfused - expected)[finite])
    size = rms(expected[finite])
    roundoff = 2.0**-8 if case.get("out", "bf16") == "bf16" else 2.0**-20
    limit = 2 * max(allowed, roundoff * size)
    assert error <= limit, f"{case}: RMS error {error:.3g}, allowed {limit:.3g}"
    if case.get("data", "normal") == "normal":
        assert error <= NORMAL[case["dtype"]] * size, f"{case}: relative RMS error {error / size:.3g}"
    seen = np.isfinite(expected_lse)
    assert np.array_equal(seen, np.isfinite(lse)), f"{case}: LSE of other rows"
    distances = lambda own, other: np.where(np.isfinite(other), np.abs(own - other) / (1 + np.abs(other)), 0)  # noqa: E731
    with np.errstate(invalid="ignore"):
        found = distances(lse, expected_lse)
        far = np.unique(np.argwhere(found > 2e-6)[:, 2])
        if len(far) and device in SUM_BITS:  # of others the exact sum is near enough
            found = distances(lse[:, :, far], attend(case, codes, descales, rounds=False, bits=SUM_BITS[device], rows=far)[1])
    assert np.max(found) <= 2e-6, f"{case}: LSE error {np.max(found):.3g}"
    return o


SIZES = {
    "odd": (2, 4, 2, 77, 131, 64, 64),
    "wide": (1, 2, 1, 130, 200, 128, 128),
    "narrow": (1, 2, 2, 40, 50, 32, 96),
    "larger": (1, 1, 1, 64, 96, 256, 256),
    "mixed": (1, 2, 1, 70, 90, 192, 128),
    "padded": (1, 2, 2, 33, 65, 80, 48),
    "sliced": (1, 2, 1, 20, 40, 64, 288),
    "decode": (1, 8, 2, 3, 700, 64, 64),
}


#: Where a run that is not long takes cases, each in one of these places.
PLACES = ("sim:sm_89", "sim:sm_90a", "sim:sm_100a", "cpu")


def in_turn(device, cases, places=PLACES):
    """Few of the cases, and of these in a run that is not long those whose turn it is on the device."""
    cases = few(cases)
    return cases if LONG else cases[places.index(device) % len(cases) :: len(places)]


def check_shapes(device):
    masks = {name: ("", "causal", "window") if name == "odd" else ("causal",) for name in SIZES}
    shapes = [(name, mask) for name in SIZES for mask in masks[name]]
    for dtype, (name, mask) in in_turn(device, itertools.product(FORMATS, shapes)):
        check(device, {"dtype": dtype, "sizes": SIZES[name], "mask": mask})


def check_data(device):
    shapes = (("wide", "", "f32"), ("odd", "causal", "bf16"))
    for dtype, data, (sizes, mask, out) in in_turn(device, itertools.product(FORMATS, ("outliers", "spread", "steep"), shapes)):
        check(device, {"dtype": dtype, "sizes": SIZES[sizes], "data": data, "mask": mask, "out": out})


def check_descales(device):
    # The first of them is the case below.
    for dtype, mask in few(itertools.product(FORMATS, ("", "causal")))[not LONG :]:
        check(device, {"dtype": dtype, "sizes": SIZES["odd"], "mask": mask, "descale": True, "out": "f32"})
    case = {"dtype": "f8E4M3FN", "sizes": SIZES["odd"], "descale": True, "out": "f32"}
    codes, (dq, dk, dv) = make_case(case)
    o = check(device, case, codes, (dq, dk, dv))
    twice = check(device, case, codes, (dq, dk, 2 * dv))
    assert np.array_equal(2 * o, twice), "expected twice the output of twice the values"
    same = check(device, case, codes, (2 * dq, dk / 2, dv))
    assert np.array_equal(o, same), "expected the same bits of the same product"


def check_codes(device):
    """Every value comes through: of one key it is the output, NaN in its column only."""
    for dtype in FORMATS:
        table = decode_table(dtype)
        codes = np.arange(256, dtype=np.uint8).reshape(1, 4, 1, 64)
        zeros = np.zeros((1, 4, 1, 64), np.uint8)
        case = {"dtype": dtype, "sizes": None, "out": "f32"}
        o, _ = run(device, case, (zeros, zeros, codes), [], False)
        expected = table[codes]
        assert np.array_equal(np.isnan(o), np.isnan(expected)), f"{dtype}: {o}"
        assert np.array_equal(o[~np.isnan(o)], expected[~np.isnan(expected)]), f"{dtype}: {o}"
        # As a query and a key: the score is their product.
        finite = np.isfinite(table)
        q = np.zeros((1, 1, 256, 32), np.uint8)
        q[0, 0, :, 5] = np.where(finite, np.arange(256), 0)
        k = np.zeros((1, 1, 1, 32), np.uint8)
        k[0, 0, 0, 5] = encode(np.array(2.0), dtype)
        _, lse = run(device, case, (q, k, np.zeros((1, 1, 1, 32), np.uint8)), [], False)
        scores = np.where(finite, table, 0) * 2 / math.sqrt(32)
        assert np.allclose(lse[0, 0], scores, rtol=1e-6, atol=1e-6), f"{dtype}: {lse}"


def check_nan(device):
    """A NaN among the values stays in its column, and in the heads that read it."""
    case = {"dtype": "f8E4M3FN", "sizes": SIZES["odd"]}
    codes, descales = make_case(case)
    codes[2][1, 0, 130, 7] = 0x7F
    check(device, case, codes, descales)


def check_long(device):
    """Sums of many keys of one sign, which tensor cores cut off: added up tile by tile in f32 they are as exact as elsewhere, and they are not if only
    the tensor cores add."""
    for dtype, (n, d, mask) in in_turn(device, itertools.product(FORMATS, ((3000, 64, ""), (3000, 128, "causal")))):
        case = {"dtype": dtype, "sizes": (1, 1, 1, 64, n, d, d), "mask": mask, "out": "f32"}
        rng = np.random.default_rng(1)
        codes = [encode(x, dtype) for x in (np.zeros((1, 1, 64, d)), rng.normal(size=(1, 1, n, d)), rng.uniform(0.5, 1.5, size=(1, 1, n, d)))]
        descales = [np.ones(1, np.float32)] * 3
        expected, _ = attend(case, codes, descales, rounds=False)
        for promote in ("", "promote = true, ", "promote = false, ") if device != "cpu" else ("",):
            o, _ = run(device, {**case, "schedule": f'{promote}kind = "large_cache"'}, codes, descales, False)
            error = rms(o - expected) / rms(expected)
            is_exact = device not in SUM_BITS or "false" not in promote
            assert (error < 1e-6) == is_exact, f"{case}: {promote}error {error:.3g}"


#: By instructions: split keys, packed heads, CTAs with several tiles, rings, tiles of every swizzle.
DEVICES = {"none": "cpu", "wgmma": "sim:sm_90a", "tcgen05": "sim:sm_100a"}
SCHEDULES = {
    "none": ('kind = "small_cache"', "tile_m = 32, tile_n = 16"),
    "mma_sync": (
        "tile_m = 64, tile_n = 32, warps = 4, stages = 1",
        "tile_m = 32, tile_n = 64, warps = 1, stages = 3, query_in_registers = true",
        'kind = "split_kv", splits = 3, tile_n = 32',
        "pack_gqa = true, tile_m = 64, tile_n = 64, warps = 4",
        "tile_dv = 32, tile_n = 32",
    ),
    "tcgen05": (
        "tile_m = 128, tile_n = 64, warps = 4, stages = 2",
        "tile_m = 256, tile_n = 32, warps = 8, stages = 3, rescale_threshold = 0",
        "tile_m = 128, tile_n = 128, warps = 4, stages = 2, persistent_ctas = 2, output_tile = true",
        "tile_m = 256, tile_n = 96, warps = 8, stages = 2, persistent_ctas = 0",
        'kind = "split_kv", splits = 3, tile_m = 128, tile_n = 64, warps = 4',
        "pack_gqa = true, tile_m = 128, tile_n = 64, warps = 4",
    ),
    "wgmma": (
        "tile_m = 64, tile_n = 64, stages = 2",
        "tile_m = 64, tile_n = 96, stages = 4",
        "tile_m = 128, tile_n = 128, stages = 2, persistent_ctas = 2, output_tile = true",
        "tile_m = 128, tile_n = 32, stages = 3, persistent_ctas = 0",
        "tile_m = 192, tile_n = 64, stages = 2, persistent_ctas = 3, output_tile = false",
        'kind = "split_kv", splits = 3, tile_m = 64, tile_n = 64',
        "pack_gqa = true, tile_m = 128, tile_n = 64",
    ),
}


def check_schedules(device):
    for family, schedules in SCHEDULES.items():
        if DEVICES.get(family, device) != device or (family == "mma_sync" and device == "cpu"):
            continue
        cases = list(itertools.product(enumerate(schedules), ("", "causal")))
        sizes = (2, 4, 2, 140, 300, 64, 64) if LONG else (1, 2, 1, 140, 200, 64, 64)
        # Those of every device where their turn has come.
        for (number, schedule), mask in in_turn(device, cases, PLACES[:3]) if family == "mma_sync" else few(cases):
            case = {"dtype": list(FORMATS)[number % 2], "sizes": sizes, "descale": True}
            check(device, {**case, "mask": mask, "schedule": f'{schedule}, mma = "{family}"'})


CHECKS = {
    "schedules": check_schedules,
    "shapes": check_shapes,
    "data": check_data,
    "descales": check_descales,
    "codes": check_codes,
    "nan": check_nan,
    "long": check_long,
}

if __name__ == "__main__":
    for name in sys.argv[2:] or CHECKS:
        CHECKS[name](sys.argv[1])
    print("PASS")
