"""Masks and scores from Python: what runs is what the predicate says, over all pairs; what cannot be traced is named.

A mask is seen through a kernel in the simulator: with zero queries every visible key has the same weight, and with the
identity for values output[i, j] > 0 tells that i sees j.
"""

import math
import sys
import unittest

import attn_mlir
from attn_mlir import mask
from attn_mlir.runtime.host_array import HostArray
from sweep import LONG

S = 64


def tensor(dtype, shape, values):
    return HostArray.of(dtype, shape, values)


ZEROS = tensor("f16", (1, 2, S, S), [0.0] * (2 * S * S))
IDENTITY = tensor("f16", (1, 2, S, S), [float(i == j) for _ in range(2) for i in range(S) for j in range(S)])
DOCUMENTS = [0] * 10 + [1] + [2] * 30 + [7] * 23


def visible(mask_mod, heads=1, **options):
    """(h, i, j) -> seen."""
    output = attn_mlir.attention(ZEROS, ZEROS, IDENTITY, mask_mod=mask_mod, target="sm_80", device="sim", **options)
    values = output.values()
    return [[[values[(h * S + i) * S + j] > 0 for j in range(S)] for i in range(S)] for h in range(heads)]


def grid(p):
    """Of a position in a grid of 4 x 4 x 4."""
    return p // 16, p // 4 % 4, p % 4


