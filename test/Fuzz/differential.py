"""Random attention on the CPU and, in the simulator, on sm_80 and sm_90a: each result against float64.

    differential.py [--cases 40] [--seed 1] [--case I] [--devices cpu,sim:sm_80,sim:sm_90a] [--gradients]

Drawn are sizes (static and dynamic, none at all too), element types, heads, head dims, layouts, biases, lengths of keys (behind which
attn-run writes NaN) and of queries, keys and values in pages, new rows that are appended to them before, regions of a mask_mod
and a score_mod over positions, data and constants from the ends of their ranges, and sums of them that wrap around in 64 or 32 bits, the
schedule's kind, linear attention, appends alone, loops and branches around the attention, the function's name and what stands beside it; attn-run --verify judges, and where it fails once more over eight other inputs: rounding of few numbers is chance. Case I of seed N is
always the same. With --gradients each problem's backward is run, its forward before it. Gradients in f32 of problems in f16
or bf16, those of biases and captured tensors, are sums of what rounding of the output has changed: they may miss the rule, and are
counted, as long as the relative error is below a hundredth. More than a tenth of such, or a quarter of refusals, fails a search of a
hundred runs. A failing case is kept beside the message, which has the command.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from fuzz import is_watched_fault  # noqa: E402

CONSTANTS = [0, 1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 100, -1, -2, -64, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) + 3, 1 << 62]
LENGTHS = [0, 1, 5, 16, 33, 64, 100, (1 << 31) - 1, -1, -(1 << 31)]
LONG_LENGTHS = LENGTHS + [(1 << 32) + 5, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 6, (1 << 63) - 1, -(1 << 62), 2 - (1 << 63), -(1 << 63)]
PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
SECONDS = 300


class Region:
    """Ops of a region, each of which names the last by a number."""

    def __init__(self, rng, indent, gradients=False):
        self.rng, self.lines, self.indent, self.captures = rng, [], indent, {}
        # What all keys have in common has no gradient.
        self.added = [("B", "N")] if gradients else [("Hq",), ("B", "N"), ("B", "M")]

    def add(self, text):
        name = f"%{self.indent}{len(self.lines)}"
        self.lines.append(f"        {name} = {text}")
        return name

    def capture(self, shape, kind):
        """A tensor that the region reads: [B], [B, N], [Hq], ..., by its dimensions' names."""
        return self.captures.setdefault((shape, kind), f"%{'data_' + '_'.join(shape) + '_' + kind}")

    def index(self, depth=2):
        """An expression of type index."""
        draw = self.rng.random()
        if depth == 0 or draw < 0.35:
            return self.rng.choice(["%i", "%j", "%i", "%j", "%h", "%b"])
        if draw < 0.5:
            return self.add(f"arith.constant {self.rng.choice(CONSTANTS)} : index")
        if draw < 0.65:
            return self.read(self.rng.choice([("B",), ("B", "N"), ("B", "M"), ("Hq",)]), self.rng.choice(["i32", "i32", "i64"]))
        if draw < 0.8:
            divisor = self.add(f"arith.constant {self.rng.choice([1, 2, 3, 8, 16, 64, 100])} : index")
            op = self.rng.choice(["floordivsi", "divui", "remui", "remsi", "ceildivsi"])
            return self.add(f"arith.{op} {self.index(depth - 1)}, {divisor} : index")
        if draw < 0.87:
            return self.wrapping()
        op = self.rng.choice(["addi", "subi", "muli", "minsi", "maxsi", "addi", "subi"])
        return self.add(f"arith.{op} {self.index(depth - 1)}, {self.index(depth - 1)} : index")

    def wrapping(self):
        """A sum of i64 data and a position, or the negative of such data: from the ends of its range it wraps around."""
        data = self.read(self.rng.choice([("B",), ("B", "N"), ("B", "M"), ("Hq",)]), "i64")
        other = self.rng.choice(["%i", "%j", self.add("arith.constant 0 : index"), self.read(("Hq",), "i64")])
        op, (a, b) = self.rng.choice(["addi", "subi", "subi"]), self.rng.sample([data, other], 2)
        return self.add(f"arith.{op} {a}, {b} : index")

    def compare_narrow(self):
        """A comparison in i32, of a position and data or a constant, whose sum may wrap around there."""
        at, other = (self.add(f"arith.index_cast {position} : index to i32") for position in self.rng.sample(["%i", "%j"], 2))
        if self.rng.random() < 0.5:
            term = self.add(f"arith.constant {self.rng.choice([1, 7, -64, (1 << 31) - 1, (1 << 31) - 50, -(1 << 31)])} : i32")
        else:
            tensor = self.capture(("Hq",), "i32")
            term = self.add(f"tensor.extract {tensor}[%h] : tensor<SIZE_Hqxi32>")
        total = self.add(f"arith.{self.rng.choice(['addi', 'subi'])} {at}, {term} : i32")
        return self.add(f"arith.cmpi {self.rng.choice(PREDICATES)}, {total}, {other} : i32")

    def read(self, shape, kind="i32"):
        at = {"B": "%b", "Hq": "%h", "M": "%i", "N": "%j"}
        tensor = self.capture(shape, kind)
        dims = "x".join("SIZE_" + dim for dim in shape)
        value = self.add(f"tensor.extract {tensor}[{', '.join(at[dim] for dim in shape)}] : tensor<{dims}x{kind}>")
        return value if kind == "f32" else self.add(f"arith.index_cast {value} : {kind} to index")

    def condition(self, depth=2):
        if self.rng.random() < 0.03:
            return self.add(f"arith.constant {self.rng.choice(['true', 'false'])}")
        if self.rng.random() < 0.08:
            return self.compare_narrow()
        if depth == 0 or self.rng.random() < 0.4:
            return self.add(f"arith.cmpi {self.rng.choice(PREDICATES)}, {self.index()}, {self.index()} : index")
        op = self.rng.choice(["andi", "ori", "andi", "ori", "xori"])
        return self.add(f"arith.{op} {self.condition(depth - 1)}, {self.condition(depth - 1)} : i1")

    def score(self, score, depth=2):
        """A change of the score that keeps it of the size of scores."""
        kind = self.rng.choice(["slope", "read", "cap", "select", "scale", "distance"])
        if kind == "slope":
            slope = self.read(("Hq",), "f32")
            distance = self.add("arith.subi %j, %i : index")
            integer = self.add(f"arith.index_cast {distance} : index to i32")
            number = self.add(f"arith.sitofp {integer} : i32 to f32")
            term = self.add(f"arith.mulf {slope}, {number} : f32")
            small = self.add(f"math.tanh {term} : f32")
            score = self.add(f"arith.addf {score}, {small} : f32")
        elif kind == "read":
            term = self.read(self.rng.choice(self.added), "f32")
            score = self.add(f"arith.addf {score}, {term} : f32")
        elif kind == "cap":
            cap = self.add(f"arith.constant {self.rng.choice(['5.0', '30.0'])} : f32")
            inside = self.add(f"arith.divf {score}, {cap} : f32")
            bent = self.add(f"math.tanh {inside} : f32")
            score = self.add(f"arith.mulf {bent}, {cap} : f32")
        elif kind == "select":
            value = self.add(f"arith.constant {self.rng.choice(['-1.0e+9', '-3.40282347E+38', '-1.0e+4', '-65504.0', '1.5', '0xFF800000'])} : f32")
            score = self.add(f"arith.select {self.condition(1)}, {score}, {value} : f32")
        elif kind == "scale":
            factor = self.add(f"arith.constant {self.rng.choice(['0.5', '-1.25', '2.0'])} : f32")
            score = self.add(f"arith.mulf {score}, {factor} : f32")
        else:
            distance = self.add("arith.subi %i, %j : index")
            integer = self.add(f"arith.index_cast {distance} : index to i32")
            number = self.add(f"arith.sitofp {integer} : i32 to f32")
            term = self.add(f"math.absf {number} : f32")
            factor = self.add("arith.constant -0.03125 : f32")
            product = self.add(f"arith.mulf {term}, {factor} : f32")
            score = self.add(f"arith.addf {score}, {product} : f32")
        return score if depth == 0 or self.rng.random() < 0.5 else self.score(score, depth - 1)


