# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of one long sequence on several ranks, by plans of attn-schedule (docs/Distributed.md).

    from attn_mlir.distributed import make_plan, simulate
    plan = make_plan(ranks=4, tokens=65536, heads=32, key_heads=8, causal=True)
    result = simulate(plan, query, key, value)         # by threads: what the ranks compute, and the bytes that they send

`attn_mlir.torch.distributed.attention` carries a plan out by torch.distributed, with gradients. Other libraries have an
`Executor` and a `Communicator` of their own.
"""

from .communicator import Communicator, Mailboxes, ThreadCommunicator
from .executor import Executor, Saved
from .plan import Plan, PlanError, make_plan
from .simulate import Simulated, simulate

__all__ = [
    "Communicator", "Executor", "Mailboxes", "Plan", "PlanError", "Saved", "Simulated", "ThreadCommunicator", "make_plan",
    "simulate",
]  # fmt: skip
