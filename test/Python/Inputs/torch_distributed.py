"""torch.distributed: plans on processes that talk by gloo, against float64 of the whole attention; bits, bytes, and ranks that
disagree or die.

torch_distributed.py [TEST...]: on four processes, or on ATTN_TEST_RANKS
"""

import datetime
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

import attn_mlir
import attn_mlir.torch.distributed as context_parallel
from attn_mlir import mask
from attn_mlir.distributed import make_plan, simulate
from attn_mlir.distributed.ranges import count
from distributed import keeps

#: Processes that are started inherit it.
RANKS = int(os.environ.get("ATTN_TEST_RANKS", "4"))
TOLERANCE = {torch.float64: 1e-10, torch.float32: 5e-6, torch.bfloat16: 2e-2}


def check(condition, what):
    if not condition:
        raise AssertionError(f"rank {dist.get_rank()}: {what}")


def whole_attention(q, k, v, sees, change=None, kept=1.0):
    """Output and LSE in float64, differentiable."""
    group = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
    scores = change(scores) if change else scores
    scores = scores.masked_fill(~sees, float("-inf"))
    return torch.nan_to_num(scores.softmax(-1)) * kept @ v, scores.logsumexp(-1)


class Case:
    """Tensors of the whole attention, the same on all ranks, and what the ranks' parts are to be."""

    def __init__(self, tokens, heads, key_heads, sees, dtype=torch.float32, batch=1, dim=16, change=None, kept=1.0):
        generator = torch.Generator().manual_seed(tokens)
        shapes = [(batch, n, tokens, dim) for n in (heads, key_heads, key_heads, heads)]
        self.q, self.k, self.v, self.d_output = (torch.randn(s, generator=generator, dtype=torch.float64).to(dtype) for s in shapes)
        self.d_lse = torch.randn((batch, heads, tokens), generator=generator, dtype=torch.float64)
        self.d_lse = self.d_lse.to(dtype if dtype == torch.float64 else torch.float32)
        wide = [t.double().requires_grad_() for t in (self.q, self.k, self.v)]
        output, lse = whole_attention(*wide, sees, change, kept)
        loss = (output * self.d_output.double()).sum() + (lse * self.d_lse.double()).sum()
        self.wanted = (output, lse, *torch.autograd.grad(loss, wide))

    def check(self, plan, **options):
        """Runs this rank's part."""
        rank = dist.get_rank()
        parts = [plan.part(t, rank).requires_grad_() for t in (self.q, self.k, self.v)]
        d_output, d_lse = (plan.part(t, rank) for t in (self.d_output, self.d_lse))
        output, lse = context_parallel.attention(*parts, plan=plan, return_lse=True, **options)
        gradients = torch.autograd.grad([output, lse], parts, [d_output, d_lse])
        results = (output.detach(), lse.detach(), *gradients)
        for name, got, whole in zip(("output", "lse", "d_query", "d_key", "d_value"), results, self.wanted):
            want = plan.part(whole.detach(), rank)
            check(got.shape == want.shape, f"{name}: {got.shape} {want.shape}")
            if got.numel():
                worst = (got.double() - want).abs().max() / max(1.0, float(want.abs().max()))
                check(worst < TOLERANCE[self.q.dtype], f"{name} of {plan.scheme}, {plan.placement}: {worst}")
        return results


def plan_of(tokens, heads, key_heads, **options):
    return make_plan(ranks=RANKS, tokens=tokens, heads=heads, key_heads=key_heads, head_dim=16, dtype="f32", chunk=16, **options)


def test_schemes():
    i, j = torch.arange(250)[:, None], torch.arange(250)
    for dtype in (torch.float32, torch.float64):
        case = Case(250, 4, 2, j <= i, dtype)
        for scheme, placement in (
            ("group-cast", "zigzag"), ("group-cast, own first", "heap"), ("all-gather", "contiguous"), ("ring", "zigzag"),
            ("all-to-all", None), ("all-to-all 2 x ring", "zigzag"), ("query-cast", "zigzag"),
        ):  # fmt: skip
            case.check(plan_of(250, 4, 2, causal=True, scheme=scheme, placement=placement))
    Case(250, 4, 2, j <= i, torch.bfloat16).check(plan_of(250, 4, 2, causal=True))


