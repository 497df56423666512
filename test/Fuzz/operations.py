"""Random modules of other ops than attn.attention alone: linear attention, appends, merges, sequences behind each other."""

import subprocess
from pathlib import Path

import numpy as np

from regions import Region, write_data, write_prob_factor


def draw_sizes(rng):
    heads, group = rng.choice([1, 2]), rng.choice([1, 1, 2, 4])
    head_dim = rng.choice([16, 32, 64, 64, 80, 96, 128])
    if rng.random() < 0.04:  # one key head of many query heads, whose tiles may be a part of them
        group = rng.choice([16, 24, 32, 48, 128])
        return {"B": rng.choice([1, 2]), "Hq": group, "Hkv": 1, "M": rng.choice([1, 1, 3]), "N": rng.choice([1, 40, 128, 190]), "D": head_dim, "Dv": head_dim}
    return {
        "B": rng.choice([1, 1, 2]), "Hq": heads * group, "Hkv": heads, "M": rng.choice([1, 3, 17, 64, 65, 100, 130, 200]),
        "N": rng.choice([1, 2, 40, 64, 100, 128, 190, 257] * 4 + [0]), "D": head_dim, "Dv": rng.choice([head_dim, head_dim, 32]),
    }  # fmt: skip


def add_gradients(path, *options):
    """The gradients of a module's functions beside them."""
    subprocess.run(["attn-opt", f"--attn-grad={' '.join(options)}", path, "-o", path], check=True, capture_output=True, text=True)


def write_linear(rng, folder, gradients=False):
    """A linear attention, or its gradients: the module's path, and arguments of attn-run."""
    sizes, score = draw_sizes(rng), "f32"
    sizes["M"] = rng.choice([0, 33, 63, 64, 65, 130, 200, 500] + [1, 2] * (not gradients))  # of a row or two roundings decide
    direction = rng.choice(["", "", " reverse", " full"])
    keys = "N" if direction == " full" else "M"
    is_static, dtype = rng.random() < 0.3, rng.choice(["f16", "bf16", "f16", "bf16", "f32"])
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    make = lambda dims, element: f"tensor<{'x'.join(map(size, dims))}x{element}>"  # noqa: E731
    dims = [("B", "Hq", "M", "D"), ("B", "Hkv", keys, "D"), ("B", "Hkv", keys, "Dv")]
    types = [make(shape, dtype) for shape in dims]
    output = make(("B", "Hq", "M", "Dv"), rng.choice([dtype, score]))
    state, clauses, before = make(("B", "Hq", "D", "Dv"), score), "", ""
    arguments = [f"%{name}: {kind}" for name, kind in zip("qkv", types)]

    inputs = []

    def add_negative(name, shape):
        """An argument of which the negative of the size is used, or with gradients, which are of arguments, one that is negative."""
        kind = make(shape, score)
        dims.append(shape)
        if gradients:
            file = Path(folder, f"{name}.npy")
            np.save(file, -np.abs(np.random.default_rng(rng.randrange(1 << 30)).normal(size=[sizes[dim] for dim in shape])).astype(np.float32))
            inputs.append(f"--input=arg{len(arguments)}={file}")
            arguments.append(f"%{name}: {kind}")
            return "", f" {name}(%{name} : {kind})"
        arguments.append(f"%{name}_drawn: {kind}")
        return f"  %{name}_size = math.absf %{name}_drawn : {kind}\n  %{name} = arith.negf %{name}_size : {kind}\n", f" {name}(%{name} : {kind})"

    decay = rng.choice(["", "decay", "slope"]) if keys == "M" else ""
    if decay:
        before, clauses = add_negative(decay, ("B", "Hq", "M") if decay == "decay" else ("Hq",))
    if rng.random() < 0.4:
        arguments.append(f"%state: {state}")
        dims.append(("B", "Hq", "D", "Dv"))
        clauses += f" state(%state : {state})"
    if rng.random() < 0.3:
        clauses += f" scale({rng.choice(['0.5', '-1.0'] + ['0.0'] * (not gradients))})"
    has_final = rng.random() < 0.5
    results = [output] + [state] * has_final
    made = ", ".join(results)
    if keys == "M" and not gradients and rng.random() < 0.3:
        sizes["C"] = -(-sizes["M"] // 64)
        results.append(make(("B", "Hq", "C", "D", "Dv"), score))
        made += f" states {results[-1]}"
    names = ", ".join(f"%o#{i}" for i in range(len(results)))
    text = f"func.func @attention({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{before}  %o:{len(results)} = attn.linear_attention %q, %k, %v{direction}"
    text += f"{clauses} : {', '.join(types)} -> {made}\n  return {names} : {', '.join(results)}\n}}\n"
    path = Path(folder, "case.mlir")
    path.write_text(text)
    command = [f"--random={rng.randrange(100)}", f"--function=attention{'_grad' if gradients else ''}", *inputs]
    if gradients:
        add_gradients(path)
        dims += [("B", "Hq", "M", "Dv")] + [("B", "Hq", "D", "Dv")] * has_final
    if not is_static:
        command += ["--shape", ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate(dims))]
    return path, command


