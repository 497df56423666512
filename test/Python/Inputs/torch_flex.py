"""PyTorch: flex_attention with the masks and score changes that people write, against a dense computation in float64, and
against torch's own function where it has one for the CPU."""

import math
import unittest

import torch
from torch.nn import functional
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, noop_mask
from torch.nn.attention.flex_attention import flex_attention as reference

from attn_mlir.errors import BindingError
from attn_mlir.mask import TraceError, trace_score
from attn_mlir.torch import flex_attention
from attn_mlir.torch.tracing import traced_as_torch

B, H, N, D = 2, 4, 80, 32
IDS = torch.sort(torch.randint(0, 4, (B, N), generator=torch.Generator().manual_seed(0))).values
OFFSETS = torch.tensor([0, 17, 40, 80], dtype=torch.int32)
DOCUMENT = torch.repeat_interleave(torch.arange(3), OFFSETS.diff())
WIDTH = 10


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def sliding_window(b, h, q_idx, kv_idx):
    return causal(b, h, q_idx, kv_idx) & (q_idx - kv_idx <= 20)


def prefix_lm(b, h, q_idx, kv_idx):
    return torch.logical_or(kv_idx < 30, causal(b, h, q_idx, kv_idx))


def document(b, h, q_idx, kv_idx):
    return IDS[b, q_idx] == IDS[b, kv_idx]


def jagged(b, h, q_idx, kv_idx):
    start = OFFSETS[DOCUMENT[q_idx]]
    return (DOCUMENT[q_idx] == DOCUMENT[kv_idx]) & (q_idx - start >= kv_idx - start)