def test_masks():
    i, j = torch.arange(130)[:, None], torch.arange(130)
    Case(130, 4, 1, (j <= i) & (j >= i - 20)).check(plan_of(130, 4, 1, window=20))
    lengths = (5, 60, 1, 64)
    ids = torch.arange(4).repeat_interleave(torch.tensor(lengths))
    Case(130, 4, 1, (j <= i) & (ids[:, None] == ids)).check(plan_of(130, 4, 1, causal=True, documents=lengths))
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    slope = mask.tensor(slopes)
    change = lambda s: s + slopes.double()[:, None, None] * (j - i)
    Case(130, 4, 1, (j <= i) & ((i + j) % 7 != 3), change=change).check(
        plan_of(130, 4, 1, causal=True),
        mask_mod=lambda b, h, i, j: (i + j) % 7 != 3, score_mod=lambda s, b, h, i, j: s + slope[h] * (j - i),
    )  # fmt: skip
    Case(20, 4, 1, torch.arange(20) <= torch.arange(20)[:, None]).check(plan_of(20, 4, 1, causal=True, scheme="group-cast"))


def test_dropout():
    """What one device drops, behind a score_mod, forward and backward."""
    i, j = torch.arange(130)[:, None], torch.arange(130)
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    kept = torch.from_numpy(keeps(9, 2**40 + 3, 0.3, (1, 4, 130, 130)))
    case = Case(130, 4, 1, j <= i, change=lambda s: s + slopes.double()[:, None, None] * (j - i), kept=kept)
    slope = mask.tensor(slopes)
    case.check(
        plan_of(130, 4, 1, causal=True, scheme="group-cast", deterministic=True), dropout=0.3, seed=9, offset=2**40 + 3,
        score_mod=lambda s, b, h, i, j: s + slope[h] * (j - i),
    )  # fmt: skip


def whole_linear(q, k, v, decay, state, scale):
    """Outputs and the last state in float64, differentiable."""
    group, outputs = q.shape[1] // k.shape[1], []
    k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    for i in range(q.shape[2]):
        factor = 1 if decay is None else decay[:, :, i].exp()[..., None, None]
        state = factor * state + k[:, :, i, :, None] * v[:, :, i, None, :]
        outputs.append(scale * torch.einsum("bhd,bhde->bhe", q[:, :, i], state))
    return torch.stack(outputs, 2), state


def test_linear():
    """Linear attention of consecutive tokens: results and gradients; ranks without tokens, a loss of the last state alone."""
    generator = torch.Generator().manual_seed(5)
    draw = lambda *shape: torch.randn(shape, generator=generator)
    rank, bounds, scale = dist.get_rank(), [0, 20, 20, 33, 70], 0.5
    for dtype, has_decay, has_state in ((torch.float64, True, True), (torch.float32, False, False), (torch.float32, True, False)):
        q, k, v, d_output = draw(1, 4, 70, 16), draw(1, 2, 70, 16), draw(1, 2, 70, 8), draw(1, 4, 70, 8)
        decay, state, d_last = -draw(1, 4, 70).abs() / 8, draw(1, 4, 16, 8), draw(1, 4, 16, 8)
        q, k, v, d_output, decay, state, d_last = (t.to(dtype) for t in (q, k, v, d_output, decay, state, d_last))
        names = ["query", "key", "value", *(["decay"] if has_decay else []), *(["state"] if has_state else [])]
        wide = {name: t.double().requires_grad_() for name, t in dict(query=q, key=k, value=v, decay=decay, state=state).items()}
        output, last = whole_linear(
            wide["query"], wide["key"], wide["value"], wide["decay"] if has_decay else None,
            wide["state"] if has_state else torch.zeros_like(wide["state"]), scale,
        )  # fmt: skip
        for weight in (0, 1):
            # Each rank has the last state: of the loss that ranks sum, a quarter each.
            loss = weight * (output * d_output.double()).sum() + (last * d_last.double()).sum()
            wanted = torch.autograd.grad(loss, [wide[name] for name in names], retain_graph=True, allow_unused=True)
            own = slice(bounds[rank], bounds[rank + 1])
            whole = dict(query=q, key=k, value=v, decay=decay, state=state)
            mine = {n: (whole[n] if n == "state" else whole[n][:, :, own]).detach().clone().requires_grad_() for n in names}
            got, got_last = context_parallel.linear_attention(**mine, scale=scale, return_state=True)
            own_loss = weight * (got * d_output[:, :, own]).sum() + (got_last * d_last).sum() / RANKS
            gradients = torch.autograd.grad(own_loss, list(mine.values()), allow_unused=True)
            results = [("output", got, output[:, :, own]), ("state", got_last, last)]
            for name, gradient, want in zip(names, gradients, wanted):
                if name == "state":
                    gradient = gradient.clone()
                    dist.all_reduce(gradient)
                elif want is not None:
                    want = want[:, :, own]
                if gradient is None or want is None:
                    check(gradient is None or not gradient.any(), f"{name}: expected no gradient")
                    check(want is None or not want.any(), f"{name}: expected a gradient")
                    continue
                results.append(("d_" + name, gradient, want))
            for name, result, want in results:
                check(result.shape == want.shape, f"{name}: {result.shape} {want.shape}")
                if result.numel():
                    worst = (result.detach().double() - want.detach()).abs().max() / max(1.0, float(want.detach().abs().max()))
                    check(worst < TOLERANCE[dtype], f"linear attention, {name}: {worst}")
    sent = context_parallel.linear_attention(q[:, :, own], k[:, :, own], v[:, :, own].requires_grad_())
    sent.sum().backward()


