"""Gradients in 8 bits with a scale and an amax each, from Python: the bits of those in f32, rounded, on the CPU and in the simulator."""

import itertools

import ml_dtypes
import numpy as np

import attn_mlir
from float8 import E4M3, E5M2, arrays, check, expect_error, gradients
from sweep import few


def check_stored():
    """Gradients of 8 bits are those in f32, times the scale, saturated and rounded, and near those in float64; amax is of those in f32."""
    cases = itertools.product(("cpu", "sm_89", "sm_90a", "sm_100a", "sm_120"), (E4M3, E5M2), (False, True))
    for target, dtype, has_bytes in few(cases):
        where = {"target": target} if target == "cpu" else {"target": target, "device": "sim"}
        q, k, v = (x if has_bytes else x.astype(np.float16) for x in arrays(E4M3, seed=3))
        o, lse = attn_mlir.attention(q, k, v, causal=True, return_lse=True, **where)
        do = np.random.default_rng(4).normal(size=o.shape).astype(dtype if has_bytes else np.float16)
        options = {"causal": True, **({"scale_ds": 64.0, "return_amax_ds": True} if has_bytes else {}), **where}
        name, scales = "f8E4M3FN" if dtype == E4M3 else "f8E5M2", {"scale_dq": np.float32([0.3]), "scale_dk": 2.0**20.0}
        got = attn_mlir.attention_backward(q, k, v, o, lse, do, result_dtype=name, return_amax=True, **scales, **options)
        # Atomic additions of dQ have no one order, and their kernel stores no bytes.
        whole = attn_mlir.attention_backward(q, k, v, o, lse, do, result_dtype="f32", deterministic=True, **options)
        largest = np.float32(ml_dtypes.finfo(dtype).max)
        exact = gradients(q, k, v, do, [np.ones(1, np.float32)] * 3)
        for array, wide, reference, factor in zip(got, whole, exact, (0.3, 2.0**20, 1)):
            expected = np.clip(wide * np.float32(factor), -largest, largest).astype(dtype)
            assert array.dtype == dtype and np.array_equal(array.view(np.uint8), expected.view(np.uint8)), f"{target} {name} {factor}"
            if factor != 2.0**20:  # with which some saturate
                check(f"{target} {name}", array.astype(np.float64) / factor, reference, 1.2e-1)
        assert np.abs(got[1].astype(np.float32)).max() == largest
        for amax, wide in zip(got[3 + has_bytes :], whole):
            assert amax.dtype == np.float32 and np.array_equal(amax, np.abs(wide).max(-1)), f"{target} {name}"
        assert len(got) == 6 + has_bytes and (not has_bytes or np.array_equal(got[3], whole[3]))


def check_stored_beside_others():
    """Gradients of a bias and of what score_mod reads stand before amax, which those of 16 bits have, too: before they are rounded."""
    rng = np.random.default_rng(7)
    q, k, v = (x.astype(np.float16) for x in arrays(E4M3, seed=8))
    bias, slopes = (rng.normal(size=shape).astype(np.float32) for shape in ((1, 1, 70, 90), (4,)))
    read = attn_mlir.mask.tensor(slopes)
    options = {"bias": bias, "score_mod": lambda s, b, h, i, j: s + read[h] * 0.01 * (j - i), "bias_gradient": True, "capture_gradients": True}
    o, lse = attn_mlir.attention(q, k, v, return_lse=True, bias=bias, score_mod=options["score_mod"])
    do = rng.normal(size=o.shape).astype(np.float16)
    plain = attn_mlir.attention_backward(q, k, v, o, lse, do, **options)
    narrow = attn_mlir.attention_backward(q, k, v, o, lse, do, return_amax=True, **options)
    assert [x.shape for x in narrow[5:]] == [(2, 4, 70), (2, 2, 90), (2, 2, 90)] and len(narrow) == 8
    for array, expected in zip(narrow, plain):
        assert array.dtype == expected.dtype and np.array_equal(array, expected)
    for amax, array in zip(narrow[5:], plain):
        assert np.array_equal(amax.astype(np.float16), np.abs(array).max(-1))
    wide = [x.astype(np.float64) for x in (q, k, v, o)]
    got = attn_mlir.attention_backward(*wide, lse.astype(np.float64), do.astype(np.float64), return_amax=True)
    assert all(amax.dtype == np.float64 and np.array_equal(amax, np.abs(array).max(-1)) for array, amax in zip(got, got[3:]))


def check_errors():
    q, k, v = arrays(E4M3)
    o, lse = attn_mlir.attention(q, k, v, return_lse=True)
    backward = attn_mlir.attention_backward
    expect_error("expected result_dtype f8E4M3FN or f8E5M2 with scale_dk, got 'f32'", lambda: backward(q, k, v, o, lse, q, result_dtype="f32", scale_dk=2.0))
    expect_error("expected result_dtype f8E4M3FN or f8E5M2 with scale_dq, got None", lambda: backward(q, k, v, o, lse, q, scale_dq=2.0))
    store = lambda **more: lambda: backward(q, k, v, o, lse, q, result_dtype="f8E5M2", **more)  # noqa: E731
    for number in (0, -1.0, float("inf"), float("nan")):
        expect_error(f"expected scale_dv to be positive and finite, got {number}", store(scale_dv=number))
    expect_error("scale_dq: expected f32 of (1,), got f32 of (2,)", store(scale_dq=np.ones(2, np.float32)))
    expect_error("scale_dk: expected f32 of (1,), got f16 of (1,)", store(scale_dk=np.ones(1, np.float16)))
    heads, wide = np.zeros(4, np.int32), [x.astype(np.float32) for x in (q, k, v, o)]
    expect_error("expected no head_map with gradients of f8E5M2, got one", lambda: backward(*wide, lse, wide[3], head_map=heads, result_dtype="f8E5M2"))
    expect_error("expected no head_map with return_amax, got one", lambda: backward(*wide, lse, wide[3], head_map=heads, return_amax=True))
    doubles = [x.astype(np.float64) for x in wide]
    expect_error("expected result_dtype f64, got 'f8E5M2'", lambda: backward(*doubles, lse.astype(np.float64), doubles[3], result_dtype="f8E5M2"))


if __name__ == "__main__":
    check_stored()
    check_stored_beside_others()
    check_errors()
    print("PASS")
