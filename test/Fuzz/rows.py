"""Random rotations and norms of queries and keys before an attention, and operands of bytes that are made wider."""

from pathlib import Path

from operations import add_gradients, draw_sizes


class Rows:
    """A module in the making: its arguments, their sizes, and the ops so far."""

    def __init__(self, rng, sizes, dtype, is_static):
        self.rng, self.sizes, self.dtype, self.is_static = rng, sizes, dtype, is_static
        self.arguments, self.dims, self.text, self.tables = [], [], "", []

    def tensor(self, shape, element):
        fixed = ("D", "Dv", 1)
        size = lambda dim: str(self.sizes.get(dim, dim)) if self.is_static or isinstance(dim, int) or dim in fixed else "?"  # noqa: E731
        return f"tensor<{'x'.join(map(size, shape))}x{element}>"

    def add(self, name, shape, element):
        """An argument; its name and type."""
        kind = self.tensor(shape, element)
        self.arguments.append(f"%{name}: {kind}")
        self.dims.append(shape)
        return f"%{name}", kind

    def name(self, prefix):
        return f"{prefix}{len(self.arguments)}_{self.text.count('=')}"

    def take(self, name, shape, bytes_share, types):
        """The operand `name`, and its type: an argument, or made of one of bytes."""
        if self.rng.random() >= bytes_share:
            return self.add(name, shape, self.dtype)
        rows, stored = self.add(name, shape, self.rng.choice(types))
        heads, clause = self.sizes[shape[1]], ""
        if self.rng.random() < 0.8:
            groups = self.rng.choice([number for number in range(1, heads + 1) if heads % number == 0])
            clause = " descale({} : {})".format(*self.add(self.name("d"), self.rng.choice([(1,), ("B", groups)]), "f32"))
        result, kind = f"%{self.name('x')}", self.tensor(shape, self.dtype)
        self.text += f"  {result} = attn.dequantize {rows}{clause} : {stored} -> {kind}\n"
        return result, kind

    def normalize(self, rows, kind):
        weight = ""
        if self.rng.random() < 0.6:
            weight = " weight({} : {})".format(*self.add(self.name("w"), (self.sizes["D"],), self.rng.choice([self.dtype, "f32"])))
        result = f"%{self.name('n')}"
        self.text += f"  {result} = attn.qk_norm {rows}{weight} epsilon({self.rng.choice(['1.0e-6', '0.01'])}) : {kind}\n"
        return result

    def turn(self, rows, kind, sequence):
        rng, head_dim = self.rng, self.sizes["D"]
        lo = rng.choice([0, 0, 0, 2 * rng.randrange(head_dim // 2)])
        hi = rng.choice([head_dim, lo + 2 * rng.randint(1, (head_dim - lo) // 2)])
        width = (hi - lo) // rng.choice([1, 2])
        clauses = rng.choice([" halves", " interleaved"])
        batch = rng.choice([(), (), (1,), ("B",)])
        has_positions = rng.random() < 0.5
        known = [table for table in self.tables if table[2] == (batch, width, has_positions or sequence)]
        if known and rng.random() < 0.7:
            cos, sin, table = known[0][0], known[0][1], known[0][3]
        else:
            shape = (*batch, "T" if has_positions else sequence, width)
            element = rng.choice([self.dtype, "f32"])
            (cos, table), (sin, _) = (self.add(self.name(name), shape, element) for name in ("cos", "sin"))
            self.tables.append((cos, sin, (batch, width, has_positions or sequence), table))
        if has_positions:
            clauses += " positions({} : {})".format(*self.add(self.name("p"), (rng.choice([1, "B"]), sequence), rng.choice(["i32", "i64"])))
        if (lo, hi) != (0, head_dim):
            clauses += f" columns [{lo}, {hi}]"
        clauses += rng.choice(["", "", "", " transposed"])
        result = f"%{self.name('r')}"
        self.text += f"  {result} = attn.rotary {rows}, {cos}, {sin}{clauses} : {kind}, {table}\n"
        return result

    def change(self, rows, kind, sequence):
        for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
            rows = self.normalize(rows, kind) if self.rng.random() < 0.35 else self.turn(rows, kind, sequence)
        return rows


def write_rows(rng, folder, gradients=False):
    """The module's path, and arguments of attn-run."""
    sizes = draw_sizes(rng)
    # Rows of a single key have no gradients but roundings.
    sizes["N"], sizes["T"] = max(sizes["N"], 16 if gradients else 1), rng.choice([1, 7, 300])
    sizes["M"] = max(sizes["M"], 3 if gradients else 1)
    is_static, has_lse = rng.random() < 0.4, gradients or rng.random() < 0.5
    rows = Rows(rng, sizes, rng.choice(["f16", "bf16"] if gradients else ["f16", "bf16", "f32"]), is_static)
    dims = [("B", "Hq", "M", "D"), ("B", "Hkv", "N", "D"), ("B", "Hkv", "N", "Dv")]
    share, types = rng.choice([0.0, 0.0, 0.6]), ["f8E4M3FN", "f8E5M2"] + ["i8"] * (not gradients)
    if rows.dtype == "f32":  # bytes are made wider for products of 16 bits
        share = 0.0
    (q, query), (k, key), (v, value) = (rows.take(name, shape, share, types) for name, shape in zip("qkv", dims))
    changed = rows.change(q, query, "M"), rows.change(k, key, "N")
    scale = " scale(0.003)" if "xi8>" in "".join(rows.arguments) else ""
    mask = scale + rng.choice(["", " mask_mod causal(bottom_right)", f" mask_mod sliding_window({rng.choice([0, 7, 70])}, {rng.choice([0, 3])})"])
    results = [rows.tensor(("B", "Hq", "M", "Dv"), rows.dtype)] + [rows.tensor(("B", "Hq", "M"), "f32")] * has_lse
    names = "%o, %l" if has_lse else "%o"
    # Where the query's are computed is the schedule's choice on a GPU.
    fused = 'query_prologue = "fused"'
    places = ["", "", 'query_prologue = "kernel"', fused, f'{fused}, kind = "split_kv", splits = 2', *[f"{fused}, pack_gqa = true"] * (sizes["Hq"] > sizes["Hkv"])]
    place = rng.choice(places) if changed[0] != q and not gradients and not share else ""
    place = f" {{schedule = #attn.schedule<{place}>}}" * bool(place)
    text = rows.text + f"  {names} = attn.attention {', '.join(changed)}, {v}{mask}{place} : {query}, {key}, {value} -> {', '.join(results)}\n"
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @rows({', '.join(rows.arguments)}) -> ({', '.join(results)}) {{\n{text}  return {names} : {', '.join(results)}\n}}\n")
    if gradients:
        add_gradients(path, "recompute")
        rows.dims.append(("B", "Hq", "M", "Dv"))
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes.get(dim, dim)) for dim in shape)}" for i, shape in enumerate(rows.dims))
    command = [f"--random={rng.randrange(100)}", f"--function=rows{'_grad' if gradients else ''}"]
    return path, command + ([] if is_static else ["--shape", shapes])
