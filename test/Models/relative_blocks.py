# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks whose scores read what belongs to a relative position: one number for each distance of
query and key, from a table or from a product of its own. They register themselves in
blocks.BLOCKS."""

import torch
from torch import nn

from blocks import MaskedLayer, block
from exporters import TorchBlock


@block("sam")
def build_sam():
    """SAM window self-attention, decomposed relative position: B=2, H=2, 6 x 6 positions, D=32."""
    from transformers.models.sam import modeling_sam as sam
    config = sam.SamVisionConfig(hidden_size=64, num_attention_heads=2, attn_implementation="eager")
    layer = MaskedLayer(sam.SamVisionAttention(config, window_size=6), None)
    layer.forward = lambda x: layer.layer(x)[0]
    return TorchBlock(layer, {"hidden_states": torch.randn(2, 6, 6, 64)})


@block("conformer")
def build_conformer():
    """Conformer self-attention, relative shift by pad, view and slice: B=2, H=2, M=N=24, D=32."""
    from transformers.models.wav2vec2_conformer import modeling_wav2vec2_conformer as conformer
    config = conformer.Wav2Vec2ConformerConfig(
        hidden_size=64, num_attention_heads=2, position_embeddings_type="relative",
        attn_implementation="eager")
    layer = MaskedLayer(conformer.Wav2Vec2ConformerSelfAttention(config), None)
    layer.forward = lambda x, p: layer.layer(x, relative_position_embeddings=p)[0]
    return TorchBlock(layer, {"hidden_states": torch.randn(2, 24, 64),
                              "relative_position_embeddings": torch.randn(1, 47, 64)})


@block("xlnet")
def build_xlnet():
    """XLNet self-attention, relative shift by view and slice, memory: B=2, H=2, M=24, N=32, D=32."""
    from transformers.models.xlnet import modeling_xlnet as xlnet
    config = xlnet.XLNetConfig(d_model=64, n_head=2)
    layer = xlnet.XLNetRelativeAttention(config)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.1)

    layer = MaskedLayer(layer, None)
    layer.forward = lambda h, m, r: layer.layer(h, None, None, None, r, None, mems=m)[0]
    return TorchBlock(layer, {"hidden_states": torch.randn(24, 2, 64),
                              "memory": torch.randn(8, 2, 64),
                              "positions": torch.randn(56, 2, 64)})


def deberta_block(buckets):
    from transformers.models.deberta_v2 import modeling_deberta_v2 as deberta
    config = deberta.DebertaV2Config(
        hidden_size=64, num_attention_heads=2, relative_attention=True, position_buckets=buckets,
        max_relative_positions=32, pos_att_type=["c2p", "p2c"], share_att_key=True)
    layer = MaskedLayer(deberta.DisentangledSelfAttention(config), None)
    layer.forward = lambda x, m, r: layer.layer(x, m[:, None, None], rel_embeddings=r)[0]
    mask = torch.arange(24)[None] < torch.tensor([24, 17])[:, None]
    return TorchBlock(layer, {"hidden_states": torch.randn(2, 24, 64), "mask": mask,
                              "rel_embeddings": torch.randn(64 if buckets < 0 else 2 * buckets, 64)})


@block("deberta")
def build_deberta():
    """DeBERTa v3 self-attention, two gathered terms, log buckets: B=2, H=2, M=N=24, D=32."""
    return deberta_block(16)


@block("deberta-positions")
def build_deberta_positions():
    """DeBERTa v2 self-attention, two gathered terms, a row for each distance: B=2, H=2, M=N=24,
    D=32."""
    return deberta_block(-1)


def swin_layer():
    from transformers.models.swin import modeling_swin as swin
    config = swin.SwinConfig(attn_implementation="eager")
    return swin.SwinAttention(config, 64, 2, window_size=7)


@block("swin")
def build_swin():
    """Swin window self-attention, bias from a table by computed index: B=4, H=2, 7 x 7 positions,
    D=32."""
    layer = MaskedLayer(swin_layer(), None)
    bias = layer.layer.relative_position_bias
    del bias.relative_position_index  # a buffer of the model: here computed in the graph

    def forward(x):
        bias.relative_position_index = bias._create_relative_position_index().view(-1)
        return layer.layer(x)[0]

    layer.forward = forward
    return TorchBlock(layer, {"hidden_states": torch.randn(4, 49, 64)})


@block("swin-index")
def build_swin_index():
    """Swin window self-attention, bias from a table by constant index: B=4, H=2, 7 x 7 positions,
    D=32."""
    layer = MaskedLayer(swin_layer(), None)
    bias = layer.layer.relative_position_bias
    index = bias.relative_position_index.tolist()
    del bias.relative_position_index

    def forward(x):
        bias.relative_position_index = torch.tensor(index)
        return layer.layer(x)[0]

    layer.forward = forward
    return TorchBlock(layer, {"hidden_states": torch.randn(4, 49, 64)})
