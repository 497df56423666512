# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX's operators Attention (opset 23 and later) and FlexAttention (ai.onnx.preview), and ONNX Runtime's GroupQueryAttention, as MLIR.

    from attn_mlir.onnx import import_model
    for node in import_model("decoder.onnx"):
        kernel = attn_mlir.compile(node.mlir, target="sm_90a")

    python -m attn_mlir.onnx decoder.onnx -o FOLDER          # FOLDER/<node>.mlir for every one in the graph

A node becomes a function that takes what the node takes and gives what it gives, in their order; absent ones are left
out; a FlexAttention's score_mod and prob_mod are regions of the attention; with the TensorScatter of keys and values
that come before it, if there are such. Batch, lengths and, in the 4-d form, head counts are dynamic. Past and present of
a GroupQueryAttention are one buffer where their types have one size, or with `share_buffer`, on the command line
--share-buffer. Semantics: onnx.ai/onnx/operators/onnx__Attention.html, docs/ContribOperators.md of ONNX Runtime.
Needs the package onnx only to read files. A node that cannot be imported is an AttnError that says why.
"""

from .flex import import_flex_attention
from .group_query import import_group_query_attention
from .importer import TensorType, Update, import_attention
from .models import ImportedNode, import_model, import_node, main

__all__ = [
    "ImportedNode", "TensorType", "Update", "import_attention", "import_flex_attention", "import_group_query_attention", "import_model",
    "import_node", "main",
]  # fmt: skip
