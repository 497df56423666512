"""flash_attn_with_kvcache against float64: caches of sequences and of pages, appended rows that are turned, packed queries, on the CPU and through the simulator; messages. With the argument torch of tensors that have the memory of the arrays."""

import itertools
import sys

import ml_dtypes
import numpy as np

import attn_mlir
import sweep
from devices import some

rng = np.random.default_rng(8)
ON = {}, {"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"}
EIGHT = {}, {"target": "sm_89", "device": "sim"}, {"target": "sm_90a", "device": "sim"}
TURNS = itertools.cycle(ON)
B, H, HKV, D = 3, 4, 2, 64
LENGTHS = np.array([19, 0, 30], np.int32)
ANGLES = rng.uniform(-3, 3, (48, 16))
COS, SIN = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


def tensor_of(value):
    if isinstance(value, tuple):
        return tuple(map(tensor_of, value))
    if not isinstance(value, np.ndarray):
        return value
    import torch

    if value.base is not None:  # a view of the tensor of its array
        strides, place = (size // value.itemsize for size in value.strides), value.ctypes.data - value.base.ctypes.data
        return torch.as_strided(tensor_of(value.base), value.shape, tuple(strides), place // value.itemsize)
    narrow = {"float8_e4m3fn": (np.uint8, torch.float8_e4m3fn), "bfloat16": (np.int16, torch.bfloat16)}.get(value.dtype.name)
    return torch.from_numpy(value.view(narrow[0])).view(narrow[1]) if narrow else torch.from_numpy(value)


def array_of(value):
    if isinstance(value, tuple):
        return tuple(map(array_of, value))
    return value.float().numpy() if value.dtype.is_floating_point else value.numpy()


def flash_attn_with_kvcache(*arrays, **options):
    if sys.argv[1:] != ["torch"]:
        return attn_mlir.flash_attn_with_kvcache(*arrays, **options)
    return array_of(attn_mlir.flash_attn_with_kvcache(*map(tensor_of, arrays), **{name: tensor_of(value) for name, value in options.items()}))


def turned(x, at, interleaved):
    """x [rows, H, D]."""
    first = np.arange(0, 32, 2) if interleaved else np.arange(16)
    second = first + (1 if interleaved else 16)
    pairs = (x[..., first] + 1j * x[..., second]) * np.exp(1j * ANGLES[at])[:, None]
    out = x.astype(float)
    out[..., first], out[..., second] = pairs.real, pairs.imag
    return out


def attend(q, k, v, window=None, slope=None, padding=0, chunk=0):
    """Of one sequence, [rows, H, D]: causal from the bottom right, without the first `padding` keys, or those of other chunks."""
    k, v = (x.astype(float).repeat(H // HKV, 1) for x in (k, v))
    s = np.einsum("ihd,jhd->hij", q.astype(float), k) / D**0.5
    back = np.arange(len(k)) - (np.arange(len(q)) + len(k) - len(q))[:, None]
    if slope is not None:
        s = s + slope[:, None, None] * np.minimum(back, 0)
    chunks = np.arange(len(k)) // (chunk or len(k))
    is_near = chunks == chunks[len(k) - len(q) :][:, None]
    s = np.where(is_near & (back <= 0) & (back >= -window if window else True) & (np.arange(len(k)) >= padding), s, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - top)
    return np.einsum("hij,jhd->ihd", p / p.sum(-1, keepdims=True), v), (np.log(p.sum(-1, keepdims=True)) + top)[..., 0]


def keys_of(cache, table, b, length):
    """The first keys of a sequence, [length, Hkv, D], where table is of pages or, [B, 1], of sequences."""
    return cache[table[b]].reshape(-1, HKV, cache.shape[-1])[:length].astype(float)


def check(cache_shape, tokens, interleaved=None, table=None, sequences=None, packed=False, lengths=LENGTHS, **more):
    counts = np.array([tokens, 1, 2]) if packed else np.full(B, tokens)
    offsets = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    rows = table if table is not None else (np.arange(B) if sequences is None else sequences)[:, None]
    old = draw(*cache_shape, HKV, D), draw(*cache_shape, HKV, D)
    sizes = (offsets[-1],) if packed else (B, tokens)
    q, k, v = draw(*sizes, H, D), draw(*sizes, HKV, D), draw(*sizes, HKV, D)
    flags = {"cu_seqlens_q": offsets, "cu_seqlens_k_new": offsets, "max_seqlen_q": int(counts.max())} if packed else {}
    if interleaved is not None:
        flags.update(rotary_cos=COS, rotary_sin=SIN, rotary_interleaved=interleaved)
    pages = {"block_table": table} if table is not None else {"cache_batch_idx": sequences}
    reads = {"window": more["window_size"][0] if "window_size" in more else None, "slope": more.get("alibi_slopes"), "chunk": more.get("attention_chunk", 0)}
    for where in ON if sweep.LONG else [next(TURNS)]:
        caches = old[0].copy(), old[1].copy()
        out, lse = flash_attn_with_kvcache(
            q, *caches, k, v, cache_seqlens=lengths, causal=True, return_softmax_lse=True, **pages, **flags, **more, **where
        )  # fmt: skip
        for b in range(B):
            take = (lambda x, b=b: x[offsets[b] : offsets[b + 1]]) if packed else (lambda x, b=b: x[b])
            at = more.get("rotary_seqlens", lengths)[b] + np.arange(counts[b])
            turn = (lambda x, at=at: turned(x, at, interleaved)) if interleaved is not None else (lambda x: x)
            stored = [keys_of(x, rows, b, lengths[b] + counts[b]) for x in caches]
            keys, values = (keys_of(x, rows, b, lengths[b] + counts[b]) for x in old)
            keys[lengths[b] :], values[lengths[b] :] = turn(take(k)), take(v)
            assert np.abs(stored[0] - keys).max() < 1e-3 and (stored[1] == values).all(), f"{where}: the cache of {b}"
            padding = more["cache_leftpad"][b] if "cache_leftpad" in more else 0
            expected, expected_lse = attend(turn(take(q)), keys, values, **reads, padding=padding)
            got_lse = lse[:, offsets[b] : offsets[b + 1]] if packed else lse[b]
            assert np.abs(take(out) - expected).max() < 2e-3, f"{where} {b}: {np.abs(take(out) - expected).max()}"
            assert np.abs(got_lse - expected_lse).max() < 4e-3, f"{where} {b}: LSE"


TABLE = np.array([[3, 1, 7, 0, 10], [5, 2, 11, 8, 4], [12, 6, 9, 13, 14]], np.int32)
check((4, 40), 1, True, sequences=np.array([2, 0, 3]))
check((3, 40), 3, False)
check((15, 8), 2, None, TABLE, window_size=(9, -1))
check((15, 8), 1, False, TABLE, alibi_slopes=np.linspace(0.1, 0.7, H, dtype=np.float32), num_splits=1)
check((15, 8), 5, True, TABLE, packed=True)
# Ranges of the keys that each sequence has.
LONG = np.array([100, 0, 150], np.int32)
check((18, 32), 1, None, rng.permutation(18).reshape(3, 6).astype(np.int32), num_splits=3, lengths=LONG)
check((60, 8), 3, None, rng.permutation(60).reshape(3, 20).astype(np.int64), packed=True, num_splits=4, lengths=LONG)
check((3, 160), 2, None, num_splits=5, lengths=LONG)
check((3, 40), 4, None, packed=True)
check((3, 40), 2, False, rotary_seqlens=np.array([3, 11, 0], np.int64))
check((15, 8), 5, True, TABLE, packed=True, rotary_seqlens=np.array([0, 7, 40], np.int32), attention_chunk=16)
check((3, 40), 3, None, attention_chunk=7)
check((3, 40), 2, True, cache_leftpad=np.array([17, 0, 30], np.int64))
check((4, 40), 3, None, sequences=np.array([3, 1, 0]), packed=True, cache_leftpad=np.array([3, 0, 9], np.int32), window_size=(20, -1))

# Without new keys, of all positions, or as many as a number says; into an array of the caller's.
q, cache = draw(B, 1, H, D), (draw(B, 24, HKV, D), draw(B, 24, HKV, D))
for where in some(ON):
    for length in (None, 7):
        own = np.empty((B, 1, H, D), np.float16)
        flash_attn_with_kvcache(q, *cache, cache_seqlens=length, out=own, **where)
        for b in range(B):
            assert np.abs(own[b] - attend(q[b], *(x[b, : length or 24] for x in cache))[0]).max() < 2e-3, where

# A latent cache, of which the values are the first columns: scores are of both parts of the query.
latent = draw(B, 40, 1, 512 + 64)
rope, part = draw(B, 2, H, 64), draw(B, 2, H, 512)
for where in some(ON):
    out = flash_attn_with_kvcache(rope, latent[..., 512:], latent[..., :512], cache_seqlens=LENGTHS + 3, causal=True, qv=part, **where)
    for b in range(B):
        keys = latent[b, : LENGTHS[b] + 3].repeat(HKV, 1)
        both = np.concatenate([part[b], rope[b]], -1) * (D / 576) ** 0.5  # attend divides by that of D
        expected = attend(both, keys, keys[..., :512])[0]
        assert np.abs(out[b] - expected).max() < 2e-3, where

# Of 8 bits, with new rows of 16 that are quantised by the scales; into an array of the caller's.
FLOAT8 = ml_dtypes.float8_e4m3fn
narrow = [draw(B, 40, HKV, D).astype(FLOAT8) for _ in range(2)]
descales = {"q_descale": np.full((B, HKV), 0.5, np.float32), "k_descale": np.array([2.0], np.float32), "v_descale": np.array([0.25], np.float32)}
for where in some(EIGHT):
    caches, own = [x.copy() for x in narrow], np.empty((B, 2, H, D), ml_dtypes.bfloat16)
    k, v = draw(B, 2, HKV, D), draw(B, 2, HKV, D)
    q8 = draw(B, 2, H, D).astype(FLOAT8)
    out, lse = flash_attn_with_kvcache(
        q8, *caches, k, v, cache_seqlens=LENGTHS, causal=True, return_softmax_lse=True, out=(own, np.empty((B, H, 2), np.float32)), **descales, **where
    )
    for b in range(B):
        stored = [x[b, : LENGTHS[b] + 2].astype(float) for x in caches]
        assert np.abs(stored[0][-2:] - k[b] / 2).max() < 0.04 and np.abs(stored[1][-2:] / 4 - v[b]).max() < 0.04, where
        expected, expected_lse = attend(q8[b].astype(float), stored[0], stored[1] / 4)
        assert np.abs(own[b].astype(float) - expected).max() < 0.04 and np.abs(lse[b] - expected_lse).max() < 4e-3, (where, b)

# Padding beside a mask: a sequence without keys has zeros.
for where in some(ON):
    padding = np.array([20, 3, 0], np.int32)
    out = flash_attn_with_kvcache(q, *cache, cache_seqlens=20, cache_leftpad=padding, mask_mod=lambda b, h, i, j: j != 7, **where)
    for b in range(B):
        seen = np.setdiff1d(np.arange(padding[b], 20), 7)
        expected = attend(q[b], *(x[b, seen] for x in cache))[0] if len(seen) else 0 * q[b]
        assert np.abs(out[b] - expected).max() < 2e-3, where

# What changes nothing.
plain = flash_attn_with_kvcache(q, *cache)
for pack_gqa in (None, True, False):
    out = flash_attn_with_kvcache(q, *cache, window_size=(None, None), pack_gqa=pack_gqa, sm_margin=0, scheduler_metadata=None)
    assert (out == plain).all()
left = [flash_attn_with_kvcache(q, *cache, causal=True, window_size=(9, right)) for right in (None, -1)]
assert (left[0] == left[1]).all() and not (left[0] == plain).all()

new = draw(B, 1, HKV, D)
for message, more in {
    "expected no cache_leftpad with block_table": {"cache_leftpad": LENGTHS, "block_table": TABLE % 3},
    "cache_leftpad: expected i32 or i64 of [3], got i32 of [2]": {"cache_leftpad": LENGTHS[:2]},
    "expected num_splits of 0 or more, got -1": {"num_splits": -1},
    "expected one of fixed_split_size, num_splits and disable_split_kv, got 1, 2": {
        "num_splits": 2, "fixed_split_size": 1, "block_table": TABLE % 3, "target": "sm_80", "device": "sim"
    },
    "expected neither cu_seqlens_q nor k and v with qv": {"qv": q, "k": new, "v": new, "cache_seqlens": 3},
    "qv: expected f16 of [3, 1, 4, Dv], as q is, got f16 of [3, 1, 2, 64]": {"qv": new},
    "expected v_cache and k_cache to be neighbouring columns of one array, values first": {"qv": q},
    "expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got f16": {"q_descale": np.ones(1, np.float32)},
    "expected rotary_cos and rotary_sin with rotary_seqlens": {"rotary_seqlens": LENGTHS},
    "rotary_seqlens: expected i32 or i64 of [3], got i32 of [1]": {"rotary_seqlens": LENGTHS[:1], "rotary_cos": COS, "rotary_sin": SIN, "k": new, "v": new, "cache_seqlens": 3},
    "expected attention_chunk to be a number of positions, 0 for all, got -5": {"attention_chunk": -5},
    "expected rotary_cos and rotary_sin together": {"rotary_cos": COS},
    "expected k and v with rotary_cos": {"rotary_cos": COS, "rotary_sin": SIN},
    "expected k, v and cache_seqlens together": {"k": new, "v": new},
    "k_cache: expected 3 sequences, one for each of q, got 2": {"k_cache": cache[0][:2], "v_cache": cache[1][:2]},
    "expected no cache_batch_idx with block_table": {"block_table": TABLE, "cache_batch_idx": LENGTHS},
    "cache_seqlens: expected 0 to 24 keys, which its pages hold, got 30 of sequence 2": {"cache_seqlens": LENGTHS},
    "cache_seqlens: expected 0 to 24 keys, which its pages hold, got -1 of sequence 0": {"cache_seqlens": -1, "k": new, "v": new},
    "block_table: expected pages from 0 to 2 where there are keys, got 7 in column 1 of sequence 2": {"block_table": np.array([[0, 1], [1, 9], [2, 7]]), "cache_seqlens": np.array([24, 24, 25])},
    "block_table: expected pages from 0 to 2 where there are keys, got -1 in column 1 of sequence 0": {"block_table": np.full((3, 2), [2, -1]), "cache_seqlens": 24, "k": new, "v": new},
    "cache_batch_idx: expected pages from 0 to 2 where there are keys, got 3 in column 0 of sequence 1": {"cache_batch_idx": np.array([0, 3, 1])},
    "rotary: expected positions from 0 to 4, for which cos and sin have rows, got 9 of token 0 of sequence 0": {
        "cache_seqlens": 9, "k": new, "v": new, "rotary_cos": COS[:5], "rotary_sin": SIN[:5]
    },
    "scheduler_metadata: expected None, for kernels plan by themselves, got ": {"scheduler_metadata": LENGTHS},
    "sm_margin: expected 0, since all SMs are used, got 4": {"sm_margin": 4},
    "pack_gqa: expected None, True or False, got 'yes'": {"pack_gqa": "yes"},
    "cache_seqlens: expected room for new keys in 24 positions of the cache, got 25 keys with them": {"k": new, "v": new, "cache_seqlens": np.array([19, 0, 24], np.int32)},
    "q: expected [B, M, Hq, D], got (3, 1, 64)": {"q": q[:, :, 0]},
    "k_cache: expected [sequences or pages, positions, Hkv, D], got (3, 2, 64)": {"k_cache": cache[0][:, 0]},
    "k: expected [B, new tokens, Hkv, D], got (3, 2, 64)": {"k": new[:, 0], "v": new, "cache_seqlens": 3},
    "cache_seqlens: expected i32 or i64 of [3], got i32 of [2]": {"cache_seqlens": LENGTHS[:2]},
    "cache_batch_idx: expected i32 or i64 of [3], got f64 of [3]": {"cache_batch_idx": np.zeros(3)},
    "block_table: expected i32 or i64 of [3, any], got i32 of [2, 5]": {"block_table": TABLE[:2]},
    "expected cu_seqlens_k_new beside cu_seqlens_q with k and v": {"q": q[:, 0], "cu_seqlens_q": np.arange(4), "k": new[:, 0], "v": new[:, 0], "cache_seqlens": 3},
    "cu_seqlens_k_new: expected i32 or i64 of [4], got i64 of [3]": {"k": new[:, 0], "v": new[:, 0], "cache_seqlens": 3, "cu_seqlens_k_new": np.arange(3)},
    "expected causal or a window_size with rotary_cos of several rows of q": {
        "q": draw(B, 2, H, D), "k": draw(B, 2, HKV, D), "v": draw(B, 2, HKV, D), "cache_seqlens": 3, "rotary_cos": COS, "rotary_sin": SIN
    },
}.items():  # fmt: skip
    try:
        flash_attn_with_kvcache(**{"q": q, "k_cache": cache[0], "v_cache": cache[1], **more})
    except attn_mlir.BindingError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)

for more in ({"window": (3, 0)}, {"softmax_scal": 1.0}, {"slots": LENGTHS}, {"head_map": np.zeros(H, np.int32), "cu_seqlens_q": np.arange(4), "max_seqlen_q": 1}):
    name = next(iter(more))
    try:
        flash_attn_with_kvcache(q, *cache, **more)
    except TypeError as error:
        assert str(error) == f"flash_attn_with_kvcache() got an unexpected keyword argument '{name}'", error
    else:
        raise AssertionError(name)
