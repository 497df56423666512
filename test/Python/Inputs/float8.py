"""8-bit arrays of NumPy (ml_dtypes) against float64, on the CPU and by kernels in the simulator; and what is refused."""

import itertools

import ml_dtypes
import numpy as np

import attn_mlir
from attn_mlir.errors import BindingError
from devices import in_turn
from sweep import LONG, few

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def reference(q, k, v, descales=None):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    if descales:
        dq, dk, dv = (np.broadcast_to(d if d.ndim == 2 else d[None], k.shape[:2])[..., None, None] for d in descales)
        k, v = k * dq * dk, v * dv
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], axis=1) for x in (k, v))
    s = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(q.shape[3])
    s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhij,bhjd->bhid", p / p.sum(-1, keepdims=True), v)


def arrays(dtype, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(2, heads, rows, 64)).astype(dtype) for heads, rows in ((4, 70), (2, 90), (2, 90))]


def check(name, got, expected, limit):
    error = np.sqrt(np.mean((np.asarray(got, np.float64) - expected) ** 2)) / np.sqrt(np.mean(expected**2))
    assert error < limit, f"{name}: {error}"


def expect_error(text, call):
    try:
        call()
    except BindingError as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"expected an error: {text}")


def check_outputs(q, k, v):
    """Outputs of 8 bits are those in f32, times the scale, saturated and rounded: by ml_dtypes, which does not saturate."""
    for device, dtype, scale, is_wide in few(itertools.product(("cpu", "sim"), (E4M3, E5M2), (700.0, np.float32([0.25])), (False, True))):
        inputs = [x.astype(np.float16) for x in (q, k, v)] if is_wide else (q, k, v)
        # sm_80, which "sim" is for f16, has no conversion to 8 bits.
        where = {"device": device, "target": "sm_89"} if device == "sim" else {"device": device}
        name = "f8E4M3FN" if dtype == E4M3 else "f8E5M2"
        gated = lambda x, b, h, i, c: x * -2.0  # noqa: E731
        o, amax = attn_mlir.attention(*inputs, causal=True, result_dtype=name, output_scale=scale, output_mod=gated, return_amax=True, **where)
        whole = attn_mlir.attention(*inputs, causal=True, result_dtype="f32", **where)
        largest = float(ml_dtypes.finfo(dtype).max)
        expected = np.clip(np.asarray(whole) * np.float32(-2) * np.float32(scale), -largest, largest).astype(dtype)
        assert o.dtype == dtype and np.array_equal(o.view(np.uint8), expected.view(np.uint8)), f"{device} {name} {scale}"
        assert amax.dtype == np.float32 and np.array_equal(amax, np.abs(2 * np.asarray(whole)).max(-1)), f"amax {device} {name} {scale}"
    results = attn_mlir.attention(q, k, v, device="sim", return_lse=True, return_amax=True)
    assert [x.shape for x in results] == [(*q.shape[:3], v.shape[3]), q.shape[:3], q.shape[:3]]


def gradients(q, k, v, do, descales):
    """Those of what the numbers stand for, in float64."""
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    of_heads = [np.broadcast_to(d if d.ndim == 2 else d[None], k.shape[:2]) for d in descales]
    group = q.shape[1] // k.shape[1]
    q = q * np.repeat(of_heads[0], group, axis=1)[..., None, None]
    k, v = (np.repeat(x * d[..., None, None], group, axis=1) for x, d in ((k, of_heads[1]), (v, of_heads[2])))
    scale = 1 / np.sqrt(q.shape[3])
    s = np.einsum("bhid,bhjd->bhij", q, k) * scale
    s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    dp = np.einsum("bhid,bhjd->bhij", do, v)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    of_group = lambda x: x.reshape(x.shape[0], -1, group, *x.shape[2:]).sum(2)  # noqa: E731
    dk, dv = (of_group(np.einsum("bhij,bhid->bhjd", *x)) for x in ((ds, q), (p, do)))
    return np.einsum("bhij,bhjd->bhid", ds, k), dk, dv


