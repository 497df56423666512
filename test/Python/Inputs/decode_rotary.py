"""Rotary embedding and norms in decode and prefill against complex numbers in float64: tokens behind keys that are turned already, new keys turned and appended, on the CPU and through the
simulator; what pools hold after it; pools of 8 bits; positions that are given; messages."""

import numpy as np

import attn_mlir
from attn_mlir.rotary import rotate
from attn_mlir.runtime.host_array import HostArray
from devices import in_turn, some

rng = np.random.default_rng(6)
ON = {}, {"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"}
B, H, HKV, D, PAGE, PAGES = 2, 4, 2, 64, 8, 12
LENGTHS = np.array([19, 30], np.int32)
TABLE = np.array([[3, 1, 7, 0], [5, 2, 9, 8]], np.int32)
ANGLES = rng.uniform(-3, 3, (40, 16))
TABLES = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


def turned(x, positions, interleaved):
    """x [H, M, D]."""
    first = np.arange(0, 32, 2) if interleaved else np.arange(16)
    second = first + (1 if interleaved else 16)
    pairs = (x[..., first] + 1j * x[..., second]) * np.exp(1j * ANGLES[positions])
    out = x.astype(float)
    out[..., first], out[..., second] = pairs.real, pairs.imag
    return out


def reference(q, kept, values, b, at, tokens, interleaved):
    """Of one sequence; `kept` are turned keys."""
    q, k, v = turned(q[b], at, interleaved), kept.repeat(H // HKV, 0), values.repeat(H // HKV, 0)
    s = q @ k.transpose(0, 2, 1) / D**0.5
    length = LENGTHS[b]
    s = np.where(np.arange(length) <= np.arange(length - tokens, length)[:, None], s, -np.inf)
    p = np.exp(s)
    return (p / p.sum(-1, keepdims=True)) @ v


def check(where, tokens, interleaved, positions):
    old_k, old_v = draw(PAGES, HKV, PAGE, D), draw(PAGES, HKV, PAGE, D)
    q, k_new, v_new = draw(B, H, tokens, D), draw(B, HKV, tokens, D), draw(B, HKV, tokens, D)
    own = LENGTHS[:, None] - tokens + np.arange(tokens)
    slots = PAGE * np.take_along_axis(TABLE, own // PAGE, 1) + own % PAGE
    at = own if positions is None else positions
    k, v = old_k.copy(), old_v.copy()
    got = attn_mlir.decode(
        q, k, v, TABLE, LENGTHS, k_new=k_new, v_new=v_new, slots=slots, rotary=TABLES, rotary_interleaved=interleaved, rotary_positions=positions, **where
    )  # fmt: skip
    for b in range(B):
        keys, values = (pool[TABLE[b]].transpose(1, 0, 2, 3).reshape(HKV, -1, D)[:, : LENGTHS[b]].astype(float) for pool in (old_k, old_v))
        keys[:, -tokens:], values[:, -tokens:] = turned(k_new[b], at[b], interleaved), v_new[b]
        error = np.abs(got[b] - reference(q, keys, values, b, at[b], tokens, interleaved)).max()
        assert error < 2e-3, f"{where}: {error}"
        stored = k[TABLE[b]].transpose(1, 0, 2, 3).reshape(HKV, -1, D)[:, : LENGTHS[b]]
        assert np.abs(stored - keys).max() < 1e-3, f"{where}: keys"
    # What is there already is turned no more.
    again = attn_mlir.decode(q, k, v, TABLE, LENGTHS, rotary=TABLES, rotary_interleaved=interleaved, rotary_positions=positions, **where)
    assert np.abs(again.astype(float) - got).max() < 1e-3, where
    # Without NumPy, whose arrays have functions.
    if positions is None:
        host = HostArray.of("i32", (B,), LENGTHS.tolist())
        assert (attn_mlir.decode(q, k, v, TABLE, host, rotary=TABLES, rotary_interleaved=interleaved, **where) == again).all()


for case, place in in_turn(((1, False, None), (3, True, None), (2, False, rng.integers(0, 40, (B, 2)))), ON):
    check(place, *case)

# Turned in f32, rounded to the type of rows, then quantised.
q, k_new, v_new = draw(B, H, 1, D), draw(B, HKV, 1, D), draw(B, HKV, 1, D)
places = TABLE[[0, 1], (LENGTHS - 1) // PAGE][:, None] * PAGE + (LENGTHS - 1)[:, None] % PAGE
bits = []
for where in some(ON):
    for before in (True, False):
        pools = [HostArray("f8E4M3FN", (PAGES, HKV, PAGE, D), bytearray(PAGES * HKV * PAGE * D)) for _ in range(2)]
        rows = rotate(k_new, *TABLES, positions=(LENGTHS - 1)[:, None]) if before else k_new
        more = {"k_new": rows, "v_new": v_new, "slots": places, "k_scale": 0.01, "v_scale": 0.01}
        if before:
            attn_mlir.append(rows, v_new, *pools, places, k_scale=0.01, v_scale=0.01, **where)
        else:
            attn_mlir.decode(q, *pools, TABLE, LENGTHS, rotary=TABLES, **more, **where)
        bits.append((bytes(pools[0].data), bytes(pools[1].data)))
assert len(set(bits)) == 1 and any(bits[0][0]), "pools of 8 bits"

pools = draw(PAGES, HKV, PAGE, D), draw(PAGES, HKV, PAGE, D)
for message, more in {
    "k_new: expected [2, heads, 1, head dim] with rotary": {"k_new": k_new[:, :, 0], "v_new": v_new[:, :, 0], "slots": places[:, 0]},
    "query_positions: expected i32 or i64 of (1, 1) or (2, 1), got f32 of (2, 1)": {"rotary_positions": LENGTHS[:, None].astype(np.float32)},
    "expected rotary with rotary_positions, got none": {"rotary": None, "rotary_positions": LENGTHS[:, None]},
    "expected rotary to be two arrays, cos and sin": {"rotary": TABLES[0]},
}.items():
    try:
        attn_mlir.decode(q, *pools, TABLE, LENGTHS, **{"rotary": TABLES, **more})
    except attn_mlir.BindingError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)

byte_rows, *byte_pools = (
    HostArray("f8E4M3FN", shape, bytearray(shape[0] * shape[1] * shape[2] * D)) for shape in ((B, HKV, 1, D), *[(PAGES, HKV, PAGE, D)] * 2)
)
try:
    attn_mlir.decode(q, *byte_pools, TABLE, LENGTHS, k_new=byte_rows, v_new=byte_rows, slots=places, rotary=TABLES)
except attn_mlir.BindingError as error:
    assert "k_new: expected dtype f16, bf16, f32 or f64 with rotary, got f8E4M3FN" in str(error), error
else:
    raise AssertionError("8-bit rows that are turned")


# Rows of sequences behind each other: a chunk of a prompt, a decoded token, a sequence without a row, and a row of none behind them.
def check_packed(where, interleaved, positions, kind=np.int32):
    lengths, table = np.array([*LENGTHS, 7], kind), np.concatenate([TABLE, [[4, 6, 6, 6]]]).astype(kind)
    offsets = np.array([0, 11, 12, 12], kind)
    rows, sequence = 13, np.array([0] * 11 + [1])
    own = np.concatenate([np.arange(8, 19), [29]])
    old_k, old_v = draw(PAGES, HKV, PAGE, D), draw(PAGES, HKV, PAGE, D)
    q, k_new, v_new = draw(rows, H, D), draw(rows, HKV, D), draw(rows, HKV, D)
    slots = np.concatenate([PAGE * table[sequence, own // PAGE] + own % PAGE, [-1]])
    at = own if positions is None else positions
    k, v = old_k.copy(), old_v.copy()
    more = {"rotary": TABLES, "rotary_interleaved": interleaved, "rotary_positions": positions}
    got = np.zeros((rows, H, D), np.float16)
    attn_mlir.prefill(q, k, v, table, lengths, offsets, 16, k_new=k_new, v_new=v_new, slots=slots, out=got, **more, **where)
    for b, (begin, end) in enumerate(((0, 11), (11, 12))):
        tokens, part = end - begin, slice(begin, end)
        keys, values = (pool[table[b]].transpose(1, 0, 2, 3).reshape(HKV, -1, D)[:, : lengths[b]].astype(float) for pool in (old_k, old_v))
        keys[:, -tokens:] = turned(k_new[part].transpose(1, 0, 2), at[part], interleaved)
        values[:, -tokens:] = v_new[part].transpose(1, 0, 2)
        expected = reference({b: q[part].transpose(1, 0, 2)}, keys, values, b, at[part], tokens, interleaved)
        error = np.abs(got[part].transpose(1, 0, 2) - expected).max()
        assert error < 2e-3, f"packed {where}: {error}"
        stored = k[table[b]].transpose(1, 0, 2, 3).reshape(HKV, -1, D)[:, : lengths[b]]
        assert np.abs(stored - keys).max() < 1e-3, f"packed {where}: keys"
    again = attn_mlir.prefill(q, k, v, table, lengths, offsets, 16, **more, **where)
    assert np.abs(again[:12].astype(float) - got[:12]).max() < 1e-3, where
    # A token alone has the bits of decode.
    if positions is None:
        flags = {} if where == {} else {"invariance": "prefix"}
        alone = attn_mlir.decode(q[11:12].transpose(1, 0, 2)[None], k, v, table[1:2], lengths[1:2], rotary=TABLES, rotary_interleaved=interleaved, **flags, **where)
        packed = attn_mlir.prefill(q, k, v, table, lengths, offsets, 16, **more, **flags, **where)
        assert not flags or (alone[0, :, 0] == packed[11]).all(), where


for case, place in in_turn(((False, rng.integers(0, 40, 13)), (True, None, np.int64), (False, None)), ON):
    check_packed(place, *case)

# Where rows are in their sequences, by arrays of NumPy and without it.
from attn_mlir.rotary import positions_of_rows  # noqa: E402

lists = [1, 4, 4, 6], [9, 3, 2], 8
expected = [0, 6, 7, 8, 0, 1, 0, 0]
assert positions_of_rows(*map(np.array, lists[:2]), lists[2]).tolist() == expected
assert bytes(positions_of_rows(*(HostArray.of("i32", (len(x),), x) for x in lists[:2]), lists[2]).data) == np.array(expected).tobytes()
assert positions_of_rows(np.array([0]), np.array([], np.int32), 2).tolist() == [0, 0]

# Wider rows quantised by scales of their own, after they are turned.
bits = []
rows, at = draw(2, HKV, D), np.array([18, 29])
for where in some(ON):
    for before in (True, False):
        pools = [HostArray("i8", (PAGES, HKV, PAGE, D), bytearray(PAGES * HKV * PAGE * D)) for _ in range(2)]
        scales = [np.zeros((PAGES, HKV, PAGE), np.float32) for _ in range(2)]
        more = {"k_new": rows, "v_new": rows, "slots": places[:, 0], "k_scale": scales[0], "v_scale": scales[1]}
        if before:
            more["k_new"] = rotate(rows.transpose(1, 0, 2)[None], *TABLES, positions=at)[0].transpose(1, 0, 2).copy()
            attn_mlir.append(more["k_new"], rows, *pools, places[:, 0], k_scale=scales[0], v_scale=scales[1], **where)
        else:
            attn_mlir.prefill(draw(2, H, D), *pools, TABLE, LENGTHS, np.array([0, 1, 2]), rotary=TABLES, **more, **where)
        bits.append((bytes(pools[0].data), bytes(pools[1].data), scales[0].tobytes()))
assert len(set(bits)) == 1 and any(bits[0][0]), "pools of 8 bits, packed"

q, pools, offsets = draw(3, H, D), (draw(PAGES, HKV, PAGE, D), draw(PAGES, HKV, PAGE, D)), np.array([0, 1, 3])
new = draw(2, HKV, D)
for message, more in {
    "k_new: expected [3, heads, head dim] with rotary, a row for each of query, got (2, 2, 64)": {"k_new": new, "v_new": new, "slots": np.array([3, 4])},
    "rotary_positions: expected i32 or i64 of (3,), a position for each row of query, got i64 of (2,)": {"rotary_positions": np.array([3, 4])},
    "expected rotary with rotary_positions, got none": {"rotary": None, "rotary_positions": np.array([3, 4, 5])},
    "key_lengths: expected 2 entries for 2 sequences, got 3": {"lengths": np.array([19, 30, 7])},
    "cu_seqlens_q: expected ascending offsets from 0 to 3, got 9 at position 1": {"cu_seqlens_q": np.array([0, 9, 3])},
    "query: expected [rows, heads, head dim], got (3, 64)": {"query": q[:, 0]},
    "cos: expected [positions, columns], a column for each of at most 32 pairs, got (40, 33)": {"rotary": (np.zeros((40, 33), np.float32),) * 2},
}.items():
    try:
        attn_mlir.prefill(**{"query": q, "k_pool": pools[0], "v_pool": pools[1], "table": TABLE, "lengths": LENGTHS, "cu_seqlens_q": offsets, "rotary": TABLES, **more})
    except attn_mlir.BindingError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)


# Norms of queries and new keys, before they are turned or alone.
WEIGHT = rng.uniform(0.5, 1.5, (2, D)).astype(np.float32)


def divided(x, weight, epsilon):
    x = x.astype(float)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * (1 if weight is None else weight)


def check_norms(where, weights, epsilon, tables):
    old_k, old_v = draw(PAGES, HKV, PAGE, D), draw(PAGES, HKV, PAGE, D)
    q, k_new, v_new = draw(B, H, 1, D), draw(B, HKV, 1, D), draw(B, HKV, 1, D)
    at, slots = LENGTHS[:, None] - 1, PAGE * np.take_along_axis(TABLE, (LENGTHS[:, None] - 1) // PAGE, 1) + (LENGTHS[:, None] - 1) % PAGE
    turn = turned if tables else lambda x, positions, interleaved: x
    more = {"qk_norm": weights, "qk_norm_epsilon": epsilon, "rotary": tables}
    k, v, k2, v2 = old_k.copy(), old_v.copy(), old_k.copy(), old_v.copy()
    got = attn_mlir.decode(q, k, v, TABLE, LENGTHS, k_new=k_new, v_new=v_new, slots=slots, **more, **where)
    rows = [np.ascontiguousarray(x[:, :, 0]) for x in (q, k_new, v_new)]
    packed = attn_mlir.prefill(
        rows[0], k2, v2, TABLE, LENGTHS, np.arange(B + 1), k_new=rows[1], v_new=rows[2], slots=slots[:, 0], **more, **where
    )  # fmt: skip
    assert (k == k2).all() and (v == v2).all() and np.abs(packed.astype(float) - got[:, :, 0]).max() < 1e-3, f"norms packed {where}"
    for b in range(B):
        keys, values = (pool[TABLE[b]].transpose(1, 0, 2, 3).reshape(HKV, -1, D)[:, : LENGTHS[b]].astype(float) for pool in (old_k, old_v))
        keys[:, -1:], values[:, -1:] = turn(divided(k_new[b], weights[1], epsilon), at[b], False), v_new[b]
        query = divided(q[b], weights[0], epsilon)
        query = turn(query, at[b], False)
        s = query @ keys.repeat(H // HKV, 0).transpose(0, 2, 1) / D**0.5
        p = np.exp(s - s.max(-1, keepdims=True))
        expected = (p / p.sum(-1, keepdims=True)) @ values.repeat(H // HKV, 0)
        assert np.abs(got[b] - expected).max() < 4e-3, f"norms {where}: {np.abs(got[b] - expected).max()}"
        stored = k[TABLE[b]].transpose(1, 0, 2, 3).reshape(HKV, -1, D)[:, : LENGTHS[b]]
        assert np.abs(stored - keys).max() < 4e-3, f"norms {where}: keys {np.abs(stored - keys).max()}"


for case, place in in_turn((((WEIGHT[0], WEIGHT[1].astype(np.float16)), 1e-6, TABLES), ((None, WEIGHT[1]), 0.5, None)), ON):
    check_norms(place, *case)

pools = draw(PAGES, HKV, PAGE, D), draw(PAGES, HKV, PAGE, D)
q, offsets = draw(B, H, 1, D), np.arange(B + 1)
for message, more in {
    "expected qk_norm to be the weights of query and of key": {"qk_norm": WEIGHT[0]},
    "key_norm: expected f16, bf16, f32 or f64 of (64,), got f32 of (32,)": {"qk_norm": (None, WEIGHT[0, :32])},
    "expected qk_norm_epsilon to be finite and at least 0, got -1": {"qk_norm": (None, None), "qk_norm_epsilon": -1},
    "k_new: expected dtype f16, bf16, f32 or f64 with qk_norm, got f8E4M3FN": {"qk_norm": (None, None), "bytes": True},
}.items():
    for call, query in ((attn_mlir.decode, q), (attn_mlir.prefill, q[:, :, 0])):
        given = dict(more)
        into = pools
        if given.pop("bytes", False):
            sizes = (B, HKV, D) if call is attn_mlir.prefill else (B, HKV, 1, D)
            new = HostArray("f8E4M3FN", sizes, bytearray(B * HKV * D))
            given |= {"k_new": new, "v_new": new, "slots": np.array([3, 9]) if len(sizes) == 3 else np.array([[3], [9]])}
            into = byte_pools
        try:
            call(query, *into, TABLE, LENGTHS, *([offsets] if call is attn_mlir.prefill else []), **given)
        except attn_mlir.BindingError as error:
            assert message in str(error), error
        else:
            raise AssertionError(message)

# A kernel of any sizes is launched with a position for each row alone.
types = "%query: tensor<?x4x?x64xf16>, %key: tensor<?x4x?x64xf16>, %cos: tensor<?x32xf32>, %at: tensor<?x?xi32>"
kernel = attn_mlir.compile(
    f"""func.func @f({types}) -> tensor<?x4x?x64xf16> {{
  %turned = attn.rotary %query, %cos, %cos halves positions(%at : tensor<?x?xi32>) : tensor<?x4x?x64xf16>, tensor<?x32xf32>
  %o = attn.attention %turned, %key, %key : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  return %o : tensor<?x4x?x64xf16>
}}
""",
    target="sm_80",
)
x, table = draw(2, 4, 9, 64), np.ones((40, 32), np.float32)
for message, shape in {"": (2, 9), "expected positions to have one for each row of query": (2, 8), "expected positions of each batch of query": (1, 9)}.items():
    try:
        kernel(x, x.copy(), table, np.zeros(shape, np.int32), device="sim")
        assert not message, message
    except attn_mlir.BindingError as error:
        assert message and message in str(error), error