class Layout:
    """How an argument that an attention reads as [B, H, rows, D] lies: as it is, [B, rows, H, D], or columns of a wider tensor. Its `type`,
    its dimensions, and `lines` that make `%name` of `%name_laid`."""

    def __init__(self, rng, name, dims, type, sizes):
        kind = rng.choice(["transposed", "slice"])
        *extents, element = type[len("tensor<"):-1].split("x")
        # MLIR's verifier finds offset 0 beyond the end of no rows.
        kind = "transposed" if "0" in extents else kind
        where = [axis for axis, extent in enumerate(extents) if extent == "?"]
        if kind == "transposed":
            order = rng.choice([(0, 2, 1, 3), (0, 1, 3, 2), (2, 0, 1, 3)])
            self.dims = [dims[axis] for axis in order]
            laid = [extents[axis] for axis in order]
        else:
            offset = rng.choice([0, 8, 1])
            order, laid = (0, 1, 2, 3), extents[:3] + [str(sizes[dims[3]] + offset + rng.choice([0, 8, 3]))]
            self.dims = [*dims[:3], int(laid[3])]
        self.type = f"tensor<{'x'.join(laid)}x{element}>"
        self.lines, laid_name = "", f"%{name}_laid"
        for axis in where:
            self.lines += f"  %{name}_at{axis} = arith.constant {order.index(axis)} : index\n  %{name}_dim{axis} = tensor.dim {laid_name}, %{name}_at{axis} : {self.type}\n"
        values = [f"%{name}_dim{axis}" for axis in where]
        if kind == "transposed":
            permutation = ", ".join(str(order.index(axis)) for axis in range(4))
            self.lines += f"  %{name}_empty = tensor.empty({', '.join(values)}) : {type}\n"
            self.lines += f"  %{name} = linalg.transpose ins({laid_name} : {self.type}) outs(%{name}_empty : {type}) permutation = [{permutation}]\n"
        else:
            extents = [f"%{name}_dim{axis}" if axis in where else extent for axis, extent in enumerate(extents)]
            self.lines += f"  %{name} = tensor.extract_slice {laid_name}[0, 0, 0, {offset}] [{', '.join(extents)}] [1, 1, 1, 1] : {self.type} to {type}\n"


