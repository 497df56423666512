"""Plans carried out by threads: results against float64 of the whole attention, bits against one rank, bytes against formulas.

distributed.py [TEST...]
"""

import random
import sys
import threading
import unittest
import unittest.mock

import numpy as np

import attn_mlir
from attn_mlir import functional, mask
from attn_mlir.distributed import Mailboxes, Plan, PlanError, ThreadCommunicator, make_plan, simulate
from attn_mlir.distributed.executor import Executor
from attn_mlir.distributed.ranges import count
from sweep import LONG

#: Of results of f32 and f16, beside float64; a part of the largest element.
TOLERANCE = {np.float32: 3e-6, np.float16: 2e-3}


class Whole:
    """An attention in float64, with gradients of what d_output and d_lse weigh."""

    def __init__(self, q, k, v, d_output, d_lse, sees, score=None, kept=1.0):
        q, k, v, d_output, d_lse = (array.astype(np.float64) for array in (q, k, v, d_output, d_lse))
        group = q.shape[1] // k.shape[1]
        k_rows, v_rows = (np.repeat(array, group, axis=1) for array in (k, v))
        scale = 1 / np.sqrt(q.shape[-1])
        scores = np.einsum("bhid,bhjd->bhij", q, k_rows) * scale
        slope = np.ones_like(scores)
        if score:
            scores, slope = score(scores)
        scores = np.where(sees, scores, -np.inf)
        most = scores.max(-1, keepdims=True)
        weights = np.where(sees, np.exp(scores - np.where(np.isinf(most), 0, most)), 0)
        total = weights.sum(-1, keepdims=True)
        p = weights / np.where(total, total, 1)
        self.output = (p * kept) @ v_rows
        with np.errstate(divide="ignore"):
            self.lse = (np.where(np.isinf(most), 0, most) + np.log(total))[..., 0]
        delta = (d_output * self.output).sum(-1, keepdims=True) - d_lse[..., None]
        self.d_change = p * (kept * (d_output @ v_rows.swapaxes(2, 3)) - delta)  # of what is added to a score
        d_scores = self.d_change * slope * scale
        by_group = (*k.shape[:2], group, -1)
        self.d_query = d_scores @ k_rows
        self.d_key = (d_scores.swapaxes(2, 3) @ q).reshape(*by_group, k.shape[3]).reshape(k.shape[0], k.shape[1], group, *k.shape[2:]).sum(2)
        self.d_value = ((p * kept).swapaxes(2, 3) @ d_output).reshape(v.shape[0], v.shape[1], group, *v.shape[2:]).sum(2)


def philox(counter, key):
    """Philox 4x32-10 of docs/Spec.md, on arrays of u64 that hold 32 bits."""
    word = np.uint64(2**32 - 1)
    for _ in range(10):
        a, c = (np.uint64(m) * counter[n] for m, n in ((0xD2511F53, 0), (0xCD9E8D57, 2)))
        counter = [(c >> np.uint64(32)) ^ counter[1] ^ key[0], c & word, (a >> np.uint64(32)) ^ counter[3] ^ key[1], a & word]
        key = [(k + np.uint64(n)) & word for k, n in zip(key, (0x9E3779B9, 0xBB67AE85))]
    return counter


def keeps(seed, offset, rate, shape):
    """1 / (1 - rate) where dropout keeps an element of the whole, else 0."""
    b, h, i, j = np.indices(shape).astype(np.uint64)
    halves = lambda number: [np.uint64(number >> shift & 2**32 - 1) for shift in (0, 32)]
    head = philox([*(half + 0 * b for half in halves(offset)), b, h], halves(seed))
    eight = np.uint64(8)
    words = philox([i & ~eight, j & ~eight, head[2], head[3]], head[:2])
    number = np.where(i & eight > 0, np.where(j & eight > 0, words[3], words[2]), np.where(j & eight > 0, words[1], words[0]))
    return np.where(number >= int(rate * 2**32), 1 / (1 - rate), 0)


