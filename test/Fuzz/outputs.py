"""Random functions of an attention's output: gates, factors of heads and columns, mixes with the values, one or two behind each other, with and without
the largest magnitudes of rows."""

from pathlib import Path

from operations import add_gradients, draw_sizes

BODIES = {
    "gate": """    %one{n} = arith.constant 1.0 : f32
    %n{n} = arith.negf %t{n} : f32
    %e{n} = math.exp %n{n} : f32
    %d{n} = arith.addf %e{n}, %one{n} : f32
    %r{n} = arith.divf %x, %d{n} : f32
""",
    "factor": "    %r{n} = arith.mulf %x, %t{n} : f32\n",
    "sum": "    %r{n} = arith.addf %x, %t{n} : f32\n",
    "tanh": "    %y{n} = arith.mulf %x, %t{n} : f32\n    %r{n} = math.tanh %y{n} : f32\n",
}
#: What is read of a tensor, by its dimensions.
READS = {("B", "Hq", "M", "Dv"): "%b, %h, %i, %c", ("Hq",): "%h", ("Hq", "Dv"): "%h, %c", ("B", "M"): "%b, %i", ("Dv",): "%c"}


def write_outputs(rng, folder, gradients=False):
    """A module, or its gradients: the path, and arguments of attn-run."""
    sizes = draw_sizes(rng)
    if gradients:  # of a key or two they are next to zero, and of one row a few roundings decide
        sizes["M"], sizes["N"] = max(sizes["M"], 3), max(sizes["N"], 16)
    is_static, dtype = rng.random() < 0.4, rng.choice(["f16", "bf16"] if gradients else ["f16", "bf16", "f32"])
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    make = lambda dims, element: f"tensor<{'x'.join(map(size, dims))}x{element}>"  # noqa: E731
    rows = ("B", "Hq", "M", "Dv")
    dims = [("B", "Hq", "M", "D"), ("B", "Hkv", "N", "D"), ("B", "Hkv", "N", "Dv")]
    arguments = [f"%{name}: {make(shape, dtype)}" for name, shape in zip("qkv", dims)]
    types, between = [make(shape, dtype) for shape in dims], make(rows, rng.choice(["f32", "f32", dtype]))
    has_lse, source, text = rng.random() < 0.5, "%o", ""
    count, lse, amaxes = rng.choice([1, 1, 2]), make(("B", "Hq", "M"), "f32"), []
    for n in range(count):
        shape = rng.choice(list(READS))
        # A gradient of f32 would be held to more than weights of 16 bits allow.
        element = dtype if gradients or rng.random() < 0.5 else "f32"
        kind, result = make(shape, element), between if n + 1 < count else make(rows, dtype)
        arguments.append(f"%t_{n}: {kind}")
        dims.append(shape)
        widened = f"    %t{n} = arith.extf %read{n} : {element} to f32\n" if element != "f32" else f"    %t{n} = arith.addf %read{n}, %read{n} : f32\n"
        amax = [f"%amax{n}"] * (rng.random() < 0.4)
        amaxes += amax
        text += f"""  {', '.join([f'%y{n}', *amax])} = attn.output_mod {source} (%x: f32, %b: index, %h: index, %i: index, %c: index) {{
    %read{n} = tensor.extract %t_{n}[{READS[shape]}] : {kind}
{widened}{rng.choice(list(BODIES.values())).format(n=n)}    attn.yield %r{n} : f32
  }} : {', '.join([f'{between} -> {result}', *[lse] * len(amax)])}
"""
        source = f"%y{n}"
    mask = rng.choice(["", " mask_mod causal(bottom_right)", " mask_mod causal(top_left)", f" mask_mod sliding_window({rng.choice([0, 7, 70])}, {rng.choice([0, 3])})"])
    results, types_of = [make(rows, dtype)] + [lse] * (has_lse + len(amaxes)), ", ".join([between] + [lse] * has_lse)
    names = ", ".join([source, *["%l"] * has_lse, *amaxes])
    path = Path(folder, "case.mlir")
    path.write_text(
        f"func.func @outputs({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
        f"  {'%o, %l' if has_lse else '%o'} = attn.attention %q, %k, %v{mask} : {', '.join(types)} -> {types_of}\n"
        f"{text}  return {names} : {', '.join(results)}\n}}\n"
    )
    if gradients:
        add_gradients(path, "recompute")
        dims.append(rows)
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate(dims))
    command = [f"--random={rng.randrange(100)}", f"--function=outputs{'_grad' if gradients else ''}"]
    return path, command + ([] if is_static else ["--shape", shapes])
