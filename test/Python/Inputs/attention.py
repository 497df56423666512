"""`attn_mlir.attention` and `attn_mlir.compile` on arrays without NumPy: results, reuse of kernels, messages."""

import ctypes
import itertools
import math
import operator
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import attn_mlir
from attn_mlir import functional, kernel as kernel_module
from attn_mlir.arrays import DLTensor, view_of
from attn_mlir.bench.configurations import Attention, Problem
from attn_mlir.bench.numerics import judge
from attn_mlir.bench.plain_arrays import PlainArrays
from attn_mlir import mask
from attn_mlir.mask import tensor
from attn_mlir.runtime.host_array import HostArray, round_to
from devices import in_turn, some
from sweep import LONG

INPUTS = Path(__file__).parent
PLACES = ({"target": "cpu"}, {"device": "sim"}, {"target": "sm_80", "device": "sim"})
generator = random.Random(5)


def normal(dtype, *shape):
    return HostArray.of(dtype, shape, [round_to(generator.gauss(0, 1), dtype) for _ in range(math.prod(shape))])


class DLPackArray:
    """An array of a library that knows only DLPack: strided memory behind an offset."""

    def __init__(self, tensor, strides, device=(1, 0)):
        self.shape, self.strides, self.device = tensor.shape, strides, device
        codes = {"f16": (2, 16), "bf16": (4, 16), "f32": (2, 32), "complex": (5, 64)}
        self.code, self.bits = codes[tensor.dtype]
        self.memory = ctypes.create_string_buffer(b"\0" * 64 + bytes(tensor.spread(strides)))

    def __dlpack__(self):
        rank = len(self.shape)
        self.extents, self.steps = ((ctypes.c_int64 * rank)(*values) for values in (self.shape, self.strides))
        self.tensor = DLTensor(
            ctypes.addressof(self.memory), *self.device, rank, self.code, self.bits, 1, self.extents, self.steps, 64
        )
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


