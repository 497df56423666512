# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which options of attn_mlir.attention a plan can be carried out with."""

from __future__ import annotations

from typing import Any, Mapping

from ..errors import BindingError

#: What of attn_mlir.attention a plan can be carried out with, beside arrays.
OPTIONS = ("mask_mod", "score_mod", "soft_cap", "scale", "target", "device", "allow_tf32", "cache", "dropout", "seed", "offset")
#: Element types of what has gradients.
FLOATS = ("f16", "bf16", "f32", "f64")
#: Why an option of attn_mlir.attention is not one of a plan.
REFUSED = {
    "causal": "the plan has it: pass it to make_plan",
    "window": "the plan has it: pass it to make_plan",
    "normalization": "partial results are merged by their LSE, which softmax alone has",
    "key_lengths": "rows and keys are the same tokens: pass lengths",
    "query_lengths": "rows and keys are the same tokens: pass lengths",
    "block_mask": "its blocks are of the whole: pass a mask_mod to make_plan",
    "descale": "8-bit inputs have no plan",
}


def check_options(options: Mapping[str, Any]):
    """Raises a BindingError for one that would mean another thing on a part than on the whole."""
    for name, value in options.items():
        if name not in OPTIONS and value is not None:
            reason = REFUSED.get(name, f"there are {', '.join(OPTIONS)}")
            raise BindingError(f"expected no {name} on several ranks, got {value!r}: {reason}")
