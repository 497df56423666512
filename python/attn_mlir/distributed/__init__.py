# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of one long sequence on several ranks, by plans of attn-schedule (docs/Distributed.md).

    from attn_mlir.distributed import make_plan, simulate
    plan = make_plan(ranks=4, tokens=65536, heads=32, key_heads=8, causal=True)
    result = simulate(plan, query, key, value)         # by threads: what the ranks compute, and the bytes that they send

`attn_mlir.torch.distributed.attention` carries a plan out by torch.distributed, with gradients. Other libraries have an
`Executor` and a `Communicator` of their own. `linear_attention` and `decode` need no plan; `on_threads` tries them in one process.
"""

from .communicator import Communicator, Mailboxes, ThreadCommunicator
from .decode import decode
from .executor import Executor, Saved
from .linear import linear_attention
from .plan import Plan, PlanError, make_plan
from .simulate import Simulated, on_threads, simulate

__all__ = [
    "Communicator", "Executor", "Mailboxes", "Plan", "PlanError", "Saved", "Simulated", "ThreadCommunicator", "decode",
    "linear_attention", "make_plan", "on_threads", "simulate",
]  # fmt: skip