def draw_sizes(rng):
    heads, group = rng.choice([1, 2]), rng.choice([1, 1, 2, 4])
    head_dim = rng.choice([16, 32, 64, 64, 80, 96, 128])
    return {
        "B": rng.choice([1, 1, 2]), "Hq": heads * group, "Hkv": heads, "M": rng.choice([1, 3, 17, 64, 65, 100, 130, 200]),
        "N": rng.choice([1, 2, 40, 64, 100, 128, 190, 257] * 4 + [0]), "D": head_dim, "Dv": rng.choice([head_dim, head_dim, 32]),
    }  # fmt: skip


def write_data(rng, folder, sizes, shape, kind):
    """A captured tensor's .npy: lengths with extremes, ids, or small floats."""
    dims, random_data = [sizes[dim] for dim in shape], np.random.default_rng(rng.randrange(1 << 30))
    if kind == "f32":
        data = random_data.uniform(-2, 2, dims).astype(np.float32)
    elif rng.random() < 0.5:
        lengths = LENGTHS if kind == "i32" else LONG_LENGTHS
        data = random_data.choice(np.array(lengths, np.int64), dims).astype(np.dtype(f"int{kind[1:]}"))
    else:
        data = random_data.integers(0, 4, dims).astype(np.dtype(f"int{kind[1:]}"))
    path = Path(folder, f"{'_'.join(shape)}_{kind}.npy")
    np.save(path, data)
    return path