class Append:
    """Rows that are written to the pools of keys and values (names -> types) before an attention reads them: `lines`, further
    `arguments` and their dimensions, the names of what is read in place of the pools, `results` and what of them is `returned`, and
    names of sizes."""

    def __init__(self, rng, pools, sizes, size, rows_of_pools=None):
        """`rows_of_pools`: the dimensions of scales of rows, which may then be written."""
        tokens = rng.choice([("tokens",), ("Bnew", "Mnew")])
        sizes.update({name: rng.choice([0, 1, 2, 3, 9]) for name in tokens})
        self.lines, self.names, self.reads = "", tokens, {}
        slots = f"tensor<{'x'.join(map(size, tokens))}x{rng.choice(['i32', 'i64'])}>"
        self.arguments, self.dims = [f"%slots: {slots}"], [tokens]
        appended = rng.choice([["k", "v"], ["v", "k"], ["k"], ["v"]])
        rows = {}
        for name in appended:
            self.dims.append((tokens[0], "Hkv", *tokens[1:], "Dv" if name == "v" else "D"))
            rows[name] = f"tensor<{'x'.join(map(size, self.dims[-1]))}x{rng.choice(['f16', 'bf16', 'f32'])}>"
            self.arguments.append(f"%{name}_new: {rows[name]}")
        changed = {name: f"%{name}_new" for name in appended}
        is_quantised = any("xf8E" in pool or "xi8" in pool for pool in pools.values())
        has_scales = is_quantised and rows_of_pools and rng.random() < 0.5
        for name in appended if len(tokens) == 2 else ():
            if rng.random() < 0.4:
                changed[name] = self.change(rng, changed[name], rows[name], sizes["Dv" if name == "v" else "D"], tokens, size)
        descales, clause = {}, "scales" if has_scales else "descale"
        for name in appended * is_quantised:
            if has_scales:
                self.dims.append(rows_of_pools)
                descales[name] = f"tensor<{'x'.join(map(size, rows_of_pools))}xf32>"
                self.arguments.append(f"%{name}_scales: {descales[name]}")
                continue
            self.dims.append(rng.choice([(1,), (tokens[0], "Hkv")]) if len(tokens) == 2 else (1,))
            descales[name] = f"tensor<{'x'.join(str(d) if d == 1 else size(d) for d in self.dims[-1])}xf32>"
            self.arguments.append(f"%{name}_descale: {descales[name]}")
        for group in rng.choice([[appended], [[name] for name in appended]]):
            news = [changed[name] for name in group]
            olds, afters = ([f"%{name}_{kind}" for name in group] for kind in ("pool", "after"))
            types = [", ".join(types[name] for name in group) for types in (rows, pools)]
            scales = ", ".join(f"%{name}_{clause}" for name in group), ", ".join(descales.get(name, "") for name in group)
            descale = f" {clause}({scales[0]} : {scales[1]})" if descales else ""
            afters += [f"%{name}_scaled" for name in group] if has_scales else []
            self.lines += f"  {', '.join(afters)} = attn.append {', '.join(news)} into {', '.join(olds)} slots(%slots : {slots}){descale} : {types[0]} into {types[1]}\n"
        for name in pools:
            # The CPU may read a pool as it was.
            is_new = name in appended and rng.random() < 0.95
            self.reads[name] = f"%{name}_{'after' if is_new else 'pool'}"
        self.results = [(f"%{name}_after", pools[name]) for name in appended]
        self.results += [(f"%{name}_scaled", descales[name]) for name in appended] if has_scales else []
        self.returned = [result for result in self.results if rng.random() < 0.8]

    def add(self, name, dims, text):
        self.arguments.append(f"{name}: {text}")
        self.dims.append(dims)
        return f"{name} : {text}"

    def change(self, rng, rows, kind, columns, tokens, size):
        """New rows that are normalised, turned, or both; the name of what is appended. A table has a row for each token that is drawn."""
        for op in rng.choice([["norm"], ["turn"], ["turn"], ["norm", "turn"], ["turn", "norm"]]):
            result = f"{rows}_{op}"
            if op == "norm":
                weight = f" weight({self.add(f'{result}_weight', (columns,), f'tensor<{columns}xf32>')})" if rng.random() < 0.5 else ""
                self.lines += f"  {result} = attn.qk_norm {rows}{weight} epsilon(1.0e-5) : {kind}\n"
            elif columns % 2 == 0:
                table = f"tensor<9x{columns // 2}xf32>"
                tables = [self.add(f"{result}_{name}", (9, columns // 2), table).split(" ")[0] for name in ("cos", "sin")]
                positions = f"tensor<{'x'.join(map(size, tokens))}xi32>"
                ids = f" positions({self.add(f'{result}_ids', tokens, positions)})" if rng.random() < 0.5 else ""
                self.lines += f"  {result} = attn.rotary {rows}, {', '.join(tables)} {rng.choice(['halves', 'interleaved'])}{ids} : {kind}, {table}\n"
            else:
                continue
            rows = result
        return rows


def write_append(rng, folder):
    """An append without an attention: the module's path, and arguments of attn-run."""
    sizes, is_static = {**draw_sizes(rng), "P": rng.choice([0, 1, 2, 5]), "page": rng.choice([1, 3, 16, 64])}, rng.random() < 0.3
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    dims = {"k": ("P", "Hkv", "page", "D"), "v": ("P", "Hkv", "page", "Dv")}
    elements = rng.choice([["f16", "bf16", "f32"], ["f8E4M3FN", "f8E5M2", "i8"]])
    pools = {name: f"tensor<{'x'.join(map(size, dims[name]))}x{rng.choice(elements)}>" for name in dims}
    append = Append(rng, pools, sizes, size, dims["k"][:3])
    names, types = (", ".join(parts) for parts in zip(*(append.returned or append.results)))
    arguments = ", ".join([f"%{name}_pool: {pools[name]}" for name in pools] + append.arguments)
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @append({arguments}) -> ({types}) {{\n{append.lines}  return {names} : {types}\n}}\n")
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes.get(dim, dim)) for dim in shape)}" for i, shape in enumerate([*dims.values(), *append.dims]) if any(isinstance(dim, str) for dim in shape))
    return path, [f"--random={rng.randrange(100)}", *([] if is_static else ["--shape", shapes])]


