# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention for PyTorch: differentiable, traced through by torch.compile and torch.export.

    from attn_mlir.torch import attention, flex_attention, scaled_dot_product_attention

`scaled_dot_product_attention` takes the arguments of torch.nn.functional's, `flex_attention` those of
torch.nn.attention.flex_attention's, with gradients of what score_mod reads; `attention` has windows, soft caps and the LSE
too, and `linear_attention` decays and states. Tensors on a GPU run there, those in host memory on the CPU. What is not there is an error, never a slower path.

    replace_attention(graph_module)                    # its calls of torch's two functions become ours
    torch.compile(model, backend=attn_mlir.torch.backend)      # the same for a whole model, with inductor around it
    for call in attentions_of(torch.export.export(model, inputs)):
        print(call.name, call.mlir())                  # one module for each attention of an exported program
"""

from .flex import flex_attention
from .graphs import AttentionCall, attentions_of, backend, replace_attention
from .linear import linear_attention, linear_attention_op
from .ops import attention, attention_backward_op, attention_op, scaled_dot_product_attention

__all__ = [
    "AttentionCall", "attention", "attention_backward_op", "attention_op", "attentions_of", "backend", "flex_attention",
    "linear_attention", "linear_attention_op", "replace_attention", "scaled_dot_product_attention",
]  # fmt: skip