def setUpModule():
    """One kernel for calls of all sizes: those for few rows or keys are tested without ranks."""
    for name in ("CPU_TILES", "CPU_KEY_TILES"):
        patch = unittest.mock.patch.object(functional, name, ())
        patch.start()
        unittest.addModuleCleanup(patch.stop)


NAMES = ("output", "lse", "d_query", "d_key", "d_value")


def arrays_of(tokens, heads, key_heads, dim=16, value_dim=16, batch=1, dtype=np.float32, seed=1):
    generator = np.random.default_rng(seed)
    shapes = ((heads, dim), (key_heads, dim), (key_heads, value_dim), (heads, value_dim))
    q, k, v, d_output = (generator.standard_normal((batch, h, tokens, d)).astype(dtype) for h, d in shapes)
    return q, k, v, d_output, generator.standard_normal((batch, heads, tokens)).astype(np.float32)


def band(tokens, left, right):
    i, j = np.indices((tokens, tokens))
    return (j >= i - (tokens if left is None else left)) & (j <= i + (tokens if right is None else right))


class Distributed(unittest.TestCase):
    def check(self, plan, arrays, sees, score=None, kept=1.0, **options):
        q, k, v, d_output, d_lse = arrays
        got = simulate(plan, q, k, v, d_output=d_output, d_lse=d_lse, **options)
        want = Whole(*arrays, sees, score, kept)
        for name in NAMES:
            a, b = getattr(got, name), getattr(want, name)
            self.assertEqual(a.shape, b.shape)
            seen = np.isfinite(b)
            self.assertTrue((np.isfinite(a) == seen).all(), name)
            worst = np.abs(a[seen] - b[seen]).max() / max(1.0, np.abs(b[seen]).max())
            self.assertLess(worst, TOLERANCE[q.dtype.type], f"{name}, {plan.scheme}, {plan.placement}")
        return got

    def plan(self, tokens, heads, key_heads, ranks, chunk=16, **options):
        return make_plan(
            ranks=ranks, tokens=tokens, heads=heads, key_heads=key_heads, head_dim=16, dtype="f32", chunk=chunk, **options
        )

    def one_kernel(self, *sizes, **options):
        """A plan whose positions are read from tables, also those of ranges: one kernel for all calls. In a long run as planned."""
        plan = self.plan(*sizes, **options)
        plan.is_deterministic = plan.is_deterministic or not LONG
        return plan

    def test_schemes(self):
        """Each scheme, and each placement that it has, under a causal mask; 250 tokens are no multiple of anything."""
        arrays, sees = arrays_of(250, 4, 2), band(250, None, 0)
        schemes = {
            "group-cast": ("contiguous", "zigzag", "striped", "heap"),
            "group-cast, own first": ("zigzag", "heap"),
            "all-gather": ("contiguous",),
            "ring": ("contiguous", "zigzag", "striped"),
            "query-cast": ("contiguous", "zigzag"),
            "all-to-all": ("contiguous",),
            "all-to-all 2 x ring": ("contiguous", "zigzag"),
        }
        for scheme, placements in schemes.items():
            for placement in placements:
                with self.subTest(scheme=scheme, placement=placement):
                    plan = self.plan(250, 4, 2, 4, causal=True, scheme=scheme, placement=placement)
                    self.assertEqual((plan.scheme, plan.placement), (scheme, placement))
                    self.check(plan, arrays, sees)

    def test_masks(self):
        """Windows, documents, a mask_mod and a score_mod of the whole's positions; ranks of which some have nothing."""
        arrays = arrays_of(130, 4, 1)
        i, j = np.indices((130, 130))
        lengths = (5, 60, 1, 64)
        ids = np.repeat(np.arange(4), lengths)
        with self.subTest("window"):
            self.check(self.one_kernel(130, 4, 1, 3, window=(20, 3)), arrays, band(130, 20, 3))
        with self.subTest("documents"):
            same = ids[:, None] == ids
            for placement in ("documents", "contiguous"):
                self.check(self.one_kernel(130, 4, 1, 3, causal=True, documents=lengths, placement=placement), arrays, same & (j <= i))
        with self.subTest("mods"):
            slopes = np.array([0.5, 0.25, 0.125, 0.0625], np.float32)
            slope, extent = mask.tensor(slopes), mask.tensor(np.full(1, 7, np.int32))
            self.check(
                self.one_kernel(130, 4, 1, 4, causal=True), arrays, (j <= i) & ((i + j) % 7 != 3),
                lambda s: (s + slopes[:, None, None] * (j - i), np.ones_like(s)),
                mask_mod=lambda b, h, i, j: (i + j) % extent[0] != 3,
                score_mod=lambda s, b, h, i, j: s + slope[h] * (j - i),
            )  # fmt: skip
        causal, some = mask.causal("bottom_right"), mask.trace_mask(lambda b, h, i, j: j > 9)
        with self.subTest("lengths, rows without keys"):
            self.check(self.one_kernel(130, 4, 1, 2), arrays, (j <= i) & (j > 9), mask_mod=causal & some)
        if LONG:
            with self.subTest("lengths"):
                self.check(self.plan(130, 4, 1, 2), arrays, j <= i, mask_mod=causal)
            with self.subTest("rows without keys"):
                self.check(self.plan(130, 4, 1, 2, causal=True), arrays, (j <= i) & (j > 9), mask_mod=some)
        with self.subTest("ranks without tokens"):
            few = arrays_of(40, 4, 1)
            for scheme in ("group-cast", "ring", "query-cast"):
                plan = self.one_kernel(40, 4, 1, 8, causal=True, scheme=scheme)
                self.assertTrue(any(not rank.rows for rank in plan.ranks))
                self.check(plan, few, band(40, None, 0))

    def test_heads(self):
        """More ranks than key heads have copies of them; mods see the heads of the whole."""
        arrays = arrays_of(96, 8, 2, batch=2)
        slopes = np.linspace(0, 1, 8, dtype=np.float32)
        slope = mask.tensor(slopes)
        i, j = np.indices((96, 96))
        for ranks in (2, 4):
            plan = self.one_kernel(96, 8, 2, ranks, batch=2, causal=True, scheme="all-to-all")
            got = self.check(
                plan, arrays, j <= i, lambda s: (s + slopes[:, None, None] * (j - i), np.ones_like(s)),
                score_mod=lambda s, b, h, i, j: s + slope[h] * (j - i),
            )  # fmt: skip
            # (P - 1) / P n e (Hq + max(1, P / Hkv) Hkv)(D + Dv), of all B; LSE goes beside.
            tokens = 96 // ranks
            self.assertEqual({b for b in got.forward_bytes}, {2 * 4 * tokens * (ranks - 1) * (8 + max(2, ranks)) * 32 // ranks})

    def test_sink(self):
        """It is in one part of each row, also where a rank computes none."""
        q, k, v, d_output, d_lse = arrays_of(96, 4, 2)
        sink = np.array([0.5, -1, 2, 0], np.float32)
        options = {"mask_mod": lambda b, h, i, j: j > 3, "causal": True, "return_lse": True}
        output, lse = attn_mlir.attention(q, k, v, sink=sink, **options)
        del options["return_lse"]
        wanted = attn_mlir.attention_backward(q, k, v, output, lse, d_output, d_lse=d_lse, **options)
        delta = (d_output * output).sum(-1) - d_lse
        d_sink = -(np.exp(sink[:, None] - lse) * delta).sum((0, 2))
        for scheme in ("group-cast", "ring", "all-to-all", "all-to-all 2 x ring", "query-cast"):
            plan = self.one_kernel(96, 4, 2, 4, causal=True, scheme=scheme)
            got = simulate(plan, q, k, v, sink=sink, d_output=d_output, d_lse=d_lse, mask_mod=options["mask_mod"])
            for a, b in zip((got.output, got.lse, got.d_query, got.d_key, got.d_value, got.d_sink), (output, lse, *wanted, d_sink)):
                self.assertLess(np.abs(a - b).max(), 1e-5, scheme)

    def test_dropout(self):
        """What one device drops: by the definition of docs/Spec.md, and by its kernels."""
        arrays = arrays_of(75, 4, 2, batch=2)
        number = {"dropout": 0.4, "seed": 2**63 + 41, "offset": 5 << 31}
        kept = keeps(number["seed"], number["offset"], 0.4, (2, 4, 75, 75))
        for scheme, shards in (("group-cast", 1), ("ring", 1), ("all-to-all 2 x ring", 2), ("query-cast", 1)):
            plan = self.plan(75, 4, 2, 4, 8, batch=2, causal=True, scheme=scheme, placement="zigzag")
            self.assertEqual(plan.head_shards, shards)
            plan.is_deterministic = True  # positions from tables: one kernel for all
            got = self.check(plan, arrays, band(75, None, 0), kept=kept, **number)
        number["seed"] -= 2**64
        output = attn_mlir.attention(*arrays[:3], causal=True, **number)
        self.assertLess(np.abs(got.output - output).max(), 5e-6)

    def test_captures(self):
        """Gradients of what score_mod reads are summed over ranks: those of one process in float64, and finite differences."""
        arrays = arrays_of(90, 4, 2)
        q, k, v, d_output, d_lse = arrays
        generator = np.random.default_rng(4)
        slopes, table = generator.standard_normal(4), generator.standard_normal((4, 179))

        def mod(slopes, table):
            slope, offset = (mask.tensor(array.astype(np.float32)) for array in (slopes, table))
            return lambda s, b, h, i, j: s + slope[h] * (j - i) * 0.1 + offset[h, i - j + 89]

        i, j = np.indices((90, 90))

        def loss(slopes, table):
            change = slopes[:, None, None] * (j - i) * 0.1 + table[np.arange(4)[:, None, None], i - j + 89]
            want = Whole(*arrays, j <= i, lambda s: (s + change, np.ones_like(s)))
            return (want.output * d_output).sum() + (want.lse * d_lse).sum()

        step = 1e-5
        for scheme in ("group-cast", "ring", "all-to-all", "all-to-all 2 x ring", "query-cast"):
            plan = self.one_kernel(90, 4, 2, 4, causal=True, scheme=scheme)
            got = simulate(plan, q, k, v, d_output=d_output, d_lse=d_lse, score_mod=mod(slopes, table))
            self.assertEqual([d.shape for d in got.d_reads], [(4,), (4, 179)])
            for which, place in ((0, (1,)), (0, (3,)), (1, (0, 89)), (1, (2, 95)), (1, (3, 170))):
                at = [np.zeros(4), np.zeros((4, 179))]
                at[which][place] = step
                slope = (loss(slopes + at[0], table + at[1]) - loss(slopes - at[0], table - at[1])) / (2 * step)
                self.assertLess(abs(got.d_reads[which][place] - slope), 2e-5 * max(1, abs(slope)), scheme)

    def test_bias(self):
        """Each rank has the bias of its rows; keys that do not see each other have no gradient."""
        arrays = arrays_of(90, 4, 2, batch=2)
        generator = np.random.default_rng(6)
        shapes = {
            "group-cast": ((2, 1, 90, 1), *(((2, 4, 90, 90), (1, 4, 90, 90), (1, 4, 1, 90)) if LONG else ())),
            "group-cast, own first": ((2, 4, 90, 90),),
            "ring": ((1, 4, 1, 90),),
        }
        for scheme in shapes:
            plan = self.one_kernel(90, 4, 2, 4, batch=2, causal=True, scheme=scheme)
            for shape in shapes[scheme]:
                bias = generator.standard_normal(shape).astype(np.float32)
                change = lambda s: (s + bias, np.ones_like(s))  # noqa: B023, E731
                got = self.check(plan, arrays, band(90, None, 0), change, bias=bias)
                broadcast = tuple(axis for axis, size in enumerate(shape) if size == 1)
                d_bias = Whole(*arrays, band(90, None, 0), change).d_change.sum(broadcast, keepdims=True)
                self.assertEqual(got.d_bias.shape, shape)
                self.assertLess(np.abs(got.d_bias - d_bias).max(), 1e-5 * max(1, np.abs(d_bias).max()), f"{scheme}, {shape}")

    def test_lengths(self):
        """Sequences of a batch end where they like, also before a rank's first token; what is behind is not read."""
        arrays = arrays_of(90, 4, 2, batch=3)
        lengths = np.array([90, 17, 0], np.int32)
        i, j = np.indices((90, 90))
        exists = np.maximum(i, j) < lengths[:, None, None, None]
        for scheme in ("group-cast", "ring", "all-to-all", "all-to-all 2 x ring", "query-cast"):
            plan = self.one_kernel(90, 4, 2, 4, batch=3, causal=True, scheme=scheme)
            self.check(plan, arrays, (j <= i) & exists, lengths=lengths)
            torn = [array.copy() for array in arrays]
            for array in torn:
                for b, length in enumerate(lengths):
                    array[b, :, length:] = np.nan
            a, b = (simulate(plan, *t[:3], d_output=t[3], d_lse=t[4], lengths=lengths) for t in (arrays, torn))
            for name in ("output", "d_query", "d_key", "d_value"):
                for batch, length in enumerate(lengths):
                    self.assertEqual(getattr(a, name)[batch, :, :length].tobytes(), getattr(b, name)[batch, :, :length].tobytes(), name)
                    self.assertFalse(getattr(b, name)[batch, :, length:].any(), name)

    def test_options(self):
        """What means another thing on a part than on the whole is refused on all ranks."""
        q, k, v, _, _ = arrays_of(64, 4, 2)
        plan = self.plan(64, 4, 2, 2, causal=True)
        for options, message in (
            ({"dropout": 0.1}, "expected a seed with dropout, got none"),
            ({"dropout": 1.0, "seed": 1}, "expected dropout to be at least 0 and below 1, got 1.0"),
            ({"causal": True}, "expected no causal on several ranks, got True: the plan has it"),
            ({"key_lengths": np.array([3], np.int32)}, "expected no key_lengths on several ranks, .*: pass lengths"),
            ({"windw": 3}, "expected no windw on several ranks, got 3: there are mask_mod, score_mod"),
            ({"bias": q[..., :1]}, r"bias: expected \[1, 4, 32, 64\], or 1 in place of a size, on rank . of the plan, got \[1, 2, "),
            ({"lengths": np.array([3], np.int64)}, r"lengths: expected 1 of i32, one for each batch, got i64 of \[1\]"),
        ):
            options = {**options, "bias": k[..., :1]} if "bias" in options else options
            with self.assertRaisesRegex(attn_mlir.AttnError, message):
                simulate(plan, q, k, v, **options)
        for scheme in ("all-to-all", "query-cast"):
            with self.assertRaisesRegex(PlanError, f"expected a plan that moves keys, with head_shards 1, for a bias, .*, got {scheme}"):
                simulate(self.plan(64, 4, 2, 2, scheme=scheme), q, k, v, bias=q[..., :1])

    def test_bits(self):
        """Output, LSE and dQ of deterministic plans are those of one rank; gradients are the same in every run."""
        masks = {"window": (200, 100)}, {"causal": True, "documents": (300, 723)}, {"causal": True}
        for mask_options in masks if LONG else masks[1:2]:
            arrays = arrays_of(1023, 2, 1, dtype=np.float16)
            q, k, v, d_output, d_lse = arrays
            results = []
            for ranks, placement in ((1, None), (2, "zigzag"), (3, "heap"), (4, "contiguous"), (4, "zigzag")):
                plan = self.plan(1023, 2, 1, ranks, 128, deterministic=True, placement=placement, **mask_options)
                results.append(simulate(plan, q, k, v, d_output=d_output, d_lse=d_lse))
            for other in results[1:]:
                for name in ("output", "lse", "d_query"):
                    self.assertEqual(getattr(other, name).tobytes(), getattr(results[0], name).tobytes(), name)
            again = simulate(plan, q, k, v, d_output=d_output, d_lse=d_lse)
            for name in NAMES:
                self.assertEqual(getattr(again, name).tobytes(), getattr(results[-1], name).tobytes(), name)

    def test_one_process(self):
        """The bits of attn_mlir.attention, whose mask reads no positions."""
        q, k, v, d_output, _ = arrays_of(512, 2, 1)
        at_once = attn_mlir.attention(q, k, v, causal=True)
        plan = self.plan(512, 2, 1, 4, 128, causal=True, deterministic=True)
        self.assertEqual(simulate(plan, q, k, v).output.tobytes(), at_once.tobytes())

    def test_random(self):
        """Predicates, sizes and numbers of ranks drawn at random; all keys are planned to be needed. The kernels read what is
        drawn, so that they are compiled once."""
        pick = random.Random(3)
        for _ in range(6):
            tokens, ranks = pick.randrange(1, 150), pick.choice([1, 2, 3, 4, 8])
            seed, step, least = pick.randrange(1, 99), pick.randrange(2, 9), pick.randrange(0, 60)
            i, j = np.indices((tokens, tokens))
            sees = ((i * seed + j) % step != 0) & (abs(i - j) >= least % 7) | (j == least)
            with self.subTest(tokens=tokens, ranks=ranks, seed=seed, step=step, least=least):
                plan = self.one_kernel(tokens, 2, 2, ranks)
                c = mask.tensor(np.array([seed, step, least % 7, least], np.int32))
                self.check(
                    plan, arrays_of(tokens, 2, 2, seed=seed), sees,
                    mask_mod=lambda b, h, i, j: ((i * c[0] + j) % c[1] != 0) & (abs(i - j) >= c[2]) | (j == c[3]),  # noqa: B023
                )  # fmt: skip

    def test_predicates(self):
        """Plans of any mask: keys that no row of a rank sees stay where they are."""
        i, j = np.indices((256, 256))
        ids = mask.tensor(np.arange(256, dtype=np.int32) % 5)
        cases = {
            "blocks": (lambda b, h, i, j: i // 64 == j // 64, i // 64 == j // 64, 0),
            "dual scope": (lambda b, h, i, j: (abs(i - j) < 9) | (j % 64 == 0), (abs(i - j) < 9) | (j % 64 == 0), None),
            "data": (lambda b, h, i, j: (ids[i] == ids[j]) & (j <= i), (i % 5 == j % 5) & (j <= i), None),
            "heads": (lambda b, h, i, j: (j <= i) & (i - j < 20 * (h + 1)), (j <= i) & (i - j < 20 * (np.arange(4)[:, None, None] + 1)), None),
            "lengths": (mask.causal("bottom_right"), j <= i, None),
        }
        for name in cases if LONG else ("blocks", "data"):
            predicate, sees, sent = cases[name]
            with self.subTest(name):
                plan = self.one_kernel(256, 4, 2, 4, mask_mod=predicate)
                self.assertEqual(plan.mask_text, "blocks")
                got = self.check(plan, arrays_of(256, 4, 2), np.broadcast_to(sees, (1, 4, 256, 256)), mask_mod=predicate)
                if sent is not None:
                    self.assertEqual(sum(got.forward_bytes), sent)
                with self.assertRaisesRegex(PlanError, "expected the mask_mod that the plan was made for, got none"):
                    simulate(plan, *arrays_of(256, 4, 2)[:3])
        with self.assertRaisesRegex(PlanError, "expected a mask_mod or causal, window and documents, got both"):
            self.plan(256, 4, 2, 4, mask_mod=mask.causal(), causal=True)

    def test_bytes(self):
        """What threads have sent is what plans say."""
        q, k, v, d_output, d_lse = arrays_of(256, 4, 2)
        element = 2 * 32 * 4  # of a token: Hkv (D + Dv) e
        for scheme, placement, options in (
            ("group-cast", "contiguous", {"window": (31, 0)}),
            ("ring", "contiguous", {}),
            *([("group-cast", "zigzag", {"causal": True}), ("all-gather", "contiguous", {})] if LONG else []),
        ):
            plan = self.one_kernel(256, 4, 2, 4, scheme=scheme, placement=placement, **options)
            got = simulate(plan, q, k, v, d_output=d_output, d_lse=None if LONG else d_lse)
            for rank, (forward, backward) in enumerate(zip(got.forward_bytes, got.backward_bytes)):
                sent = sum(count(t) for stage in plan.ranks[rank].stages for t in stage.send.values())
                returned = sum(count(plan.returned(rank, peer)) for peer in range(4) if peer != rank)
                self.assertEqual((forward, backward), (sent * element, (sent + returned) * element))
            if options == {"window": (31, 0)}:
                self.assertEqual(got.forward_bytes, [31 * element] * 3 + [0])
            if not options:
                self.assertEqual(got.forward_bytes, [3 * 64 * element] * 4)

    def test_bytes_of_queries(self):
        """m Hq (d e + 4 dv + 4) for m rows both ways together, m Hq ((d + dv) e + 8) out and m Hq 4 d back: of f16, contiguous ranks
        and a causal mask rank r sends its 16 rows to r others, and answers the rows of 3 - r."""
        q, k, v, d_output, _ = arrays_of(64, 4, 2, 16, 16, dtype=np.float16)
        plan = make_plan(ranks=4, tokens=64, heads=4, key_heads=2, head_dim=16, chunk=16, causal=True, scheme="query-cast", placement="contiguous")
        got = self.check(plan, (q, k, v, d_output, np.zeros((1, 4, 64), np.float32)), band(64, None, 0))
        for r in range(4):
            out, back, heads = 16 * r, 16 * (3 - r), 4
            self.assertEqual(got.forward_bytes[r], heads * (out * 16 * 2 + back * (4 * 16 + 4)))
            self.assertEqual(got.backward_bytes[r], heads * (out * ((16 + 16) * 2 + 8) + back * 4 * 16))

    def test_simulated_gpu(self):
        """Kernels of both targets in the simulator."""
        arrays = arrays_of(128, 2, 1, 64, 64, dtype=np.float16)
        plan = make_plan(ranks=2, tokens=128, heads=2, key_heads=1, head_dim=64, chunk=32, causal=True, window=(70, 0), placement="zigzag", scheme="group-cast")
        for target in ("sm_80", "sm_90a") if LONG else ("sm_90a",):
            self.check(plan, arrays, band(128, 70, 0), device="sim", target=target)

    def test_disagreement(self):
        """Ranks that have other plans, or that fail, are an error on all of them."""
        q, k, v, _, _ = arrays_of(64, 2, 2)
        plans = [self.plan(64, 2, 2, 2, causal=causal, placement="contiguous", scheme="all-gather") for causal in (True, False)]
        mods = [lambda b, h, i, j: j > 3, lambda b, h, i, j: j > 4]
        for differ in ([plans, [None, None]], [plans[:1] * 2, mods]):
            mailboxes, errors = Mailboxes(2), []

            def work(rank):
                try:
                    executor = Executor(differ[0][rank], ThreadCommunicator(mailboxes, rank), {"mask_mod": differ[1][rank]})
                    executor.forward(*(array[:, :, 32 * rank : 32 * rank + 32] for array in (q, k, v)))
                except PlanError as error:
                    errors.append(str(error))

            threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(errors), 2)
            self.assertRegex(errors[0], "rank 1: expected what rank 0 has, plan .*, got ")
        with self.assertRaisesRegex(attn_mlir.AttnError, r"key: expected \[batch, heads, 32, head dim\], of the tokens of rank"):
            simulate(plans[0], q, k[..., None], v)
        with self.assertRaisesRegex(PlanError, "expected a plan for 3 ranks, as there are, got one for 2"):
            Executor(plans[0], ThreadCommunicator(Mailboxes(3), 0), {}).check(q, k, v)
        communicator = ThreadCommunicator(Mailboxes(2, timeout=0.1), 1)
        with self.assertRaisesRegex(attn_mlir.DeviceError, "rank 1: expected rank 0 to send within 0.1 s, got nothing"):
            communicator.agree("plan")

    def test_refused(self):
        plan = {"schema": "attn-mlir/plan/1", "scheme": "group-cast", "placement": "contiguous", "head_shards": 1, "tokens": 4, "chunk": 2}
        for message, ranks in {
            "expected each of 4 tokens on one rank, got 2 on all ranks, 2 of them distinct": [{"rows": [[0, 2]], "stages": []}],
            "rank 0, stage 0: expected calls to use what has arrived": [
                {"rows": [[0, 2]], "stages": [{"receive": [], "send": [], "calls": [{"rows": [[0, 2]], "keys": [[0, 3]]}]}]},
                {"rows": [[2, 4]], "stages": [{"receive": [], "send": [], "calls": []}]},
            ],
            "rank 0, stage 0: expected rank 1 to send what is received": [
                {"rows": [[0, 2]], "stages": [{"receive": [{"from": 1, "keys": [[2, 3]]}], "send": [], "calls": []}]},
                {"rows": [[2, 4]], "stages": [{"receive": [], "send": [], "calls": []}]},
            ],
            "rank 1: expected 0 stages, got 1": [
                {"rows": [[0, 2]], "stages": []},
                {"rows": [[2, 4]], "stages": [{"receive": [], "send": [], "calls": []}]},
            ],
            "without a valid": [{"rows": [[0, 4]]}],
            "rank 0: expected each key in one call, got it in two": [
                {"rows": [[0, 4]], "stages": [{"receive": [], "send": [], "calls": [{"rows": [[0, 4]], "keys": [[0, 3]]}] * 2}]},
            ],
            "rank 0, stage 0: expected calls of all rows that the rank has": [
                {"rows": [[0, 4]], "stages": [{"receive": [], "send": [], "calls": [{"rows": [[0, 3]], "keys": [[0, 3]]}]}]},
            ],
        }.items():
            with self.assertRaisesRegex(PlanError, message):
                Plan({**plan, "ranks": ranks})
        moves = {**plan, "scheme": "query-cast"}
        part = {"receive": [], "send": [], "calls": [{"rows": [[0, 2]], "keys": [[0, 2]]}]}
        for message, change, ranks in (
            ("expected head_shards 1 of a plan that moves queries, got 2", {"head_shards": 2}, [{"rows": [[0, 2]], "stages": []}, {"rows": [[2, 4]], "stages": []}]),
            ("rank 0, stage 0: expected calls of rows that have arrived, over keys that the rank owns", {}, [
                {"rows": [[0, 2]], "stages": [{**part, "calls": [{"rows": [[0, 3]], "keys": [[0, 2]]}]}]},
                {"rows": [[2, 4]], "stages": [{**part, "calls": []}]},
            ]),
            ("rank 0: expected each row in one call, got it in two", {}, [
                {"rows": [[0, 2]], "stages": [{**part, "calls": part["calls"] * 2}]}, {"rows": [[2, 4]], "stages": [{**part, "calls": []}]},
            ]),
        ):  # fmt: skip
            with self.assertRaisesRegex(PlanError, message):
                Plan({**moves, **change, "ranks": ranks})
        with self.assertRaisesRegex(PlanError, "expected head_shards to divide 0 ranks, got 1"):
            Plan({**plan, "tokens": 0, "ranks": []})
        with self.assertRaisesRegex(PlanError, "expected a plan of schema attn-mlir/plan/1, got 'x'"):
            Plan({"schema": "x"})
        with self.assertRaisesRegex(PlanError, "expected a scheme, a placement and head shards that there are for this problem, got 'rng', '' and any"):
            self.plan(64, 2, 2, 2, scheme="rng")
        q, k, v, _, _ = arrays_of(63, 2, 2)
        with self.assertRaisesRegex(attn_mlir.BindingError, "query: expected 64 tokens, as the plan has, got 63"):
            simulate(self.plan(64, 2, 2, 2), q, k, v)
        ids = mask.tensor(np.zeros(60, np.int32))
        q, k, v, _, _ = arrays_of(64, 2, 2)
        with self.assertRaisesRegex(attn_mlir.BindingError, r"expected dim 0 to be at least 64 \(tokens\), got 60"):
            simulate(self.plan(64, 2, 2, 2), q, k, v, mask_mod=lambda b, h, i, j: ids[i] == ids[j])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
