"""`attn_mlir.cascade`: levels of a cache that sequences share, against the same pages in one table for each sequence."""

import unittest

import numpy as np

from attn_mlir.cascade import MultiLevelCascadeAttentionWrapper
from attn_mlir.errors import BindingError
from attn_mlir.serving import BatchPrefill
from devices import in_turn

HEADS, KEY_HEADS, DIM, PAGE, PAGES = 4, 2, 32, 4, 20
#: Rows of each sequence; the first three begin with the pages of the prompt, and the first two with those of a second one.
ROWS = [3, 1, 2, 4]
PROMPT, SECOND = [5, 11, 2], [7, 0]
OWN = [[1, 12], [3], [8, 19, 4], [9, 6]]
LAST = [2, 4, 1, 3]
ints = lambda numbers: np.asarray(numbers, np.int32)  # noqa: E731
LEVELS = {
    "qo_indptr_arr": [ints([0, 6, 10]), ints([0, 4, 10]), ints([0, 3, 4, 6, 10])],
    "paged_kv_indptr_arr": [ints([0, 3, 3]), ints([0, 2, 2]), ints([0, 2, 3, 6, 8])],
    "paged_kv_indices_arr": [ints(PROMPT), ints(SECOND), ints(sum(OWN, []))],
    "paged_kv_last_page_len": [ints([4, 0]), ints([4, 0]), ints(LAST)],
}


class Cascade(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(3)
        self.cache = rng.normal(size=(PAGES, 2, PAGE, KEY_HEADS, DIM)).astype(np.float16)
        self.q = rng.normal(size=(10, HEADS, DIM)).astype(np.float16)

    def whole(self, causal, **where):
        pages = [[*(PROMPT if b < 3 else []), *(SECOND if b < 2 else []), *own] for b, own in enumerate(OWN)]
        layer = BatchPrefill()
        starts = np.cumsum([0, *map(len, pages)])
        layer.plan(ints([0, 3, 4, 6, 10]), ints(starts), ints(sum(pages, [])), ints(LAST), HEADS, KEY_HEADS, DIM, PAGE, causal=causal)
        output, lse = layer.run(self.q, self.cache, return_lse=True, **where)
        return output, lse.swapaxes(0, 1)

    def test_levels_are_one_cache(self):
        for causal, where in in_turn((True, False)):
            layer = MultiLevelCascadeAttentionWrapper(3)
            layer.plan(*LEVELS.values(), HEADS, KEY_HEADS, DIM, PAGE, causal=causal)
            output, lse = layer.run(self.q, self.cache, return_lse=True, **where)
            wanted = self.whole(causal, **where)
            self.assertEqual((output.dtype, output.shape, lse.shape), (np.float16, (10, HEADS, DIM), (10, HEADS)))
            self.assertLess(np.abs(output.astype(float) - wanted[0]).max(), 4e-3)
            self.assertLess(np.abs(lse - wanted[1]).max(), 1e-4)
            self.assertEqual(layer.run(self.q, self.cache, **where).tobytes(), output.tobytes())

    def test_errors(self):
        layer = MultiLevelCascadeAttentionWrapper(3)
        sizes = (HEADS, KEY_HEADS, DIM, PAGE)
        with self.assertRaisesRegex(BindingError, "expected plan before run"):
            layer.run(self.q, self.cache)
        with self.assertRaisesRegex(BindingError, "paged_kv_indices_arr: expected an array for each of 3 levels, got 2"):
            layer.plan(*{**LEVELS, "paged_kv_indices_arr": [1, 2]}.values(), *sizes)
        with self.assertRaisesRegex(BindingError, "window_left: expected -1, got 8"):
            layer.plan(*LEVELS.values(), *sizes, window_left=8)
        with self.assertRaisesRegex(BindingError, "qo_indptr_arr: expected levels that end at the same row, got 9, 10, 10"):
            layer.plan(*{**LEVELS, "qo_indptr_arr": [ints([0, 6, 9]), *LEVELS["qo_indptr_arr"][1:]]}.values(), *sizes)
        with self.assertRaisesRegex(BindingError, "num_levels: expected 1 or more, got 0"):
            MultiLevelCascadeAttentionWrapper(0)
        layer.plan(*LEVELS.values(), *sizes)
        with self.assertRaisesRegex(BindingError, "q: expected 10 rows as planned, got 9"):
            layer.run(self.q[:9], self.cache)
        with self.assertRaisesRegex(BindingError, "sinks: expected None, got"):
            layer.run(self.q, self.cache, sinks=np.zeros(HEADS, np.float32))


if __name__ == "__main__":
    unittest.main()