#: Legal, and nothing to an attention.
BESIDE = {
    "": "",
    "declaration": "func.func private @beside(tensor<4xf32>) -> tensor<4xf32>\n",
    "callee": "func.func private @beside(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n",
    "module": "module @beside {\n  func.func @inner(%x: f32) -> f32 {\n    return %x : f32\n  }\n}\n",
}  # fmt: skip
NAMES = ["attention"] * 6 + ['"f \u00fc"', '"1abc"', '"a-b.c"', "ret", '"$"', '"%r1"']


def write_body(kind, attention, plain, results, pools=()):
    """The function's body: `attention` alone, in a branch with the attention `plain` in the other, or in a loop over the query.

    `results` are types; an attention is the text behind its name, with `%q` for the query, whose type is QUERY. `pools` are names
    and types that are returned behind.
    """
    names, types = ("%o:2", "%o#0, %o#1") if len(results) == 2 else ("%o", "%o"), ", ".join(results)
    returned = [", ".join(parts) for parts in zip((names[1], types), *pools)]
    begin, end = f"  {names[0]} = ", f"  return {returned[0]} : {returned[1]}\n"
    if kind == "alone":
        return begin + attention + end
    if kind == "for":
        bounds = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n"
        return (
            f"{bounds}{begin}scf.for %t = %c0 to %c2 step %c1 iter_args(%x = %q) -> {types} {{\n"
            f"    %y = {attention.replace('%q,', '%x,', 1)}    scf.yield %y : {types}\n  }}\n{end}"
        )
    test = "  %c2 = arith.constant 2 : index\n  %dim = tensor.dim %q, %c2 : QUERY\n  %c5 = arith.constant 64 : index\n"
    test += "  %test = arith.cmpi slt, %dim, %c5 : index\n"
    if kind == "if":
        parts = [f"    {names[0]} = {part}    scf.yield {names[1]} : {types}\n" for part in (attention, plain)]
        parts = [part.replace("%o", name) for part, name in zip(parts, ("%x", "%y"))]
        return f"{test}{begin}scf.if %test -> ({types}) {{\n{parts[0]}  }} else {{\n{parts[1]}  }}\n{end}"
    parts = [f"  {names[0]} = {part}  cf.br ^end({names[1]} : {types})\n" for part in (attention, plain)]
    parts = [part.replace("%o", name) for part, name in zip(parts, ("%x", "%y"))]
    results = ", ".join(f"%r{i}: {result}" for i, result in enumerate(results))
    values = ", ".join(f"%r{i}" for i in range(len(names[1].split(","))))
    return (
        f"{test}  cf.cond_br %test, ^shown, ^other\n^shown:\n{parts[0]}^other:\n{parts[1]}"
        f"^end({results}):\n  return {values} : {types}\n"
    )


