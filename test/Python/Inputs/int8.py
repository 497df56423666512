"""attention on queries and keys of i8, and sageattn, against float64, on the CPU and in the simulator."""

import itertools
import math
import sys

import numpy as np

import attn_mlir
from attn_mlir.int8 import quantize_int8
from devices import some

RNG = np.random.default_rng(7)
DEVICES = (("cpu", None), ("sm_80", "sim"), ("sm_90a", "sim"))


def attend(q, k, v, scale, causal=False):
    """Output and LSE in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, group, 1) for x in (k, v))
    s = np.einsum("bhid,bhjd->bhij", q, k) * scale
    if causal:
        i, j = np.arange(s.shape[2])[:, None], np.arange(s.shape[3])[None, :]
        s = np.where(j <= i + s.shape[3] - s.shape[2], s, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - top)
    total = p.sum(-1, keepdims=True)
    return np.einsum("bhij,bhjd->bhid", p / total, v), (top + np.log(total))[..., 0]


def error(actual, expected):
    return math.sqrt(np.mean((actual.astype(np.float64) - expected) ** 2) / np.mean(expected**2))


def integers(*shape):
    return RNG.integers(-127, 128, shape).astype(np.int8)


def check_descales():
    """Of a tensor, and of heads; those of query and key alone beside a value of 16 bits."""
    q, k, v = integers(2, 4, 50, 64), integers(2, 2, 90, 64), RNG.normal(size=(2, 2, 90, 64)).astype(np.float16)
    dq, dk = np.array([0.015], np.float32), RNG.uniform(0.005, 0.02, (2, 2)).astype(np.float32)
    expected, expected_lse = attend(0.015 * q, k * dk[..., None, None], v, 0.125, causal=True)
    for target, device in some(DEVICES):
        o, lse = attn_mlir.attention(q, k, v, descale=(dq, dk), causal=True, return_lse=True, target=target, device=device)
        assert o.dtype == np.float16 and error(o, expected) < 1e-3, (target, error(o, expected))
        assert np.abs(lse - expected_lse).max() < 1e-4, target


def check_exact():
    """Sums of the largest products are exact."""
    q = np.full((1, 1, 16, 256), -128, np.int8)
    k = np.stack([np.full((1, 1, 256), x, np.int8) for x in (-128, 127, 0, 1)], 2)
    v = np.zeros((1, 1, 4, 32), np.float16)
    for target, device in some(DEVICES):
        _, lse = attn_mlir.attention(q, k, v, scale=2.0**-20, return_lse=True, target=target, device=device)
        scores = np.array([128.0 * 128, -128 * 127, 0, -128]) * 256 * 2.0**-20
        assert np.abs(lse - np.log(np.exp(scores).sum())).max() < 1e-6, (target, lse)
    # One key: the LSE is its score, all bits of it.
    for key, (target, device) in itertools.product((-128, 127, 3), some(DEVICES)):
        one = np.full((1, 1, 1, 256), key, np.int8)
        _, lse = attn_mlir.attention(q, one, v[:, :, :1], scale=1.0, return_lse=True, target=target, device=device)
        assert np.array_equal(lse, np.full((1, 1, 16), -128.0 * key * 256, np.float32)), (target, key, lse[0, 0, 0])


def check_sageattn():
    """Within what integers lose: a mean of the keys that is much larger than what differs costs bits if it stays."""
    q, k, v = (RNG.normal(size=(1, h, n, 64)).astype(np.float16) for h, n in ((4, 200), (2, 300), (2, 300)))
    k = (k + 4 * RNG.normal(size=(1, 2, 1, 64))).astype(np.float16)
    for (target, device), causal in itertools.product(some(DEVICES), (False, True)):
        errors = {}
        for smooth in (True, False):
            o, lse = attn_mlir.sageattn(q, k, v, is_causal=causal, return_lse=True, smooth_k=smooth, target=target, device=device)
            expected, expected_lse = attend(q, k, v, 0.125, causal)
            errors[smooth] = error(o, expected)
            worst = np.abs(lse - expected_lse).max()
            assert worst < (0.02 if smooth else 0.3), (target, worst)
        assert errors[True] < 0.02 and errors[False] > 2 * errors[True], (target, errors)


def check_packed():
    """Sequences behind each other, an empty one among them: i8 with descales, beside values of 16 and 8 bits, and sageattn_varlen, whose blocks begin with a sequence."""
    ends, key_ends = np.array([0, 1, 140, 140, 151], np.int32), np.array([0, 40, 190, 230, 530], np.int32)
    q8, k8 = integers(151, 4, 64), integers(530, 2, 64)
    q, k, v = (RNG.normal(size=(n, h, 64)).astype(np.float16) for h, n in ((4, 151), (2, 530), (2, 530)))
    k = (k + 4 * RNG.normal(size=(1, 2, 64))).astype(np.float16)
    dq, dk = np.array([0.015], np.float32), RNG.uniform(0.005, 0.02, (4, 2)).astype(np.float32)

    def expect(q, k, b):
        parts = (x[None, begin:end].swapaxes(1, 2) for x, (begin, end) in ((q, ends[b : b + 2]), (k, key_ends[b : b + 2]), (v, key_ends[b : b + 2])))
        return [part[0].swapaxes(0, 1) for part in attend(*parts, 0.125, causal=True)]

    for target, device in some(DEVICES):
        where = {"target": target, "device": device}
        exact = attn_mlir.varlen(q8, k8, v, ends, key_ends, 139, descale=(dq, dk), causal=True, **where)
        rough = attn_mlir.sageattn_varlen(q, k, v, ends, key_ends, 139, 300, is_causal=True, smooth_k=False, **where)
        sage, lse = attn_mlir.sageattn_varlen(q, k, v, ends, key_ends, 139, 300, is_causal=True, return_lse=True, **where)
        assert exact.dtype == sage.dtype == np.float16
        for b in (0, 1, 3):
            rows = slice(*ends[b : b + 2])
            assert error(exact[rows], expect(0.015 * q8, k8 * dk[b, :, None], b)[0]) < 1e-3, (target, b)
            expected, expected_lse = expect(q, k, b)
            assert error(sage[rows], expected) < 0.03, (target, b, error(sage[rows], expected))
            assert np.abs(lse[:, rows].T - expected_lse).max() < 0.03, (target, b)
        assert error(rough[1:140], expect(q, k, 1)[0]) > 2 * error(sage[1:140], expect(q, k, 1)[0]), target


def check_layouts():
    q, k, v = (RNG.normal(size=(2, 70, h, 64)).astype(np.float32) for h in (4, 2, 2))
    nhd = attn_mlir.sageattn(q, k, v, tensor_layout="NHD", query_block=32, key_block=16)
    hnd = attn_mlir.sageattn(*(x.swapaxes(1, 2) for x in (q, k, v)), query_block=32, key_block=16)
    assert nhd.shape == (2, 70, 4, 64) and np.array_equal(nhd, hnd.swapaxes(1, 2))
    expected, _ = attend(*(x.swapaxes(1, 2) for x in (q, k, v)), 0.125)
    assert error(hnd, expected) < 0.02


def check_quantize():
    """The largest of a block is 127 or -127; a block of zeros stays one; of NaN there is 0."""
    x = RNG.normal(size=(1, 2, 10, 8)).astype(np.float32)
    x[0, 1, 4:8] = 0
    values, scales, block = quantize_int8(x, 4)
    assert values.dtype == np.int8 and scales.shape == (1, 2, 3) and block == 4
    assert np.abs(values[0, 0, :4]).max() == 127 and not values[0, 1, 4:8].any() and scales[0, 1, 1] == 0
    stands_for = values * np.repeat(scales, 4, -1)[:, :, :10, None]
    assert np.abs(stands_for - x).max() <= scales.max() / 2 * 1.0001


def check_torch():
    """Tensors give what arrays give, to the last bit of a rounded output."""
    import torch

    q, k, v = (RNG.normal(size=(1, h, n, 64)).astype(np.float32) for h, n in ((4, 70), (2, 90), (2, 90)))
    expected, expected_lse = attn_mlir.sageattn(q, k, v, is_causal=True, return_lse=True)
    o, lse = attn_mlir.sageattn(*map(torch.from_numpy, (q, k, v)), is_causal=True, return_lse=True)
    assert error(o.numpy(), expected.astype(np.float64)) < 1e-4 and np.abs(lse.numpy() - expected_lse).max() < 1e-4
    half = [torch.from_numpy(x).bfloat16() for x in (q, k, v)]
    o = attn_mlir.sageattn(*half, is_causal=True)
    assert o.dtype == torch.bfloat16 and error(o.float().numpy(), expected.astype(np.float64)) < 0.02
    try:
        attn_mlir.sageattn(half[0].requires_grad_(), *half[1:])
    except attn_mlir.BindingError as got:
        assert "expected a tensor that requires no gradient" in str(got), got
    else:
        raise AssertionError("no error of a gradient")


def check_errors():
    q, k, v = integers(1, 2, 8, 32), integers(1, 2, 8, 32), np.zeros((1, 2, 8, 32), np.float16)
    one = np.ones(1, np.float32)
    x = np.zeros((1, 2, 8, 32), np.float16)
    cases = [
        (lambda: attn_mlir.attention(q, k, v, descale=(one, one, one)), "expected a descale of query and key, with inputs of i8, i8, f16, got 3"),
        (lambda: attn_mlir.attention(q, k, k), "value: expected dtype f8E4M3FN, f8E5M2, f16, bf16, f32 beside a query of i8, got i8"),
        (lambda: attn_mlir.attention(q, x, v), "key: expected dtype i8, that of query, got f16"),
        (lambda: attn_mlir.sageattn(x, x, x, tensor_layout="HDN"), "expected tensor_layout HND or NHD, got 'HDN'"),
        (lambda: attn_mlir.sageattn(x, x, x, soft_cap=3.0), "expected no soft_cap, which integers have no room for, got one"),
        (lambda: attn_mlir.sageattn(x, x, x, key_block=0), "expected block to be a positive number of rows, got 0"),
        (lambda: attn_mlir.sageattn(q, k, v), "x: expected f16, bf16 or f32 of [B, H, N, D], got i8 of rank 4"),
        (lambda: attn_mlir.sageattn(x[0], x, x), "q: expected [B, H, N, D], got rank 3"),
        (lambda: attn_mlir.sageattn_varlen(x[0], x, x[0], one, one), "k: expected [rows, H, D], got rank 4"),
        (lambda: attn_mlir.sageattn_varlen(x[0], x[0], x[0], one, one, soft_cap=3.0), "expected no soft_cap, which integers have no room for, got one"),
        (lambda: attn_mlir.sageattn_varlen(x[0], x[0], x[0], np.array([0, 5], np.int32), np.array([0, 3], np.int32)), "cu_seqlens_q: expected ascending offsets from 0 to 2, got 5"),
        (lambda: attn_mlir.sageattn_varlen(x[0], x[0], x[0], one[None], one), "cu_seqlens_q: expected a vector of offsets, got rank 2"),
        (lambda: attn_mlir.sageattn_varlen(x[0], x[0], x[0], one, one, query_block=0), "expected block to be a positive number of rows, got 0"),
        (lambda: attn_mlir.varlen(q[0], x[0], x[0], one, one), "key: expected dtype i8 beside a query of i8, got f16"),
        (lambda: attn_mlir.varlen(q[0], q[0], q[0], one, one), "value: expected dtype f8E4M3FN, f8E5M2, f16, bf16, f32 beside a query of i8, got i8"),
    ]
    for call, message in cases:
        try:
            call()
        except attn_mlir.BindingError as got:
            assert message in str(got), f"{got}; expected {message}"
        else:
            raise AssertionError(f"no error: {message}")


CHECKS = (check_descales, check_exact, check_sageattn, check_packed, check_layouts, check_quantize, check_errors)
for check in (check_torch,) if sys.argv[1:] == ["torch"] else CHECKS:
    check()
print("PASS")