def test_learned():
    """Gradients of what score_mod reads, of the bias and with lengths, beside float64 of the whole; a rank has its tokens' part, or on
    request the sum."""
    rank, tokens = dist.get_rank(), 90
    generator = torch.Generator().manual_seed(8)
    q, k, v = (torch.randn(2, h, tokens, 16, generator=generator) for h in (4, 2, 2))
    slopes = torch.randn(4, generator=generator)
    lengths, i = torch.tensor([90, 40], dtype=torch.int32), torch.arange(tokens)
    sees = (i <= i[:, None]) & (torch.maximum(i, i[:, None]) < lengths[:, None, None, None])
    for scheme, shape in (("group-cast", (2, 4, 90, 90)), ("ring", (1, 4, 1, 90)), ("all-to-all", None)):
        bias = None if shape is None else torch.randn(shape, generator=generator)
        wide = [t.double().requires_grad_() for t in (q, k, v, slopes, *([] if bias is None else [bias]))]
        output, _ = whole_attention(
            *wide[:3], sees, lambda s: s + wide[3][:, None, None] * (i - i[:, None]) * 0.1 + (0 if bias is None else wide[4])  # noqa: B023
        )
        wanted = torch.autograd.grad(output.square().sum(), wide)
        plan = plan_of(tokens, 4, 2, causal=True, scheme=scheme)
        for reduces in (False, True):
            parts = [plan.part(t, rank).requires_grad_() for t in (q, k, v)]
            learned = slopes.clone().requires_grad_()
            own = None if bias is None else (plan.part(bias, rank) if bias.shape[2] > 1 else bias.clone()).requires_grad_()
            slope = mask.tensor(learned)
            result = context_parallel.attention(
                *parts, plan=plan, bias=own, lengths=lengths, score_mod=lambda s, b, h, i, j: s + slope[h] * (j - i) * 0.1,  # noqa: B023
                reduce_gradients=reduces,
            )  # fmt: skip
            result.square().sum().backward()
            is_shared = bias is not None and bias.shape[2] == 1
            if not reduces:
                dist.all_reduce(learned.grad)
                if is_shared:
                    dist.all_reduce(own.grad)
            got = [result, *(t.grad for t in parts), learned.grad, *([] if own is None else [own.grad])]
            want = [plan.part(output, rank), *(plan.part(t, rank) for t in wanted[:3]), wanted[3]]
            want += [] if bias is None else [wanted[4] if is_shared else plan.part(wanted[4], rank)]
            for a, b in zip(got, want):
                worst = (a - b).abs().max() / max(1.0, float(b.abs().max()))
                check(a.shape == b.shape and worst < TOLERANCE[torch.float32], f"learned, {scheme}, {reduces}")


def test_sink():
    """Its gradient is the sum over ranks; and tensors that are views, or need no gradient."""
    rank = dist.get_rank()
    generator = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(1, 100, h, 16, generator=generator, dtype=torch.float64).transpose(1, 2) for h in (4, 2, 2))
    sink = torch.tensor([0.5, -1.0, 2.0, 0.0], dtype=torch.float64)
    i = torch.arange(100)
    wide = [t.clone().requires_grad_() for t in (q, sink)]
    keys, values = (t.repeat_interleave(2, 1) for t in (k, v))
    scores = (wide[0] @ keys.transpose(2, 3) / 4).masked_fill(i > i[:, None], float("-inf"))
    weights = torch.cat([scores, wide[1][None, :, None, None].expand(1, 4, 100, 1)], 3).softmax(-1)
    output = weights[..., :-1] @ values
    wanted = torch.autograd.grad(output.square().sum(), wide)
    for scheme in ("ring", "all-to-all"):
        plan = plan_of(100, 4, 2, causal=True, scheme=scheme)
        query, key, value = (plan.part(t, rank) for t in (q, k, v))
        query.requires_grad_()
        own = sink.clone().requires_grad_()
        result = context_parallel.attention(query, key, value, plan=plan, sink=own)
        result.square().sum().backward()
        dist.all_reduce(own.grad)
        for got, want in ((result, plan.part(output, rank)), (query.grad, plan.part(wanted[0], rank)), (own.grad, wanted[1])):
            check((got - want).abs().max() < 1e-9, f"sink, {scheme}")