def natten(b, h, q_idx, kv_idx):
    x, y = q_idx // WIDTH, q_idx % WIDTH
    cx, cy = torch.clamp(x, 2, N // WIDTH - 3), torch.clamp(y, min=2, max=WIDTH - 3)
    return (torch.abs(cx - kv_idx // WIDTH) <= 2) & (torch.abs(cy - kv_idx % WIDTH) <= 2)


def dilated(b, h, q_idx, kv_idx):
    return (torch.abs(q_idx - kv_idx) <= 30) & ((q_idx - kv_idx) % 3 == 0)


def global_and_local(b, h, q_idx, kv_idx):
    return (kv_idx < 4) | (q_idx < 4) | (torch.abs(q_idx - kv_idx) < 8)


def by_head(b, h, q_idx, kv_idx):
    return torch.where(h % 2 == 0, q_idx >= kv_idx, ~(q_idx - kv_idx > 11))


def two_dimensional(b, h, q_idx, kv_idx):
    """Of a picture: the same row or the same column."""
    return (q_idx // WIDTH == kv_idx // WIDTH) | (q_idx % WIDTH == kv_idx % WIDTH)


def morton(b, h, q_idx, kv_idx):
    """NATTEN of positions in the order of a Z curve."""

    def unravel(z):
        z = z & 0x55
        z = (z | (z >> 1)) & 0x33
        return (z | (z >> 2)) & 0x0F

    def near(a, c):
        return (a.clamp(2, 5) - c).abs() <= 2

    return near(unravel(q_idx), unravel(kv_idx)) & near(unravel(q_idx >> 1), unravel(kv_idx >> 1))


def block_diffusion(b, h, q_idx, kv_idx):
    """A noisy copy before the clean one: flags are compared with numbers."""
    half, size = N // 2, 8
    clean_q, clean_kv = (q_idx >= half), (kv_idx >= half)
    block_q = torch.where(clean_q == 1, (q_idx - half) // size, q_idx // size)
    block_kv = torch.where(clean_kv == 1, (kv_idx - half) // size, kv_idx // size)
    diagonal = (block_q == block_kv) & (clean_q == clean_kv)
    offset = (block_q > block_kv) & (clean_kv == 1) & (clean_q == 0)
    return diagonal | offset | ((block_q >= block_kv) & (clean_kv == 1) & (clean_q == 1))


def spans(b, h, q_idx, kv_idx):
    """Transfusion: causal, and spans of a picture that see themselves."""
    seen = q_idx >= kv_idx
    for k in range(2):
        start, length = SPANS[b, k, 0], SPANS[b, k, 1]
        seen = seen | ((q_idx >= start) & (q_idx < start + length) & (kv_idx >= start) & (kv_idx < start + length))
    return seen


def counted(b, h, q_idx, kv_idx):
    """What torch does with conditions and quotients as numbers, constants, and positions from the end."""
    both = (q_idx >= kv_idx) * (kv_idx > 3) + torch.eq(kv_idx, q_idx.new_zeros(()))
    last = IDS[b, -1] == IDS[b, kv_idx - N]
    return both.logical_and(last) | (torch.div(q_idx - kv_idx, 16, rounding_mode="trunc") == 0).logical_xor(torch.fmod(kv_idx, 5) == 1)


def packed(b, h, q_idx, kv_idx):
    """By the offsets of sequences alone, and rows of tables of conditions."""
    same = (OFFSETS <= q_idx).sum() == (OFFSETS <= kv_idx).sum()
    return same & ((kv_idx >= OFFSETS[1:]).any() | torch.isin(q_idx, torch.tensor([3, 5, 70])) | TABLE_OF_BOOLS[q_idx][kv_idx])


def listed_tiles(b, h, q_idx, kv_idx):
    """Tiles by lists of their numbers, as of video sparse attention: a row of a table beside a number that is made a dimension."""
    chosen = TILES[b, h, q_idx // 16]
    return (chosen == (kv_idx // 16).unsqueeze(-1)).any(dim=-1) | (kv_idx.unsqueeze(0) == torch.unsqueeze(q_idx, -1)).squeeze()


TILES = torch.randint(0, N // 16, (B, H, N // 16 + 1, 2), generator=torch.Generator().manual_seed(4))
TABLE_OF_BOOLS = torch.rand(N, N, generator=torch.Generator().manual_seed(5)) > 0.3
SPANS = torch.tensor([[[10, 20], [60, 15]], [[5, 16], [70, 8]]])
DILATIONS = torch.tensor([1, 2, 3, 4])


def dilated_by_head(b, h, q_idx, kv_idx):
    return (q_idx >= kv_idx) & ((q_idx - kv_idx) % DILATIONS[h] == 0) & ((kv_idx // DILATIONS[h]) >= 0)


MASKS = [packed, listed_tiles, two_dimensional, morton, block_diffusion, spans, counted, dilated_by_head, noop_mask, causal, sliding_window, prefix_lm, document, jagged, natten, dilated, global_and_local, by_head]
SLOPES = torch.exp2(-8.0 * torch.arange(1, H + 1) / H)
BIAS = torch.randn(B, 1, N, N, generator=torch.Generator().manual_seed(1))
TABLE = torch.randn(H, 2 * N, generator=torch.Generator().manual_seed(2))
CAP = torch.tensor(20.0)


def alibi(score, b, h, q_idx, kv_idx):
    return score + SLOPES[h] * (kv_idx - q_idx)


def relative(score, b, h, q_idx, kv_idx):
    return score + (q_idx - kv_idx)


def soft_cap(score, b, h, q_idx, kv_idx):
    return CAP * torch.tanh(score / CAP)


def table(score, b, h, q_idx, kv_idx):
    return score * 1.5 + TABLE[h, q_idx - kv_idx + N]


def full_bias(score, b, h, q_idx, kv_idx):
    return torch.add(score, BIAS[b, 0, q_idx, kv_idx])


def masked_score(score, b, h, q_idx, kv_idx):
    return torch.where(q_idx >= kv_idx, score, -float("inf"))


def checkerboard(score, b, h, q_idx, kv_idx):
    return torch.where(torch.abs(q_idx - kv_idx) % 2 == 1, score * 0.5, score)


def powers(score, b, h, q_idx, kv_idx):
    return score - torch.square(score) / 9 + torch.sigmoid(score) - torch.pow(score / 4, 3)


def position_bias(score, b, h, q_idx, kv_idx):
    """Of T5: distances in ranges that grow with their logarithm."""
    distance = torch.maximum(q_idx - kv_idx, torch.zeros_like(q_idx))
    far = 4 + (torch.log(distance.float() / 4) * 3).to(torch.int64)
    far = torch.minimum(far, torch.full_like(far, 9))
    return score + TABLE[h, torch.where(distance < 4, distance, far)]


@torch.library.custom_op("attn_mlir_test::tanh", mutates_args=())
def approximate_tanh(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x)


approximate_tanh.register_fake(torch.empty_like)


class ApproximateTanh(torch.autograd.Function):
    """As attention-gym has it: a custom op, for torch's compiler to replace."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.ops.attn_mlir_test.tanh(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * (1 - ctx.saved_tensors[0] ** 2)


def approximate_cap(score, b, h, q_idx, kv_idx):
    return 5 * ApproximateTanh.apply(score / 5)


def relative_from_end(score, b, h, q_idx, kv_idx):
    """Negative positions count from the end."""
    return score + TABLE[h, q_idx - kv_idx] + TABLE[-1, -3]


def waves(score, b, h, q_idx, kv_idx):
    near = torch.sin(q_idx * 0.1) * torch.cos(kv_idx * 0.1) + torch.pow(0.9, (q_idx - kv_idx).abs())
    return score * (q_idx >= kv_idx) + torch.add(near, (score.abs() + 1) ** 0.5, alpha=0.5) - (score.abs() + 1) ** -1


def activations(score, b, h, q_idx, kv_idx):
    smooth = functional.gelu(score) + functional.silu(score) + functional.softplus(score) + functional.elu(score) + torch.erf(score)
    sharp = functional.relu(score, inplace=False) + functional.leaky_relu(score) + functional.hardtanh(score) + torch.sign(score)
    hard = functional.hardswish(score) + functional.hardsigmoid(score) + functional.mish(score)
    return torch.lerp(smooth, sharp + hard, 0.25) + torch.floor(q_idx / 7) - torch.round(kv_idx / 9).to(score.dtype) + torch.log1p(score**2)


def latent(score, b, h, q_idx, kv_idx):
    """Of MLA: the product of rows that carry the positions, as attention-gym has it."""
    return score + 0.3 * torch.dot(ROWS[b, h, q_idx], ROWS[b, h // H, kv_idx]) + (ROWS[b, h, q_idx].exp() - score).tanh().mean()


ROWS = torch.randn(B, H, N, 8, generator=torch.Generator().manual_seed(4))


def guarded(score, b, h, q_idx, kv_idx):
    least = torch.tensor(torch.finfo(score.dtype).min, device=score.device)
    return torch.nan_to_num(torch.where(q_idx >= kv_idx, score, least)) + torch.logaddexp(score, score.new_full((), 1.0))


SCORES = [latent, position_bias, approximate_cap, relative_from_end, waves, activations, guarded, alibi, relative, soft_cap, table, full_bias, masked_score, checkerboard, powers]


def dense(query, key, value, score_mod=None, mask_mod=None, scale=None):
    """Output and LSE in float64, of what the functions give for every element."""
    group = query.shape[1] // key.shape[1]
    key, value = (t.double().repeat_interleave(group, 1).expand(query.shape[0], -1, -1, -1) for t in (key, value))
    scores = query.double() @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    at = torch.meshgrid(*(torch.arange(size) for size in scores.shape), indexing="ij")
    if score_mod:
        scores = torch.vmap(score_mod)(scores.flatten(), *(p.flatten() for p in at)).reshape(scores.shape)
    if mask_mod:
        seen = torch.vmap(lambda *p: mask_mod(*p) & torch.tensor(True))(*(p.flatten() for p in at)).reshape(scores.shape)
        scores = scores.masked_fill(~seen, -math.inf)
    lse = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - lse.masked_fill(lse == -math.inf, 0)[..., None])
    return weights @ value, lse


class Flex(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.q, self.k, self.v = (torch.randn(B, H, N, D) for _ in range(3))

    def near(self, mine, theirs, most=2e-5):
        self.assertEqual(mine.shape, theirs.shape)
        error = (mine.double() - theirs.double()).abs()
        self.assertLess(torch.nan_to_num(error, nan=0.0 if torch.equal(mine.isinf(), theirs.isinf()) else 1e9).max(), most)

    def check(self, score_mod, mask_mod, learned=()):
        """Output, LSE and all gradients."""
        leaves = [t.clone().requires_grad_() for t in (self.q, self.k, self.v)]
        results = []
        for function, mask in ((flex_attention, {"block_mask": mask_mod}), (dense, {"mask_mod": mask_mod})):
            returned = {"return_lse": True} if function is flex_attention else {}
            output, lse = function(*leaves, score_mod=score_mod, **mask, **returned)
            loss = output.double().sin().sum() + lse.double()[lse > -math.inf].cos().sum()
            results.append((output, lse, *torch.autograd.grad(loss, [*leaves, *learned])))
        for mine, theirs in zip(*results):
            self.near(mine, theirs, 2e-4 if mine.dim() < 4 else 5e-5)

    def test_masks(self):
        for mask_mod in MASKS:
            with self.subTest(mask_mod.__name__):
                self.check(None, mask_mod)
                blocks = create_block_mask(mask_mod, B, H, N, N, device="cpu", BLOCK_SIZE=16)
                mine, theirs = (f(self.q, self.k, self.v, block_mask=blocks) for f in (flex_attention, reference))
                self.near(mine, theirs)

    def test_scores(self):
        for score_mod in SCORES:
            with self.subTest(score_mod.__name__):
                self.check(score_mod, None)
                mine, theirs = (f(self.q, self.k, self.v, score_mod=score_mod) for f in (flex_attention, reference))
                self.near(mine, theirs, 5e-5)

    def test_gradients_of_what_is_read(self):
        slopes, bias, rel = (torch.randn(*shape, requires_grad=True) for shape in ((H,), (H, N, N), (2 * N,)))

        def learned(score, b, h, q_idx, kv_idx):
            return score * slopes[h] + bias[h, q_idx, kv_idx] + rel[q_idx - kv_idx + N]

        self.check(learned, causal, [slopes, bias, rel])

    def test_gradients_of_rows(self):
        rows = torch.randn(H, N, 4, requires_grad=True)
        few = lambda score, b, h, q_idx, kv_idx: score + rows[h, q_idx].sum() * rows[0, kv_idx, 0]  # noqa: E731
        self.check(few, causal, [rows])
        many = lambda score, b, h, q_idx, kv_idx: score + torch.dot(rows[h, q_idx], rows[h, kv_idx]) + rows[0, 0, 0]  # noqa: E731
        with self.assertRaisesRegex(BindingError, "score_mod: expected at most 8 reads of elements where these have gradients, got 9"):
            flex_attention(self.q, self.k, self.v, score_mod=many)

    def test_positions(self):
        """One that is known to be inside is read as it is; one that may be negative counts from the end."""
        inside, negative = (str(trace_score(traced_as_torch(f, (B, H, N, N)))) for f in (table, relative_from_end))
        self.assertNotRegex(inside, "select|cmpi")
        self.assertRegex(negative, f"constant {2 * N} : index(.|\n)*arith.select")

    def test_lists_of_blocks(self):
        """Blocks that the user lists, without a mask_mod; torch's own function heeds them only where it is compiled."""
        indices = torch.tensor([[0, 1, 2, 3, 4]] * 5, dtype=torch.int32)[None, None]
        counts = torch.tensor([1, 2, 3, 4, 5], dtype=torch.int32)[None, None]
        blocks = BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=16, seq_lengths=(N, N))
        mine, lse = flex_attention(self.q, self.k, self.v, block_mask=blocks, return_lse=True)
        theirs = dense(self.q, self.k, self.v, mask_mod=lambda b, h, q, k: k // 16 <= q // 16)
        self.near(mine, theirs[0])
        self.near(lse, theirs[1])

    def test_double(self):
        """Scores of f64 are computed in f64, whatever they read."""
        q, k, v = (t.double() for t in (self.q, self.k, self.v))
        for score_mod in (alibi, table, soft_cap, powers, masked_score, relative):
            self.near(flex_attention(q, k, v, score_mod=score_mod), dense(q, k, v, score_mod=score_mod)[0], 1e-12)
        rel, slopes = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((H, 2 * N), (H,)))

        def learned(score, b, h, q_idx, kv_idx):
            return score * slopes[h] + rel[h, q_idx - kv_idx + N]

        results = []
        for function in (flex_attention, dense):
            output = function(q, k, v, score_mod=learned)
            output = output[0] if isinstance(output, tuple) else output
            results.append((output, *torch.autograd.grad(output.sin().sum(), (rel, slopes))))
        for mine, theirs in zip(*results):
            self.near(mine, theirs, 1e-12)
        tensors = [torch.randn(1, 1, 5, 8, dtype=torch.float64, requires_grad=True) for _ in range(3)]
        score = lambda score, b, h, q_idx, kv_idx: torch.tanh(score) * SLOPES[0] + torch.square(score) * q_idx  # noqa: E731
        self.assertTrue(torch.autograd.gradcheck(lambda *t: flex_attention(*t, score_mod=score), tensors))

    def test_types_of_what_is_read(self):
        """Those that kernels do not have are converted before, with their gradients."""
        slopes = torch.randn(H, dtype=torch.float64, requires_grad=True)
        ids = IDS.to(torch.int16)
        score = lambda score, b, h, q_idx, kv_idx: score * slopes[h]  # noqa: E731
        mask_mod = lambda b, h, q_idx, kv_idx: ids[b, q_idx] == ids[b, kv_idx]  # noqa: E731
        results = []
        for function, mask in ((flex_attention, {"block_mask": mask_mod}), (dense, {"mask_mod": mask_mod})):
            output = function(self.q, self.k, self.v, score_mod=score, **mask)
            output = output[0] if isinstance(output, tuple) else output
            results.append((output, torch.autograd.grad(output.double().sin().sum(), slopes)[0]))
        for (mine, theirs), most in zip(zip(*results), (2e-5, 2e-4)):
            self.near(mine, theirs, most)

    def test_options(self):
        q, k, v = self.q, self.k[:, :2], self.v[:, :2]
        self.near(flex_attention(q, k, v, enable_gqa=True, scale=0.3), reference(q, k, v, enable_gqa=True, scale=0.3))
        self.near(flex_attention(q, self.k[:1], self.v[:1]), dense(q, self.k[:1], self.v[:1])[0])
        half = [t.half() for t in (self.q, self.k, self.v)]
        mine = flex_attention(*half, score_mod=soft_cap)
        self.assertEqual(mine.dtype, torch.float16)
        self.near(mine, dense(*half, score_mod=soft_cap)[0], 4e-3)

    def test_wrong_arguments(self):
        q, k, v = self.q, self.k, self.v
        blocks = create_block_mask(causal, None, None, 2 * N, N, device="cpu", BLOCK_SIZE=16)
        two, wide = create_block_mask(document, B, H, N, N, device="cpu", BLOCK_SIZE=16), [torch.cat([t, t]) for t in (q, k, v)]
        short = lambda score, b, h, q_idx, kv_idx: score + SLOPES[q_idx]  # noqa: E731
        for wanted, arguments, options in (
            (r"block_mask: expected a BlockMask or a mask_mod; a tensor is attn_mask of scaled", (q, k, v), {"block_mask": q > 0}),
            (r"score_mod: expected a function; a tensor is read in one, .*, got Tensor", (q, k, v), {"score_mod": q}),
            (r"array 0 that the mask reads: expected dim 0 to be at least 4 \(B\), got 2", wide, {"block_mask": two}),
            (r"array 0 that the score reads: expected dim 0 to be at least 80 \(M\), got 4", (q, k, v), {"score_mod": short}),
            (r"block_mask: expected lengths \(80, 80\), those of query and key, got \(160, 80\)", (q, k, v), {"block_mask": blocks}),
            (r"expected 4 key heads, or enable_gqa, got 2", (q, k[:, :2], v[:, :2]), {}),
            (r"query: expected \[batch, heads, rows, head dim\], got rank 3", (q[0], k, v), {}),
            (r"key: expected a batch of 2, that of query, or 1, got 3", (q, torch.cat([k, k[:1]]), v), {}),
        ):
            with self.assertRaisesRegex(BindingError, wanted):
                flex_attention(*arguments, **options)

    def test_what_cannot_be_traced(self):
        def decides(score, b, h, q_idx, kv_idx):
            return score if q_idx >= kv_idx else -score

        def unknown(score, b, h, q_idx, kv_idx):
            return torch.lgamma(score)

        def rank(score, b, h, q_idx, kv_idx):
            return score + BIAS[b, 0]

        def arguments(score, b, h, q_idx, kv_idx):
            return torch.exp(score, out=BIAS)

        for function, wanted in (
            (decides, "expected no decision on a traced value"),
            (unknown, "lgamma of a traced value: expected one of abs, "),
            (arguments, "torch.exp of a traced value: .* unexpected keyword argument 'out'"),
            (rank, r"expected one dimension of at most 256 elements, or an element, got \(80, 80\)"),
            (lambda score, b, h, q_idx, kv_idx: score + ROWS[b, h, 0], "expected the score to give a number, got vector"),
            (lambda score, b, h, q_idx, kv_idx: (SLOPES + ROWS[b, h, 0]).sum(), "expected dimensions of one size, got 4, 8"),
            (lambda score, b, h, q_idx, kv_idx: score.unsqueeze(1), "expected a number and dimension 0 or -1, got a number and 1"),
            (lambda score, b, h, q_idx, kv_idx: ROWS[b, h, 0].unsqueeze(0), "expected a number and .* got a dimension of numbers and 0"),
        ):
            with self.assertRaisesRegex(TraceError, rf"torch_flex.py:\d+: .*{wanted}"):
                flex_attention(self.q, self.k, self.v, score_mod=function)


if __name__ == "__main__":
    unittest.main()
