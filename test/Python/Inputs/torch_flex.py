"""PyTorch: flex_attention with the masks and score changes that people write, against a dense computation in float64, and
against torch's own function where it has one for the CPU."""

import math
import unittest

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask
from torch.nn.attention.flex_attention import flex_attention as reference

from attn_mlir.errors import BindingError
from attn_mlir.mask import TraceError
from attn_mlir.torch import flex_attention

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


MASKS = [causal, sliding_window, prefix_lm, document, jagged, natten, dilated, global_and_local, by_head]
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


SCORES = [alibi, relative, soft_cap, table, full_bias, masked_score, checkerboard, powers]


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

    def test_lists_of_blocks(self):
        """Blocks that the user lists, without a mask_mod; torch's own function heeds them only where it is compiled."""
        indices = torch.tensor([[0, 1, 2, 3, 4]] * 5, dtype=torch.int32)[None, None]
        counts = torch.tensor([1, 2, 3, 4, 5], dtype=torch.int32)[None, None]
        blocks = BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=16, seq_lengths=(N, N))
        mine, lse = flex_attention(self.q, self.k, self.v, block_mask=blocks, return_lse=True)
        theirs = dense(self.q, self.k, self.v, mask_mod=lambda b, h, q, k: k // 16 <= q // 16)
        self.near(mine, theirs[0])
        self.near(lse, theirs[1])

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
        for wanted, arguments, options in (
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

        for function, wanted in (
            (decides, "expected no decision on a traced value"),
            (unknown, "lgamma of a traced value: expected one of abs, "),
            (rank, "expected 4 positions in a tensor of rank 4, got 2"),
        ):
            with self.assertRaisesRegex(TraceError, rf"torch_flex.py:\d+: .*{wanted}"):
                flex_attention(self.q, self.k, self.v, score_mod=function)


if __name__ == "__main__":
    unittest.main()