def write_merge(rng, folder):
    """Parts of an attention over other keys, merged: the module's path, and arguments of attn-run."""
    sizes, is_static, parts = draw_sizes(rng), rng.random() < 0.3, rng.choice([1, 2, 3, 5])
    sizes["P"] = parts
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("P", "Dv") else "?"  # noqa: E731
    make = lambda dims, element: f"tensor<{'x'.join(map(size, dims))}x{element}>"  # noqa: E731
    element, output = rng.choice(["f16", "bf16", "f32"]), make(("B", "Hq", "M", "Dv"), rng.choice(["f16", "bf16", "f32"]))
    lse = make(("B", "Hq", "M"), "f32")
    if rng.random() < 0.5:
        dims = [("P", "B", "Hq", "M", "Dv"), ("P", "B", "Hq", "M")]
        types = [make(dims[0], element), make(dims[1], "f32")]
        count = 1
    else:
        dims = [("B", "Hq", "M", "Dv")] * parts + [("B", "Hq", "M")] * parts
        types = [make(dims[0], element)] * parts + [lse] * parts
        count = parts
    names = [f"%p{i}" for i in range(2 * count)]
    arguments = [f"{name}: {kind}" for name, kind in zip(names, types)]
    sink = ""
    if rng.random() < 0.4:
        kind = make(("Hq",), rng.choice([element, "f32"]))
        arguments.append(f"%sink: {kind}")
        dims.append(("Hq",))
        sink = f" sink(%sink : {kind})"
    lists = [f"{', '.join(names[at:at + count])} : {', '.join(types[at:at + count])}" for at in (0, count)]
    path = Path(folder, "case.mlir")
    path.write_text(
        f"func.func @merge({', '.join(arguments)}) -> ({output}, {lse}) {{\n"
        f"  %o, %l = attn.merge outputs({lists[0]}) lses({lists[1]}){sink} -> {output}, {lse}\n"
        f"  return %o, %l : {output}, {lse}\n}}\n"
    )
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate(dims))
    return path, [f"--random={rng.randrange(100)}", *([] if is_static else ["--shape", shapes])]