def write_linear(rng, folder):
    """A linear attention: the module's path, and arguments of attn-run."""
    sizes, score = draw_sizes(rng), "f32"
    sizes["M"] = rng.choice([0, 1, 2, 63, 64, 65, 130, 200])
    is_static, dtype = rng.random() < 0.3, rng.choice(["f16", "bf16", "f32"])
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    make = lambda dims, element: f"tensor<{'x'.join(map(size, dims))}x{element}>"  # noqa: E731
    dims = [("B", "Hq", "M", "D"), ("B", "Hkv", "M", "D"), ("B", "Hkv", "M", "Dv")]
    types = [make(shape, dtype) for shape in dims]
    output = make(("B", "Hq", "M", "Dv"), rng.choice([dtype, score]))
    state, clauses, before = make(("B", "Hq", "D", "Dv"), score), "", ""
    arguments = [f"%{name}: {kind}" for name, kind in zip("qkv", types)]

    def add_negative(name, shape):
        """An argument of which the negative of the size is used."""
        kind = make(shape, score)
        arguments.append(f"%{name}_drawn: {kind}")
        dims.append(shape)
        return f"  %{name}_size = math.absf %{name}_drawn : {kind}\n  %{name} = arith.negf %{name}_size : {kind}\n", f" {name}(%{name} : {kind})"

    decay = rng.choice(["", "decay", "slope"])
    if decay:
        before, clauses = add_negative(decay, ("B", "Hq", "M") if decay == "decay" else ("Hq",))
    if rng.random() < 0.4:
        arguments.append(f"%state: {state}")
        dims.append(("B", "Hq", "D", "Dv"))
        clauses += f" state(%state : {state})"
    if rng.random() < 0.3:
        clauses += f" scale({rng.choice(['0.5', '-1.0', '0.0'])})"
    has_final = rng.random() < 0.5
    results = [output] + [state] * has_final
    names = "%o#0, %o#1" if has_final else "%o"
    text = f"func.func @attention({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{before}  %o{':2' if has_final else ''} = attn.linear_attention %q, %k, %v"
    text += f"{clauses} : {', '.join(types)} -> {', '.join(results)}\n  return {names} : {', '.join(results)}\n}}\n"
    path = Path(folder, "case.mlir")
    path.write_text(text)
    command = [f"--random={rng.randrange(100)}", "--function=attention"]
    if not is_static:
        command += ["--shape", ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate(dims))]
    return path, command


class Append:
    """Rows that are written to the pools of keys and values (names -> types) before an attention reads them: `lines`, further
    `arguments` and their dimensions, the names of what is read in place of the pools, `results` and what of them is `returned`, and
    names of sizes."""

    def __init__(self, rng, pools, sizes, size):
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
        for group in rng.choice([[appended], [[name] for name in appended]]):
            news, olds, afters = ([f"%{name}_{kind}" for name in group] for kind in ("new", "pool", "after"))
            types = [", ".join(types[name] for name in group) for types in (rows, pools)]
            self.lines += f"  {', '.join(afters)} = attn.append {', '.join(news)} into {', '.join(olds)} slots(%slots : {slots}) : {types[0]} into {types[1]}\n"
        for name in pools:
            # The CPU may read a pool as it was.
            is_new = name in appended and rng.random() < 0.95
            self.reads[name] = f"%{name}_{'after' if is_new else 'pool'}"
        self.results = [(f"%{name}_after", pools[name]) for name in appended]
        self.returned = [result for result in self.results if rng.random() < 0.8]


