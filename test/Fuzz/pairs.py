"""Random gradients by pairs of CTAs of sm_100a, which are chosen by themselves for longer problems than a simulator has time for."""

from pathlib import Path

from float8_gradients import MODS
from operations import add_gradients

HEAD_DIMS = [(32, 32), (64, 64), (64, 64), (96, 96), (128, 128), (128, 128), (128, 64), (192, 128)]


def write_pair_gradients(rng, folder):
    """The module's path, and arguments of attn-run. Without a mask rows stream all keys, which the CTAs of a pair share."""
    lengths = [16, 63, 64, 65, 127, 128, 129, 200, 256, 257, 300, 513, 700]
    rows, keys, batch = rng.choice(lengths), rng.choice(lengths), rng.choice([1, 1, 2])
    (d, dv), (heads, key_heads) = rng.choice(HEAD_DIMS), rng.choice([(1, 1), (2, 2), (3, 3), (4, 2), (6, 1)])
    dtype = rng.choice(["f16", "bf16"])
    q, k, v, o = (
        f"tensor<{batch}x{h}x{n}x{columns}x{dtype}>" for h, n, columns in ((heads, rows, d), (key_heads, keys, d), (key_heads, keys, dv), (heads, rows, dv))
    )
    lse = f"tensor<{batch}x{heads}x{rows}xf32>"
    results, names, options = [(f"{o}", "%o", []), (f"{o}, {lse}", "%o, %lse", ["lse-gradient=true"])][rng.random() < 0.3]
    path = Path(folder, "pairs.mlir")
    path.write_text(
        f"func.func @attention(%q: {q}, %k: {k}, %v: {v}) -> ({results}) {{\n"
        f"  {names} = attn.attention %q, %k, %v{rng.choice(MODS)} : {q}, {k}, {v} -> {results}\n  return {names} : {results}\n}}\n"
    )
    add_gradients(path, "recompute=true", *options)
    pair = "cluster_n = 2, cta_pair = true"
    query_tile = rng.choice(["tile_m = 128", "tile_m = 256"])
    key_tile = rng.choice(["tile_n = 128", "tile_n = 128", "tile_n = 256"]) + rng.choice(["", "", ", tile_m = 32", ", tile_m = 64"])
    schedules = f" {{schedule = #attn.schedule<{query_tile}, {pair}>, key_schedule = #attn.schedule<{key_tile}, {pair}>}}"
    text = path.read_text()
    types = text.index(f" : {q}, {k}, {v} -> ", text.index("attn.attention_backward"))
    path.write_text(text[:types] + schedules + text[types:])
    return path, [f"--random={rng.randrange(100)}", "--function=attention_grad"]