def draw_plan(rng):
    """Fields of a schedule whose CTAs share out splits of the sequences' keys."""
    balance = rng.choice(["plan", "share"])
    return f'kind = "split_kv", split_keys = {rng.choice([64, 128, 256])}, balance = "{balance}", persistent_ctas = {rng.choice([1, 3, 7])}'


def write_ragged(rng, folder):
    """Sequences behind each other, whose offsets attn-run draws: the module's path, and arguments of attn-run."""
    sizes = draw_sizes(rng)
    sizes.update(S=rng.choice([1, 2, 3, 6]), R=rng.choice([0, 1, 20, 100, 230]), C=rng.choice([1, 33, 150, 310]))
    sizes["S1"] = sizes["S"] + 1
    is_static, dtype = rng.random() < 0.3, rng.choice(["f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"])
    is_self, has_lse = rng.random() < 0.3, rng.random() < 0.5
    rows = "R" if is_self else "C"
    element = rng.choice(["i8", "f8E5M2"]) if dtype in ("f16", "bf16") and rng.random() < 0.2 else dtype  # of a cache beside a query of more bits
    stored = {"q": dtype, "k": element, "v": element}
    result = "bf16" if dtype.startswith("f8") else dtype
    if dtype != "f32" and element == dtype and rng.random() < 0.2:
        stored["q"] = stored["k"] = element = "i8"
    if element not in ("f16", "bf16", "f32"):
        sizes.update(D=-(-sizes["D"] // 16) * 16, Dv=-(-sizes["Dv"] // 16) * 16)
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv", "Hq", "Hkv") else "?"  # noqa: E731
    make = lambda dims, element: f"tensor<{'x'.join(map(size, dims))}x{element}>"  # noqa: E731
    packed = {"q": ("R", "Hq", "D"), "k": (rows, "Hkv", "D"), "v": (rows, "Hkv", "Dv")}
    offsets = {"q": make(("S1",), rng.choice(["i32", "i64"]))}
    if not is_self:
        offsets["k"] = make(("S1",), rng.choice(["i32", "i64"]))
    arguments = [f"%{name}p: {make(dims, stored[name])}" for name, dims in packed.items()]
    arguments += [f"%{name}o: {kind}" for name, kind in offsets.items()]
    text, types = "  %c0 = arith.constant 0 : index\n", {}
    for name, (_, heads, columns) in packed.items():
        source = "q" if name == "q" or is_self else "k"
        types[name] = f"tensor<{size('S')}x{size(heads)}x{size(packed[name][0])}x{size(columns)}x{stored[name]}>"
        text += f"  %{name} = attn.ragged %{name}p[%{source}o] : {make(packed[name], stored[name])}[{offsets[source]}] -> {types[name]}\n"
    lengths = {name: f"tensor<{size('S')}x{kind[-4:-1]}>" for name, kind in offsets.items()}
    for name, kind in lengths.items():
        text += f"  %{name}n = attn.sequence_lengths %{name}o : {offsets[name]} -> {kind}\n"
    key = "q" if is_self else "k"
    output = f"tensor<{size('S')}x{size('Hq')}x{size('R')}x{size('Dv')}x{result}>"
    lse = f"tensor<{size('S')}x{size('Hq')}x{size('R')}xf32>"
    mask = rng.choice(["", " mask_mod causal(bottom_right)", " mask_mod causal(top_left)", f" mask_mod sliding_window({rng.choice([0, 7, 70])}, {rng.choice([0, 3])})"])
    sizes.update(B=sizes["S"], M=sizes["R"], N=sizes[rows])
    mods, captures = write_mods(rng, mask, stored["q"] not in ("i8", "f8E4M3FN", "f8E5M2")) if rng.random() < 0.5 else (mask, {})
    for dim in sizes:
        mods = mods.replace(f"SIZE_{dim}x", f"{size(dim)}x")
    first = len(arguments)
    arguments += [f"{name}: {make(shape, kind)}" for (shape, kind), name in captures.items()]
    turned, tables = write_packed_rotation(rng, sizes, {name: make(packed[name], stored[name]) for name in "qk"}) if dtype == element and dtype in ("f16", "bf16", "f32") else ("", {})
    arguments += [f"{name}: {kind}" for name, kind in tables.items()]
    text = text.replace("  %q = attn.ragged", f"{turned}  %q = attn.ragged", 1)
    for name in "qk" if turned else "":
        text = text.replace(f"attn.ragged %{name}p[", f"attn.ragged %{name}t[")
    results = [("o", output, ("R", "Hq", "Dv"), result)] + [("l", lse, ("Hq", "R"), "f32")] * has_lse
    scale = " scale(0.00005)" * (stored["q"] == "i8")
    schedule = f" {{schedule = #attn.schedule<{draw_plan(rng)}>}}" * (rng.random() < 0.3)
    text += f"  {', '.join('%' + name for name, *_ in results)} = attn.attention %q, %k, %v lengths(key %{key}n : {lengths[key]}, query %qn : {lengths['q']}){scale}{mods}{schedule}\n"
    text += f"      : {types['q']}, {types['k']}, {types['v']} -> {', '.join(kind for _, kind, *_ in results)}\n"
    text += f"  %rows = tensor.dim %qp, %c0 : {make(packed['q'], stored['q'])}\n"
    for name, kind, dims, element in results:
        text += f"  %e{name} = tensor.empty({'' if is_static else '%rows'}) : {make(dims, element)}\n"
        text += f"  %p{name} = attn.pack %{name}[%qo] into %e{name} : {kind}[{offsets['q']}] into {make(dims, element)}\n"
    returned = [", ".join(parts) for parts in zip(*((f"%p{name}", make(dims, element)) for name, _, dims, element in results))]
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @ragged({', '.join(arguments)}) -> ({returned[1]}) {{\n{text}  return {returned[0]} : {returned[1]}\n}}\n")
    dims = [*packed.values()] + [("S1",)] * len(offsets)
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate(dims))
    data = [f"--input=arg{first + i}={write_data(rng, folder, sizes, shape, kind)}" for i, (shape, kind) in enumerate(captures)]
    return path, [f"--random={rng.randrange(100)}", *([] if is_static else ["--shape", shapes]), *data]


def write_packed_rotation(rng, sizes, types):
    """Lines that turn, or normalise, packed rows %qp and %kp of types to %qt and %kt, and arguments of them by name; none at times."""
    if rng.random() < 0.6 or not (pairs := sizes["D"] // 2):
        return "", {}
    columns = 2 * rng.randint(1, pairs)
    begin = rng.randrange(sizes["D"] - columns + 1)
    width = rng.choice([columns, columns // 2])
    table, entry = f"tensor<{rng.choice([1, 50, 400])}x{width}x{rng.choice(['f32', 'f16'])}>", rng.choice(["i32", "i64"])
    text, arguments = "", {"%cos": table, "%sin": table}
    for name, kind in types.items():
        source = f"%{name}p"
        if rng.random() < 0.3:
            text += f"  %{name}m = attn.qk_norm {source} epsilon(1.0e-6) : {kind}\n"
            source = f"%{name}m"
        at = f"tensor<{kind[7:].split('x')[0]}x{entry}>"
        arguments[f"%{name}at"] = at
        text += f"  %{name}t = attn.rotary {source}, %cos, %sin {rng.choice(['halves', 'interleaved'])} positions(%{name}at : {at}) columns [{begin}, {begin + columns}] : {kind}, {table}\n"
    return text, arguments


def write_mods(rng, mask_mod, has_factor):
    """Regions of an attention, and what they read: a mask_mod, in place of the given one, a score_mod, a prob_mod that is a factor, or some of these."""
    mask, score, prob = Region(rng, "m"), Region(rng, "s"), Region(rng, "p")
    at = "%b: index, %h: index, %i: index, %j: index"
    text = ""
    if rng.random() < 0.4:
        changed = score.score("%score")
        text = f" score_mod (%score: f32, {at}) {{\n{chr(10).join(score.lines)}\n        attn.yield {changed} : f32\n      }}"
    if rng.random() < 0.7:
        shown = mask.condition()
        mask_mod = f" mask_mod ({at}) {{\n{chr(10).join(mask.lines)}\n        attn.yield {shown} : i1\n      }}"
    text += mask_mod
    if has_factor and rng.random() < 0.3:
        text += f" prob_mod (%p: f32, {at}) {{\n{write_prob_factor(rng, prob)}      }}"
    return text, {**mask.captures, **score.captures, **prob.captures}


def write_mapped(rng, folder, gradients=False):
    """Heads by maps that attn-run draws, or constant ones, in equal groups or not; or the gradients: the module's path, and arguments of
    attn-run."""
    sizes = draw_sizes(rng)
    sizes.update(Hq=rng.choice([1, 2, 3, 5, 8]), Hkv=rng.choice([1, 2, 3, 7]), Hv=rng.choice([1, 2, 4]))
    is_static, dtype = rng.random() < 0.4, rng.choice(["f16", "bf16"] if gradients else ["f16", "bf16", "f32"])
    if gradients:  # of a key or two they are next to zero, and of one row a few roundings decide
        sizes["M"], sizes["N"] = max(sizes["M"], 3), max(sizes["N"], 16)
    is_shared, is_constant, has_lse = rng.random() < 0.4, is_static and rng.random() < 0.5, gradients or rng.random() < 0.5
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    make = lambda dims, element: f"tensor<{'x'.join(map(size, dims))}x{element}>"  # noqa: E731
    heads = {"k": "Hkv", "v": "Hkv" if is_shared else "Hv"}
    dims = [("B", "Hq", "M", "D"), ("B", heads["k"], "N", "D"), ("B", heads["v"], "N", "Dv")]
    arguments = [f"%{name}: {make(shape, dtype)}" for name, shape in zip("qkv", dims)]
    text, types = "", [make(dims[0], dtype)]
    for name, shape in zip("kv", dims[1:]):
        if name == "k" or not is_shared:
            entry = rng.choice(["i32", "i64"])
            kind, table = make(("Hq",), entry), f"%m{name}"
            if is_constant:
                group = max(1, sizes["Hq"] // sizes[heads[name]])
                is_equal = rng.random() < 0.4
                entries = [min(h // group, sizes[heads[name]] - 1) if is_equal else rng.randrange(sizes[heads[name]]) for h in range(sizes["Hq"])]
                text += f"  {table} = arith.constant dense<{entries}> : {kind}\n"
            else:
                arguments.append(f"{table}: {kind}")
                dims.append(("Hq",))
        view = make((shape[0], "Hq", *shape[2:]), dtype)
        text += f"  %{name}{name} = attn.select_heads %{name}[{table}] : {make(shape, dtype)}[{kind}] -> {view}\n"
        types.append(view)
    mask = rng.choice(["", " mask_mod causal(bottom_right)", " mask_mod causal(top_left)", f" mask_mod sliding_window({rng.choice([0, 7, 70])}, {rng.choice([0, 3])})"])
    results = [make(("B", "Hq", "M", "Dv"), dtype)] + [make(("B", "Hq", "M"), "f32")] * has_lse
    text += f"  {'%o, %l' if has_lse else '%o'} = attn.attention %q, %kk, %vv{mask} : {', '.join(types)} -> {', '.join(results)}\n"
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @mapped({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{text}  return {'%o, %l' if has_lse else '%o'} : {', '.join(results)}\n}}\n")
    if gradients:
        add_gradients(path, "recompute")
        dims.append(("B", "Hq", "M", "Dv"))
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate(dims))
    command = [f"--random={rng.randrange(100)}", f"--function=mapped{'_grad' if gradients else ''}"]
    return path, command + ([] if is_static else ["--shape", shapes])