def check_gradients(descales):
    backward, ones = attn_mlir.attention_backward, [np.ones(1, np.float32)] * 3
    for device, dtype, given in few(itertools.product(("cpu", "sim"), (E4M3, E5M2), (descales, None))):
        q, k, v = arrays(dtype, seed=3)
        o, lse = attn_mlir.attention(q, k, v, causal=True, device=device, descale=given, result_dtype="f16", return_lse=True)
        do = np.random.default_rng(4).normal(size=o.shape).astype(np.float16)
        # No kernel of a backward multiplies bytes: sm_80, which has no conversion of them, has gradients, too.
        where = {"target": "sm_80"} if device == "sim" else {}
        got = backward(q, k, v, o, lse, do, causal=True, descale=given, device=device, **where)
        for name, array, expected in zip(("d_query", "d_key", "d_value"), got, gradients(q, k, v, do, given or ones)):
            assert array.dtype == np.float16
            check(f"{device} {dtype} {name}", array, expected, 3e-2)  # weights of the forward are rounded to 8 bits
    # A cache beside a query of more bits; gradients in f32.
    q, k, v = (x.astype(t) for x, t in zip(arrays(E5M2), (np.float16, E5M2, E5M2)))
    o, lse = attn_mlir.attention(q, k, v, causal=True, descale=descales[1:], return_lse=True)
    do = o[::-1].copy()
    got = backward(q, k, v, o, lse, do, causal=True, descale=descales[1:], result_dtype="f32")
    for array, expected in zip(got, gradients(q, k, v, do, (ones[0], *descales[1:]))):
        assert array.dtype == np.float32
        check("cache", array, expected, 3e-3)
    q, k, v = arrays(E4M3)
    o, lse = attn_mlir.attention(q, k, v, return_lse=True)
    expect_error("expected d_output of f16 or bf16 with inputs of f8E4M3FN, got f32", lambda: backward(q, k, v, o, lse, o.astype(np.float32)))
    expect_error("expected result_dtype bf16 or f32, got 'f16'", lambda: backward(q, k, v, o, lse, o, result_dtype="f16"))
    heads = np.zeros(4, np.int32)
    expect_error("expected no head_map in a backward of inputs of f8E4M3FN", lambda: backward(q, k, v, o, lse, o, head_map=heads))
    wide = [x.astype(np.float16) for x in (q, k, v)]
    expect_error("expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got f16", lambda: backward(*wide, o, lse, o, descale=descales))
    expect_error("key: expected dtype f16, that of query, got i8", lambda: backward(wide[0], k.view(np.int8), v.view(np.int8), o, lse, o))


def check_mixed(descales):
    """Query, key and value of either type, each of its own; gradients in 16 bits."""
    types = ((E4M3, E4M3, E5M2), (E4M3, E5M2, E4M3), (E5M2, E4M3, E4M3))
    places = ({"device": "cpu"}, *({"device": "sim", "target": target} for target in ("sm_89", "sm_90a", "sm_100a")))
    for own, where in few(itertools.product(types, places), key=lambda case: (case[0], case[1].get("target", "cpu"))):
        q, k, v = (x.astype(dtype) for x, dtype in zip(arrays(E4M3, seed=5), own))
        o, lse = attn_mlir.attention(q, k, v, causal=True, descale=descales, return_lse=True, **where)
        assert o.dtype == ml_dtypes.bfloat16
        check(f"{own} {where}", o, reference(q, k, v, descales), 8e-2)
        do = np.random.default_rng(4).normal(size=o.shape).astype(np.float16)
        got = attn_mlir.attention_backward(q, k, v, o.astype(np.float16), lse, do, causal=True, descale=descales, **where)
        for name, array, expected in zip(("d_query", "d_key", "d_value"), got, gradients(q, k, v, do, descales)):
            check(f"{own} {where} {name}", array, expected, 4e-2)  # weights of the forward are rounded to 8 bits
    q, k, v = (x.astype(dtype) for x, dtype in zip(arrays(E4M3), (E5M2, E5M2, E4M3)))
    backward, attention = attn_mlir.attention_backward, attn_mlir.attention
    expect_error("value: expected dtype f8E5M2, that of query, got f8E4M3FN", lambda: backward(q, k, v, o, lse, do.astype(E4M3)))
    expect_error("value: expected dtype f8E5M2, that of query, got f16", lambda: attention(q, k, v.astype(np.float16)))


