"""Latent caches by the names of FlashMLA and FlashInfer: decode, several rows, ragged prompts, results in given arrays, and each error.

usage: latent_names.py numpy|torch"""

import sys

import numpy as np

import attn_mlir
from attn_mlir import flash_mla_with_kvcache, get_mla_metadata
from attn_mlir.latent import BatchMLAPagedAttentionWrapper

LIBRARY = sys.argv[1]
LATENT, TURNED, HEADS, PAGE, SCALE = 512, 64, 16, 16, 192**-0.5
rng = np.random.default_rng(3)
pool = rng.uniform(-1, 1, (7, PAGE, LATENT + TURNED)).astype(np.float16)
TABLE, LENGTHS = [[3, 1], [6, 0], [2, 5]], [25, 9, 16]
pool[4], pool[1, 9:], pool[6, 9:], pool[[0, 5]] = (np.nan,) * 4  # rows that no sequence has
INDPTR, INDICES = [0, 2, 3, 4], [3, 1, 6, 2]


def own(array):
    if LIBRARY == "numpy":
        return array
    import torch

    return torch.from_numpy(array)


def vector(numbers):
    return own(np.array(numbers, np.int32))


def expected(query, b, causal):
    """Output and LSE of rows [m, H, D] of sequence b."""
    keys = pool[TABLE[b]].reshape(-1, LATENT + TURNED)[: LENGTHS[b]].astype(float)
    scores = np.einsum("mhd,jd->mhj", query.astype(float), keys) * SCALE
    if causal:
        row, key = np.arange(len(query))[:, None], np.arange(len(keys))
        scores = np.where((key <= row + len(keys) - len(query))[:, None], scores, -np.inf)
    most = scores.max(-1, keepdims=True)
    sums = np.exp(scores - most).sum(-1)
    return np.exp(scores - most) @ keys[:, :LATENT] / sums[..., None], np.log(sums) + most[..., 0]


def check(got, wanted, what):
    error = np.abs(np.asarray(got).astype(float) - wanted).max()
    assert error <= 5e-4, (what, error)  # of f16 below 1, and f32


def check_flash_mla(rows, where):
    query = rng.uniform(-1, 1, (3, rows, HEADS, LATENT + TURNED)).astype(np.float16)
    metadata, splits = get_mla_metadata(vector(LENGTHS), rows * HEADS, 1)
    output, lse = flash_mla_with_kvcache(
        own(query), own(pool)[:, :, None], vector(TABLE), vector(LENGTHS), LATENT, metadata, splits, softmax_scale=SCALE, causal=True, **where
    )
    for b in range(3):
        wanted, sums = expected(query[b], b, True)
        check(output[b], wanted, ("FlashMLA", rows, b))
        check(lse[b], sums.T, ("FlashMLA, LSE", rows, b))


def wrapper(offsets, causal=True, **types):
    plan = BatchMLAPagedAttentionWrapper(None, backend="auto")
    plan.plan(vector(offsets), vector(INDPTR), vector(INDICES), vector(LENGTHS), HEADS, LATENT, TURNED, PAGE, causal, SCALE, **types)
    return plan


def check_flashinfer(offsets, causal, where):
    query = rng.uniform(-1, 1, (offsets[-1], HEADS, LATENT + TURNED)).astype(np.float16)
    plan, cache = wrapper(offsets, causal), own(pool)
    arrays = own(query)[..., :LATENT], own(query)[..., LATENT:], cache[..., :LATENT], cache[..., LATENT:]
    output, lse = plan.run(*arrays, return_lse=True, **where)
    out, sums_out = own(np.zeros((offsets[-1], HEADS, LATENT), np.float16)), own(np.zeros((offsets[-1], HEADS), np.float32))
    assert plan.run(*arrays, out, sums_out, True, **where)[0] is out
    for results in ((output, lse), (out, sums_out)):
        for b, (begin, end) in enumerate(zip(offsets, offsets[1:])):
            if begin < end:
                wanted, sums = expected(query[begin:end], b, causal)
                check(results[0][begin:end], wanted, ("FlashInfer", offsets, b))
                check(results[1][begin:end], sums, ("FlashInfer, LSE", offsets, b))


