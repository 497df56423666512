"""com.microsoft.GroupQueryAttention in float64, as ONNX Runtime's ContribOperators.md has it: no part of it is the importer's."""

import numpy as np


def heads(x, count):
    """[B, H, S, D] of [B, S, H * D]."""
    batch, length, hidden = x.shape
    return x.reshape(batch, length, count, hidden // count).transpose(0, 2, 1, 3)


def normed(x, weight, epsilon):
    return x * weight / np.sqrt(epsilon + (x * x).mean(-1, keepdims=True))


def turned(x, positions, cos, sin, interleaved):
    """[B, H, S, D] by the rows of [max, R / 2] at positions [B, S]: the first R columns turn."""
    half = cos.shape[1]
    c, s = (table[positions][:, None] for table in (cos, sin))
    pairs = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (slice(0, half), slice(half, 2 * half))
    a, b = (x[..., pair] for pair in pairs)
    result = x.copy()
    result[..., pairs[0]], result[..., pairs[1]] = c * a - s * b, s * a + c * b
    return result


def group_query(inputs, attributes):
    """(output, present_key, present_value), NaN where the operator leaves a row open: rows of padding of the output, and of caches what is
    behind the keys that there are."""
    inputs = {name: x.astype(np.float64 if x.dtype.kind == "f" else np.int64) for name, x in inputs.items()}
    num, kv_num = attributes["num_heads"], attributes["kv_num_heads"]
    query, key, value = (inputs.get(name) for name in ("query", "key", "value"))
    if key is None:
        dim = query.shape[2] // (num + 2 * kv_num)
        query, key, value = np.split(query, [num * dim, (num + kv_num) * dim], axis=2)
    q, k, v = heads(query, num), heads(key, kv_num), heads(value, kv_num)
    batch, _, length, dim = q.shape
    if "q_norm_weight" in inputs:
        epsilon = attributes.get("qk_norm_epsilon", 1e-6)
        q = normed(q, inputs["q_norm_weight"], attributes.get("q_norm_epsilon", epsilon))
        k = normed(k, inputs["k_norm_weight"], attributes.get("k_norm_epsilon", epsilon))
    totals = inputs["seqlens_k"].reshape(-1) + 1
    valid = inputs.get("query_seqlens", np.minimum(length, totals))
    begin = totals - valid
    if attributes.get("do_rotary"):
        positions = inputs.get("position_ids", begin[:, None] + np.arange(length))
        if "position_ids" in inputs and "query_seqlens" not in inputs and inputs["total_sequence_length"].reshape(()) == length:
            positions = np.broadcast_to(positions[0, 0] + np.arange(length), (batch, length))  # as the kernel has it at a first prompt
        last = len(inputs["cos_cache"]) - 1  # of rows of padding
        q, k = (turned(x, np.minimum(positions, last), inputs["cos_cache"], inputs["sin_cache"], attributes.get("rotary_interleaved")) for x in (q, k))
    none = np.zeros((batch, kv_num, 0, dim))
    past = inputs.get("past_key", none), inputs.get("past_value", none)
    room = max(int(inputs["total_sequence_length"].reshape(())), past[0].shape[2])
    presents = [np.full((batch, kv_num, room, dim), np.nan) for _ in past]
    output = np.full((batch, num, length, dim), np.nan)
    scale = attributes.get("scale", 0.0) or dim**-0.5
    window, cap = attributes.get("local_window_size", -1), attributes.get("softcap", 0.0)
    for b in range(batch):
        for present, old, new in zip(presents, past, (k, v)):
            present[b, :, : begin[b]] = old[b, :, : begin[b]]
            present[b, :, begin[b] : totals[b]] = new[b, :, : valid[b]]
        for h in range(num):
            keys, values = (present[b, h * kv_num // num, : totals[b]] for present in presents)
            for i in range(valid[b]):
                scores = keys @ q[b, h, i] * scale
                if cap > 0:
                    scores = cap * np.tanh(scores / cap)
                if "attention_bias" in inputs:
                    bias = inputs["attention_bias"]
                    scores = scores + bias[b % bias.shape[0], h % bias.shape[1], i, : totals[b]]
                last = begin[b] + i + 1 if attributes.get("causal", 1) else totals[b]
                first = max(last - window, 0) if window >= 0 else 0
                if first == last:
                    output[b, h, i] = 0.0
                    continue
                scores, seen = scores[first:last], values[first:last]
                sink = inputs["head_sink"][h] if "head_sink" in inputs else 0.0 if attributes.get("smooth_softmax") == 1 else -np.inf
                most = max(scores.max(), sink)
                weights = np.exp(scores - most)
                output[b, h, i] = weights @ seen / (weights.sum() + np.exp(sink - most))
    return output.transpose(0, 2, 1, 3).reshape(batch, length, num * dim), *presents