def write_append(rng, folder):
    """An append without an attention: the module's path, and arguments of attn-run."""
    sizes, is_static = {**draw_sizes(rng), "P": rng.choice([0, 1, 2, 5]), "page": rng.choice([1, 3, 16, 64])}, rng.random() < 0.3
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    dims = {"k": ("P", "Hkv", "page", "D"), "v": ("P", "Hkv", "page", "Dv")}
    pools = {name: f"tensor<{'x'.join(map(size, dims[name]))}x{rng.choice(['f16', 'bf16', 'f32'])}>" for name in dims}
    append = Append(rng, pools, sizes, size)
    names, types = (", ".join(parts) for parts in zip(*(append.returned or append.results)))
    arguments = ", ".join([f"%{name}_pool: {pools[name]}" for name in pools] + append.arguments)
    path = Path(folder, "case.mlir")
    path.write_text(f"func.func @append({arguments}) -> ({types}) {{\n{append.lines}  return {names} : {types}\n}}\n")
    shapes = ",".join(f"arg{i}={'x'.join(str(sizes[dim]) for dim in shape)}" for i, shape in enumerate([*dims.values(), *append.dims]))
    return path, [f"--random={rng.randrange(100)}", *([] if is_static else ["--shape", shapes])]


def write_case(rng, folder, gradients=False):
    """The module's path, and arguments of attn-run."""
    if not gradients and rng.random() < 0.08:
        return write_linear(rng, folder)
    if not gradients and rng.random() < 0.03:
        return write_append(rng, folder)
    sizes = draw_sizes(rng)
    if gradients:  # of a key or two they are next to zero, and of one row a few roundings decide
        sizes["M"], sizes["N"] = max(sizes["M"], 3), max(sizes["N"], 16)
    views, page = "", 0
    if not gradients and sizes["N"] and rng.random() < 0.2:
        page = rng.choice([1, 2, 3, 8, 16, 17, 64, 100])
        sizes["T"] = -(-sizes["N"] // page)
        sizes["N"], sizes["P"] = sizes["T"] * page, sizes["B"] * sizes["T"] + 1
    dtype = rng.choice(["f16", "bf16"] if gradients else ["f16", "bf16", "f32"])
    is_static = rng.random() < 0.3
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    types = {name: f"tensor<{size('B')}x{size(heads)}x{size(rows)}x{sizes[columns]}x{dtype}>" for name, heads, rows, columns in (
        ("q", "Hq", "M", "D"), ("k", "Hkv", "N", "D"), ("v", "Hkv", "N", "Dv"), ("o", "Hq", "M", "Dv"))}  # fmt: skip
    mask, score = Region(rng, "m"), Region(rng, "s", gradients)
    shown = mask.condition() if rng.random() < 0.7 else None
    changed = score.score("%score") if rng.random() < 0.5 else None
    captures = {**mask.captures, **score.captures}
    has_bias, has_lse = rng.random() < 0.2, rng.random() < 0.5
    if has_bias:  # its lowest number, turned around, is infinite in f32 alone
        score.lines = [line.replace("constant -1.25", "constant 1.25") for line in score.lines]
    bias = f"tensor<{size('B')}x{size('Hq')}x{size('M')}x{size('N')}x{rng.choice(['f32', dtype])}>"
    lse = f", tensor<{size('B')}x{size('Hq')}x{size('M')}xf32>" if has_lse else ""
    arguments = [f"%{name}: {types[name]}" for name in "qkv"] + ([f"%bias: {bias}"] if has_bias else [])
    arguments += [f"{name}: tensor<{'x'.join(map(size, shape))}x{kind}>" for (shape, kind), name in captures.items()]
    lengths = {kind: rng.choice(["i32", "i32", "i64"]) for kind in ("key", "query") if not gradients and rng.random() < 0.3}
    arguments += [f"%{kind}_lengths: tensor<{size('B')}x{element}>" for kind, element in lengths.items()]
    clause = ", ".join(f"{kind} %{kind}_lengths : tensor<{size('B')}x{element}>" for kind, element in lengths.items())
    regions = f" lengths({clause})" if clause else ""
    pools = {name: types[name] for name in "kv"}
    if page:  # keys and values are pages of pools
        arguments.append(f"%table: tensor<{size('B')}x{size('T')}xi32>")
        pools = {name: f"tensor<{size('P')}x{size('Hkv')}x{page}x{sizes[columns]}x{dtype}>" for name, columns in (("k", "D"), ("v", "Dv"))}
    appends = None if gradients or rng.random() < 0.8 else Append(rng, pools, sizes, size)
    reads = appends.reads if appends else {name: f"%{name}_pool" for name in "kv"}
    if page or appends:
        arguments[1:3] = (f"%{name}_pool: {pools[name]}" for name in "kv")
    if appends:
        arguments += appends.arguments
        views = appends.lines
    if page:
        for name in "kv":
            views += f"  %{name} = attn.paged {reads[name]}[%table] : {pools[name]}[tensor<{size('B')}x{size('T')}xi32>] -> {types[name]}\n"
    if changed:
        regions += f" score_mod (%score: f32, %b: index, %h: index, %i: index, %j: index) {{\n{chr(10).join(score.lines)}\n        attn.yield {changed} : f32\n      }}"
    if shown:
        regions += f" mask_mod (%b: index, %h: index, %i: index, %j: index) {{\n{chr(10).join(mask.lines)}\n        attn.yield {shown} : i1\n      }}"
    kinds = ["", "", "", 'kind = "small_cache"'] if dtype != "f32" and not appends else ["", "", ""]
    kind = rng.choice(kinds + [f'kind = "split_kv", splits = {rng.choice([2, 3, 8])}'])
    kind = f" {{schedule = #attn.schedule<{kind}>}}" if kind else ""
    signature = f"\n      : {types['q']}, {types['k']}, {types['v']} -> {types['o']}{lse}\n"
    operands = f"%q, {reads['k']}, {reads['v']}" if appends and not page else "%q, %k, %v"
    attention = f"attn.attention {operands}{f' bias(%bias : {bias})' if has_bias else ''}{regions}{kind}{signature}"
    results = [types["o"], *([lse[2:]] if has_lse else [])]
    name, beside, around = "attention", "", "alone"
    if not gradients:
        loop = ["for"] * (results == [types["q"]])
        name, beside = rng.choice(NAMES), BESIDE[rng.choice(list(BESIDE))]
        around = "alone" if appends else rng.choice(["alone"] * 5 + ["if", "branch"] + loop)
    returned = appends.returned if appends else []
    body = write_body(around, attention, f"attn.attention %q, %k, %v{signature}", results, returned)
    results += [kind for _, kind in returned]
    text = f"{beside}func.func @{name}({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{views}{body}}}\n".replace("QUERY", types["q"])
    for dim in sizes:
        text = text.replace(f"SIZE_{dim}x", f"{size(dim)}x")
    path = Path(folder, "case.mlir")
    path.write_text(text)
    if gradients:
        subprocess.run(["attn-opt", "--attn-grad=recompute=true", path, "-o", path], check=True, capture_output=True, text=True)
    command = [f"--random={rng.randrange(100)}", "--function=" + ("attention_grad" if gradients else name.strip('"'))]
    first = 3 + has_bias
    if not is_static and around == "alone":
        command += ["--shape", ",".join(f"{dim}={sizes[dim]}" for dim in ("B", "Hq", "Hkv", "M", *(("T", "P") if page else ()), *(() if page and not has_bias else ("N",)), *(appends.names if appends else ())))]
    elif not is_static:  # a loop's variable gives its dimensions no names
        dims = [("B", "Hq", "M", "D"), ("B", "Hkv", "N", "D"), ("B", "Hkv", "N", "Dv"), ("B", "Hq", "M", "N")][:first]
        if page:
            dims[1:3] = ("P", "Hkv", page, "D"), ("P", "Hkv", page, "Dv")
            command += ["--shape", f"arg{len(arguments) - 1}={sizes['B']}x{sizes['T']}"]
        command += ["--shape", ",".join(f"arg{i}={'x'.join(str(sizes.get(dim, dim)) for dim in shape)}" for i, shape in enumerate(dims))]
    for i, (shape, kind) in enumerate(captures):
        command += [f"--input=arg{first + i}={write_data(rng, folder, sizes, shape, kind)}"]
    return path, command


def is_inexact(output):
    """True if all results that fail are gradients in f32 that are right to a hundredth, or overflow, as they do unfused."""
    failed = [line.split() for line in output.splitlines() if line.endswith("FAIL") and not line.startswith("verify")]
    return all(row[2] == row[3] == "inf" or (row[1].endswith("xf32") and float(row[5]) < 1e-2) for row in failed)


def run_command(command):
    """The result; where --verify fails, that of other inputs."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if "verify: FAIL" not in result.stdout:
        return result
    others = [*(argument for argument in command if "--random" not in argument), "--random=1000", "--trials=8"]
    again = subprocess.run(others, capture_output=True, text=True, timeout=SECONDS)
    return result if again.returncode else again


def run_case(seed, case, devices, gradients=False):
    """What is wrong, as lines; the numbers of runs and of refusals."""
    faults, refused, inexact = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path, arguments = write_case(random.Random(f"{seed}/{case}"), folder, gradients)
        text = path.read_text()
        if "split_kv" in text:  # of GPUs only
            devices = [device for device in devices if device != "cpu"]
        if "linear_attention" in text:  # not of GPUs
            devices = [device for device in devices if device == "cpu"]
        for device in devices:
            command = ["attn-run", str(path), f"--device={device}", "--verify", *arguments]
            command += ["--allow-tf32"] * (device != "cpu")
            try:
                result = run_command(command)
            except subprocess.TimeoutExpired:
                faults.append(f"case {case} on {device}: no end within {SECONDS} s")
                continue
            if result.returncode == 0:
                continue
            if gradients and result.returncode == 1 and "verify: FAIL" in result.stdout and is_inexact(result.stdout):
                inexact += 1
                continue
            if result.returncode == 1 and "error: " in result.stderr and "verify: " not in result.stdout and not is_watched_fault(result.stderr):
                refused += 1
                error = next(line for line in result.stderr.splitlines() if "error: " in line)
                print(f"case {case} on {device}: {error[-300:]}", flush=True)
                continue
            faults.append(f"case {case} on {device}, code {result.returncode}: {' '.join(command)}\n{result.stdout}{result.stderr[:2000]}")
        if faults:
            kept = Path(tempfile.gettempdir(), f"attn-differential-{seed}-{case}")
            kept.mkdir(exist_ok=True)
            for file in Path(folder).iterdir():
                (kept / file.name).write_bytes(file.read_bytes())
            faults = [fault.replace(folder, str(kept)) for fault in faults]
    return faults, len(devices), refused, inexact


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run only this case")
    parser.add_argument("--gradients", action="store_true", help="run the backward of each problem")
    parser.add_argument("--devices", default="cpu,sim:sm_80,sim:sm_90a")
    options = parser.parse_args()
    cases = [options.case] if options.case is not None else range(options.cases)
    ran = refused = inexact = failed = 0
    with ThreadPoolExecutor(2) as pool:
        for faults, runs, refusals, misses in pool.map(lambda case: run_case(options.seed, case, options.devices.split(","), options.gradients), cases):
            ran, refused, inexact, failed = ran + runs, refused + refusals, inexact + misses, failed + len(faults)
            for fault in faults:
                print(fault, flush=True)
    print(f"seed {options.seed}: {ran} runs, {refused} refused, {inexact} inexact, {failed} failed")
    too_many = ran >= 100 and (inexact > ran / 10 or refused > ran / 4)
    if too_many:
        print("too many are inexact or refused")
    sys.exit(failed != 0 or too_many)


if __name__ == "__main__":
    main()