def check_error(message, call):
    try:
        call()
    except attn_mlir.BindingError as error:
        assert message in str(error), (message, str(error))
    else:
        raise AssertionError(f"expected an error: {message}")


def check_errors():
    q, cache = np.zeros((3, 1, HEADS, 576), np.float16), pool[:, :, None]
    decode = lambda **options: flash_mla_with_kvcache(**{**dict(q=q, k_cache=cache, block_table=vector(TABLE), cache_seqlens=vector(LENGTHS), head_dim_v=512), **options})  # noqa: E731
    check_error("expected head_dim_v from 1 to 576, the columns of k_cache, got 577", lambda: decode(head_dim_v=577))
    check_error("k_cache: expected [pages, page size, 1, D], got (7, 16, 576)", lambda: decode(k_cache=pool))
    check_error("is_fp8_kvcache: expected False, got True", lambda: decode(is_fp8_kvcache=True))
    check_error("tile_scheduler_metadata: expected None, got 3", lambda: decode(tile_scheduler_metadata=3))
    check_error("cache_seqlens: expected 0 to 32 keys, which its pages hold, got 33 of sequence 1", lambda: decode(cache_seqlens=vector([1, 33, 2])))
    check_error("qo_indptr: expected 4 entries beside kv_indptr, got 3", lambda: wrapper([0, 1, 2]))
    check_error("q_data_type: expected arrays of bf16 as planned, got f16", lambda: run(wrapper([0, 1, 2, 3], q_data_type="bfloat16")))
    check_error("use_cuda_graph: expected False, got True", lambda: BatchMLAPagedAttentionWrapper(use_cuda_graph=True))
    check_error("expected plan before run", lambda: run(BatchMLAPagedAttentionWrapper()))
    plan = wrapper([0, 1, 2, 3])
    check_error("q_pe: expected (3, 16, 64) as planned, got (2, 16, 64)", lambda: run(plan, q_pe=q[:2, 0, :, 512:]))
    check_error("ckv_cache: expected pages of (16, 512) as planned, got (7, 16, 511)", lambda: run(plan, ckv_cache=pool[..., :511]))
    check_error("expected ckv_cache and kpe_cache to be neighbouring columns of one array, values first", lambda: run(plan, kpe_cache=pool[..., 512:].copy()))
    check_error("lse: expected return_lse=True with it, got False", lambda: run(plan, lse=q))
    check_error("kv_len: expected None, got", lambda: run(plan, kv_len=q))
    short = BatchMLAPagedAttentionWrapper()
    arguments = [0, 1, 2, 3], INDPTR, INDICES, [25, 17, 16]
    check_error(
        "kv_len_arr: expected 0 to 16 keys, which its pages hold, got 17 of sequence 1",
        lambda: short.plan(*map(vector, arguments), HEADS, LATENT, TURNED, PAGE, True, SCALE),
    )


def run(plan, **options):
    q = np.zeros((3, HEADS, 576), np.float16)
    arrays = dict(q_nope=q[..., :512], q_pe=q[..., 512:], ckv_cache=pool[..., :512], kpe_cache=pool[..., 512:])
    return plan.run(**{**arrays, **options})


for where in ({"target": "sm_90a", "device": "sim"}, {}):
    check_flash_mla(1, where)
    check_flash_mla(2, where)
    check_flashinfer([0, 1, 2, 3], False, where)
    check_flashinfer([0, 2, 4, 6], True, where)
    check_flashinfer([0, 20, 20, 23], True, where)
if LIBRARY == "numpy":
    check_errors()
print("latent names: PASS")