def test_bits():
    """Those of one rank; and bytes."""
    i = torch.arange(1000)
    case = Case(1000, 2, 1, i <= i[:, None])
    options = {"tokens": 1000, "heads": 2, "key_heads": 1, "head_dim": 16, "dtype": "f32", "chunk": 128, "causal": True}
    plan = make_plan(ranks=RANKS, deterministic=True, **options)
    results = case.check(plan)
    alone = simulate(make_plan(ranks=1, **options), case.q, case.k, case.v, d_output=case.d_output, d_lse=case.d_lse)
    for got, want in zip(results, (alone.output, alone.lse, alone.d_query)):
        check(torch.equal(got, plan.part(want, dist.get_rank())), "expected the bits of one rank")
    check(all(torch.equal(a, b) for a, b in zip(results, case.check(plan))), "expected the same bits again")
    rank = dist.get_rank()
    parts = [plan.part(t, rank) for t in (case.q, case.k, case.v)]
    executor = context_parallel.executor_of(plan, None, parts, {"mask_mod": None, "score_mod": None})
    _, saved = executor.forward(*parts)
    token = 32 * 4
    sent = sum(count(t) for stage in plan.ranks[rank].stages for t in stage.send.values()) * token
    check(executor.communicator.sent_bytes == sent, f"{executor.communicator.sent_bytes} bytes, {sent} planned")
    executor.backward(saved, plan.part(case.d_output, rank))
    returned = sum(count(plan.returned(rank, peer)) for peer in range(RANKS) if peer != rank) * token
    check(executor.communicator.sent_bytes == 2 * sent + returned, "bytes of the backward")


def test_disagreement():
    rank = dist.get_rank()
    q, k, v = torch.randn(3, 1, 2, 64, 16).unbind()
    plans = [plan_of(64, 2, 2, causal=causal, placement="contiguous", scheme="all-gather") for causal in (True, False)]
    for plan, message, tokens in ((plans[rank == 2], "rank 2: expected what rank 0 has, plan", 64), (plans[0], "expected .batch, heads, 16", 63)):
        parts = [plan.part(t[:, :, : tokens if rank == 3 else 64], rank) for t in (q, k, v)]
        try:
            context_parallel.attention(*parts, plan=plan)
        except attn_mlir.AttnError as error:
            check(message.replace(".", "[") in str(error), str(error))
        else:
            check(False, "expected an error")


def test_death():
    """The last test: the group does not live on."""
    plan = plan_of(64, 2, 2, causal=True, scheme="ring")
    rank = dist.get_rank()
    parts = [plan.part(t, rank) for t in torch.randn(3, 1, 2, 64, 16).unbind()]
    context_parallel.attention(*parts, plan=plan)
    if rank == 1:
        os._exit(0)
    try:
        context_parallel.attention(*parts, plan=plan)
    except attn_mlir.DeviceError as error:
        check(f"rank {rank}: expected all ranks to communicate, got: " in str(error), str(error))
    else:
        check(False, "expected an error")


TESTS = (test_linear, test_schemes, test_masks, test_dropout, test_learned, test_sink, test_bits, test_disagreement, test_death)


def work(rank, store, names):
    torch.set_num_threads(1)
    limit = datetime.timedelta(hours=1)  # a rank that is gone shows by its connections, however slow the others are
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS, timeout=limit)
    for test in TESTS:
        if test.__name__ in names:
            test()
    sys.stdout.flush()
    os._exit(0)  # no farewell to ranks that are gone


def run(names):
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=work, args=(rank, f"{folder}/store", names)) for rank in range(RANKS)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        if codes := [process.exitcode for process in processes if process.exitcode != 0]:
            for process in processes:
                process.kill()
            raise SystemExit(f"{names}: expected all ranks to end well, got {codes}")


if __name__ == "__main__":
    every = [test.__name__ for test in TESTS]
    chosen = sys.argv[1:] or every
    for names in ([name for name in chosen if name != "test_death"], [name for name in chosen if name == "test_death"]):
        if names:
            run(names)
    print("ok")