def near(a, b, size, width):
    centre = min(max(a, width // 2), size - 1 - (width - 1) // 2)
    return centre - width // 2 <= b <= centre + (width - 1) // 2


def bits(x):
    return bin(x).count("1")


#: Sequences behind each other, two of them empty; the last 4 positions are in none.
LENGTHS = [0, 10, 1, 30, 0, 19]
OFFSETS = [sum(LENGTHS[:s]) for s in range(len(LENGTHS) + 1)]


def packed(i, j, distance=S):
    """i and j are in one sequence, and j at most `distance` behind i."""
    return any(a <= i < b and a <= j < b for a, b in zip(OFFSETS, OFFSETS[1:])) and j - i <= distance


#: Blocks of 16 x 32 in the layout of FlexAttention; -1 is never looked at.
PARTIAL = [[0], [], [0, 1], [1]]
FULL = [[1], [0], [], []]


def block_lists(blocks):
    counts = tensor("i32", (1, 1, 4), [len(row) for row in blocks])
    return counts, tensor("i32", (1, 1, 4, 2), [c for row in blocks for c in (row + [-1, -1])[:2]])


def in_blocks(i, j):
    return j // 32 in FULL[i // 16] or (j // 32 in PARTIAL[i // 16] and j <= i)


class FlexMask:
    """Has the attributes of FlexAttention's BlockMask."""

    kv_num_blocks, kv_indices = block_lists(PARTIAL)
    full_kv_num_blocks, full_kv_indices = block_lists(FULL)
    BLOCK_SIZE = (16, 32)
    mask_mod = staticmethod(lambda b, h, i, j: j <= i)


#: What each named mask is, once more.
PATTERNS = {
    "causal": (mask.causal(), lambda i, j: j <= i),
    "causal(top_left)": (mask.causal("top_left"), lambda i, j: j <= i),
    "sliding_window": (mask.sliding_window(9, 4), lambda i, j: -9 <= j - i <= 4),
    "prefix_lm": (mask.prefix_lm(20), lambda i, j: j < 20 or j <= i),
    "shared_prefix": (mask.shared_prefix(10, 13), lambda i, j: j <= i and (j < 10 or (i - 10) // 13 == (j - 10) // 13)),
    "chunked": (mask.chunked(12), lambda i, j: i // 12 == j // 12 and j <= i),
    "block_diagonal": (mask.block_diagonal(24), lambda i, j: i // 24 == j // 24),
    "dilated": (mask.dilated(5, 3), lambda i, j: j in range(i, i - 15, -3)),
    "global_window": (mask.global_window(3, 6, 2), lambda i, j: i < 3 or j < 3 or -6 <= j - i <= 2),
    "strided": (mask.strided(7), lambda i, j: 0 <= i - j < 7 or (j <= i and (i - j) % 7 == 0)),
    "fixed": (mask.fixed(8, 2), lambda i, j: j <= i and (i // 8 == j // 8 or j % 8 >= 6)),
    "butterfly": (mask.butterfly(8, 8), lambda i, j: bits(i // 8 ^ j // 8) <= 1),
    "big_bird": (mask.big_bird(8, 1, 1), lambda i, j: i < 8 or j < 8 or abs(i // 8 - j // 8) <= 1),
    "document": (mask.document(tensor("i32", (S,), DOCUMENTS)), lambda i, j: DOCUMENTS[i] == DOCUMENTS[j]),
    "packed": (mask.packed(tensor("i32", (7,), OFFSETS)), packed),
    "packed causal": (mask.packed(tensor("i32", (7,), OFFSETS), causal=True), lambda i, j: packed(i, j, 0)),
    "block_mask": (mask.as_block_mask(FlexMask()), in_blocks),
    "listed": (mask.listed(*block_lists(FULL), block=(16, 32)), lambda i, j: j // 32 in FULL[i // 16]),
    "neighborhood 1-d": (mask.neighborhood([64], [6]), lambda i, j: near(i, j, 64, 6)),
    "neighborhood 3-d": (
        mask.neighborhood([4, 4, 4], [3, 2, 1]),
        lambda i, j: all(near(a, b, 4, w) for a, b, w in zip(grid(i), grid(j), (3, 2, 1))),
    ),
    "tiled_neighborhood": (
        mask.tiled_neighborhood([16, 4], [4, 2], [3, 1]),
        lambda i, j: abs(i // 16 - j // 16) <= 1 and i // 8 % 2 == j // 8 % 2,
    ),
    "not": (~mask.sliding_window(5), lambda i, j: not 0 <= i - j <= 5),
    "or": (mask.block_diagonal(10) | mask.sliding_window(3), lambda i, j: i // 10 == j // 10 or 0 <= i - j <= 3),
    "and a function": (
        mask.causal() & mask.trace_mask(lambda b, h, i, j: (j - i) % 5 != 2),
        lambda i, j: j <= i and (j - i) % 5 != 2,
    ),
    "arithmetic": (
        mask.trace_mask(lambda b, h, i, j: mask.where((i - 30) // 7 < -1, j * 2 < i, abs(j - i) >= mask.minimum(i, 9))),
        lambda i, j: j * 2 < i if (i - 30) // 7 < -1 else abs(j - i) >= min(i, 9),
    ),
    "lengths": (
        mask.trace_mask(lambda b, h, i, j: j >= mask.key_length() - mask.query_length() + i - 3),
        lambda i, j: j >= i - 3,
    ),
    "floats": (mask.trace_mask(lambda b, h, i, j: j / 2 < i * 0.75 - 1.0), lambda i, j: j / 2 < i * 0.75 - 1.0),
    "conditions compared": (
        mask.trace_mask(lambda b, h, i, j: ((i < 9) == (j < 9)) & ((i % 2 == 0) != (j > 40))),
        lambda i, j: (i < 9) == (j < 9) and (i % 2 == 0) != (j > 40),
    ),
    "conditions as numbers": (
        mask.trace_mask(lambda b, h, i, j: ((i >= j) == 1) & ((i > 9) + (j > 9) * 2 != 3) | ((i < 5) * (j < 5))),
        lambda i, j: i >= j and (i > 9) + (j > 9) * 2 != 3 or (i < 5 and j < 5),
    ),
    "bits": (
        mask.trace_mask(lambda b, h, i, j: ((i ^ j) < 16) & ((i & 7) <= (j | 2)) | (i >> 3 == ~(-1 - (j << 1)))),
        lambda i, j: i ^ j < 16 and i & 7 <= j | 2 or i >> 3 == j << 1,
    ),
    "divisors": (
        mask.trace_mask(lambda b, h, i, j: ((i - j) // mask.maximum(j, 3) == -1) | ((i - j) % -5 == -2)),
        lambda i, j: (i - j) // max(j, 3) == -1 or (i - j) % -5 == -2,
    ),
    "rounded": (
        mask.trace_mask(lambda b, h, i, j: (mask.floor(i / 7) == (j * 1.0) // 7) | (mask.ceil(j / 9) > (i + 0.5) % 4)),
        lambda i, j: i // 7 == j // 7 or math.ceil(j / 9) > (i + 0.5) % 4,
    ),
    "never": (mask.trace_mask(lambda b, h, i, j: False), lambda i, j: False),
}


class Masks(unittest.TestCase):
    def test_patterns(self):
        for name, (traced, sees) in PATTERNS.items():
            with self.subTest(name):
                expected = [[bool(sees(i, j)) for j in range(S)] for i in range(S)]
                self.assertEqual(visible(traced)[0], expected)

    def test_heads(self):
        seen = visible(lambda b, h, i, j: j % 2 == h, heads=2)
        self.assertEqual(seen[0][5], [j % 2 == 0 for j in range(S)])
        self.assertEqual(seen[1][5], [j % 2 == 1 for j in range(S)])

    def test_names_and_conditions_together(self):
        self.assertEqual(str(mask.causal("top_left")), "causal(top_left)")
        self.assertEqual(str(mask.sliding_window(3)), "sliding_window(3, 0)")
        seen = visible(lambda b, h, i, j: j % 2 == 0, causal="top_left", window=(6, 9))
        self.assertEqual(seen[0][20], [14 <= j <= 20 and j % 2 == 0 for j in range(S)])

    def test_block_mask_beside_others(self):
        seen = visible(None, block_mask=FlexMask(), window=(20, 64))
        self.assertEqual(seen[0][40], [in_blocks(40, j) and j >= 20 for j in range(S)])

    def test_data_that_does_not_fit(self):
        counts, indices = block_lists(FULL)
        for message, make in (
            ("expected offsets to be i32 of rank 1, got f16 of rank 4", lambda: mask.packed(ZEROS)),
            ("expected causal to be a bool, 'top_left' or 'bottom_right', got 'left'", lambda: mask.packed(counts, causal="left")),
            ("expected the indices of blocks to be i32 of rank 4, got i32 of rank 3", lambda: mask.listed(counts, counts, (8, 8))),
            ("expected block to be two positive integers, got (8, 0)", lambda: mask.listed(counts, indices, (8, 0))),
            ("expected both full_kv_num_blocks and full_kv_indices, got one", lambda: mask.block_mask(counts, indices, counts)),
            ("expected a block mask, got int without kv_num_blocks", lambda: mask.as_block_mask(3)),
        ):
            with self.subTest(message), self.assertRaises(attn_mlir.AttnError) as raised:
                make()
            self.assertIn(message, str(raised.exception))

    def test_equal_ops_are_one(self):
        text = str(mask.trace_mask(lambda b, h, i, j: (i // 4 == j // 4) & (i // 4 > 2)))
        self.assertEqual(text.count("arith.divsi %i"), 1)


class Compile(unittest.TestCase):
    def test_mask_and_score(self):
        """A kernel keeps the arrays that its mask and score read."""
        problem = attn_mlir.AttentionProblem("f16", S, S)
        slopes = mask.tensor(tensor("f32", (2,), [0.0, 0.0]))
        options = dict(mask=PATTERNS["document"][0], score=lambda s, b, h, i, j: s + slopes[h], target="sm_80")
        values = attn_mlir.compile(problem, **options)(ZEROS, ZEROS, IDENTITY, device="sim").values()
        seen = [[values[i * S + j] > 0 for j in range(S)] for i in range(S)]
        self.assertEqual(seen, [[DOCUMENTS[i] == DOCUMENTS[j] for j in range(S)] for i in range(S)])
        with self.assertRaisesRegex(
            attn_mlir.BindingError, "expected an AttentionProblem beside mask and score, got a mod"
        ):
            attn_mlir.compile("attention.mlir", mask=mask.causal())


class Scores(unittest.TestCase):
    def lse(self, score_mod, **options):
        """LSE of rows of zeros: the logarithm of the sum of the exponentials of what score_mod makes of 0."""
        result = attn_mlir.attention(
            ZEROS, ZEROS, IDENTITY, score_mod=score_mod, return_lse=True, target="sm_80", device="sim", **options
        )
        return result[1].values()

    def near(self, lse, score):
        for h in range(2):
            for i in (0, 17, 63):
                expected = math.log(sum(math.exp(score(h, i, j)) for j in range(S)))
                self.assertAlmostEqual(lse[h * S + i], expected, places=4)

    def test_alibi(self):
        slopes = tensor("f32", (2,), [0.5, 0.0625])
        self.near(self.lse(mask.alibi(slopes)), lambda h, i, j: [0.5, 0.0625][h] * (j - i))

    def test_functions(self):
        score = lambda s, b, h, i, j: s + mask.tanh(j / 10) * mask.exp(h * -1.0) - mask.sqrt(i + 1.0) / 8  # noqa: E731
        self.near(self.lse(score), lambda h, i, j: math.tanh(j / 10) * math.exp(-h) - math.sqrt(i + 1) / 8)

    def test_table(self):
        """Relative bias of 2 heads by 127 distances, in bf16."""
        values = [((7 * k) % 13) / 8 for k in range(2 * 127)]
        table = mask.tensor(tensor("bf16", (2, 127), values))
        self.near(
            self.lse(lambda s, b, h, i, j: s + table[h, j - i + 63]), lambda h, i, j: values[h * 127 + j - i + 63]
        )


class Refusals(unittest.TestCase):
    def refuses(self, message, function, trace=mask.trace_mask):
        line = function.__code__.co_firstlineno if hasattr(function, "__code__") else None
        with self.assertRaises(mask.TraceError) as caught:
            trace(function)
        text = str(caught.exception)
        self.assertIn(message, text)
        if line is not None:
            place = text.split(":", 2)
            self.assertEqual(place[0], __file__)
            self.assertIn(int(place[1]) - line, range(4))

    def test_control_flow(self):
        def branch(b, h, i, j):
            if i > j:
                return j < 3
            return j > 3

        with self.assertRaisesRegex(mask.TraceError, r"masks\.py:\d+: expected no decision .*\n    if i > j:"):
            mask.trace_mask(branch)
        self.refuses("use & | ~ for and, or, not", lambda b, h, i, j: i > j and j > 2)
        self.refuses("two comparisons for a chain", lambda b, h, i, j: 0 < i < j)
        self.refuses("use & | ~ for and, or, not", lambda b, h, i, j: not i < j)
        self.refuses("expected no loop over a traced value", lambda b, h, i, j: [x for x in i])
        self.refuses("wrap the array by attn_mlir.mask.tensor", lambda b, h, i, j: [1, 2, 3][i] == 1)

    def test_types(self):
        self.refuses("expected the mask to give a condition, got index", lambda b, h, i, j: i - j)
        self.refuses("expected the mask to give a condition, got str", lambda b, h, i, j: "yes")
        self.refuses("expected the mask to give a condition, got index", lambda b, h, i, j: i & j)
        self.refuses("put comparisons in parentheses", lambda b, h, i, j: (i < j) & j)
        self.refuses("expected conditions or integers in & | ^ << >>, got a float", lambda b, h, i, j: (i * 0.5) | 2 > 1)
        self.refuses("expected numbers, got conditions", lambda b, h, i, j: (i < j) - (j < 3) > 0)
        self.refuses("expected a divisor that is never 0, got one from 0 to 0", lambda b, h, i, j: i % 0 == 1)
        self.refuses("expected a divisor that is never 0, got one from 0 to ", lambda b, h, i, j: i // j == 1)
        self.refuses("expected an integer of 32 bits, got 4294967296", lambda b, h, i, j: i < 2**32)
        self.refuses("expected a number or a traced value, got str", lambda b, h, i, j: i < "3")
        self.refuses("expected the score to give a number, got i1", lambda s, b, h, i, j: s > 0, mask.trace_score)
        ids = mask.tensor(tensor("i32", (S,), DOCUMENTS))
        self.refuses("expected 1 positions in a tensor of rank 1, got 2", lambda b, h, i, j: ids[b, i] == 0)

    def test_arrays_that_are_too_short(self):
        """Found when a kernel is called: what is read at each position has an element there."""
        ids, table = tensor("i32", (1, S - 1), DOCUMENTS[:-1]), tensor("f32", (1, 2), [0.0] * 2)
        counts, indices = tensor("i32", (1, 2, 3), [0] * 6), tensor("i32", (1, 2, 3, 1), [0] * 6)
        for kind, read, wanted, options in (
            ("mask", "0", "dim 1 to be at least 64 (M), got 63", {"mask_mod": mask.document(ids)}),
            ("score", "0", "dim 0 to be at least 2 (Hq), got 1", {"score_mod": mask.trace_score(
                lambda s, b, h, i, j: s + mask.tensor(table)[h, i // 32])}),
            ("mask", "0", "dim 2 to be at least 4 (M / 16), got 3", {"mask_mod": mask.listed(counts, indices, (16, 32))}),
        ):
            for device in ("cpu", "sim") if LONG or kind == "score" else ("sim",):
                with self.assertRaises(attn_mlir.BindingError) as raised:
                    attn_mlir.attention(ZEROS, ZEROS, IDENTITY, device=device, **options)
                self.assertEqual(str(raised.exception), f"array {read} that the {kind} reads: expected {wanted}")

    def test_outside(self):
        kept = []
        mask.trace_mask(lambda b, h, i, j: (kept.append(i), i < j)[1])
        with self.assertRaisesRegex(mask.TraceError, "got a use of a symbol outside of it"):
            kept[0] + 1

    def test_arguments(self):
        for message, make in {
            "expected alignment top_left or bottom_right, got 'left'": lambda: mask.causal("left"),
            "expected left to be an integer of at least 0, got -1": lambda: mask.sliding_window(-1),
            "expected size to be an integer of at least 1, got 2.5": lambda: mask.chunked(2.5),
            "expected blocks to be a power of two, got 6": lambda: mask.butterfly(8, 6),
            "expected cap to be a positive number of f32, got 0": lambda: mask.soft_cap(0),
            "expected cap to be a positive number of f32, got 1e-40": lambda: mask.soft_cap(1e-40),
            "expected cap to be a positive number of f32, got inf": lambda: mask.soft_cap(float("inf")),
            "expected window of at most (8, 8), got (9, 3)": lambda: mask.neighborhood((8, 8), (9, 3)),
            "expected tiles that divide (8, 8), got (3, 4)": lambda: mask.tiled_neighborhood((8, 8), (3, 4), (1, 1)),
            "expected document ids of rank 1 or 2, got 3": lambda: mask.document(tensor("i32", (1, 1, 1), [0])),
        }.items():
            with self.assertRaises(attn_mlir.AttnError) as caught:
                make()
            self.assertEqual(str(caught.exception), message)


if __name__ == "__main__":
    sys.exit(unittest.main())
