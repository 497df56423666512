"""`attn_mlir.append`, and `decode` that appends, on arrays without NumPy: results, pools, messages."""

import math
import random
import unittest

import attn_mlir
from attn_mlir.runtime.host_array import HostArray, decode_float8, round_to
from devices import some

generator = random.Random(7)


def normal(dtype, *shape):
    return HostArray.of(dtype, shape, [round_to(generator.gauss(0, 1), dtype) for _ in range(math.prod(shape))])


def nearest_byte(x):
    """Of f8E4M3FN, no further than its largest number; of two as near the even one."""
    code = min(range(127), key=lambda code: (abs(decode_float8(code, "f8E4M3FN") - min(abs(x), 448)), code & 1))
    return code | (128 if x < 0 else 0)


class Append(unittest.TestCase):
    def test_append(self):
        """New rows in the pools, in place, which the attention sees; NaN everywhere else; casts; slots of -1."""
        pages, page, heads, dim = 5, 4, 2, 32
        q, rows = normal("f16", 2, 4, 1, dim), [normal("f32", 3, heads, dim) for _ in range(2)]
        table, lengths = HostArray.of("i32", (2, 2), [4, 1, 0, -1]), HostArray.of("i32", (2,), [5, 1])
        slots = HostArray.of("i64", (3,), [4, -1, 0])  # key 4 of sequence 0, nothing, key 0 of sequence 1
        old = [[random.Random(seed).gauss(0, 1) for _ in range(pages * heads * page * dim)] for seed in (1, 2)]

        def pool_of(values):
            """With NaN in rows that nobody has: those of other pages than 4, but for the ones that are written."""
            numbers = [round_to(x, "f16") if i // (heads * page * dim) == 4 else math.nan for i, x in enumerate(values)]
            return HostArray.of("f16", (pages, heads, page, dim), numbers)

        def expected(pool, new):
            values = pool.values()
            for token, slot in ((0, 4), (2, 0)):
                for h in range(heads):
                    at = ((slot // page * heads + h) * page + slot % page) * dim
                    values[at : at + dim] = [round_to(x, "f16") for x in new.values()[(token * heads + h) * dim :][:dim]]
            return HostArray.of("f16", pool.shape, values)

        for where in some(({"target": "cpu"}, {"device": "sim"}, {"target": "sm_80", "device": "sim"})):
            pools = [pool_of(values) for values in old]
            after = [expected(pool, new) for pool, new in zip(pools, rows)]
            plain = attn_mlir.decode(q, *after, table, lengths, **where)
            output = attn_mlir.decode(q, *pools, table, lengths, k_new=rows[0], v_new=rows[1], slots=slots, **where)
            self.assertEqual([pool.data for pool in pools], [pool.data for pool in after])
            self.assertEqual(output.data, plain.data)
            pools = [pool_of(values) for values in old]
            attn_mlir.append(*rows, *pools, slots, **where)
            self.assertEqual([pool.data for pool in pools], [pool.data for pool in after])
        # In f32, on a GPU where that may be rounded.
        wide = [HostArray.of("f32", pool.shape, [0.0 if math.isnan(x) else x for x in pool.values()]) for pool in after]
        query = HostArray.of("f32", q.shape, q.values())
        exact = attn_mlir.decode(query, *wide, table, lengths, target="cpu").values()
        rounded = attn_mlir.decode(query, *wide, table, lengths, device="sim", allow_tf32=True).values()
        self.assertLess(max(abs(x - y) for x, y in zip(exact, rounded)), 2e-3)
        with self.assertRaisesRegex(attn_mlir.CompileError, "allow_tf32"):
            attn_mlir.decode(query, *wide, table, lengths, device="sim")
        # Rows of batches, and an array for the output.
        pools, out = [pool_of(values) for values in old], HostArray.of("f16", q.shape, [0.0] * math.prod(q.shape))
        batched = [HostArray("f32", (3, heads, 1, dim), new.data) for new in rows]
        attn_mlir.decode(
            q, *pools, table, lengths, k_new=batched[0], v_new=batched[1], slots=HostArray("i64", (3, 1), slots.data), target="cpu", out=out
        )
        self.assertEqual([pool.data for pool in pools], [pool.data for pool in after])
        for message, arguments in {
            "expected k_new, v_new and slots together, got no slots": (*rows, *pools, None),
            r"k_new: expected shape \(2, 2, 32\), a row for each slot and head, got \(3, 2, 32\)": (*rows, *pools, HostArray.of("i32", (2,), [1, 2])),
            "slots: expected -1 or one of the 20 rows of the pool, got 20 of token 2": (*rows, *pools, HostArray.of("i32", (3,), [1, 2, 20])),
            "slots: expected slots that differ, got 2 again of token 2": (*rows, *pools, HostArray.of("i32", (3,), [-1, 2, 2])),
            r"slots: expected \[tokens\] or \[B, M\] of i32 or i64, got f32": (*rows, *pools, HostArray.of("f32", (3,), [1, 2, 3])),
            "v_pool: expected memory of its own, got some of k_pool": (*rows, pools[0], pools[0], slots),
            r"v_pool: expected pages, heads and page size \(5, 2, 4\), as of k_pool, got \(2, 4, 1\)": (*rows, pools[0], q, slots),
            r"k_pool: expected \[pages, heads, page size, head dim\]": (*rows, rows[0], pools[1], slots),
            "v_new: expected one dtype of f16, bf16, f32, f64 for k_new and v_new, got f16": (rows[0], q, *pools, slots),
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.append(*arguments)

    def test_quantised(self):
        """Wider rows in pools of 8 bits, divided by the scales that the attention multiplies by."""
        pages, page, heads, dim = 5, 4, 2, 32
        q, rows = normal("f16", 2, 4, 1, dim), [normal("f32", 2, heads, 1, dim) for _ in range(2)]
        table, lengths = HostArray.of("i32", (2, 2), [4, 1, 0, -1]), HostArray.of("i32", (2,), [5, 1])
        slots = HostArray.of("i64", (2, 1), [4, 0])
        scales = {"k_scale": 0.25, "v_scale": HostArray.of("f32", (2, heads), [0.5, 0.75, 1.5, 0.001])}
        shape = (pages, heads, page, dim)
        stored = [generator.choice((0, 128)) + generator.randrange(72) for _ in range(math.prod(shape))]

        def byte_of(x, kind):
            return nearest_byte(x) if kind == "f8E4M3FN" else max(-128, min(127, round(x))) & 255

        def expected(new, divisors, kind="f8E4M3FN"):
            data = bytearray(stored)
            for token, slot in ((0, 4), (1, 0)):
                for h in range(heads):
                    at = ((slot // page * heads + h) * page + slot % page) * dim
                    row = new.values()[(token * heads + h) * dim :][:dim]
                    data[at : at + dim] = bytes(byte_of(round_to(x / divisors[token * heads + h], "f32"), kind) for x in row)
            return HostArray(kind, shape, data)

        def pools_before(kind="f8E4M3FN"):
            return [HostArray(kind, shape, bytearray(stored)) for _ in range(2)]

        devices = ({"target": "cpu"}, {"device": "sim"}, {"target": "sm_80", "device": "sim"})
        for kind, where in ((kind, where) for kind in ("i8", "f8E4M3FN") for where in some(devices)):
            after = [expected(rows[0], [0.25] * 4, kind), expected(rows[1], scales["v_scale"].values(), kind)]
            pools = pools_before(kind)
            plain = attn_mlir.decode(q, *after, table, lengths, **scales, **where)
            output = attn_mlir.decode(q, *pools, table, lengths, k_new=rows[0], v_new=rows[1], slots=slots, **scales, **where)
            self.assertEqual([pool.data for pool in pools], [pool.data for pool in after])
            self.assertEqual(output.data, plain.data)
            pools = pools_before(kind)
            attn_mlir.append(*rows, *pools, slots, **scales, **where)
            self.assertEqual([pool.data for pool in pools], [pool.data for pool in after])
        flat = [HostArray(new.dtype, (2, heads, dim), new.data) for new in rows]
        tokens, bytes_of = HostArray.of("i64", (2,), [4, 0]), [HostArray("f8E4M3FN", (2, heads, 1, dim), bytearray(2 * heads * dim))] * 2
        for message, arguments, given in (
            (r"v_scale: expected f32 of shape \[1\] for slots of rank 1, got f32 of \[2, 2\]", (*flat, *pools, tokens), scales),
            (r"k_scale: expected f32 of shape \[1\] or \[2, 2\] for slots of rank 2, got f16 of \[1\]", (*rows, *pools, slots), {"k_scale": normal("f16", 1)}),
            ("expected k_new and v_new of their pools' types, or both wider", (rows[0], bytes_of[1], *pools, slots), {}),
            ("expected no k_scale or v_scale but with pools of 8 bits and wider rows", (*bytes_of, *pools, slots), scales),
            ("k_new: expected dtype f8E4M3FN, that of k_pool, or one of f16, bf16, f32, got f64", (normal("f64", 2, heads, 1, dim), rows[1], *pools, slots), {}),
        ):
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                attn_mlir.append(*arguments, **given)


if __name__ == "__main__":
    unittest.main()
