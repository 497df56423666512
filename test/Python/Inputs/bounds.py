"""Code that runs in Python's process reads nothing outside of its arrays, whatever tables, lengths and offsets hold: they lie between
pages that no access may touch."""

import ctypes
import mmap
import random
import unittest
from unittest import mock

import numpy as np

import attn_mlir
from attn_mlir import server

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
generator, normal = random.Random(5), np.random.default_rng(5)


def guarded(array):
    """A copy at the beginning or the end of what may be touched."""
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (0, pages + 1):
        assert libc.mprotect(base + page * mmap.PAGESIZE, mmap.PAGESIZE, 0) == 0
    spare = generator.choice((0, pages * mmap.PAGESIZE - array.nbytes))
    copy = np.ndarray(array.shape, array.dtype, memory, mmap.PAGESIZE + spare)
    copy[...] = array
    return copy


def floats(*shape):
    return guarded(normal.standard_normal(shape).astype(np.float32))


def wild(most, *shape):
    """Indices from 0 to `most`, and others."""
    info = np.iinfo(np.int64)
    values = [0, most, most + 1, -1, info.min, info.max, info.max - 2, 1 << 31, *[generator.randint(0, most) for _ in range(6)]]
    return guarded(np.array([generator.choice(values) for _ in range(np.prod(shape))], np.int64).reshape(shape))


class Bounds(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(len(server._servers), 0)  # no other process has run anything

    def test_pages(self):
        """Tables and lengths in host memory are checked; the code does not need it."""
        with mock.patch("attn_mlir.paged.check_paged"), mock.patch("attn_mlir.ragged_checks.check_paged"):
            self.read_pages()

    def read_pages(self):
        for rows in (1, 40):
            for _ in range(15):
                batch, columns, pages = generator.randint(1, 3), generator.randint(0, 5), generator.randint(0, 4)
                pools = [floats(pages, 2, 6, 8) for _ in range(2)]
                table, lengths = wild(max(0, pages - 1), batch, columns), wild(6 * columns, batch)
                output = attn_mlir.decode(floats(batch, 4, rows, 8), *pools, table, lengths, window=5)
                self.assertEqual(output.shape, (batch, 4, rows, 8))
                offsets = np.sort(wild(rows, batch + 1).clip(0, rows))
                attn_mlir.prefill(floats(rows, 4, 8), *pools, table, lengths, guarded(offsets))

    def test_packed(self):
        """Offsets in host memory are checked; the code does not need it."""
        query, key = floats(20, 4, 8), floats(30, 2, 8)
        with self.assertRaisesRegex(attn_mlir.BindingError, "cu_seqlens_k: expected ascending offsets from 0 to 30"):
            attn_mlir.varlen(query, key, key, np.array([0, 20]), np.array([0, 31]))
        with mock.patch("attn_mlir.ragged_checks.check_offsets"):
            for most in (None, 4):
                for _ in range(20):
                    attn_mlir.varlen(query, key, key, wild(20, 3), wild(30, 3), most, causal=True)

    def test_lengths(self):
        for _ in range(10):
            key = floats(3, 2, 17, 8)
            attn_mlir.attention(floats(3, 2, 20, 8), key, key, key_lengths=wild(17, 3), query_lengths=wild(20, 3), causal=True)

    def test_reads_of_known_positions(self):
        """Constants, and what is known to be elements of this array."""
        query, table, bias = floats(1, 2, 5, 8), floats(32), floats(1, 1, 5, 5)
        scores = {
            "constants": lambda s, b, h, i, j: s + attn_mlir.mask.tensor(bias)[0, 0, i, j],
            "ranges": lambda s, b, h, i, j: s + attn_mlir.mask.tensor(table)[attn_mlir.mask.minimum(abs(i - j), 31)],
        }
        distance = np.minimum(abs(np.arange(5)[:, None] - np.arange(5)), 31)
        for name, added in (("constants", bias), ("ranges", table[distance])):
            output = attn_mlir.attention(query, query, query, score_mod=scores[name])
            p = np.exp(query.astype(float) @ query.swapaxes(2, 3) / np.sqrt(8) + added)
            self.assertLess(abs(output - p / p.sum(-1, keepdims=True) @ query).max(), 1e-6)

    def test_lists_of_blocks(self):
        """Their contents are looked at before the code reads them."""
        query, mask = floats(1, 2, 60, 8), attn_mlir.mask

        def attend(counts, indices):
            arrays = (guarded(np.array(x, np.int32).reshape(1, 1, *np.shape(x))) for x in (counts, indices))
            return attn_mlir.attention(query, query, query, mask_mod=mask.block_mask(*arrays, block=(32, 32)))

        scores = query.astype(float) @ query.swapaxes(2, 3) / np.sqrt(8)
        scores[:, :, :32, :32] = -np.inf
        p = np.exp(scores)
        output = attend([1, 2], [[1, -5], [0, 1]])  # what does not count may be anything
        self.assertLess(abs(output - p / p.sum(-1, keepdims=True) @ query).max(), 1e-6)
        for counts, indices, said in (
            ([1, 3], [[1, 0], [0, 1]], "counts from 0 to 2, got 3"),
            ([-1, 1], [[1, 0], [0, 1]], "counts from 0 to 2, got -1"),
            ([1, 1], [[2, 0], [0, 1]], "blocks from 0 to 1, of 60 keys, got 2"),
            ([1, 2], [[1, 0], [-7, 1]], "blocks from 0 to 1, of 60 keys, got -7"),
            ([1, 2], [[1, 0], [1, 0]], "blocks in ascending order, got others"),
            ([1, 2, 0], [[1, 0], [0, 1]], r"a list of indices for each count, got counts \(1, 1, 3\) and indices \(1, 1, 2, 2\)"),
        ):
            with self.assertRaisesRegex(attn_mlir.BindingError, "lists of blocks that the mask reads: expected " + said):
                attend(counts, indices)

    def test_linear(self):
        for rows in (1, 63, 130):
            query, key, state = floats(2, 4, rows, 8), floats(2, 2, rows, 8), floats(2, 4, 8, 8)
            attn_mlir.linear_attention(query, key, key, decay=guarded(-abs(query[..., 0])), state=state, reverse=rows == 63)


if __name__ == "__main__":
    unittest.main()
