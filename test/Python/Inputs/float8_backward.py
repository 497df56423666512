"""Gradients that round to 8 bits, from Python: against float64 of what the inputs stand for, on the CPU and in the simulator."""

import itertools

import numpy as np

import attn_mlir
from float8 import E4M3, E5M2, arrays, check, expect_error, gradients
from sweep import few


def check_gradients():
    """What a step before has scaled by: near the largest number of the type over the largest dS."""
    heads = np.random.default_rng(5).uniform(0.3, 2, size=(2, 2)).astype(np.float32)
    one = np.full(1, 0.7, np.float32)
    cases = itertools.product(("cpu", "sm_89", "sm_90a", "sm_100a"), (E4M3, E5M2), (False, True))
    for target, dtype, has_scales in few(cases):
        where = {"target": target} if target == "cpu" else {"target": target, "device": "sim"}
        q, k, v = arrays(E4M3, seed=3)
        descale = (one, heads, heads, one) if has_scales else None
        o, lse = attn_mlir.attention(q, k, v, causal=True, descale=descale and descale[:3], return_lse=True, **where)
        do = np.random.default_rng(4).normal(size=o.shape).astype(dtype)
        scales = {"scale_ds": np.full(1, 64, np.float32) if has_scales else 64.0}
        got = attn_mlir.attention_backward(q, k, v, o, lse, do, causal=True, descale=descale, return_amax_ds=True, **scales, **where)
        ones = [np.ones(1, np.float32)] * 3
        of_output = do.astype(np.float64) * (one[0] if has_scales else 1)
        expected = gradients(q, k, v, of_output, descale[:3] if descale else ones)
        for name, array, exact in zip(("d_query", "d_key", "d_value"), got, expected):
            assert array.dtype == o.dtype and array.shape == exact.shape
            check(f"{target} {dtype} {name}", array, exact, 1e-1 if dtype == E5M2 else 6e-2)  # 2 bits of fraction, or 3
        plain = attn_mlir.attention_backward(q, k, v, o, lse, do, causal=True, descale=descale, result_dtype="f32", **scales, **where)
        assert len(plain) == 3 and all(array.dtype == np.float32 for array in plain)
        assert got[3].shape == lse.shape and got[3].dtype == np.float32 and 0 < got[3].max() < np.inf


def check_edges():
    """Rows without keys, whose gradients are 0; a first tile that is wholly hidden; a descale of 0; the head dims of MLA, whose kernels of 16 bits are others."""
    rng, one = np.random.default_rng(6), np.ones(1, np.float32)
    cases = [
        ("hidden rows", (90, 40, 64, 64), {"causal": "bottom_right"}, 1, slice(0, 50)),
        ("hidden tile", (70, 200, 64, 64), {"window": (3, 0)}, 1, slice(0, 0)),
        ("zero", (64, 64, 32, 32), {}, 0, slice(0, 64)),
        ("192", (70, 90, 192, 128), {"causal": "top_left"}, 1, slice(0, 0)),
    ]
    for (name, (m, n, d, dv), mask, factor, empty), target in few(itertools.product(cases, ("sm_89", "sm_90a", "sm_100a", "sm_120")), key=lambda case: (case[0][0], case[1])):
        q, k, v = (rng.normal(size=(1, heads, *shape)).astype(E4M3) for heads, shape in ((2, (m, d)), (1, (n, d)), (1, (n, dv))))
        do = rng.normal(size=(1, 2, m, dv)).astype(E4M3)
        o, lse = attn_mlir.attention(q, k, v, return_lse=True, result_dtype="f32", target="cpu", **mask)
        options = {"descale": (one, one, one, factor * one), "scale_ds": 64.0, "return_amax_ds": True, **mask}
        got, expected = (attn_mlir.attention_backward(q, k, v, o, lse, do, **options, **where) for where in ({"target": target, "device": "sim"}, {"target": "cpu"}))
        for array, exact in zip(got, expected):
            array, exact = (x.astype(np.float64) for x in (array, exact))
            assert np.linalg.norm(array - exact) <= 7e-2 * np.linalg.norm(exact), f"{name} {target}"
        assert not got[0][:, :, empty].any() and not got[3][:, :, empty].any(), f"{name} {target}"


def check_repeated_calls():
    """Those of known layouts take a shorter way, with results of more bits than the query has."""
    q, k, v = arrays(E4M3)
    first = attn_mlir.attention(q, k, v, causal=True)
    for _ in range(3):
        again = attn_mlir.attention(q, k, v, causal=True)
        assert again.dtype == first.dtype and np.array_equal(again.view(np.uint16), first.view(np.uint16))


def check_errors():
    q, k, v = arrays(E4M3)
    o, lse = attn_mlir.attention(q, k, v, return_lse=True)
    half, backward = o.astype(np.float16), attn_mlir.attention_backward
    one = np.ones(1, np.float32)
    expect_error("expected d_output of f8E4M3FN or f8E5M2 with scale_ds, got bf16", lambda: backward(q, k, v, o, lse, o, scale_ds=1.0))
    expect_error("expected d_output of f8E4M3FN or f8E5M2 with return_amax_ds, got bf16", lambda: backward(q, k, v, o, lse, o, return_amax_ds=True))
    expect_error("expected query of f8E4M3FN or f8E5M2 with d_output of f8E4M3FN, got f16", lambda: backward(half, half, half, half, lse, q))
    expect_error("expected descale to be four arrays, of query, key, value and d_output", lambda: backward(q, k, v, o, lse, q, descale=(one, one, one)))
    expect_error("d_output_descale: expected f32 of (1,) or (2, 2), got f32 of (3,)", lambda: backward(q, k, v, o, lse, q, descale=(one, one, one, np.ones(3, np.float32))))
    for number in (0, -1.0, float("inf"), float("nan")):
        expect_error(f"expected scale_ds to be positive and finite, got {number}", lambda: backward(q, k, v, o, lse, q, scale_ds=number))
    expect_error("scale_ds: expected f32 of (1,), got f32 of (2,)", lambda: backward(q, k, v, o, lse, q, scale_ds=np.ones(2, np.float32)))
    expect_error("expected no bias with d_output of 8 bits, got one", lambda: backward(q, k, v, o, lse, q, bias=np.zeros((1, 1, 70, 90), np.float32)))
    expect_error("expected no dropout with d_output of 8 bits, got one", lambda: backward(q, k, v, o, lse, q, dropout=0.1, seed=1))
    expect_error("expected result_dtype bf16 or f32, got 'f16'", lambda: backward(q, k, v, o, lse, q, result_dtype="f16"))
    expect_error("expected output of f16, bf16 or f32 with inputs of f8E4M3FN, got f64", lambda: backward(q, k, v, o.astype(np.float64), lse, q))


if __name__ == "__main__":
    check_gradients()
    check_edges()
    check_repeated_calls()
    check_errors()
    print("PASS")
