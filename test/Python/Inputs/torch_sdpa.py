"""PyTorch: scaled_dot_product_attention against torch's own, forward and backward, over arguments drawn at random: ranks, batches
that broadcast or are empty, lengths, strides, masks of each kind and shape, rows without keys, scales, groups of heads.

torch_sdpa.py [CASES [FIRST]]
"""

import collections
import math
import random
import sys
import warnings

import torch

from attn_mlir.torch import scaled_dot_product_attention

reference = torch.nn.functional.scaled_dot_product_attention
TOLERANCE = {torch.float64: 1e-9, torch.float32: 3e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}


class Case:
    """One call: query, key, value and options, drawn from a seed."""

    def __init__(self, seed):
        self.pick, self.generator = random.Random(seed), torch.Generator().manual_seed(seed)
        self.dtype = self.pick.choice([torch.float64] * 3 + [torch.float32, torch.float16, torch.bfloat16])
        rank, rows, keys = self.pick.choice([2, 3, 4, 4, 4, 5]), self.pick.choice([1, 3, 16, 33]), self.pick.choice([1, 4, 17, 40])
        heads = self.pick.choice([1, 2])
        gqa = rank > 2 and self.likely(0.3)
        group = self.pick.choice([1, 2, 3]) if gqa else 1
        batch = 0 if self.likely(0.05) else self.pick.choice([1, 2, 3])
        lead = {2: [], 3: [], 4: [batch], 5: [batch, 2]}[rank]
        self.heads = [] if rank == 2 else [heads * group]
        self.sizes = [rows, keys]
        shapes = [(*self.some_ones(lead), *([] if rank == 2 else [h])) for h in (heads * group, heads, heads)]
        sizes = (rows, 8), (keys, 8), (keys, self.pick.choice([8, 12]))
        self.tensors = [self.strided(*shape, *size) for shape, size in zip(shapes, sizes)]
        kind = self.pick.choice(["none", "causal", "bool", "float", "float"])
        self.options = {"enable_gqa": gqa, "is_causal": kind == "causal", "scale": self.pick.choice([None, None, 0.4])}
        self.options["attn_mask"] = self.mask(kind) if kind in ("bool", "float") else None

    def likely(self, probability):
        return self.pick.random() < probability

    def some_ones(self, sizes, probability=0.15):
        """Empty batches stay: torch does not broadcast ones to them."""
        return [1 if 0 not in sizes and self.likely(probability) else size for size in sizes]

    def normal(self, *shape):
        return torch.randn(*shape, dtype=torch.float64, generator=self.generator).to(self.dtype)

    def strided(self, *shape):
        form = self.pick.choice(["plain", "plain", "turned", "every other", "expanded"])
        if form == "turned":
            return self.normal(*shape[:-2], shape[-1], shape[-2]).mT
        if form == "every other":
            return self.normal(*shape[:-1], 2 * shape[-1])[..., ::2]
        if form == "expanded":
            return self.normal(*shape[:-2], 1, shape[-1]).expand(*shape)
        return self.normal(*shape)

    def mask(self, kind):
        """Of rank 2 or more, as torch asks for: broadcast, transposed or expanded, with rows that are hidden."""
        full = [*torch.broadcast_shapes(*(t.shape[:-3] for t in self.tensors)), *self.heads, *self.sizes]
        shape = self.some_ones(full[-self.pick.randint(2, len(full)) :], 0.25)
        hidden = torch.rand(*shape, generator=self.generator) > 0.6
        if self.likely(0.3):
            hidden[..., 0, :] = True
        mask = ~hidden if kind == "bool" else self.normal(*shape)
        if kind == "float" and self.likely(0.5):
            mask = mask.masked_fill(hidden, -math.inf)
        if self.likely(0.3):
            mask = mask.mT.contiguous().mT
        return mask.expand(*full) if self.likely(0.2) else mask

    def results(self, function):
        """The output, and gradients of what has some, by a sum with weights."""
        leaves = [t.detach().clone().requires_grad_() for t in self.tensors]
        options = dict(self.options)
        mask = options["attn_mask"]
        if mask is not None and mask.is_floating_point():
            options["attn_mask"] = mask.detach().clone().requires_grad_()
            leaves.append(options["attn_mask"])
        output = function(*leaves[:3], **options)
        weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output.dtype)
        return output.detach(), *torch.autograd.grad((output * weights).sum(), leaves, allow_unused=True)

    def difference(self):
        """None, or what differs."""
        named = zip(("output", "d_query", "d_key", "d_value", "d_mask"), *map(self.results, (scaled_dot_product_attention, reference)))
        for name, mine, theirs in named:
            theirs = torch.zeros_like(mine) if theirs is None else theirs  # a mask's, of an empty batch
            if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
                return f"{name}: expected {theirs.dtype} {tuple(theirs.shape)}, got {mine.dtype} {tuple(mine.shape)}"
            most = TOLERANCE[mine.dtype]
            if not torch.allclose(mine.double(), theirs.double(), rtol=most, atol=most):
                return f"{name}: {(mine.double() - theirs.double()).abs().max().item()}"
        return None

    def __str__(self):
        shapes = [(tuple(t.shape), t.stride()) for t in (*self.tensors, self.options["attn_mask"]) if t is not None]
        return f"{self.dtype} {shapes} {({k: v for k, v in self.options.items() if k != 'attn_mask'})}"


def main(cases=12, first=0):
    counts = collections.Counter()
    for seed in range(first, first + cases):
        case = Case(seed)
        difference = case.difference()
        counts[difference is None] += 1
        if difference:
            print(f"{seed}: {difference}: {case}")
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(*map(int, sys.argv[1:])))
