"""Random attention on the CPU and, in the simulator, on two of sm_80, sm_89, sm_90a, sm_100a, sm_120: each result against float64.

    differential.py [--cases 40] [--seed 1] [--case I] [--devices cpu,sim:sm_80,sim:sm_90a] [--gradients] [--jobs 2]

Drawn are sizes (static and dynamic, none at all too), element types, heads, head dims, layouts (transposed, columns of a wider tensor), biases (masks too, and broadcast ones), documents, lengths of keys (behind which
attn-run writes NaN, as it does left of a window) and of queries, keys and values in pages or of 8 bits beside a query of more, new rows that are appended to them before, regions of a mask_mod
and a score_mod over positions and lengths, by name too, sinks, dropout, other weights than softmax, changed probabilities, 8-bit floats with descale, data and constants from the ends of their ranges, and sums of them that wrap around in 64 or 32 bits, the
schedule's kind, linear attention in each direction, appends alone, merges, sequences behind each other, rotary embedding and norms of queries and keys, loops, parallel ones too, and branches around the attention, the function's name and what stands beside it; attn-run --verify judges, and where it fails once more over eight other inputs: rounding of few numbers is chance. The barriers of kernels whose warps have roles are proven, too. Case I of seed N is
always the same. With --gradients each problem's backward is run, its forward before it, some by products of 8 bits, and on sm_100a some of others by pairs of CTAs. Gradients in f32 of problems in f16
or bf16, those of biases and captured tensors, are sums of what rounding of the output has changed: they may miss the rule, those in f16 and bf16 by less than twice, and are
counted, as long as the relative error is below a hundredth. More than a tenth of such, or a quarter of refusals, fails a search of a
hundred runs. A failing case is kept beside the message, which has the command.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from fuzz import is_watched_fault  # noqa: E402
from operations import Append, Layout, add_gradients, draw_plan, draw_sizes, write_append, write_linear, write_mapped, write_merge, write_ragged  # noqa: E402
from float8_gradients import write_float8_gradients  # noqa: E402
from pairs import write_pair_gradients  # noqa: E402
from latent import write_latent  # noqa: E402
from rows import write_rows  # noqa: E402
from outputs import write_outputs  # noqa: E402
from regions import Region, write_data, write_prob_factor, write_prob_mod, write_score_factor  # noqa: E402

#: How the compiler refuses a problem, and the runner one without a size.
REFUSAL = re.compile(r"\bexpected\b|no schedule is legal|no size for")
SECONDS = 300
#: Those with kernels of their own are more frequent.
GPUS = ["sim:sm_80", "sim:sm_80", "sim:sm_90a", "sim:sm_90a", "sim:sm_100a", "sim:sm_100a", "sim:sm_89", "sim:sm_120"]


#: Legal, and nothing to an attention.
BESIDE = {
    "": "",
    "declaration": "func.func private @beside(tensor<4xf32>) -> tensor<4xf32>\n",
    "callee": "func.func private @beside(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n",
    "attention": "module @beside {\n  func.func @inner(%x: tensor<1x1x3x16xf16>) -> tensor<1x1x3x16xf16> {\n    %y = attn.attention %x, %x, %x : tensor<1x1x3x16xf16>, tensor<1x1x3x16xf16>, tensor<1x1x3x16xf16> -> tensor<1x1x3x16xf16>\n    return %y : tensor<1x1x3x16xf16>\n  }\n}\n",
    "module": "module @beside {\n  func.func @inner(%x: f32) -> f32 {\n    return %x : f32\n  }\n}\n",
}  # fmt: skip
NAMES = ["attention"] * 6 + ['"f \u00fc"', '"1abc"', '"a-b.c"', "ret", '"$"', '"%r1"']


TRIPS = 2


def get_trips(one):
    """The type of what the trips of a parallel loop yield."""
    return one.replace("tensor<", f"tensor<{TRIPS}x")


def write_body(kind, attention, plain, results, pools=()):
    """The function's body: `attention` alone, behind the attention `plain`, in a branch with that in the other, in a loop over the query, or in a parallel loop.

    `results` are types; an attention is the text behind its name, with `%q` for the query, whose type is QUERY. `pools` are names
    and types that are returned behind.
    """
    names, types = ("%o:2", "%o#0, %o#1") if len(results) == 2 else ("%o", "%o"), ", ".join(results)
    returned = [", ".join(parts) for parts in zip((names[1], types), *pools)]
    begin, end = f"  {names[0]} = ", f"  return {returned[0]} : {returned[1]}\n"
    if kind == "alone":
        return begin + attention + end
    if kind == "twice":  # the output of the first is returned behind
        first = names[1].split(",")[0].replace("%o", "%one")
        return f"  {names[0].replace('%o', '%one')} = {plain}{begin}{attention}  return {returned[0]}, {first} : {returned[1]}, {results[0]}\n"
    if kind == "for":
        bounds = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n"
        return (
            f"{bounds}{begin}scf.for %t = %c0 to %c2 step %c1 iter_args(%one = %q) -> {types} {{\n"
            f"    %two = {attention.replace('%q,', '%one,', 1)}    scf.yield %two : {types}\n  }}\n{end}"
        )
    if kind == "forall":  # of a static type
        one, all_trips = results[0], get_trips(results[0])
        *extents, _ = one[len("tensor<"):-1].split("x")
        return (
            f"  %empty = tensor.empty() : {all_trips}\n{begin}scf.forall (%t) in ({TRIPS}) shared_outs(%one = %empty) -> {all_trips} {{\n"
            f"    %two = {attention}    scf.forall.in_parallel {{\n      tensor.parallel_insert_slice %two into %one[%t, 0, 0, 0, 0] "
            f"[1, {', '.join(extents)}] [1, 1, 1, 1, 1] : {one} into {all_trips}\n    }}\n  }}\n  return %o : {all_trips}\n"
        )
    test = "  %c2 = arith.constant 2 : index\n  %dim = tensor.dim %q, %c2 : QUERY\n  %c5 = arith.constant 64 : index\n"
    test += "  %test = arith.cmpi slt, %dim, %c5 : index\n"
    if kind == "if":
        parts = [f"    {names[0]} = {part}    scf.yield {names[1]} : {types}\n" for part in (attention, plain)]
        parts = [part.replace("%o", name) for part, name in zip(parts, ("%one", "%two"))]
        return f"{test}{begin}scf.if %test -> ({types}) {{\n{parts[0]}  }} else {{\n{parts[1]}  }}\n{end}"
    parts = [f"  {names[0]} = {part}  cf.br ^end({names[1]} : {types})\n" for part in (attention, plain)]
    parts = [part.replace("%o", name) for part, name in zip(parts, ("%one", "%two"))]
    results = ", ".join(f"%r{i}: {result}" for i, result in enumerate(results))
    values = ", ".join(f"%r{i}" for i in range(len(names[1].split(","))))
    return (
        f"{test}  cf.cond_br %test, ^shown, ^other\n^shown:\n{parts[0]}^other:\n{parts[1]}"
        f"^end({results}):\n  return {values} : {types}\n"
    )


class Weights:
    """What becomes of scores and operands beside regions: `arguments`, lines `before` the attention, and its `clauses`."""

    def __init__(self, rng, dtype, size, has_softmax, scaled):
        """`scaled`: which of q, k and v have 8 bits."""
        self.arguments, self.before, self.clauses = [], "", ""
        if has_softmax and rng.random() < 0.1:
            kind = f"tensor<{size('Hq')}x{rng.choice(['f32', dtype if 'q' not in scaled else 'f32'])}>"
            self.take("sink", [("sink", kind)])
        if scaled and rng.random() < 0.8:
            shapes = [rng.choice(["1", f"{size('B')}x{size('Hkv')}"]) for _ in scaled]
            self.take("descale", [(f"descale_{name}", f"tensor<{shape}xf32>") for name, shape in zip(scaled, shapes)])

    def take(self, clause, operands):
        self.arguments += [f"%{name}: {kind}" for name, kind in operands]
        self.clauses += f" {clause}({', '.join('%' + name for name, _ in operands)} : {', '.join(kind for _, kind in operands)})"

    def add_others(self, rng, normalization, gradients, integers):
        """What stands behind the lengths. Scores of i8 are large but for a small scale, of two `integers` larger. Weights that are divided by their sum have no gradients with dropout."""
        if rng.random() < 0.1 and not (gradients and "sum" in normalization):
            self.arguments.append("%seeds: tensor<2xi64>")
            for i, name in enumerate(("seed", "start")):
                self.before += f"  %{name}_at = arith.constant {i} : index\n  %{name} = tensor.extract %seeds[%{name}_at] : tensor<2xi64>\n"
            self.clauses += f" dropout(%seed, %start) rate({rng.choice(['0.0', '0.1', '0.5', '0.9'])})"
        if rng.random() < (0.1, 0.7, 0.9)[integers]:
            scales = (["0.05", "-0.1", "-1.0", "0.0", "0.25", "1.0e-46"], ["0.003", "-0.0005"], ["0.00006", "-0.00001"])[integers]
            self.clauses += f" scale({rng.choice(scales)})"
        self.clauses += normalization


def write_case(rng, folder, gradients=False):
    """The module's path, and arguments of attn-run."""
    if gradients and rng.random() < 0.12:
        return write_float8_gradients(rng, folder)
    for write, share in [(write_linear, 0.08), (write_mapped, 0.06), (write_rows, 0.06), (write_outputs, 0.06), *([(write_append, 0.03), (write_merge, 0.03), (write_ragged, 0.05), (write_latent, 0.04)] if not gradients else [])]:
        if rng.random() < share:
            return write(rng, folder, *[gradients] * (write in (write_linear, write_mapped, write_rows, write_outputs)))
    sizes = draw_sizes(rng)
    if gradients:  # of a key or two they are next to zero, and of one row a few roundings decide
        sizes["M"], sizes["N"] = max(sizes["M"], 3), max(sizes["N"], 16)
    views, page = "", 0
    if not gradients and sizes["N"] and rng.random() < 0.2:
        page = rng.choice([1, 2, 3, 8, 16, 17, 64, 100])
        sizes["T"] = -(-sizes["N"] // page)
        sizes["N"], sizes["P"] = sizes["T"] * page, sizes["B"] * sizes["T"] + 1
    is_packed = page > 0 and rng.random() < 0.3  # a table of all batches behind each other
    if is_packed:
        sizes["E"], sizes["B1"] = sizes["T"] * sizes["B"], sizes["B"] + 1
        sizes["N"] = sizes["E"] * page
    appends = not gradients and rng.random() < 0.2
    dtype = rng.choice(["f16", "bf16"] if gradients else ["f16", "bf16", "f32"])
    is_float8 = not appends and rng.random() < 0.12
    if is_float8:
        dtype = rng.choice(["f8E4M3FN", "f8E4M3FN", "f8E5M2"])
    is_int8 = not (appends or gradients or is_float8) and rng.random() < 0.06
    if is_int8:  # of query and key
        dtype = rng.choice(["f16", "bf16", "f8E4M3FN", "f8E5M2"])
        is_float8 = dtype.startswith("f8")
    is_long = is_float8 and not page and not gradients and rng.random() < 0.4
    if is_long:  # tensor cores drop bits of long sums
        sizes.update(B=1, M=min(sizes["M"], 65), N=rng.choice([600, 1030, 2000]))
    is_cache8 = not (appends or is_float8 or is_int8) and rng.random() < 0.06
    sizes["S1"] = rng.choice([2, 3, 6])
    is_static = rng.random() < 0.3
    size = lambda dim: str(sizes[dim]) if is_static or dim in ("D", "Dv") else "?"  # noqa: E731
    types = {name: f"tensor<{size('B')}x{size(heads)}x{size(rows)}x{sizes[columns]}x{dtype}>" for name, heads, rows, columns in (
        ("q", "Hq", "M", "D"), ("k", "Hkv", "N", "D"), ("v", "Hkv", "N", "Dv"), ("o", "Hq", "M", "Dv"))}  # fmt: skip
    if is_float8:
        types["o"] = types["o"].replace(dtype, rng.choice(["f16", "bf16"]))
        if not is_int8 and rng.random() < 0.4:  # each of its own
            types.update({name: types[name].replace(dtype, rng.choice(["f8E4M3FN", "f8E5M2"])) for name in "kv"})
    if is_int8:
        types.update({name: types[name].replace(dtype, "i8") for name in "qk"})
    if is_cache8:
        element = rng.choice(["f8E4M3FN", "f8E5M2", *["i8"] * (not gradients)])  # integers have no gradients
        types.update({name: types[name].replace(dtype, element) for name in "kv"})
    mask, score = Region(rng, "m"), Region(rng, "s", gradients)
    shown = mask.condition() if rng.random() < 0.7 else None
    changed = score.score("%score") if rng.random() < 0.5 else None
    if not gradients and rng.random() < 0.12:
        changed = write_score_factor(rng, score)
    normalization = ""
    is_refused = gradients and is_float8  # attention_c20 and c21: no gradients to be made of what does not verify
    if rng.random() < 0.1 and not is_refused and not is_int8:
        changed = score.weight(changed or "%score")
        # Of one key the weight w / w is 1 without an error. Kernels round w before they divide, which in tf32 is as much as V's rounding.
        kinds = ["#attn.none"] if dtype == "f32" and 0 < sizes["N"] <= 30 else ["#attn.none", "#attn.sum<1.0e-6>", "#attn.sum<0.0>"]
        normalization = f" normalization({rng.choice(kinds)})"
    probability = ""
    prob = Region(rng, "p", gradients)
    is_unchanged = normalization or is_float8 or is_int8 or (is_cache8 and gradients)
    if not is_unchanged and rng.random() < (0.1 if is_cache8 else 0.25):
        is_factor = is_cache8 or rng.random() < 0.5
        probability = write_prob_factor(rng, prob) if is_factor else write_prob_mod(rng)
    captures = {**mask.captures, **score.captures, **prob.captures}
    has_bias, has_lse = rng.random() < 0.2 and not (is_cache8 or is_int8 or is_refused), rng.random() < 0.5 and not normalization
    if has_bias:  # its lowest number, turned around, is infinite in f32 alone
        score.lines = [line.replace("constant -1.25", "constant 1.25") for line in score.lines]
    bias_dims = [dim if rng.random() < 0.75 else 1 for dim in ("B", "Hq", "M", "N")]
    bias = f"tensor<{'x'.join('1' if dim == 1 else size(dim) for dim in bias_dims)}x{rng.choice(['f32', 'bf16' if is_float8 else dtype])}>"
    lse = f", tensor<{size('B')}x{size('Hq')}x{size('M')}xf32>" if has_lse else ""
    arguments = [f"%{name}: {types[name]}" for name in "qkv"] + ([f"%bias: {bias}"] if has_bias else [])
    arguments += [f"{name}: tensor<{'x'.join(map(size, shape))}x{kind}>" for (shape, kind), name in captures.items()]
    scaled = "".join(name for name in "qkv" if types[name].endswith(("xi8>", "FN>", "M2>")))
    weights = Weights(rng, dtype, size, not normalization, scaled)
    lengths = {kind: rng.choice(["i32", "i32", "i64"]) for kind in ("key", "query") if not gradients and (rng.random() < 0.3 or is_packed and kind == "key")}
    if "key" in lengths and rng.random() < (0.8 if is_packed else 0.4):
        shown = mask.window(shown)
    arguments += [f"%{kind}_lengths: tensor<{size('B')}x{element}>" for kind, element in lengths.items()]
    clause = ", ".join(f"{kind} %{kind}_lengths : tensor<{size('B')}x{element}>" for kind, element in lengths.items())
    weights.clauses += f" lengths({clause})" if clause else ""
    weights.add_others(rng, normalization, gradients, sum(types[name].endswith("i8>") for name in "qk"))
    arguments += weights.arguments
    regions = weights.clauses
    pools = {name: types[name] for name in "kv"}
    if page:  # keys and values are pages of pools
        table = f"tensor<{size('B')}x{size('T')}xi32>"
        if is_packed:
            table = f"tensor<{size('E')}xi32>, tensor<{size('B1')}xi64>"
        arguments += [f"%{name}: {kind}" for name, kind in zip(("table", "offsets"), table.split(", "))]
        pools = {name: f"tensor<{size('P')}x{size('Hkv')}x{page}x{sizes[columns]}x{types[name].split('x')[-1]}" for name, columns in (("k", "D"), ("v", "Dv"))}
    appends = Append(rng, pools, sizes, size) if appends else None
    reads = appends.reads if appends else {name: f"%{name}_pool" for name in "kv"}
    if page or appends:
        arguments[1:3] = (f"%{name}_pool: {pools[name]}" for name in "kv")
    if appends:
        arguments += appends.arguments
        views = appends.lines
    if page:
        for name in "kv":
            views += f"  %{name} = attn.paged {reads[name]}[{'%table, %offsets' if is_packed else '%table'}] : {pools[name]}[{table}] -> {types[name]}\n"
    layouts = {}
    if not (gradients or page or appends) and rng.random() < 0.2:
        for at, (name, dims) in enumerate((("q", ("B", "Hq", "M", "D")), ("k", ("B", "Hkv", "N", "D")), ("v", ("B", "Hkv", "N", "Dv")))):
            if rng.random() < 0.7:
                layouts[at] = Layout(rng, name, dims, types[name], sizes)
                arguments[at] = f"%{name}_laid: {layouts[at].type}"
                views += layouts[at].lines
    named_score, named_mask = (rng.random() < 0.1 for _ in range(2))
    if named_score and not normalization:
        regions += f" score_mod soft_cap({rng.choice(['1.0', '30.0'])})"
    elif changed:
        regions += f" score_mod (%score: f32, %b: index, %h: index, %i: index, %j: index) {{\n{chr(10).join(score.lines)}\n        attn.yield {changed} : f32\n      }}"
    if named_mask:
        window = f"sliding_window({rng.choice([0, 7, 64, 1 << 40])}, {rng.choice([0, 3, 100, (1 << 31) - 1])})"
        regions += f" mask_mod {rng.choice(['causal(top_left)', 'causal(bottom_right)', window])}"
    elif shown:
        regions += f" mask_mod (%b: index, %h: index, %i: index, %j: index) {{\n{chr(10).join(mask.lines)}\n        attn.yield {shown} : i1\n      }}"
    if probability:
        regions += f" prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {{\n{probability}      }}"
    kinds = ["", "", "", 'kind = "small_cache"'] if dtype in ("f16", "bf16") and not (appends or is_int8) else ["", "", ""]
    kind = rng.choice(kinds + [f'kind = "split_kv", splits = {rng.choice([2, 3, 8])}', *[draw_plan(rng)] * ("key" in lengths)])
    if sizes["Hq"] >= 16 and is_static and not gradients:
        tile = rng.choice([16, 32, 64])
        kind = ", ".join([kind] * bool(kind) + [f"pack_gqa = true, tile_m = {tile}"] * ("small" not in kind and (sizes["Hq"] % tile == 0 or tile % sizes["Hq"] == 0)))
    kind = f" {{schedule = #attn.schedule<{kind}>}}" if kind else ""
    signature = f"\n      : {types['q']}, {types['k']}, {types['v']} -> {types['o']}{lse}\n"
    operands = f"%q, {reads['k']}, {reads['v']}" if appends and not page else "%q, %k, %v"
    attention = f"attn.attention {operands}{f' bias(%bias : {bias})' if has_bias else ''}{regions}{kind}{signature}"
    results = [types["o"], *([lse[2:]] if has_lse else [])]
    name, beside, around = "attention", "", "alone"
    if not gradients:
        loop = ["for"] * (results == [types["q"]]) + ["forall"] * (is_static and not has_lse)
        name, beside = rng.choice(NAMES), BESIDE[rng.choice(list(BESIDE))]
        around = "alone" if appends or is_packed else rng.choice(["alone"] * 5 + ["if", "branch", "twice"] + loop)
    returned = appends.returned if appends else []
    body = write_body(around, attention, f"attn.attention %q, %k, %v{signature}", results, returned)
    if around == "forall":
        results = [get_trips(results[0])]
    results += [types["o"]] * (around == "twice")
    results += [kind for _, kind in returned]
    text = f"{beside}func.func @{name}({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{weights.before}{views}{body}}}\n".replace("QUERY", types["q"])
    for dim in sizes:
        text = text.replace(f"SIZE_{dim}x", f"{size(dim)}x")
    path = Path(folder, "case.mlir")
    path.write_text(text)
    lse_gradient = gradients and has_lse and rng.random() < 0.3
    if gradients:
        add_gradients(path, "recompute=true", *["lse-gradient=true"] * lse_gradient)
    command = [f"--random={rng.randrange(100)}", "--function=" + ("attention_grad" if gradients else name.strip('"'))]
    first = 3 + has_bias
    if not is_static and around == "alone" and not layouts:
        command += ["--shape", ",".join(f"{dim}={sizes[{'entries': 'E', 'offsets': 'B1'}.get(dim, dim)]}" for dim in ("B", "Hq", "Hkv", "M", *((("entries", "offsets") if is_packed else ("T",)) + ("P",) if page else ()), *(() if page and not (has_bias and bias_dims[3] == "N") else ("N",)), *(appends.names if appends else ())))]
        if lse_gradient:  # a sum of two has names of its own dimensions
            command += ["--shape", f"arg{len(arguments) + 1}={sizes['B']}x{sizes['Hq']}x{sizes['M']}"]
        if gradients and normalization:  # what is made of V gives its dimensions no names
            command += ["--shape", f"arg2={sizes['B']}x{sizes['Hkv']}x{sizes['N']}x{sizes['Dv']},arg{len(arguments)}={sizes['B']}x{sizes['Hq']}x{sizes['M']}x{sizes['Dv']}"]
    elif not is_static:  # a loop's variable, and what is made of an argument, give its dimensions no names
        dims = [("B", "Hq", "M", "D"), ("B", "Hkv", "N", "D"), ("B", "Hkv", "N", "Dv"), bias_dims][:first]
        if page:
            dims[1:3] = ("P", "Hkv", page, "D"), ("P", "Hkv", page, "Dv")
            shapes = (f"arg{len(arguments) - 2}={sizes['E']}", f"arg{len(arguments) - 1}={sizes['B1']}") if is_packed else (f"arg{len(arguments) - 1}={sizes['B']}x{sizes['T']}",)
            command += ["--shape", ",".join(shapes)]
        dims = [layouts[at].dims if at in layouts else shape for at, shape in enumerate(dims)]
        if layouts:
            others = {"query_lengths": "B", "key_lengths": "B", "sink": "Hq"}
            for at, text in enumerate(arguments):
                if (dim := others.get(text[1:].split(":")[0])):
                    command += ["--shape", f"arg{at}={sizes[dim]}"]
                elif text.startswith("%descale") and "?" in text:
                    command += ["--shape", f"arg{at}={sizes['B']}x{sizes['Hkv']}"]
        command += ["--shape", ",".join(f"arg{i}={'x'.join(str(sizes.get(dim, dim)) for dim in shape)}" for i, shape in enumerate(dims))]
    is_plain = around == "alone" and not (layouts or page or appends) and dtype in ("f16", "bf16", "f32") and not (is_int8 or is_cache8)
    if is_plain and "scale(-" in regions and rng.random() < 0.5:  # all scores far below 0
        command += [f"--input={write_large(rng, folder, types[name], name, [sizes[dim] for dim in dims])}" for name, dims in (("q", ("B", "Hq", "M", "D")), ("k", ("B", "Hkv", "N", "D")))]
    if has_bias and not gradients and rng.random() < 0.3:  # numbers to the lowest, too
        command += [f"--fill=arg3={rng.choice(['additive-mask', 'zeros', 'normal'])}"]
    if is_long and around == "alone" and not layouts and rng.random() < 0.7:  # of numbers of one sign
        np.save(Path(folder, "value.npy"), np.random.default_rng(rng.randrange(1 << 30)).integers(0x38, 0x3D, [sizes[dim] for dim in ("B", "Hkv", "N", "Dv")], np.uint8))
        command += [f"--input=arg2={Path(folder, 'value.npy')}"]
    for i, (shape, kind) in enumerate(captures):
        command += [f"--input=arg{first + i}={write_data(rng, folder, sizes, shape, kind)}"]
    return path, command


def write_large(rng, folder, kind, name, shape):
    """A file of numbers near 2 for the argument `name`, q or k, of type `kind`."""
    numbers = np.random.default_rng(rng.randrange(1 << 30)).normal(2, 0.3, shape).astype(np.float32)
    if kind.endswith("xbf16>"):
        numbers = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    elif kind.endswith("xf16>"):
        numbers = numbers.astype(np.float16)
    path = Path(folder, f"{name}.npy")
    np.save(path, numbers)
    return f"arg{'qk'.index(name)}={path}"


def find_failed(output):
    """The rows of results that fail, as words: result, type, max abs error, unfused, allowed, rel error, unfused, allowed, verdict."""
    return [line.split() for line in output.splitlines() if line.endswith("FAIL") and not line.startswith("verify")]


def overflows(output):
    """True if all results that fail overflow, as they do unfused."""
    return all(row[2] == row[3] == "inf" for row in find_failed(output))


def rounds_weights(output):
    """True if all results that fail are of weights that are divided by their sum: of a row of one key the unfused quotient is 1, and a kernel,
    which divides last, has rounded the weight to tf32, or there are overflows as above."""
    return all(row[2] == row[3] == "inf" or float(row[5]) < 2**-11 for row in find_failed(output))


def rounds_to_bytes(output):
    """True if all results that fail are as near as weights of 8 bits let outputs be (docs/Rationale/Float8.md): of few keys, or scores that hardly differ, the roundings of
    all weights have one sign, unfused as in a kernel, and that of the unfused may be small by chance. Or there are overflows as above."""
    return all(row[2] == row[3] == "inf" or (not row[1].endswith("xf32") and float(row[5]) < 3e-2) for row in find_failed(output))


def is_inexact(output):
    """True if all results that fail are gradients that are as right as a backward's reading of a rounded output leaves them, or overflow, as they do unfused."""
    return all(is_near(*row[1:4], float(row[5]), float(row[7])) for row in find_failed(output))


def is_finite(output):
    """True if all results that fail have numbers: with keys near a number other than 0, dQ is a sum that cancels, and what is left the error of its factor."""
    return all(row[2] != "inf" for row in find_failed(output))


def is_near(kind, error, unfused, relative, allowed):
    if error == unfused == "inf":
        return True
    # dP - delta of a row of one key, or of one that has all but 1e-8 of the weight, cancels unfused, and to the rounding of two sums in a kernel.
    cancels = (unfused == "0.00e+00" and float(error) < 1e-4) or float(error) < 1e-8
    if kind.count("x") == 3:  # amax_ds moves with all that rounding of the output, too, has changed of its row
        return relative < 5e-2 or cancels or float(error) <= 2 * float(unfused)
    if kind.endswith("xf32"):
        return relative < 1e-2 or cancels
    # Of few rows, what rounding of the output has changed of delta is more than what rounding of a gradient is.
    return relative < 2 * allowed


def run_command(command):
    """The result; where --verify fails, that of other inputs."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if "verify: FAIL" not in result.stdout:
        return result
    others = [*(argument for argument in command if "--random" not in argument), "--random=1000", "--trials=8"]
    again = subprocess.run(others, capture_output=True, text=True, timeout=SECONDS)
    return result if again.returncode else again


def find_unproven(path, device, folder):
    """What --prove-barriers says of a module that gave the right numbers; nothing of barriers that depend on data, or where another function is refused."""
    target = device.removeprefix("sim:")
    if target not in ("sm_90a", "sm_100a", "sm_120"):
        return None
    command = ["attn-opt", path, f"--target={target}", "--allow-tf32", "--prove-barriers", "--emit=ptx", "-o", f"{folder}/proof"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no proof within {SECONDS} s: {' '.join(command)}"
    error = next((line for line in result.stderr.splitlines() if "error: " in line), "")
    if result.returncode == 0 or (REFUSAL.search(error) and "two turns of a ring" not in error):
        return None
    return f"{' '.join(command)}\n{result.stderr[:2000]}"


def draw_family(rng, device, text):
    """None to leave the choice: kernels of the best family are seldom those of problems as small as these."""
    family = {"sim:sm_90a": "wgmma", "sim:sm_100a": "tcgen05"}.get(device)
    is_alone = text.count("= attn.attention ") == 1 and "schedule" not in text and "\n      : " in text
    return family if is_alone and rng.random() < 0.4 else None


def run_case(seed, case, devices, gradients=False):
    """What is wrong, as lines; the numbers of runs and of refusals."""
    faults, refused, inexact = [], 0, 0
    devices = devices.split(",") if devices else list(dict.fromkeys(["cpu", *random.Random(f"{case}/{seed}").sample(GPUS, 2)]))
    with tempfile.TemporaryDirectory() as folder:
        path, arguments = write_case(random.Random(f"{seed}/{case}"), folder, gradients)
        text = path.read_text()
        if "split_kv" in text or "query_prologue" in text or "mma_sync" in text:  # of GPUs only
            devices = [device for device in devices if device != "cpu"]
        if "xf8E" in text:  # not of sm_80
            devices = [device for device in devices if device != "sim:sm_80"]
        for device in devices:
            command = ["attn-run", str(path), f"--device={device}", "--verify", *arguments]
            command += ["--allow-tf32"] * (device != "cpu")
            if family := draw_family(random.Random(f"{seed}/{case}/{device}"), device, text):
                command[1] = str(path.with_name(f"{family}.mlir"))
                Path(command[1]).write_text(text.replace("\n      : ", f' {{schedule = #attn.schedule<mma = "{family}">}}\n      : ', 1))
            if gradients and device == "sim:sm_100a" and (rng := random.Random(f"{seed}/{case}/pairs")).random() < 0.15:
                pairs, options = write_pair_gradients(rng, folder)
                command = ["attn-run", str(pairs), f"--device={device}", "--verify", *options]
            try:
                result = run_command(command)
            except subprocess.TimeoutExpired:
                faults.append(f"case {case} on {device}: no end within {SECONDS} s")
                continue
            if result.returncode == 0:
                if flaw := find_unproven(command[1], device, folder):
                    faults.append(f"case {case} on {device}: {flaw}")
                continue
            has_bytes = re.search(r"\n      : tensor<[^>]*x(i8|f8E\w+)>", text) and "xf8E" in text
            has_large = any("q.npy" in argument for argument in arguments)
            is_miss = (is_finite if has_large else is_inexact) if gradients else rounds_weights if "attn.sum" in text else rounds_to_bytes if has_bytes else overflows
            if result.returncode == 1 and "verify: FAIL" in result.stdout and is_miss(result.stdout):
                inexact += 1
                continue
            error = next((line for line in result.stderr.splitlines() if "error: " in line), None)
            # What the simulator finds in a kernel is no refusal, nor what MLIR finds in a pass's output.
            is_refusal = error and REFUSAL.search(error) and ".ptx:" not in error and "verify: " not in result.stdout and not is_watched_fault(result.stderr)
            if result.returncode == 1 and is_refusal:
                refused += 1
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
    parser.add_argument("--devices", help="default: cpu and, drawn for each case, two of the simulated GPUs")
    parser.add_argument("--jobs", type=int, default=2, help="cases at once")
    options = parser.parse_args()
    if not shutil.which("attn-run"):
        parser.error("expected attn-run on PATH: add the bin folder of a build")
    cases = [options.case] if options.case is not None else range(options.cases)
    ran = refused = inexact = failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for faults, runs, refusals, misses in pool.map(lambda case: run_case(options.seed, case, options.devices, options.gradients), cases):
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
