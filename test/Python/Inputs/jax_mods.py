"""JAX: mask_mod and score_mod of jax.numpy against a dense computation, gradients of what they read, and
dot_product_attention against jax.nn's own."""

import functools
import random
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import attn_mlir
from attn_mlir import mask
from attn_mlir.jax import attention, dot_product_attention
from attn_mlir.jax.attention import traced
from attn_mlir.mask import Score, TraceError
from sweep import LONG

B, H, N, D = 2, 4, 40, 16


def normal(seed, *shape):
    """By NumPy: JAX compiles a generator for each shape."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, np.float32))


def bernoulli(seed, *shape):
    """True in 7 of 10."""
    return jnp.asarray(np.random.default_rng(seed).random(shape) > 0.3)


IDS = jnp.asarray(np.sort(np.random.default_rng(9).integers(0, 4, (B, N))).astype(np.int32))
SLOPES = jnp.exp2(-8.0 * jnp.arange(1, H + 1) / H)
TABLE, BIAS = normal(11, H, 2 * N), normal(12, 1, H, N, N)
CAP = np.float32(20.0)


def causal(b, h, i, j):
    return i >= j


def window(b, h, i, j):
    return causal(b, h, i, j) & (i - j <= 11)


def document(b, h, i, j):
    return IDS[b, i] == IDS[b, j]


def prefix_by_head(b, h, i, j):
    return jnp.logical_or(jnp.where(h % 2 == 0, j < 7, j < 13), i >= j)


def dilated(b, h, i, j):
    return (jnp.abs(i - j) % 3 == 0) | ~(jnp.maximum(i, j) // 5 > 3)


def clipped(b, h, i, j):
    return jnp.abs(jnp.clip(i, 4, N - 5) - j) <= 4


def alibi(s, b, h, i, j):
    return s + SLOPES[h] * (j - i)


def table(s, b, h, i, j):
    return s * 1.5 + TABLE[h, i - j + N]


def rows(s, b, h, i, j):
    """An array read in two steps, and one whose index may be outside, where JAX takes the last element."""
    return s + BIAS[0, h][i][j] + SLOPES[h + i - 3]


def soft_cap(s, b, h, i, j):
    return CAP * jnp.tanh(s / CAP) + jax.nn.sigmoid(s)


def chosen(s, b, h, i, j):
    return jnp.where((i - j) % 2 == 1, s**3 / 9 - jnp.square(s), jnp.where(i >= j, s, -jnp.inf))


def taken(s, b, h, i, j):
    near = jnp.take(TABLE, jnp.minimum(jnp.abs(i - j), 5), axis=1, mode="clip")[h]
    return s + near - TABLE.at[h, i - j + N].get(mode="promise_in_bounds")


def bits(b, h, i, j):
    return ((i ^ j) < 16) & ((i & 3) <= (j | 1)) | (i >> 2 == j << 1) & ((i < 8) == 1)


def rounded(b, h, i, j):
    return (jnp.floor(i / 7) == jax.lax.div(j, 7)) | (jax.lax.rem(i - j, 5) == -3) | ((i >= j) * (j > 30))


def position_bias(s, b, h, i, j):
    """Of T5: distances in ranges that grow with their logarithm."""
    distance = jnp.abs(i - j)
    far = 4 + (jnp.log(jnp.maximum(distance, 1) / 4) * 3).astype(jnp.int32)
    return s + TABLE[h, jnp.where(distance < 4, distance, jnp.minimum(far, 9))]


def functions(s, b, h, i, j):
    smooth = jax.nn.softplus(s) + jnp.sin(s) * jnp.cos(i / 9) + jax.lax.erf(s) - jnp.expm1(s / 8) + jnp.abs(s) ** 1.5
    return smooth + jnp.sign(s) * jnp.log1p(jnp.abs(s)) + jnp.ceil(i / 5) - jnp.round(j / 5) + 0.9 ** jnp.abs(i - j)


OFFSETS = jnp.asarray([0, 7, 19, 30, N], jnp.int32)
ROWS = normal(13, B, H, N, 4)


def between(b, h, i, j):
    """Sequences by a search in their offsets."""
    return ((OFFSETS <= i).sum() == (j >= OFFSETS).sum()) & jnp.any((OFFSETS <= i) & (OFFSETS > j - 5))


def products(s, b, h, i, j):
    """Rows, element by element."""
    near = jnp.where(i >= j, ROWS[b, 0, j] / 2, ROWS[b, 1, j] ** 2)
    return s + jnp.dot(ROWS[b, h, i], ROWS[b, 0, j]) + jnp.max(near) - near.sum()


def several(b, h, i, j):
    """Each of them changes what is seen."""
    return (dilated(b, h, i, j) | bits(b, h, i, j)) != (rounded(b, h, i, j) & (clipped(b, h, i, j) != prefix_by_head(b, h, i, j)))


def sums(s, b, h, i, j):
    return products(s, b, h, i, j) + position_bias(s, b, h, i, j) + rows(s, b, h, i, j) + taken(s, b, h, i, j) - 3 * s


def curved(s, b, h, i, j):
    return functions(s, b, h, i, j) + soft_cap(s, b, h, i, j)


#: A kernel for each in a long run, otherwise some of them in one.
MASKS = [between, bits, rounded, document, prefix_by_head, dilated, clipped, causal, window] if LONG else [between, document, several]
SCORES = [products, position_bias, functions, rows, soft_cap, chosen, taken, alibi, table] if LONG else [sums, curved, chosen]
#: Those that are not the score and something that does not depend on it.
CURVED = [curved, chosen]


def mix(p, b, h, i, j):
    """With the identity, by a share of each head."""
    return (1 - SLOPES[h]) * p + jnp.where(i == j, SLOPES[h], 0)


def sharpened(p, b, h, i, j):
    return jnp.where(h == 1, 0, p * p / (p + 0.1)) + TABLE[h, i - j + N] * p


def dense(query, key, value, score_mod=None, mask_mod=None, prob_mod=None):
    """Output and LSE, of what the functions give for every element."""
    key, value = (jnp.repeat(t, query.shape[1] // t.shape[1], 1) for t in (key, value))
    scores = jnp.einsum("bhmd,bhnd->bhmn", query, key) / query.shape[-1] ** 0.5
    at = [p.flatten() for p in jnp.meshgrid(*map(jnp.arange, scores.shape), indexing="ij")]
    if score_mod:
        scores = jax.vmap(score_mod)(scores.flatten(), *at).reshape(scores.shape)
    if mask_mod:
        scores = jnp.where(jax.vmap(mask_mod)(*at).reshape(scores.shape), scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1)
    if prob_mod:
        changed = jax.vmap(prob_mod)(weights.flatten(), *at).reshape(scores.shape)
        weights = jnp.where(jnp.isneginf(scores), 0, changed)
    return weights @ value, jax.nn.logsumexp(scores, axis=-1)


def results_and_gradients(function, leaves, weights):
    """What `function` gives, and the gradients of its sum with `weights`."""
    results, pull = jax.vjp(function, *leaves)
    return results, pull(weights)


class Near(unittest.TestCase):
    def near(self, mine, theirs, most=2e-5):
        self.assertEqual((mine.shape, mine.dtype), (theirs.shape, theirs.dtype))
        np.testing.assert_allclose(np.asarray(mine, np.float64), np.asarray(theirs, np.float64), atol=most, rtol=most)


class Mods(Near):
    def setUp(self):
        self.q, self.k, self.v = normal(0, B, H, N, D), normal(1, B, 2, N, D), normal(2, B, 2, N, D)

    def check(self, gradients=True, **mods):
        leaves = self.q, self.k, self.v
        weights = normal(3, B, H, N, D), normal(4, B, H, N)
        ours, reference = functools.partial(attention, return_lse=True, **mods), functools.partial(dense, **mods)
        if not gradients:
            for mine, theirs in zip(jax.jit(ours)(*leaves), jax.jit(reference)(*leaves)):
                self.near(mine, theirs)
            return
        results, expected = results_and_gradients(ours, leaves, weights), jax.jit(
            lambda *leaves: results_and_gradients(reference, leaves, weights)
        )(*leaves)
        for tolerance, both in zip((2e-5, 1e-4), zip(results, expected)):
            for mine, theirs in zip(*both):
                self.near(mine, theirs, tolerance)

    def test_masks(self):
        for mask_mod in MASKS:
            with self.subTest(mask_mod.__name__):
                self.check(mask_mod in (window, document), mask_mod=mask_mod)

    def test_scores(self):
        for score_mod in SCORES:
            with self.subTest(score_mod.__name__):
                self.check(LONG or score_mod in CURVED, score_mod=score_mod)

    def test_probabilities(self):
        if LONG:
            self.check(prob_mod=mix, mask_mod=window)
        self.check(prob_mod=sharpened, score_mod=alibi)

    def test_gradients_of_what_prob_mod_reads(self):
        def loss(function, shares):
            change = lambda p, b, h, i, j: p * shares[h] + p**2  # noqa: E731
            return jnp.sin(function(self.q, self.k, self.v, prob_mod=change, mask_mod=window)).sum()

        shares = normal(3, H)
        expected = jax.jit(jax.grad(lambda s: loss(lambda *a, **k: dense(*a, **k)[0], s)))(shares)
        self.near(jax.jit(jax.grad(lambda s: loss(attention, s)))(shares), expected, 2e-4)

    def test_prob_mod_that_is_none(self):
        with self.assertRaisesRegex(attn_mlir.BindingError, r"expected a function of \(probability, b, h, i, j\) as prob_mod, got float"):
            attention(self.q, self.k, self.v, prob_mod=0.5)

    def test_gradients_of_what_is_read(self):
        """Through operations of JAX on the arrays too, under jit; the temperature is a number of its own."""

        def loss(function, leaves):
            slopes, bias, rel, temperature = leaves

            def score_mod(s, b, h, i, j):
                return s * temperature + jnp.exp(slopes)[h] + bias[0, h, i, j] + rel[i - j + N]

            return jnp.sin(function(self.q, self.k, self.v, score_mod=score_mod, mask_mod=window)).sum()

        leaves = normal(3, H), normal(4, 1, H, N, N), normal(5, 2 * N), jnp.float32(0.7)
        expected = jax.jit(jax.grad(lambda *t: loss(lambda *a, **k: dense(*a, **k)[0], t), (0, 1, 2, 3)))(*leaves)
        for mine, theirs in zip(jax.jit(jax.grad(lambda *t: loss(attention, t), (0, 1, 2, 3)))(*leaves), expected):
            self.near(mine, theirs, 2e-4)

    def test_beside_other_options(self):
        seen = bernoulli(6, 1, H, N, 1)
        both = attention(self.q, self.k, self.v, mask=seen, mask_mod=document, causal="top_left", score_mod=alibi)
        together = lambda b, h, i, j: document(b, h, i, j) & (i >= j) & seen[0, h, i, 0]  # noqa: E731
        expected = jax.jit(lambda *t: jnp.nan_to_num(dense(*t, alibi, together)[0]))(self.q, self.k, self.v)
        self.near(both, expected)
        named = mask.document(np.asarray(IDS)) & mask.causal("top_left")
        self.near(attention(self.q, self.k, self.v, mask=seen, mask_mod=named, score_mod=alibi), expected)

    def test_vmap(self):
        slopes = normal(8, 3, H)
        f = lambda q, s: attention(q, self.k, self.v, score_mod=lambda x, b, h, i, j: x + s[h] * (j - i))  # noqa: E731
        q = normal(7, 3, B, H, N, D)
        self.near(jax.vmap(f)(q, slopes), jnp.stack([f(x, s) for x, s in zip(q, slopes)]))

    def test_regions(self):
        """A position that is inside needs no check, and arrays are read, not compiled in."""
        score, shifted = (Score(traced(function, (B, H, N, N))) for function in (table, rows))
        self.assertIs(score.arrays[0], TABLE)
        self.assertNotRegex(str(score), "select|cmpi|minsi|maxsi")
        self.assertRegex(str(shifted), "select(.|\n)*minsi")

    def test_forward_mode(self):
        call = lambda q: attention(q, self.k, self.v, score_mod=alibi)  # noqa: E731
        with self.assertRaisesRegex(TypeError, "forward-mode"):
            jax.jvp(call, (self.q,), (self.q,))

    def test_rows_that_cannot_be_computed(self):
        def product(s, b, h, i, j):
            return s + jnp.sum(BIAS[0, h] @ ROWS[b, 0])

        def long(s, b, h, i, j):
            return s + jnp.sum(jnp.zeros(300)[:257] * s)

        for function, said in (
            (product, r"the product of two rows, as in jnp.dot\(a\[b, h, i\], c\[b, h, j\]\), got one of other arrays"),
            (long, "a row of at most 256 elements, which are computed one by one, got 257"),
        ):
            with self.assertRaisesRegex(attn_mlir.mask.TraceError, "jax_mods.py:.*: expected " + said):
                attention(self.q, self.k, self.v, score_mod=function)

    def test_what_cannot_be_traced(self):
        def sorts(s, b, h, i, j):
            return s + jnp.sort(jnp.stack([s, -s]))[0]

        def filled(s, b, h, i, j):
            return s + SLOPES.at[i].get(mode="fill")

        def doubled(s, b, h, i, j):
            return s, s

        for function, message in (
            (sorts, r"jax_mods.py:\d+: expected one of abs, .*got"),
            (filled, r"jax_mods.py:\d+: expected a position from 0 to 3, or mode='clip' or 'promise_in_bounds'"),
            (doubled, "expected one result of doubled, got 2"),
            (lambda s, b, h, i, j: s + jnp.arctan2(s, s), r"jax_mods.py:\d+: expected one of abs, .*got atan2"),
        ):
            with self.assertRaisesRegex(TraceError, message):
                attention(self.q, self.k, self.v, score_mod=function)
        for function in (
            lambda s, b, h, i, j: s if i > j else -s,
            lambda s, b, h, i, j: s + float(i),
            lambda s, b, h, i, j: s * np.tanh(j),
            lambda s, b, h, i, j: s + [0.0, 1.0][h],
        ):
            with self.assertRaisesRegex(TraceError, r"jax_mods.py:\d+: expected no decision on a traced value: write jnp.where for if"):
                attention(self.q, self.k, self.v, score_mod=function)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected soft_cap or score_mod, got both"):
            attention(self.q, self.k, self.v, score_mod=alibi, soft_cap=2.0)


class DotProduct(Near):
    """Arrays [B, T, N, H]. Rows that see no key are apart: JAX gives a mean, ours 0."""

    def compare(self, q, k, v, bias=None, seen=None, **options):
        rows = jnp.asarray(self.rows(q, k, seen, **options))[..., None]
        weights = normal(20, *q.shape[:-1], v.shape[-1]).astype(q.dtype) * rows
        leaves = (q, k, v) if bias is None else (q, k, v, bias)

        def results(function, *leaves):
            call = lambda q, k, v, bias=None: function(q, k, v, bias, seen, **options)  # noqa: E731
            output, gradients = results_and_gradients(call, leaves, weights)
            return jnp.where(rows, output, 0), *gradients

        expected = jax.jit(functools.partial(results, jax.nn.dot_product_attention))(*leaves)
        for mine, theirs in zip(results(dot_product_attention, *leaves), expected):
            self.near(mine, theirs, 2e-5 if q.dtype == jnp.float32 else 3e-2)

    def rows(self, q, k, given, is_causal=False, query_seq_lengths=None, key_value_seq_lengths=None, local_window_size=None, **_):
        """Which rows see a key, [..., T, N]."""
        i, j = np.arange(q.shape[-3])[:, None], np.arange(k.shape[-3])[None]
        seen = np.ones((*q.shape[:-3], q.shape[-2], i.size, j.size), bool)
        seen = seen & (np.asarray(given) if given is not None else True) & ((j <= i) if is_causal else True)
        if local_window_size is not None:
            left, right = (local_window_size,) * 2 if isinstance(local_window_size, int) else local_window_size
            seen = seen & (i <= j + left) & (i >= j - right)
        for length, position in ((query_seq_lengths, i), (key_value_seq_lengths, j)):
            if length is not None:
                seen = seen & (position < np.asarray(length)[:, None, None, None])
        return np.swapaxes(seen.any(-1), -1, -2)

    def test_random(self):
        pick = random.Random(1)
        for seed in range(6 if LONG else 2):
            b, t, s, heads = pick.randint(1, 3), pick.choice([1, 9, 20]), pick.choice([7, 24]), pick.choice([1, 2])
            n = heads * pick.choice([1, 3])
            q, k, v = normal(seed, b, t, n, 8), normal(seed + 50, b, s, heads, 8), normal(seed + 90, b, s, heads, 8)
            shape = [pick.choice([1, size]) for size in (b, n, t, s)]
            options = {"scale": pick.choice([None, 0.3]), "is_causal": pick.random() < 0.3}
            for name, size in (("query_seq_lengths", t), ("key_value_seq_lengths", s)):
                if pick.random() < 0.3:
                    options[name] = jnp.array([pick.randint(1, size) for _ in range(b)], jnp.int32)
            if pick.random() < 0.4:
                options["local_window_size"] = pick.choice([3, (4, 0), (2, 5)])
            bias = normal(seed + 7, *shape) if pick.random() < 0.4 else None
            seen = bernoulli(seed, *shape) if pick.random() < 0.4 else None
            with self.subTest(seed=seed, shapes=(q.shape, k.shape), **options):
                self.compare(q, k, v, bias, seen, **options)

    def test_forms(self):
        q, k, v = normal(0, 2, 9, 4, 16), normal(1, 2, 9, 2, 16), normal(2, 2, 9, 2, 16)
        if LONG:
            self.compare(q[0], k[0], v[0], is_causal=True)
            self.compare(q[0], k[0], v[0], seen=jnp.tril(jnp.ones((1, 9, 9), bool)))
        else:
            self.compare(q[0], k[0], v[0], seen=bernoulli(5, 1, 9, 9), is_causal=True)
        self.compare(*(t.astype(jnp.bfloat16) for t in (q, k, v)), is_causal=True, implementation="xla")
        both = (dot_product_attention, jax.nn.dot_product_attention)
        mine, theirs = (jax.jit(functools.partial(f, return_residual=True, is_causal=True))(q, k, v) for f in both)
        for a, b in zip(mine, theirs):
            self.near(a, b)

    def test_rows_without_keys(self):
        q = normal(0, 1, 5, 1, 8)
        lengths = jnp.array([3], jnp.int32)
        self.assertEqual(float(jnp.abs(dot_product_attention(q, q, q, query_seq_lengths=lengths)[:, 3:]).max()), 0)
        hidden = dot_product_attention(q, q, q, mask=jnp.zeros((1, 1, 5, 5), bool))
        self.assertEqual(float(jnp.abs(hidden).max()), 0)

    def test_refused(self):
        q = normal(0, 2, 5, 2, 8)
        for message, options in {
            "expected implementation to be None, 'xla' or 'cudnn', got 'flash'": {"implementation": "flash"},
            r"query_seq_lengths: expected int32 of shape \(2,\), got int32 of shape \(3,\)": {"query_seq_lengths": [1, 2, 3]},
            "expected window to be a number or": {"local_window_size": "wide"},
            "mask: expected dtype bool, got float32": {"mask": q},
        }.items():
            with self.assertRaisesRegex(attn_mlir.BindingError, message):
                dot_product_attention(q, q, q, **options)


if __name__ == "__main__":
    sys.exit(unittest.main())