def check_packed(descales):
    """Sequences behind each other, and a cache of pages with a query of its type, by FlashAttention-3's and FlashInfer's names."""
    rows, keys = (70, 33), (90, 50)
    pack = lambda x, lengths: np.concatenate([x[b, :, :n].transpose(1, 0, 2) for b, n in enumerate(lengths)])  # noqa: E731
    offsets = [np.int32([0, n[0], sum(n)]) for n in (rows, keys)]
    places = ({"device": "cpu"}, {"device": "sim", "target": "sm_90a"}, {"device": "sim", "target": "sm_100a"})
    kinds = ((E4M3,) * 3, descales), ((E5M2,) * 3, None), ((np.float16, np.int8, np.int8), descales[1:])
    for where in places:
        for dtypes, given in (kind for kind, place in in_turn(kinds, places) if place == where):
            q, k, v = (x.astype(t) for x, t in zip(arrays(E5M2), dtypes))
            of = dict(zip(("q_descale", "k_descale", "v_descale")[-len(given) :], given)) if given else {}
            o = attn_mlir.flash_attn_varlen_func(pack(q, rows), pack(k, keys), pack(v, keys), *offsets, rows[0], causal=True, **of, **where)
            assert o.dtype == (np.float16 if dtypes[0] == np.float16 else ml_dtypes.bfloat16)
            full = given if given is None or len(given) == 3 else (np.ones(1, np.float32), *given)
            for b in range(2):
                own = full and [d if d.ndim == 1 else d[b : b + 1] for d in full]
                expected = reference(q[b : b + 1, :, : rows[b]], k[b : b + 1, :, : keys[b]], v[b : b + 1, :, : keys[b]], own)
                check(f"{where} {dtypes[1]} sequence {b}", o[sum(rows[:b]) :][: rows[b]].transpose(1, 0, 2)[None], expected, 6e-2)
        # The same sequences, of which pages have 16 rows.
        q, k, v = arrays(E4M3)
        pools = [np.zeros((13, 2, 16, 64), E4M3) for _ in range(2)]
        table = np.arange(12, dtype=np.int32).reshape(2, 6)[::-1] + 1
        for pool, x in zip(pools, (k, v)):
            for b, j in ((b, j) for b in range(2) for j in range(keys[b])):
                pool[table[b, j // 16], :, j % 16] = x[b, :, j]
        o = attn_mlir.prefill(pack(q, rows), *pools, table, np.int32(keys), offsets[0], rows[0], q_scale=0.5, v_scale=np.float32([3]), **where)
        for b in range(2):
            expected = reference(q[b : b + 1, :, : rows[b]], k[b : b + 1, :, : keys[b]], v[b : b + 1, :, : keys[b]], [np.float32([x]) for x in (0.5, 1, 3)])
            check(f"{where} pages {b}", o[sum(rows[:b]) :][: rows[b]].transpose(1, 0, 2)[None], expected, 3e-2)
        other = attn_mlir.prefill(pack(q, rows), *pools, table, np.int32(keys), offsets[0], rows[0], k_scale=0.5, v_scale=3.0, **where)
        assert np.array_equal(o.view(np.uint16), other.view(np.uint16)), "expected the bits of the same product of descales"
    packed = [pack(x, n) for x, n in zip(arrays(E4M3), (rows, keys, keys))]
    flash, two = attn_mlir.flash_attn_varlen_func, np.float32([2])
    whole = flash(*packed, *offsets, rows[0], q_descale=two)
    assert np.array_equal(whole.view(np.uint16), flash(*packed, *offsets, rows[0], k_descale=two).view(np.uint16)), "expected missing descales to be 1"
    halves = [packed[0].astype(np.float16), *packed[1:]]
    twice = flash(*halves, *offsets, rows[0], v_descale=two)
    distance = np.abs(twice.astype(np.float64) - 2.0 * flash(*halves, *offsets, rows[0]).astype(np.float64))
    assert distance.max() <= 2.0**-24, "expected twice the output, but for roundings of subnormal halves"
    expect_error("expected no q_descale beside a query of f16, got one", lambda: flash(*halves, *offsets, rows[0], q_descale=two, k_descale=two))
    expect_error("expected a descale of query, key and value, with inputs of f8E4M3FN, f8E4M3FN, f8E4M3FN, got 2", lambda: attn_mlir.varlen(*packed, *offsets, descale=descales[1:]))
    expect_error("expected one dtype of", lambda: attn_mlir.varlen(packed[0], packed[1].astype(E5M2), packed[2], *offsets))
    wide = packed[0].astype(np.float16)
    expect_error("expected a descale of key and value, with inputs of f16, f8E4M3FN, f8E4M3FN, got 3", lambda: attn_mlir.varlen(wide, *packed[1:], *offsets, descale=descales))


def main():
    descales = (np.float32([0.5]), np.float32([[1, 2], [0.25, 1.5]]), np.float32([[3, 0.1], [1, 2]]))
    for device in ("cpu", "sim"):
        for dtype, limit in ((E4M3, 3e-2), (E5M2, 6e-2)) if LONG or device == "sim" else ((E4M3, 3e-2),):
            q, k, v = arrays(dtype)
            o = attn_mlir.attention(q, k, v, causal=True, device=device)
            assert o.dtype == ml_dtypes.bfloat16
            check(f"{device} {dtype}", o, reference(q, k, v), limit)
            o, lse = attn_mlir.attention(q, k, v, causal=True, device=device, descale=descales, result_dtype="f32", return_lse=True)
            assert o.dtype == lse.dtype == np.float32
            check(f"{device} {dtype} descale", o, reference(q, k, v, descales), limit)
    q, k, v = arrays(E4M3)
    # Strides of the caller: [B, M, H, D].
    rows = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3) for x in (q, k, v)]
    o = attn_mlir.attention(*rows, causal=True, device="sim", result_dtype="f16")
    assert o.dtype == np.float16
    check("strides", o, reference(q, k, v), 3e-2)

    attention = attn_mlir.attention
    check_outputs(q, k, v)
    check_gradients(descales)
    check_mixed(descales)
    check_packed(descales)
    expect_error("expected result_dtype f8E4M3FN or f8E5M2 with output_scale, got None", lambda: attention(q, k, v, output_scale=2.0))
    expect_error(
        "output_scale: expected a number or f32 of (1,), got f32 of (2,)",
        lambda: attention(q, k, v, result_dtype="f8E5M2", output_scale=np.ones(2, np.float32)),
    )
    expect_error("expected no return_amax with prob_mod, got both", lambda: attention(*(x.astype(np.float16) for x in (q, k, v)), return_amax=True, prob_mod=lambda p, b, h, i, j: p))
    expect_error("expected result_dtype f64, got 'f8E5M2'", lambda: attention(*(x.astype(np.float64) for x in (q, k, v)), result_dtype="f8E5M2"))
    expect_error("expected a descale of query, key and value", lambda: attention(q, k, v, descale=descales[:2]))
    expect_error("expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got f32", lambda: attention(*(x.astype(np.float32) for x in (q, k, v)), descale=descales))
    expect_error("key_descale: expected f32 of (1,) or (2, 2), got f32 of (4,)", lambda: attention(q, k, v, descale=(descales[0], np.ones(4, np.float32), descales[0])))
    expect_error("expected no bias with descale", lambda: attention(q, k, v, descale=descales, bias=np.zeros((1, 1, 70, 90), np.float32)))
    expect_error("expected result_dtype f16, bf16 or f32 of inputs of f8E4M3FN, got 'f64'", lambda: attention(q, k, v, result_dtype="f64"))
    expect_error("sink: expected dtype f32, got bf16", lambda: attention(q, k, v, sink=np.zeros(4, ml_dtypes.bfloat16)))
    expect_error("got float8_e4m3fnuz", lambda: attention(*(x.astype(ml_dtypes.float8_e4m3fnuz) for x in (q, k, v))))
    print("PASS")


if __name__ == "__main__":
    main()
