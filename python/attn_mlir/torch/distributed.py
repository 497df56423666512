# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of one long sequence on the ranks of torch.distributed, by a plan of attn_mlir.distributed, with gradients.

    import attn_mlir.torch.distributed as context_parallel
    plan = context_parallel.make_plan(ranks=world_size, tokens=65536, heads=32, key_heads=8, causal=True)
    hidden = plan.part(hidden, rank, axis=1)           # each rank has the tokens that the plan gives it,
    positions = plan.positions(rank)                   # which are there in the whole sequence
    output = context_parallel.attention(query, key, value, plan=plan)

and linear attention, which needs no plan.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional, Sequence, Union

import torch
import torch.distributed as dist
from torch import Tensor

from ..distributed.communicator import Communicator, Wait
from ..distributed import linear
from ..distributed.executor import Executor, Saved
from ..distributed.plan import Plan, PlanError, make_plan
from ..errors import BindingError, DeviceError
from ..checks import check_scale
from ..mask.tracing import Traced
from .linear import linear_attention as linear_attention_of_rank
from .ops import check_tensors, readable

__all__ = ["GroupCommunicator", "Plan", "PlanError", "attention", "linear_attention", "make_plan"]

#: Bytes of what ranks compare; longer texts are cut.
AGREEMENT = 512


class GroupCommunicator(Communicator):
    """A process group: gloo, NCCL or another that has all_to_all_single with sizes. Its timeout is the time limit."""

    def __init__(self, group: Optional[dist.ProcessGroup], device: torch.device):
        self.group, self.device = group, device
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.rank < 0:
            raise BindingError("expected a process that is in the group, got another")

    def exchange(self, parts: Sequence[Tensor], counts: Sequence[int]) -> Wait:
        dtype, unit = parts[self.rank].dtype, parts[self.rank].element_size()
        sizes = [part.numel() * unit for part in parts]
        self.sent_bytes += sum(sizes) - sizes[self.rank]
        sent = torch.cat([part.detach().contiguous().view(torch.uint8) for part in parts])
        received = torch.empty(sum(counts) * unit, dtype=torch.uint8, device=sent.device)
        expected = [count * unit for count in counts]
        work = self.run(dist.all_to_all_single, received, sent, expected, sizes, group=self.group, async_op=True)

        def wait() -> list[Any]:
            self.run(work.wait)
            return list(received.view(dtype).split(list(counts)))

        wait.keeps = sent  # type: ignore[attr-defined]  # until it is sent
        return wait

    def agree(self, what: str) -> list[str]:
        text = what.encode()[:AGREEMENT].ljust(AGREEMENT)
        mine = torch.tensor(list(text), dtype=torch.uint8, device=self.device)
        received = [torch.empty_like(mine) for _ in range(self.size)]
        self.run(dist.all_gather, received, mine, group=self.group)
        return [bytes(text.tolist()).decode(errors="replace").rstrip() for text in received]

    def run(self, function: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except RuntimeError as error:
            raise DeviceError(f"rank {self.rank}: expected all ranks to communicate, got: {error}") from None


class Run(NamedTuple):
    """What an attention is beside tensors. `reduces`: gradients that ranks have parts of are summed."""

    executor: Executor
    has_lse: bool
    reduces: bool


class Attention(torch.autograd.Function):
    """Of a rank's tokens; `reads` are the tensors of floats that score_mod reads."""

    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor, sink, bias, lengths, run: Run, *reads: Tensor):
        own, offsets = (None if t is None else t.detach().contiguous() for t in (sink, bias))
        query, key, value = (readable(t.detach()) for t in (query, key, value))
        output, saved = run.executor.forward(query, key, value, own, offsets, lengths)
        lse = run.executor.lse(saved) if run.has_lse else None
        ctx.run, ctx.sizes = run, output.shape
        ctx.save_for_backward(sink, saved.query, saved.key, saved.value, saved.output, saved.lse, saved.bias, lengths, saved.random)
        ctx.set_materialize_grads(False)
        return output, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, d_output: Optional[Tensor], d_lse: Optional[Tensor]):
        sink, *tensors = ctx.saved_tensors
        executor, saved = ctx.run.executor, Saved(*tensors)
        d_output = saved.query.new_zeros(ctx.sizes) if d_output is None else readable(d_output)
        d_lse = d_lse.contiguous() if d_lse is not None else None
        wants = ctx.needs_input_grad
        found = executor.backward(saved, d_output, d_lse, bias_gradient=wants[4], capture_gradients=any(wants[7:]))
        d_sink = executor.sink_gradient(sink, saved, d_output, d_lse) if wants[3] else None
        shared = [d_sink, found.bias if wants[4] and saved.bias.shape[2] == 1 else None, *found.reads]
        if ctx.run.reduces:
            shared = [None if part is None else executor.sum_over_ranks(part) for part in shared]
        d_sink, d_bias, *d_reads = shared
        d_bias = found.bias if d_bias is None else d_bias
        return (*found[:3], d_sink, d_bias, None, None, *(d_reads or [None] * len(wants[7:])))


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    plan: Plan,
    group: Optional[dist.ProcessGroup] = None,
    sink: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    lengths: Optional[Tensor] = None,
    mask_mod: Any = None,
    score_mod: Any = None,
    soft_cap: Optional[float] = None,
    scale: Optional[float] = None,
    dropout: float = 0.0,
    seed: Any = None,
    offset: Any = 0,
    return_lse: bool = False,
    reduce_gradients: bool = False,
) -> Union[Tensor, tuple[Tensor, Tensor]]:
    """The rank's tokens' part of attention over all tokens, with gradients. All ranks of `group` call it, and the backward of
    what it returns, as often as each other.

    Arguments:
      query: [B, Hq, tokens, D], key: [B, Hkv, tokens, D], value: [B, Hkv, tokens, Dv]: of the tokens that the plan gives this
        rank, in their order; Hkv divides Hq.
      plan: for as many ranks as the group has; its mask is the attention's.
      group: of torch.distributed; the default group.
      sink: [Hq], as of attn_mlir.attention, the same on all ranks. Its gradient is the part of this rank's tokens, as of all
        weights: that of the whole is the sum over ranks.
      bias: of the rank's rows and of all keys, [B, Hq, the rank's tokens, tokens of the plan] with any dimension 1, with a
        gradient; not with a plan that exchanges heads.
      lengths: [B], i32: how many tokens of each batch exist, the same on all ranks. Rows behind them are 0.
      mask_mod, score_mod: as of attn_mlir.attention, by positions and heads of the whole; mask_mod holds beside the plan's mask.
        Arrays that they read are the same on all ranks; those of floats that score_mod reads have gradients.
      dropout, seed, offset: as of attn_mlir.attention, the same numbers on all ranks, others in each call: what is dropped is what
        one device would drop.
      soft_cap, scale, return_lse: as of attn_mlir.attention. f32 on a GPU needs torch.backends.cuda.matmul.allow_tf32.

      reduce_gradients: of the sink, of what score_mod reads and of a bias that rows share, all ranks get the gradient of the
        whole, where it is otherwise, as of all weights, the part of the rank's tokens.

    dK and dV are added in f32, in the order of ranks. Raises a PlanError on all ranks where arrays do not fit on one, or plans,
    types or options differ; a DeviceError where a rank does not come within the group's timeout.
    """
    check_tensors(query=query, key=key, value=value, sink=sink, bias=bias, lengths=lengths)
    check_scale(scale)
    executor = executor_of(plan, group, (query, key, value), {
        "mask_mod": mask_mod, "score_mod": score_mod, "soft_cap": soft_cap, "scale": scale, "dropout": dropout,
        "allow_tf32": query.is_cuda and torch.backends.cuda.matmul.allow_tf32,
    })  # fmt: skip
    executor.seed, executor.offset = seed, offset
    run = Run(executor, return_lse, reduce_gradients)
    reads = executor.learned() if torch.is_grad_enabled() else []
    output, lse = Attention.apply(query, key, value, sink, bias, lengths, run, *reads)
    return (output, lse) if return_lse else output