class Results(unittest.TestCase):
    def near(self, problem, results, inputs):
        arrays = PlainArrays()
        reference = arrays.reference(problem, inputs)
        for name, tensor in zip(("output", "lse"), results):
            exact, unfused = reference.results[name], reference.unfused[name]
            verdict = judge(arrays.stats(tensor.values(), exact), arrays.stats(unfused, exact), tensor.dtype)
            self.assertTrue(verdict["passed"], (problem.name, name, verdict))

    def test_options(self):
        cases = {
            "": {},
            "causal(bottom_right)": {"causal": True},
            "causal(top_left)": {"causal": "top_left"},
            "sliding_window(7, 0)": {"window": 7},
            "sliding_window(4, 3)": {"window": (4, 3)},
            "sliding_window(1073741824, 1073741824)": {"window": ((1 << 63) - 1, 1 << 64)},
        }
        for (mask, options), where in in_turn(cases.items(), PLACES):
            problem = Problem(Attention("f16", 32, 32, mask, lse=True), B=2, Hq=2, Hkv=1, M=19, N=25)
            inputs = PlainArrays().inputs(problem, 3)
            results = attn_mlir.attention(*inputs.values(), return_lse=True, **options, **where)
            self.near(problem, results, inputs)

    def test_decoding(self):
        """One row over many keys has a kernel of its own, in which CTAs share out the keys."""
        for rows, entries in ((1, 2), (17, 1)):
            problem = Problem(Attention("f16", 64, 64, "causal(bottom_right)", lse=True), B=1, Hq=4, Hkv=2, M=rows, N=150)
            inputs = PlainArrays().inputs(problem, 6)
            functional._kernels.clear()
            self.near(problem, attn_mlir.attention(*inputs.values(), causal=True, return_lse=True, device="sim"), inputs)
            ((kernel, _),) = functional._kernels.values()
            self.assertEqual(kernel.ptx.count(".entry "), entries)

    def test_bias_and_cap(self):
        problem = Problem(Attention("bf16", 32, 32, bias=True), B=1, Hq=2, Hkv=2, M=9, N=11)
        inputs = PlainArrays().inputs(problem, 4)
        q, k, v = (inputs[name] for name in ("query", "key", "value"))
        self.near(problem, [attn_mlir.attention(q, k, v, bias=inputs["bias"], device="sim")], inputs)
        del inputs["bias"]
        for cap, device in (("2.0", "sim"), ("1.0e16", "cpu"), ("1.0e-16", "cpu")):
            problem = Problem(Attention("bf16", 32, 32, score=f"soft_cap({cap})"), B=1, Hq=2, Hkv=2, M=9, N=11)
            self.near(problem, [attn_mlir.attention(q, k, v, soft_cap=float(cap), device=device)], inputs)

    def test_sink(self):
        q, k, v = normal("f16", 1, 4, 7, 32), normal("f16", 1, 2, 9, 32), normal("f16", 1, 2, 9, 32)
        sink = normal("f32", 4)
        for where in ({"target": "cpu"}, {"device": "sim"}):
            plain, lse = attn_mlir.attention(q, k, v, return_lse=True, **where)
            output, total = attn_mlir.attention(q, k, v, sink=sink, return_lse=True, **where)
            for row, (before, after) in enumerate(zip(lse.values(), total.values())):
                expected = before + math.log1p(math.exp(sink.values()[row // 7] - before))
                self.assertAlmostEqual(after, expected, delta=1e-5)
                share, columns = math.exp(before - expected), slice(row * 32, row * 32 + 32)
                for ours, whole in zip(output.values()[columns], plain.values()[columns]):
                    self.assertAlmostEqual(ours, share * whole, delta=3e-3)

    def test_lengths(self):
        """As the attention over the keys that exist, whatever lies behind them."""
        q, k, v = normal("f16", 3, 2, 4, 32), normal("f16", 3, 1, 9, 32), normal("f16", 3, 1, 9, 32)
        lengths, rows = [5, 9, 0], [4, 3, 4]
        size = 9 * 32

        def cut(array, batch, length, fill=()):
            return array.values()[batch * size :][: length * 32] + [*fill]

        hidden = [
            HostArray.of("f16", (3, 1, 9, 32), [x for b, n in enumerate(lengths) for x in cut(array, b, n, [math.nan] * ((9 - n) * 32))])
            for array in (k, v)
        ]
        options = {
            "key_lengths": HostArray.of("i32", (3,), lengths), "query_lengths": HostArray.of("i64", (3,), rows), "causal": True
        }  # fmt: skip
        for where in ({"target": "cpu"}, {"device": "sim"}):
            output, lse = attn_mlir.attention(q, *hidden, return_lse=True, **options, **where)
            for b, (length, count) in enumerate(zip(lengths, rows)):
                ours = [output.values()[((b * 2 + h) * 4 + i) * 32 :][:32] for h in range(2) for i in range(4)]
                if length:
                    queries = [x for h in range(2) for x in q.values()[(b * 2 + h) * 128 :][: count * 32]]
                    keys, values = (HostArray.of("f16", (1, 1, length, 32), cut(array, b, length)) for array in (k, v))
                    alone = attn_mlir.attention(HostArray.of("f16", (1, 2, count, 32), queries), keys, values, causal=True, target="cpu")
                for row, got in enumerate(ours):
                    h, i = divmod(row, 4)
                    exists = length > 0 and i < count
                    expected = alone.values()[(h * count + i) * 32 :][:32] if exists else [0.0] * 32
                    for x, y in zip(got, expected):
                        self.assertAlmostEqual(x, y, delta=3e-3)
                    if not exists:
                        self.assertEqual(lse.values()[(b * 2 + h) * 4 + i], -math.inf)

    def test_decode(self):
        """As attention over the keys out of their pages, in both layouts; unused rows are NaN and unused entries garbage."""
        generator.seed(9)
        batch, heads, group, rows, dim, page, columns = 3, 2, 2, 2, 32, 4, 3
        lengths, pages = [10, 0, 5], 2 * columns
        order = generator.sample(range(pages), pages)
        entries = [order.pop() if c * page < n else 2147480000 for n in lengths for c in range(columns)]
        q = normal("f16", batch, heads * group, rows, dim)
        keys = {name: normal("f16", batch, heads, page * columns, dim).values() for name in ("k", "v")}
        pools = {name: [math.nan] * (pages * page * heads * dim) for name in keys}
        for b, n in enumerate(lengths):
            for j, h in itertools.product(range(n), range(heads)):
                at = ((entries[b * columns + j // page] * page + j % page) * heads + h) * dim
                of = ((b * heads + h) * page * columns + j) * dim
                for name, pool in pools.items():
                    pool[at : at + dim] = keys[name][of : of + dim]
        contiguous = [HostArray.of("f16", (batch, heads, page * columns, dim), keys[name]) for name in "kv"]
        nhd = [HostArray.of("f16", (pages, page, heads, dim), pools[name]) for name in "kv"]
        views = [DLPackArray(HostArray.of("f16", (pages, heads, page, dim), self.heads_first(array)), (page * heads * dim, dim, heads * dim, 1)) for array in nhd]
        table, counts = HostArray.of("i32", (batch, columns), entries), HostArray.of("i64", (batch,), lengths)
        for where in some(PLACES):
            expected = attn_mlir.attention(q, *contiguous, key_lengths=counts, causal=True, return_lse=True, **where)
            results = attn_mlir.decode(q, *views, table, counts, return_lse=True, **where)
            # Bits of a sequence do not depend on the lengths of others.
            others = HostArray.of("i64", (batch,), [10, 0, 3])
            again = attn_mlir.decode(q, *views, table, others, return_lse=True, **where)
            for ours, same in zip(results, again):
                first = len(ours.values()) // batch
                self.assertEqual(ours.values()[:first], same.values()[:first])
                self.assertNotEqual(ours.values()[2 * first :], same.values()[2 * first :])
            for ours, whole in zip(results, expected):
                for x, y in zip(ours.values(), whole.values()):
                    self.assertTrue(x == y or abs(x - y) < 2e-3, (x, y))

    @staticmethod
    def heads_first(array):
        """The values of [pages, page, heads, dim] in the order of [pages, heads, page, dim]."""
        pages, page, heads, dim = array.shape
        values = array.values()
        return [
            x for p, h, r in itertools.product(range(pages), range(heads), range(page))
            for x in values[((p * page + r) * heads + h) * dim :][:dim]
        ]  # fmt: skip

    def test_normalization(self):
        """Weights without softmax, and their gradients, against float64."""
        rows, keys, dim = 7, 9, 32
        q, k, v, do = (normal("f16", 1, 1, length, dim) for length in (rows, keys, keys, rows))

        def rows_of(array):
            values = array.values()
            return [values[start : start + dim] for start in range(0, len(values), dim)]

        query, key, value, d_output = map(rows_of, (q, k, v, do))

        def dot(a, b):
            return sum(map(operator.mul, a, b))

        def weigh(f):
            scores = [[dot(query[i], key[j]) / dim**0.5 for j in range(keys)] for i in range(rows)]
            return [[f(s) if j <= i else 0.0 for j, s in enumerate(row)] for i, row in enumerate(scores)]

        def mix(weights, vectors):
            return [dot(row, column) for row in weights for column in zip(*vectors)]

        step, options = 1e-5, {"causal": "top_left", "normalization": "none"}
        weights = {
            mask.sigmoid(): lambda s: 1 / (1 + keys * math.exp(-s)),
            mask.relu(2): lambda s: max(s, 0.0) ** 2,
            mask.silu(): lambda s: s / (1 + math.exp(-s)),
            mask.gelu(): lambda s: 0.5 * s * (1 + math.erf(s / math.sqrt(2))),
        }
        for (mod, f), where in in_turn(weights.items(), PLACES):
            output = attn_mlir.attention(q, k, v, score_mod=mod, **options, **where)
            for ours, expected in zip(output.values(), mix(weigh(f), value)):
                self.assertAlmostEqual(ours, expected, delta=6e-3 * max(1, abs(expected)))
            dq, _, dv = attn_mlir.attention_backward(q, k, v, None, None, do, score_mod=mod, **options, **where)
            for ours, expected in zip(dv.values(), mix([*zip(*weigh(f))], d_output)):
                self.assertAlmostEqual(ours, expected, delta=6e-3 * max(1, abs(expected)))
            slopes = weigh(lambda s: (f(s + step) - f(s - step)) / (2 * step))
            ds = [[w * dot(d_output[i], value[j]) / dim**0.5 for j, w in enumerate(row)] for i, row in enumerate(slopes)]
            for ours, expected in zip(dq.values(), mix(ds, key)):
                self.assertAlmostEqual(ours, expected, delta=1e-2 * max(1, abs(expected)))
        output = attn_mlir.attention(q, k, v, score_mod=mask.relu(), causal="top_left", normalization=("sum", 0.5), target="cpu")
        relu = weigh(lambda s: max(s, 0.0))
        for ours, expected in zip(output.values(), mix([[w / (sum(row) + 0.5) for w in row] for row in relu], value)):
            self.assertAlmostEqual(ours, expected, delta=6e-3)
        one = HostArray.of("i32", (1,), [1])
        for message, call in {
            "expected no return_lse with normalization 'none'": lambda: attn_mlir.attention(q, k, v, return_lse=True, **options),
            r"table: expected \[1, columns\] of i32 or i64, got i32 of \(2, 1\)": lambda: attn_mlir.decode(q, k, v, HostArray.of("i32", (2, 1), [0, 0]), one),
            r"v_pool: expected \[pages, heads, page size, head dim\], got \(1,\)": lambda: attn_mlir.decode(
                q, k, HostArray.of("f16", (1,), [0.0]), HostArray.of("i32", (1, 1), [0]), one
            ),
            "key_lengths: expected 1 lengths, i32 or i64": lambda: attn_mlir.attention(q, k, v, key_lengths=HostArray.of("i32", (2,), [1, 2])),
            "expected no sink with": lambda: attn_mlir.attention(q, k, v, sink=normal("f32", 1), **options),
            r"expected normalization 'softmax', 'none' or \('sum', epsilon\), got 'l1'": lambda: attn_mlir.attention(
                q, k, v, normalization="l1"
            ),
            "expected output, lse and d_lse to be None": lambda: attn_mlir.attention_backward(q, k, v, q, None, do, **options),
            "expected normalization 'softmax' or 'none' of a backward": lambda: attn_mlir.attention_backward(
                q, k, v, None, None, do, normalization=("sum", 0.0)
            ),
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                call()

    def test_dropout(self):
        """The same mask on every target, by numbers and arrays; another one with another offset; gradients by that mask."""
        q, k, v, do = normal("f16", 1, 4, 20, 32), *(normal("f16", 1, 2, 33, 32) for _ in range(2)), normal("f16", 1, 4, 20, 32)
        options = {"dropout": 0.4, "seed": -5, "offset": 2**64 - 3, "causal": True}
        scalars = {"seed": HostArray.of("i64", (), [-5]), "offset": HostArray.of("i64", (), [-3])}
        near = lambda a, b: max(abs(x - y) for x, y in zip(a.values(), b.values())) < 1e-2  # noqa: E731
        first, gradients = None, None
        for where in PLACES if LONG else PLACES[:2]:
            output, lse = attn_mlir.attention(q, k, v, return_lse=True, **options, **where)
            again = attn_mlir.attention(q, k, v, **{**options, **scalars}, **where)
            self.assertEqual(output.values(), again.values())
            plain, plain_lse = attn_mlir.attention(q, k, v, return_lse=True, causal=True, **where)
            self.assertTrue(near(lse, plain_lse))
            self.assertFalse(near(output, plain))
            self.assertFalse(near(output, attn_mlir.attention(q, k, v, **{**options, "offset": 1}, **where)))
            results = attn_mlir.attention_backward(q, k, v, output, lse, do, **options, **where)
            first, gradients = first or output, gradients or results
            self.assertTrue(near(output, first))
            for mine, theirs in zip(results, gradients):
                self.assertTrue(near(mine, theirs))

    def test_capture_gradients(self):
        """Of a table of relative positions and ranks of tokens, by finite differences of float64."""
        rows, keys, step = 6, 9, 1e-4
        q, k, v, do = (normal("f16", 1, 2, length, 32) for length in (rows, keys, keys, rows))
        table, ranks = normal("f32", 2, rows + keys), normal("f32", 4)
        ranks_read, table_read = tensor(ranks), tensor(table)
        tokens = tensor(HostArray.of("i32", (keys,), [key * key % 4 for key in range(keys)]))

        def mod(s, b, h, i, j):
            return s * ranks_read[tokens[j]] + table_read[h, i - j + keys]

        decoded = {id(array): array.values() for array in (q, k, v, do)}

        def row_of(array, h, i):
            start = (h * array.shape[2] + i) * 32
            return decoded[id(array)][start : start + 32]

        def dot(a, b):
            return sum(map(operator.mul, a, b))

        def loss(table, ranks):
            total = 0
            for h, i in itertools.product(range(2), range(rows)):
                scores = [dot(row_of(q, h, i), row_of(k, h, j)) / 32**0.5 for j in range(keys)]
                scores = [s * ranks[j * j % 4] + table[h * (rows + keys) + i - j + keys] for j, s in enumerate(scores)]
                weights = [math.exp(s) for s in scores]
                values = [dot(row_of(do, h, i), row_of(v, h, j)) for j in range(keys)]
                total += dot(weights, values) / sum(weights)
            return total

        def differences(numbers, loss):
            for at, number in enumerate(numbers):
                ends = ([*numbers[:at], number + by, *numbers[at + 1 :]] for by in (step, -step))
                yield (loss(next(ends)) - loss(next(ends))) / (2 * step)

        expected = [
            *differences(ranks.values(), lambda moved: loss(table.values(), moved)),
            *differences(table.values(), lambda moved: loss(moved, ranks.values())),
        ]
        for where in PLACES if LONG else PLACES[::2]:
            output, lse = attn_mlir.attention(q, k, v, score_mod=mod, return_lse=True, **where)
            options = {"score_mod": mod, "capture_gradients": True, **where}
            results = attn_mlir.attention_backward(q, k, v, output, lse, do, **options)[3:]
            self.assertEqual([x.shape for x in results], [ranks.shape, table.shape])
            for ours, difference in zip([*results[0].values(), *results[1].values()], expected):
                self.assertAlmostEqual(ours, difference, delta=5e-3)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected a score_mod that reads an array of floats"):
            attn_mlir.attention_backward(q, k, v, output, lse, do, capture_gradients=True, device="sim")

    def test_rows_without_keys(self):
        q, k = normal("f16", 1, 1, 5, 32), normal("f16", 1, 1, 2, 32)
        output, lse = attn_mlir.attention(q, k, k, causal=True, return_lse=True, device="sim")
        self.assertEqual(output.values()[: 3 * 32], [0.0] * (3 * 32))
        self.assertEqual(lse.values()[:3], [-math.inf] * 3)

    def test_strides_through_dlpack(self):
        """[B, M, H, D] in memory, passed as the [B, H, M, D] view that it is."""
        q, k = normal("bf16", 1, 2, 7, 32), normal("bf16", 1, 2, 9, 32)
        expected = attn_mlir.attention(q, k, k, device="sim")
        strided = DLPackArray(q, (7 * 64, 32, 64, 1))
        self.assertEqual(view_of(strided).strides, (448, 32, 64, 1))
        out = HostArray("bf16", (1, 2, 7, 32), bytearray(2 * 448))
        result = attn_mlir.attention(strided, DLPackArray(k, (9 * 64, 32, 64, 1)), k, device="sim", out=out)
        self.assertIs(result, out)
        self.assertEqual(out.values(), expected.values())


class Reuse(unittest.TestCase):
    def setUp(self):
        self.compilations = []
        original = kernel_module.compile_files
        kernel_module.compile_files = lambda *a: self.compilations.append(a) or original(*a)
        self.addCleanup(setattr, kernel_module, "compile_files", original)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.options = {"device": "sim", "cache": attn_mlir.Cache(Path(folder.name))}

    def test_sizes_need_no_other_kernel(self):
        for b, hq, hkv, m, n in ((1, 1, 1, 17, 4), (2, 4, 2, 20, 33), (1, 3, 1, 30, 70)):
            k = normal("f16", b, hkv, n, 64)
            attn_mlir.attention(normal("f16", b, hq, m, 64), k, k, causal=True, scale=0.3, **self.options)
        self.assertEqual(len(self.compilations), 1)

    def test_bias_sizes(self):
        k = normal("f16", 2, 1, 5, 64)
        for shape in ((1, 1, 5, 5), (2, 1, 5, 5), (2, 1, 5, 1), (2, 1, 1, 5)):
            attn_mlir.attention(k, k, k, bias=normal("f32", *shape), **self.options)
        # [1, 1, M, N], [B, 1, M, N], [B, 1, M, 1], [B, 1, 1, N]: a kernel each, as a broadcast is not a size.
        self.assertEqual(len(self.compilations), 4)


class Messages(unittest.TestCase):
    def setUp(self):
        self.q = normal("f16", 1, 2, 20, 32)

    def refuses(self, kind, message, function):
        with self.assertRaises(kind) as caught:
            function()
        self.assertIn(message, str(caught.exception))

    def test_arrays(self):
        q = self.q
        call = lambda *a, **k: lambda: attn_mlir.attention(*a, device="sim", **k)  # noqa: E731
        for message, function in {
            "query: expected [batch, heads, rows, head dim], got rank 3": call(normal("f16", 2, 20, 32), q, q),
            "key: expected dtype f16, that of query, got bf16": call(q, normal("bf16", 1, 2, 20, 32), q),
            "operand key: expected dim 3 to be 32, got 64": call(q, normal("f16", 1, 2, 20, 64), q),
            "operand key: expected dim 0 (B) to be 1, got 2": call(q, normal("f16", 2, 2, 20, 32), q),
            "expected the number of query heads to be a multiple": call(q, *[normal("f16", 1, 3, 20, 32)] * 2),
            "expected dim 1 of bias to be 1 or 2 (Hq), got 3": call(q, q, q, bias=normal("f32", 1, 3, 20, 20)),
            "expected soft_cap or score_mod, got both": call(q, q, q, soft_cap=1.0, score_mod=lambda s, b, h, i, j: s),
            "expected causal to be a bool, 'top_left' or 'bottom_right', got 'left'": call(q, q, q, causal="left"),
            "expected dropout to be at least 0 and below 1, got 1.0": call(q, q, q, dropout=1.0, seed=1),
            "expected a seed with dropout, got none": call(q, q, q, dropout=0.1),
            "seed: expected a number or an i64 array of rank 0, got f16 of (1, 2, 20, 32)": call(q, q, q, dropout=0.1, seed=q),
            "expected 1 results in out, got 2": call(q, q, q, out=[q, q]),
            "operand output: expected dim 2 (M) to be 20, got 21": call(q, q, q, out=normal("f16", 1, 2, 21, 32)),
            "query: expected an array with __dlpack__": call([1.0], q, q),
            "query: expected an array on the CPU or a CUDA device, got DLPack device 10": call(
                DLPackArray(q, (1280, 640, 32, 1), (10, 0)), q, q
            ),
            "expected all arrays on the CPU or all on a GPU, got both": call(
                DLPackArray(q, (1280, 640, 32, 1), (2, 0)), q, q, target="sm_80"
            ),
        }.items():
            self.refuses(attn_mlir.BindingError, message, function)
        self.refuses(
            attn_mlir.DeviceError,
            "expected device cuda or sim, got 'gpu'",
            lambda: attn_mlir.attention(q, q, q, target="sm_80", device="gpu"),
        )
        self.refuses(
            attn_mlir.DeviceError,
            "expected device cpu for a kernel for the CPU, got 'sim'",
            lambda: attn_mlir.attention(q, q, q, target="cpu", device="sim"),
        )

    def test_compiler(self):
        text = (INPUTS / "attention.mlir").read_text()
        self.refuses(
            attn_mlir.CompileError, "absent.mlir: cannot read the file", lambda: attn_mlir.compile("absent.mlir")
        )
        wrong = text.replace("attn.attention %q, %k, %v", "attn.attention %q, %k")
        with self.assertRaises(attn_mlir.CompileError) as caught:
            attn_mlir.compile(wrong)
        self.assertRegex(str(caught.exception), r"^<text>:\d+:\d+: error: ")
        self.assertIn(str(caught.exception), caught.exception.diagnostics)
        self.refuses(attn_mlir.CompileError, "no_such_chip", lambda: attn_mlir.compile(text, target="no_such_chip"))
        self.refuses(attn_mlir.CompileError, "error:", lambda: attn_mlir.compile(wrong, target="cpu"))

    def test_names_of_options(self):
        """As `compile` has them, not as the programs do."""
        problem = attn_mlir.AttentionProblem("f32", 64, 64)
        for message, options in {
            "error: target: unknown target 'sm_12', expected one of": {"target": "sm_12"},
            "products rounded to tf32 need the option allow_tf32": {"target": "sm_80"},
            "option mask_threshold: expected a number of at most 0, got 3": {"target": "sm_80", "mask_threshold": 3.0},
            "error: schedule: ": {"target": "sm_80", "schedule": "tile=x"},
            "option device_asserts: expected a GPU, got target cpu": {"target": "cpu", "device_asserts": True},
            "option schedule: expected a GPU, got target cpu": {"target": "cpu", "schedule": "tile_m=64"},
        }.items():
            self.refuses(attn_mlir.CompileError, message, lambda: attn_mlir.compile(problem, **options))

    def test_device(self):
        """On a machine without a GPU."""
        code = (
            "import attn_mlir; from attn_mlir.runtime.host_array import HostArray\n"
            "q = HostArray.of('f16', (1, 1, 1, 8), [0.0] * 8); attn_mlir.attention(q, q, q, device='cuda')"
        )
        environment = {**os.environ, "ATTN_LIBCUDA": "libcuda-absent.so"}
        result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        message = "DeviceError: expected the CUDA driver (libcuda.so.1), got none: no GPU here, or no driver installed"
        self.assertIn(message, result.stderr)
        q = self.q
        message = "expected device cpu, cuda or sim, got 'gpu'"
        self.refuses(attn_mlir.DeviceError, message, lambda: attn_mlir.attention(q, q, q, device="gpu"))

    def test_kernel(self):
        kernel = attn_mlir.compile(INPUTS / "attention.mlir", target="sm_80", schedule="tile_m=64")
        self.assertEqual(kernel.manifest.schedule["tile_m"], 64)
        self.assertIn(".target sm_80", kernel.ptx)
        self.assertEqual(kernel.report["target"], "sm_80")
        self.refuses(attn_mlir.BindingError, "expected 3 arguments, got 1", lambda: kernel(self.q))
        self.refuses(
            attn_mlir.BindingError, "operand query: expected dtype bf16, got f16", lambda: kernel(*[self.q] * 3)
        )
        q = normal("bf16", 1, 2, 4, 64)
        output, lse = kernel(q, q, q, device="sim")
        self.assertEqual((output.shape, lse.shape), ((1, 2, 4, 64), (1, 2, 4)))
        self.assertEqual(output.values()[:64], q.values()[:64])  # the first row sees the first key alone


if __name__ == "__main__":
    sys.exit(unittest.main())
