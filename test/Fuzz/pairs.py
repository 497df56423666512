"""Random gradients by pairs of CTAs of sm_100a, which are chosen by themselves for longer problems than a simulator has time for."""

from pathlib import Path

from float8_gradients import MASKS, MODS
from operations import add_gradients
from regions import Region, write_data

HEAD_DIMS = [(32, 32), (64, 64), (64, 64), (96, 96), (128, 128), (128, 128), (128, 64), (192, 128), (256, 256)]


def write_pair_gradients(rng, folder):
    """The module's path, and arguments of attn-run. Under a mask both CTAs of a pair stream what one of them sees: bands, lengths, documents, any region."""
    lengths = [16, 63, 64, 65, 127, 128, 129, 200, 256, 257, 300, 513, 700]
    rows, keys, batch = rng.choice(lengths), rng.choice(lengths), rng.choice([1, 1, 2])
    (d, dv), (heads, key_heads) = rng.choice(HEAD_DIMS), rng.choice([(1, 1), (2, 2), (3, 3), (4, 2), (6, 1)])
    dtype = rng.choice(["f16", "bf16"])
    q, k, v, o = (
        f"tensor<{batch}x{h}x{n}x{columns}x{dtype}>" for h, n, columns in ((heads, rows, d), (key_heads, keys, d), (key_heads, keys, dv), (heads, rows, dv))
    )
    mod, mask, captures = rng.choice(MODS), rng.choice(MASKS).format(left=rng.choice([0, 7, 70, 300]), right=rng.choice([0, 3, 150])), {}
    at = "%b: index, %h: index, %i: index, %j: index"
    if rng.random() < 0.4:
        region = Region(rng, "m", gradients=True)
        shown = region.condition()
        captures.update(region.captures)
        mask = f" mask_mod ({at}) {{\n{chr(10).join(region.lines)}\n        attn.yield {shown} : i1\n      }}"
    if rng.random() < 0.2:
        region = Region(rng, "s", gradients=True)
        changed = region.score("%score")
        captures.update(region.captures)
        mod = f" score_mod (%score: f32, {at}) {{\n{chr(10).join(region.lines)}\n        attn.yield {changed} : f32\n      }}"
    sizes = {"B": batch, "Hq": heads, "M": rows, "N": keys, "S1": rng.choice([2, 3, 6])}
    types = [f"tensor<{'x'.join(str(sizes[dim]) for dim in shape)}x{kind}>" for shape, kind in captures]
    inputs = [f"--input=arg{i}={write_data(rng, folder, sizes, *of)}" for i, of in enumerate(captures, start=3)]
    arguments = "".join(f", {name}: {kind}" for name, kind in zip(captures.values(), types))
    bias = ""
    if rng.random() < 0.2:
        shape = [size if rng.random() < 0.7 else 1 for size in (batch, heads, rows, keys)]
        kind = f"tensor<{'x'.join(map(str, shape))}x{rng.choice(['f32', dtype])}>"
        bias, arguments = f" bias(%bias : {kind})", f"{arguments}, %bias: {kind}"
    lse = f"tensor<{batch}x{heads}x{rows}xf32>"
    results, names, options = [(f"{o}", "%o", []), (f"{o}, {lse}", "%o, %lse", ["lse-gradient=true"])][rng.random() < 0.3]
    path = Path(folder, "pairs.mlir")
    path.write_text(
        f"func.func @attention(%q: {q}, %k: {k}, %v: {v}{arguments}) -> ({results}) {{\n"
        f"  {names} = attn.attention %q, %k, %v{bias}{mod}{mask} : {q}, {k}, {v} -> {results}\n  return {names} : {results}\n}}\n"
    )
    text = path.read_text()
    for dim, size in sizes.items():
        text = text.replace(f"SIZE_{dim}x", f"{size}x")
    path.write_text(text)
    add_gradients(path, "recompute=true", *options)
    pair = "cluster_n = 2, cta_pair = true"
    query_tile = rng.choice(["tile_m = 128", "tile_m = 256"])
    key_tile = rng.choice(["tile_n = 128", "tile_n = 128", "tile_n = 256"]) + rng.choice(["", "", ", tile_m = 32", ", tile_m = 64"])
    schedules = f" {{schedule = #attn.schedule<{query_tile}, {pair}>, key_schedule = #attn.schedule<{key_tile}, {pair}>}}"
    text = path.read_text()
    types = text.index(f" : {q}, {k}, {v} -> ", text.index("attn.attention_backward"))
    path.write_text(text[:types] + schedules + text[types:])
    return path, [f"--random={rng.randrange(100)}", "--function=attention_grad", *inputs]