def executor_of(plan: Plan, group: Optional[dist.ProcessGroup], tensors: Sequence[Tensor], options: dict[str, Any]) -> Executor:
    """One that has traced what is to be traced; functions are traced in each call: what they close over may have changed."""
    mods = (options["mask_mod"], options["score_mod"])
    types = tuple((t.dtype, tuple(t.shape), t.device) for t in tensors)
    key = (plan, group, types, *options.values())
    is_traced = all(mod is None or isinstance(mod, Traced) for mod in mods)
    if is_traced and key in _executors:
        return _executors[key]
    executor = Executor(plan, GroupCommunicator(group, tensors[0].device), options)
    if is_traced:
        if len(_executors) >= MAX_EXECUTORS:
            _executors.clear()
        _executors[key] = executor
    return executor


_executors: dict[tuple, Executor] = {}
MAX_EXECUTORS = 64


class Gather(torch.autograd.Function):
    """The flat tensors of all ranks, [ranks, n]. All ranks call its backward, too."""

    @staticmethod
    def forward(ctx, flat: Tensor, communicator: GroupCommunicator):
        ctx.communicator = communicator
        return torch.stack(list(linear.send_to_all(communicator, flat)))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, d_gathered: Tensor):
        counts = [d_gathered.shape[1]] * d_gathered.shape[0]
        received = ctx.communicator.exchange(list(d_gathered.contiguous()), counts)()
        return functools.reduce(torch.add, received), None


class Join(torch.autograd.Function):
    """`output`, whose backward reaches `gathered` on ranks that have not used it: others wait for what they send."""

    @staticmethod
    def forward(ctx, output: Tensor, gathered: Tensor):
        ctx.save_for_backward(gathered)
        return output.view_as(output)

    @staticmethod
    def backward(ctx, d_output: Tensor):
        (gathered,) = ctx.saved_tensors
        return d_output, torch.zeros_like(gathered)


def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    group: Optional[dist.ProcessGroup] = None,
    decay: Optional[Tensor] = None,
    state: Optional[Tensor] = None,
    scale: Optional[float] = None,
    return_state: bool = False,
) -> Union[Tensor, tuple[Tensor, Tensor]]:
    """attn_mlir.distributed.linear_attention on the ranks of `group`, with gradients: those of state, and of a decay of heads, are
    the part of this rank's tokens, as of all weights. All ranks call it, and the backward of what it returns, as often as each
    other; forward and backward send the same bytes.
    """
    check_tensors(query=query, key=key, value=value, decay=decay, state=state)
    communicator = GroupCommunicator(group, query.device)
    gathered: list[Tensor] = []

    def gather(flat: Tensor) -> Sequence[Tensor]:
        gathered.append(Gather.apply(flat, communicator))
        return gathered[0].unbind()

    result = linear.linear_attention(
        query, key, value, communicator=communicator, decay=decay, state=state, scale=scale, return_state=True, gather=gather,
        attend=linear_attention_of_rank,
    )  # fmt: skip
    output = Join.apply(result[0], gathered[0])
    return (output, result[1]) if return_state else output
