"""Rotary embedding and norm before an attention, on the CPU in f64: the output against complex numbers, what --attn-grad makes against central
differences. Both orders, both kinds of pairs, tables by pair and by column, positions, grouped heads, a weight that is shared."""

import itertools
import math
import random
import re

import attn_mlir
from attn_mlir.runtime.host_array import HostArray
from finite_differences import backward_of, check, differences, dot
from sweep import few

generator = random.Random(6)
HQ, HKV, M, N, D, SCALE, EPSILON = 2, 1, 3, 4, 6, 0.7, 0.01
SHAPES = {"q": (1, HQ, M, D), "k": (1, HKV, N, D), "v": (1, HKV, N, D), "w": (D,)}
POSITIONS = [4, 1, 2]
ROWS = 5

# Pairs of columns, [lo, hi), and columns of a table.
CASES = [(False, 0, 6, 3), (False, 2, 6, 4), (True, 0, 4, 2), (True, 0, 6, 6)]

MODULE = """func.func @f(%q: Q, %k: K, %v: V, %w: W, %c: T, %s: T, %p: tensor<1x3xi32>) -> Q {
  FIRST
  %o = attn.attention %qr, %kr, %v scale(SCALE) : Q, K, V -> Q
  return %o : Q
}"""
ROTARY = "%{x}r = attn.rotary %{source}, %c, %s {pairs} {positions} columns [{lo}, {hi}] : {type}, T"
NORM = "%{x}{to} = attn.qk_norm %{source} weight(%w : W) epsilon(EPSILON) : {type}"


def norm(row, weight):
    scale = 1 / math.sqrt(sum(x * x for x in row) / D + EPSILON)
    return [x * scale * w for x, w in zip(row, weight)]


def turn(row, angles, case):
    """As complex numbers: each pair times a factor of its own."""
    interleaved, lo, hi, _ = case
    out, half = list(row), (hi - lo) // 2
    for m in range(half):
        a, b = (lo + 2 * m, lo + 2 * m + 1) if interleaved else (lo + m, lo + m + half)
        turned = complex(row[a], row[b]) * angles[m]
        out[a], out[b] = turned.real, turned.imag
    return out


def forward(x, factors, case, norm_first):
    """The outputs, one after the other; `factors` are of each row of the tables."""

    def rows(name, heads, count, positions):
        for row in range(heads * count):
            values = x[name][row * D : (row + 1) * D]
            angles = factors[positions[row % count]]
            yield turn(norm(values, x["w"]), angles, case) if norm_first else norm(turn(values, angles, case), x["w"])

    queries, keys = list(rows("q", HQ, M, POSITIONS)), list(rows("k", HKV, N, range(N)))
    out = []
    for query in queries:
        weights = [math.exp(SCALE * sum(a * b for a, b in zip(query, key))) for key in keys]
        out += [sum(w * x["v"][j * D + e] for j, w in enumerate(weights)) / sum(weights) for e in range(D)]
    return out


def loss(x, weights, *how):
    return dot(forward(x, *how), weights)


def module(case, norm_first):
    interleaved, lo, hi, width = case
    lines = []
    for x, kind, positions in (("q", "Q", "positions(%p : tensor<1x3xi32>)"), ("k", "K", "")):
        pairs = "interleaved" if interleaved else "halves"
        rotary = ROTARY.format(x=x, source=x + ("n" if norm_first else ""), pairs=pairs, positions=positions, lo=lo, hi=hi, type=kind)
        if norm_first:
            lines += [NORM.format(x=x, to="n", source=x, type=kind), rotary]
        else:
            lines += [rotary.replace(f"%{x}r =", f"%{x}t ="), NORM.format(x=x, to="r", source=x + "t", type=kind)]
    types = {name.upper(): f"tensor<{'x'.join(map(str, shape))}xf64>" for name, shape in {**SHAPES, "t": (ROWS, width)}.items()}
    text = MODULE.replace("FIRST", "\n  ".join(lines)).replace("SCALE", str(SCALE)).replace("EPSILON", str(EPSILON))
    return re.sub(r"(?<![%\w])[QKVWT]\b", lambda name: types[name[0]], text)


def table(values, case):
    """A row for each position, a column for each pair, or for each column of the rows."""
    interleaved, lo, hi, width = case
    half = (hi - lo) // 2
    for row in values:
        if width == half:
            yield from row
        else:
            yield from ((row[i // 2] for i in range(width)) if interleaved else (row[i % half] for i in range(width)))


for case, norm_first in few(itertools.product(CASES, (True, False))):
    x = {name: [generator.gauss(0, 1) for _ in range(math.prod(shape))] for name, shape in SHAPES.items()}
    weights = [generator.gauss(0, 1) for _ in range(HQ * M * D)]
    half, width = (case[2] - case[1]) // 2, case[3]
    # With a factor of attention, as YaRN has one.
    factors = [[1.2 * complex(math.cos(a), math.sin(a)) for a in (generator.uniform(-3, 3) for _ in range(half))] for _ in range(ROWS)]
    text = module(case, norm_first)
    backward = attn_mlir.compile(backward_of(text, "--attn-grad=recompute"), target="cpu")
    arrays = [HostArray.of("f64", shape, x[name]) for name, shape in SHAPES.items()]
    for part in ("real", "imag"):
        arrays.append(HostArray.of("f64", (ROWS, width), list(table([[getattr(f, part) for f in row] for row in factors], case))))
    arrays.append(HostArray.of("i32", (1, M), POSITIONS))
    how = (factors, case, norm_first)
    check(f"{how}: output", attn_mlir.compile(text, target="cpu")(*arrays).values(), forward(x, *how), 1e-12)
    arrays.append(HostArray.of("f64", (1, HQ, M, D), weights))
    for name, gradient in zip(SHAPES, backward(*arrays)):
        check(f"{how}: gradient of {name}", gradient.values(), differences(lambda: loss(x, weights, *how), x, name))
