# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention under masks as models write them, each B=2, H=2, M=N=24, D=32. They register themselves
in blocks.BLOCKS."""

import torch
from torch import nn

from blocks import block
from exporters import TorchBlock

LENGTH = 24
LOWEST = torch.finfo(torch.float32).min


class MaskedAttention(nn.Module):
    """softmax(change(Q K^T / 8)) V; `change(scores, *inputs)` gives scores of the same shape."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, query, key, value, *inputs):
        scores = self.change(query @ key.transpose(-1, -2) * 0.125, *inputs)
        return torch.softmax(scores, -1) @ value


def masked_block(change, **inputs):
    operands = {name: torch.randn(2, 2, LENGTH, 32) for name in ("query", "key", "value")}
    return TorchBlock(MaskedAttention(change), operands | inputs)


def positions():
    """The query positions [M, 1] and the key positions [1, N]."""
    return torch.arange(LENGTH)[:, None], torch.arange(LENGTH)[None]


@block("mask-alibi", packages=())
def build_mask_alibi():
    """ALiBi and causal mask in one summand, s + where(j > i, lowest, slope * (j - i))."""
    def change(scores, slopes):
        i, j = positions()
        return scores + torch.where(j > i, LOWEST, slopes[:, None, None] * (j - i))
    return masked_block(change, slopes=torch.rand(2))


@block("mask-window-padding", packages=())
def build_mask_window_padding():
    """A window and padded keys, |i - j| <= 5 and pad[j], lowest elsewhere."""
    def change(scores, pad):
        i, j = positions()
        return torch.where(((i - j).abs() <= 5) & pad[:, None, None], scores, LOWEST)
    return masked_block(change, pad=torch.arange(LENGTH)[None] < torch.tensor([[24], [17]]))


@block("mask-documents", packages=())
def build_mask_documents():
    """Packed documents, causal, ids[i] == ids[j] and j <= i, lowest elsewhere."""
    def change(scores, ids):
        i, j = positions()
        same = ids[:, None, :, None] == ids[:, None, None]
        return torch.where(same & (j <= i), scores, LOWEST)
    return masked_block(change, ids=torch.arange(LENGTH)[None].repeat(2, 1) // 5)


@block("mask-blocks", packages=())
def build_mask_blocks():
    """Blocks of 7 positions, i // 7 == j // 7, -inf elsewhere."""
    def change(scores):
        i, j = positions()
        return scores.masked_fill(i // 7 != j // 7, float("-inf"))
    return masked_block(change)


@block("mask-cache", packages=())
def build_mask_cache():
    """Rows of a constant causal table for a cache of 64, table[pos[i], j], -inf elsewhere."""
    table = torch.ones(64, 64).tril().bool().tolist()

    def change(scores, pos):
        visible = torch.tensor(table)[pos][:, :LENGTH]
        return scores.masked_fill(~visible, float("-inf"))
    return masked_block(change, pos=torch.arange(LENGTH))
