"""Random gradients of 8-bit inputs by an attention_backward that rounds to 8 bits, behind the forward of the same inputs."""

from pathlib import Path

from operations import draw_sizes
from rows import Rows

NEGATED = " score_mod (%x: f32, %b: index, %h: index, %i: index, %j: index) {\n    %c = arith.constant -0.7 : f32\n    %y = arith.mulf %x, %c : f32\n    attn.yield %y : f32\n  }"
MODS = ["", "", " score_mod soft_cap(5.0)", " score_mod soft_cap(0.3)", NEGATED]
MASKS = ["", " mask_mod causal(bottom_right)", " mask_mod causal(top_left)", " mask_mod sliding_window({left}, {right})"]


def write_float8_gradients(rng, folder):
    """The module's path, and arguments of attn-run."""
    sizes = draw_sizes(rng)
    # Of a key or two gradients are next to zero, and of a row a few roundings decide.
    sizes["M"], sizes["N"] = max(sizes["M"], 3), rng.choice([16, 33, 64, 100, 190, 257, 700])
    if rng.random() < 0.15:
        sizes["D"], sizes["Dv"] = rng.choice([(192, 128), (256, 256)])
    element, gradient = (rng.choice(["f8E4M3FN", "f8E4M3FN", "f8E5M2"]) for _ in range(2))
    rows = Rows(rng, sizes, element, rng.random() < 0.4)
    query, value = ("B", "Hq", "M", "D"), ("B", "Hq", "M", "Dv")
    dims = [query, ("B", "Hkv", "N", "D"), ("B", "Hkv", "N", "Dv")]
    (q, qt), (k, kt), (v, vt) = (rows.add(name, shape, element) for name, shape in zip("qkv", dims))
    do, dot = rows.add("do", value, gradient)
    wide, lse = rng.choice(["bf16", "bf16", "f16", "f32"]), rows.tensor(("B", "Hq", "M"), "f32")
    output, narrow = rows.tensor(value, wide), "bf16" if wide == "f32" else wide
    types = [rows.tensor(shape, rng.choice([narrow, narrow, "f32"])) for shape in dims]
    forward = backward = ""
    if rng.random() < 0.7:
        names, kinds = zip(*(rows.add(f"descale_{name}", rng.choice([(1,), ("B", "Hkv")]), "f32") for name in ("q", "k", "v", "do")))
        forward = f" descale({', '.join(names[:3])} : {', '.join(kinds[:3])})"
        backward = f" descale({', '.join(names)} : {', '.join(kinds)})"
    if rng.random() < 0.7:
        scale = rng.choice(["1.0", "32.0", "0.37", "3.0e+4", "1.0e-3"])
        rows.text += f"  %s = arith.constant dense<{scale}> : tensor<1xf32>\n"
        backward += " scale_ds(%s : tensor<1xf32>)"
    of_lse = " d_lse({} : {})".format(*rows.add("dlse", ("B", "Hq", "M"), "f32")) if rng.random() < 0.3 else ""
    changes = rng.choice(MODS) + rng.choice(MASKS).format(left=rng.choice([0, 7, 70]), right=rng.choice([0, 3]))
    # The field asks for products of 8 bits, which sum 32.
    promote = rng.choice(["", "true", "false"]) if sizes["D"] % 32 == sizes["Dv"] % 32 == 0 else ""
    schedule = f" {{schedule = #attn.schedule<promote = {promote}>}}" if promote else ""
    has_amax = rng.random() < 0.6
    rows.text += f"  %o, %lse = attn.attention {q}, {k}, {v}{forward}{changes} : {qt}, {kt}, {vt} -> {output}, {lse}\n"
    rows.text += f"  %g:{3 + has_amax} = attn.attention_backward {q}, {k}, {v} output(%o : {output}) lse(%lse : {lse}) d_output({do} : {dot})"
    rows.text += f"{of_lse}{backward}{changes}{schedule} : {qt}, {kt}, {vt} -> {', '.join(types)}" + f" amax_ds({lse})" * has_amax + "\n"
    types += [lse] * has_amax
    names = ", ".join(f"%g#{n}" for n in range(len(types)))
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @grad({', '.join(rows.arguments)}) -> ({', '.join(types)}) {{\n{rows.text}  return {names} : {', '.join(types)}\n}}\n")
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes.get(dim, dim)) for dim in shape)}" for i, shape in enumerate(rows.dims))
    return path, [f"--random={rng.randrange(100)}", "--function=grad", *([] if rows.is_static else ["--shape", shapes])]
