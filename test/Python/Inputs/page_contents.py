"""Wrong lengths, tables and positions of a paged cache: messages of decode and prefill, pools that stay as they are, and device_asserts in the simulator."""

import unittest
from unittest import mock

import numpy as np

import attn_mlir
from devices import DEVICES, some

PAGE, PAGES = 4, 6
TABLE = np.array([[3, 0, -1], [5, 99, 1 << 30], [1, 4, 2]], np.int32)
LENGTHS = np.array([7, 4, 12], np.int32)
INDICES, INDPTR = np.array([3, 0, 5, 1, 4, 2], np.int64), np.array([0, 2, 3, 6], np.int64)
TABLES = (np.ones((12, 16), np.float32),) * 2


def changed(array, at, value):
    copy = array.copy()
    copy[at] = value
    return copy


class Contents(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(2)
        self.q, self.rows = self.draw(3, 4, 2, 32), self.draw(6, 4, 32)
        self.pools = [self.draw(PAGES, 2, PAGE, 32) for _ in range(2)]

    def draw(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float16)

    def calls(self, table, lengths, new=None, **options):
        """decode and prefill of two rows of each sequence, which append `new` before."""
        offsets, more = np.array([0, 2, 4, 6], np.int32), [{}, {}]
        if new is not None:
            packed = np.ascontiguousarray(new.swapaxes(1, 2)).reshape(6, 2, 32)
            more = [{"k_new": new, "v_new": new, "slots": np.arange(6).reshape(3, 2)}, {"k_new": packed, "v_new": packed, "slots": np.arange(6)}]
        yield lambda: attn_mlir.decode(self.q, *self.pools, table, lengths, **more[0], **options)
        yield lambda: attn_mlir.prefill(self.rows, *self.pools, table, lengths, offsets, 2, **more[1], **options)

    def test_fine(self):
        """Entries of pages without a key are not looked at."""
        for where in some(DEVICES):
            for by_table, by_pair in zip(self.calls(TABLE, LENGTHS, **where), self.calls((INDICES, INDPTR), LENGTHS, **where)):
                np.testing.assert_allclose(by_table().astype(float), by_pair().astype(float), atol=2e-3)
            for call in self.calls(TABLE[:, :0], 0 * LENGTHS, **where):
                self.assertFalse(call().any())
            for call in self.calls(TABLE, LENGTHS, rotary=TABLES, **where):
                call()

    def test_refused(self):
        before, new = [pool.copy() for pool in self.pools], self.draw(3, 2, 2, 32)
        pair, wide = (INDICES, INDPTR), LENGTHS.astype(np.int64)
        for message, (table, lengths, options) in {
            "lengths: expected 0 to 12 keys, which its pages hold, got 13 of sequence 2": (TABLE, changed(LENGTHS, 2, 13), {}),
            "lengths: expected 0 to 12 keys, which its pages hold, got -1 of sequence 1": (TABLE, changed(LENGTHS, 1, -1), {}),
            f"lengths: expected 0 to 12 keys, which its pages hold, got {1 << 40} of sequence 0": (TABLE, changed(wide, 0, 1 << 40), {}),
            "lengths: expected 0 to 8 keys, which its pages hold, got 9 of sequence 0": (pair, changed(LENGTHS, 0, 9), {}),
            "lengths: expected 0 to 0 keys, which its pages hold, got 1 of sequence 0": (TABLE[:, :0], LENGTHS // 7, {}),
            "table: expected pages from 0 to 5 where there are keys, got -1 in column 2 of sequence 0": (TABLE, changed(LENGTHS, 0, 9), {}),
            "table: expected pages from 0 to 5 where there are keys, got 99 in column 1 of sequence 1": (TABLE, changed(LENGTHS, 1, 5), {}),
            "table: expected pages from 0 to 5 where there are keys, got 6 in column 0 of sequence 2": (changed(TABLE, (2, 0), 6).astype(np.int64), LENGTHS, {}),
            "table: expected pages from 0 to 5 where there are keys, got -2 in column 1 of sequence 2": ((changed(INDICES, 4, -2), INDPTR), LENGTHS, {}),
            "rotary: expected positions from 0 to 10, for which cos and sin have rows, got 11 of (token 1 of sequence 2|row 5)": (
                TABLE, LENGTHS, {"rotary": [table[:11] for table in TABLES]}
            ),
        }.items():  # fmt: skip
            for where in some(DEVICES):
                for call in (*self.calls(table, lengths, **options, **where), *self.calls(table, lengths, new, **options, **where)):
                    with self.assertRaisesRegex(attn_mlir.BindingError, f"^{message}$"):
                        call()
        for positions, place in ((np.array([[0, 12]]), "token 1 of sequence 0"), (np.array([[0, 1], [2, 3], [12, 4]]), "token 0 of sequence 2")):
            with self.assertRaisesRegex(attn_mlir.BindingError, f"rotary: expected positions from 0 to 11, for which cos and sin have rows, got 12 of {place}"):
                attn_mlir.decode(self.q, *self.pools, TABLE, LENGTHS, rotary=TABLES, rotary_positions=positions)
        for pool, old in zip(self.pools, before):
            np.testing.assert_array_equal(pool, old)

    def test_device_asserts(self):
        """Kernels that look at what nobody has looked at before."""
        wrong = changed(TABLE, (2, 0), 6)
        for where in some(DEVICES)[1:]:
            for call, plain in zip(self.calls(TABLE, LENGTHS, device_asserts=True, **where), self.calls(TABLE, LENGTHS, **where)):
                np.testing.assert_array_equal(call(), plain())
            with mock.patch("attn_mlir.paged.check_paged"), mock.patch("attn_mlir.ragged_checks.check_paged"):
                for call in self.calls(wrong, LENGTHS, device_asserts=True, **where):
                    with self.assertRaisesRegex(attn_mlir.DeviceError, "device assertion failed: expected"):
                        call()
            new = self.draw(2, 2, 32)
            attn_mlir.append(new, new, *self.pools, np.array([3, 9]), device_asserts=True, **where)
            np.testing.assert_array_equal(self.pools[0][2, :, 1], new[1])
            with mock.patch("attn_mlir.paged.check_slots"), self.assertRaisesRegex(attn_mlir.DeviceError, "device assertion failed: expected"):
                attn_mlir.append(new, new, *self.pools, np.array([3, PAGE * PAGES]), device_asserts=True, **where)
            rows, offsets = self.draw(6, 2, 32), np.array([0, 4, 6], np.int32)
            plain = attn_mlir.varlen(rows, rows, rows, offsets, offsets, 4, **where)
            np.testing.assert_array_equal(attn_mlir.varlen(rows, rows, rows, offsets, offsets, 4, device_asserts=True, **where), plain)
            with mock.patch("attn_mlir.ragged_checks.check_offsets"), self.assertRaisesRegex(attn_mlir.DeviceError, "device assertion failed: expected"):
                attn_mlir.varlen(rows, rows, rows, offsets, np.array([0, 4, 7], np.int32), 4, device_asserts=True, **where)
        slots, rows, offsets = np.arange(2), self.draw(2, 2, 32), np.array([0, 2], np.int32)
        for call in (
            *self.calls(TABLE, LENGTHS, device_asserts=True),
            lambda: attn_mlir.append(rows, rows, *self.pools, slots, device_asserts=True),
            lambda: attn_mlir.varlen(rows, rows, rows, offsets, offsets, device_asserts=True),
        ):
            with self.assertRaisesRegex(attn_mlir.BindingError, "expected no device_asserts for target cpu, whose arrays are looked at before"):
                call()


if __name__ == "__main__":
    unittest.main()
