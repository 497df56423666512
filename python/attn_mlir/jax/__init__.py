# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention for JAX: a function with gradients, under jit too, and functions of one's own as modules.

    from attn_mlir.jax import attention, lower
    output = jax.jit(attention)(query, key, value)                      # [B, Hq, M, Dv]
    output = attention(query, key, value, mask_mod=lambda b, h, i, j: j <= i, score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i))

`dot_product_attention` takes the arguments of jax.nn's, of arrays [B, rows, heads, head dim]; `linear_attention` is
that with decays and states, with gradients.

    module = lower(function, *arguments)                                # its jaxpr as linalg
    print(module.attentions())                                          # what the compiler recognises in it
    kernel = attn_mlir.compile(module.mlir, target="sm_90a")
"""

from .attention import attention, dot_product_attention
from .linear import linear_attention
from .lowering import Lowered, lower

__all__ = ["Lowered", "attention", "dot_product_attention", "linear_attention", "lower"]
