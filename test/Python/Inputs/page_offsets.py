"""decode and prefill by (indices, indptr) against a table with a row for each sequence, bit by bit, and what is refused."""

import numpy as np

import attn_mlir
from devices import in_turn, some

RNG = np.random.default_rng(3)
PAGE, LENGTHS = 16, (37, 0, 16, 95)
DEVICES = (("cpu", None), ("sm_80", "sim"), ("sm_90a", "sim"))


def pages_of(lengths, spare=1):
    """Pools' pages by sequence, in any order, each with `spare` more than it needs; as a table, and as entries and offsets."""
    counts = [-(-n // PAGE) + spare for n in lengths]
    order = RNG.permutation(sum(counts)).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    table = np.full((len(lengths), max(counts)), -1, np.int32)
    for b, count in enumerate(counts):
        table[b, :count] = order[indptr[b] : indptr[b + 1]]
    return table, (order, indptr)


def pools(pages, dtype=np.float16, key_heads=2, dim=64):
    return [RNG.normal(size=(pages, key_heads, PAGE, dim)).astype(dtype) for _ in range(2)]


def check_same(name, by_table, by_offsets):
    for a, b in zip(by_table, by_offsets):
        assert np.array_equal(a.view(np.uint8), b.view(np.uint8)), f"{name}: {np.abs(np.asarray(a, np.float32) - np.asarray(b, np.float32)).max()}"


def check_decode():
    table, pair = pages_of(LENGTHS)
    lengths = np.array(LENGTHS, np.int32)
    k, v = pools(len(pair[0]))
    for rows, (target, device) in in_turn((1, 3), DEVICES):
        q = RNG.normal(size=(4, 8, rows, 64)).astype(np.float16)
        options = {"target": target, "device": device, "return_lse": True}
        if target != "cpu":  # a choice of splits may depend on how long tables are
            options["disable_split_kv"] = True
        check_same(f"{target} {rows}", *(attn_mlir.decode(q, k, v, by, lengths, **options) for by in (table, pair)))


def check_scales():
    """A scale of each row of the pools."""
    table, pair = pages_of(LENGTHS)
    lengths = np.array(LENGTHS, np.int32)
    k, v = (RNG.integers(-127, 128, (len(pair[0]), 2, PAGE, 64)).astype(np.int8) for _ in range(2))
    scales = [RNG.uniform(0.005, 0.02, (len(pair[0]), 2, PAGE)).astype(np.float32) for _ in range(2)]
    q = RNG.normal(size=(4, 8, 1, 64)).astype(np.float16)
    for target, device in DEVICES[:2]:
        options = {"target": target, "device": device, "k_scale": scales[0], "v_scale": scales[1]}
        if target != "cpu":
            options["disable_split_kv"] = True
        check_same(target, *([attn_mlir.decode(q, k, v, by, lengths, **options)] for by in (table, pair)))


def check_prefill():
    table, pair = pages_of(LENGTHS)
    lengths, rows = np.array(LENGTHS, np.int32), np.array([0, 5, 5, 21, 22], np.int32)
    k, v = pools(len(pair[0]))
    q = RNG.normal(size=(22, 8, 64)).astype(np.float16)
    for target, device in some(DEVICES):
        options = {"target": target, "device": device, "return_lse": True}
        if target != "cpu":
            options["disable_split_kv"] = True
        check_same(target, *(attn_mlir.prefill(q, k, v, by, lengths, rows, 16, **options) for by in (table, pair)))


def check_append():
    """New rows go to the pools first."""
    table, pair = pages_of(LENGTHS)
    lengths = np.array([n + 1 for n in LENGTHS], np.int32)
    k, v = pools(len(pair[0]))
    new = [RNG.normal(size=(4, 2, 1, 64)).astype(np.float16) for _ in range(2)]
    slots = np.array([[table[b, n // PAGE] * PAGE + n % PAGE] for b, n in enumerate(LENGTHS)], np.int64)
    q = RNG.normal(size=(4, 8, 1, 64)).astype(np.float16)
    for target, device in DEVICES[:2]:
        results = []
        for by in (table, pair):
            caches = k.copy(), v.copy()
            options = {"disable_split_kv": True} if target != "cpu" else {}
            results.append([attn_mlir.decode(q, *caches, by, lengths, k_new=new[0], v_new=new[1], slots=slots, target=target, device=device, **options), *caches])
        check_same(target, *results)


def check_errors():
    table, (indices, indptr) = pages_of(LENGTHS)
    lengths = np.array(LENGTHS, np.int32)
    k, v = pools(len(indices))
    q = np.zeros((4, 8, 1, 64), np.float16)
    cases = [
        ((indices, indptr, indptr), "table: expected an array, or a pair of indices and indptr, got 3"),
        ((table, indptr), "table: expected [entries] of i32 or i64, got i32 of (4, 7)"),
        ((indices, indptr[:-1]), "indptr: expected [5] of i32 or i64, got i32 of (4,)"),
        ((indices, indptr + 1), "indptr: expected ascending offsets from 0 to"),
        ((indices.astype(np.float32), indptr), "table: expected [entries] of i32 or i64, got f32"),
    ]
    for by, message in cases:
        try:
            attn_mlir.decode(q, k, v, by, lengths)
        except attn_mlir.BindingError as got:
            assert message in str(got), f"{got}; expected {message}"
        else:
            raise AssertionError(f"no error: {message}")


for check in (check_decode, check_scales, check_prefill, check_append, check_errors):
    check()
print("PASS")
