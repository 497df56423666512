"""Random attentions of a latent cache, whose values are columns of its keys."""

from pathlib import Path


def write_latent(rng, folder):
    """Values that are the first columns of the keys, or others, of a tensor or of pages, with lengths or without: the module's path, and
    arguments of attn-run."""
    dim = rng.choice([64, 264, 320, 576])
    value_dim = rng.choice([size for size in (16, 64, 200, 256, 320, 512, dim) if size <= dim])
    first = rng.choice([0, 0, 0, 0, dim - value_dim])
    sizes = {"B": rng.choice([1, 2]), "H": rng.choice([1, 5, 16, 24, 48, 128]), "M": rng.choice([1, 1, 2, 40]), "P": rng.choice([7, 12]), "T": rng.choice([1, 3]), "N": rng.choice([1, 33, 150])}
    if sizes["H"] > 24:
        sizes["B"], sizes["M"] = 1, min(sizes["M"], 2)
    page, dtype, entry = rng.choice([1, 16, 16, 24]), rng.choice(["f16", "bf16"]), rng.choice(["i32", "i64"])
    is_paged, has_length, is_static = rng.random() < 0.5, rng.random() < 0.7, rng.random() < 0.3
    is_paged &= has_length
    size = lambda name: str(sizes[name]) if is_static else "?"  # noqa: E731
    heads, rows = str(sizes["H"]), str(sizes["M"])
    store = (size("P"), "1", str(page)) if is_paged else (size("B"), "1", size("N"))
    stored = rng.choice([dtype, dtype, "f8E4M3FN", "f8E5M2", "i8"]) if dim % 16 == value_dim % 16 == 0 else dtype
    make = lambda *dims, dtype=dtype: f"tensor<{'x'.join(map(str, dims))}x{dtype}>"  # noqa: E731
    query, cache, columns = make(size("B"), heads, rows, dim), make(*store, dim, dtype=stored), make(*store, value_dim, dtype=stored)
    arguments, shapes = [f"%q: {query}", f"%c: {cache}"], [("B", "H", "M", dim), ("P", 1, page, dim) if is_paged else ("B", 1, "N", dim)]
    text = "  %c0 = arith.constant 0 : index\n  %c2 = arith.constant 2 : index\n"
    text += f"  %d0 = tensor.dim %c, %c0 : {cache}\n  %d2 = tensor.dim %c, %c2 : {cache}\n"
    taken = ["%d0" if store[0] == "?" else store[0], "1", "%d2" if store[2] == "?" else store[2], str(value_dim)]
    text += f"  %w = tensor.extract_slice %c[0, 0, 0, {first}] [{', '.join(taken)}] [1, 1, 1, 1] : {cache} to {columns}\n"
    key, value = cache, columns
    names = "%q, %c, %w"
    if is_paged:
        table = f"tensor<{size('B')}x{size('T')}x{entry}>"
        arguments.append(f"%t: {table}")
        shapes.append(("B", "T"))
        keys = str(sizes["T"] * page) if is_static else "?"
        key, value = (make(size("B"), 1, keys, columns, dtype=stored) for columns in (dim, value_dim))
        text += f"  %k = attn.paged %c[%t] : {cache}[{table}] -> {key}\n  %v = attn.paged %w[%t] : {columns}[{table}] -> {value}\n"
        names = "%q, %k, %v"
    clauses = ""
    if stored != dtype and rng.random() < 0.7:
        scale = rng.choice(["1", f"{size('B')}x1"])
        arguments.append(f"%d: tensor<{scale}xf32>")
        shapes.append(("B", 1) if "x" in scale else (1,))
        clauses += f" descale(%d, %d : tensor<{scale}xf32>, tensor<{scale}xf32>)"
    if has_length:
        kind = f"tensor<{size('B')}xi32>"
        arguments.append(f"%n: {kind}")
        shapes.append(("B",))
        clauses += f" lengths(key %n : {kind})"
    clauses += rng.choice(["", " scale(0.07)"]) + rng.choice(["", " mask_mod causal(bottom_right)", " mask_mod sliding_window(7, 3)"])
    types = [make(size("B"), heads, rows, value_dim)] + [f"tensor<{size('B')}x{heads}x{rows}xf32>"] * (rng.random() < 0.5)
    tile, warps = rng.choice([16, 32]), rng.choice([2, 4])
    packed = ", pack_gqa = true" * (rng.random() < 0.5 and sizes["H"] > 1 and (sizes["H"] % tile == 0 or tile % sizes["H"] == 0))
    if rng.random() < 0.4 and value_dim % (max(16 * warps // tile, 1) * (64 if stored == dtype else 128)) == 0:  # warps of mma.sync that share rows
        clauses += f" {{schedule = #attn.schedule<mma = \"mma_sync\", tile_m = {tile}, tile_dv = {value_dim}, warps = {warps}{packed}>}}"
    results, kinds = ", ".join(("%o", "%l")[: len(types)]), ", ".join(types)
    text += f"  {results} = attn.attention {names}{clauses} : {query}, {key}, {value} -> {kinds}\n  return {results} : {kinds}\n"
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @latent({', '.join(arguments)}) -> ({kinds}) {{\n{text}}}\n")
    given = ",".join(f"arg{i}={'x'.join(str(sizes.get(dim, dim)) for dim in shape)}" for i, shape in enumerate(shapes))
    return path, [f"--random={rng.randrange(100)}", *([] if is_static else ["--shape", given])]
