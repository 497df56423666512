# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of several ranks, as attn-schedule prints them: who has which tokens, who sends what to whom, what is computed when."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence, Union

from ..errors import AttnError
from ..tools import run_tool
from .blocks import picture
from .ranges import Ranges, contains, count, intersect, ranges_of
from .tokens import AXIS, take

SCHEMA = "attn-mlir/plan/1"
#: The mask of a plan that was made of blocks: its predicate is not in the plan.
BLOCKS = "blocks"


class PlanError(AttnError):
    """A plan that cannot be made, read or carried out."""


class Call(NamedTuple):
    """A kernel: rows that attend to keys, all that a rank has but where queries move."""

    rows: Ranges
    keys: Ranges


class Stage(NamedTuple):
    """`receive` and `send` are tokens by the other rank: their keys, or their queries where these move."""

    receive: dict[int, Ranges]
    send: dict[int, Ranges]
    calls: tuple[Call, ...]


class RankPlan(NamedTuple):
    """`rows` are the tokens whose Q, K, V and O the rank owns."""

    rows: Ranges
    stages: tuple[Stage, ...]

    @property
    def keys(self) -> Ranges:
        """Those of all calls."""
        return ranges_of(r for stage in self.stages for call in stage.calls for r in call.keys)

    @property
    def computed(self) -> Ranges:
        """The rows of all calls."""
        return ranges_of(r for stage in self.stages for call in stage.calls for r in call.rows)


class Plan:
    """What `attn-schedule --ranks=P --json` prints (docs/Distributed.md); `make_plan` makes one, `load` reads one."""

    def __init__(self, data: dict[str, Any]):
        data = data.get("plan", data)
        if data.get("schema") != SCHEMA:
            raise PlanError(f"expected a plan of schema {SCHEMA}, got {data.get('schema')!r}")
        try:
            self.scheme, self.placement = str(data["scheme"]), str(data["placement"])
            self.tokens, self.chunk, self.head_shards = (int(data[name]) for name in ("tokens", "chunk", "head_shards"))
            self.mask_text, self.documents = str(data.get("mask", "full")), ranges_of_list(data.get("documents", []))
            #: Transfers are of queries, and keys stay.
            self.moves_queries = self.scheme == "query-cast"
            self.ranks = tuple(
                RankPlan(ranges_of(rank["rows"]), tuple(stage_of(stage, self.moves_queries) for stage in rank["stages"])) for rank in data["ranks"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise PlanError(f"expected a plan of schema {SCHEMA}, got one without a valid {error}") from None
        self.band = band_of(self.mask_text)
        #: Its output has the bits of one rank. Where that is not said, it is so as far as it goes.
        self.is_deterministic = bool(data.get("deterministic", True))
        check(self)
        #: The same on all ranks that have the same plan.
        self.digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()

    @classmethod
    def load(cls, path: Union[str, Path]) -> "Plan":
        try:
            return cls(json.loads(Path(path).read_text()))
        except (OSError, ValueError) as error:
            raise PlanError(f"{path}: cannot read a plan: {error}") from None

    def part(self, array: Any, rank: int, axis: int = AXIS) -> Any:
        """The rank's part of an array that has all tokens: [B, H, tokens, D], or with axis 1 [B, tokens, ...]."""
        return take(array, self.ranks[rank].rows, axis)

    def positions(self, rank: int) -> list[int]:
        """Of the rank's tokens in the whole, for rotary embeddings."""
        return [token for begin, end in self.ranks[rank].rows for token in range(begin, end)]

    @property
    def size(self) -> int:
        return len(self.ranks)

    @property
    def stage_count(self) -> int:
        return len(self.ranks[0].stages)

    def is_quiet(self, stage: int) -> bool:
        """Nobody sends anything in it."""
        return not any(rank.stages[stage].send for rank in self.ranks)

    def group(self, rank: int) -> range:
        """The ranks that share out the heads of their rows among them, `rank` itself where none do."""
        first = rank - rank % self.head_shards
        return range(first, first + self.head_shards)

    def held(self, rank: int) -> Ranges:
        """The tokens whose keys a rank has, of its own heads, before others' arrive: those of its group."""
        return ranges_of(r for member in self.group(rank) for r in self.ranks[member].rows)

    def returned(self, rank: int, holder: int) -> Ranges:
        """The tokens of `holder` for whose keys `rank` computes parts of the gradients."""
        return intersect(self.ranks[rank].keys, self.held(holder))

    def answered(self, rank: int, owner: int) -> Ranges:
        """Where queries move, the rows of `owner` of which `rank` computes parts."""
        return intersect(self.ranks[rank].computed, self.ranks[owner].rows)


def stage_of(data: dict[str, Any], moves_queries: bool) -> Stage:
    moved = "rows" if moves_queries else "keys"

    def transfers(name: str, peer: str) -> dict[int, Ranges]:
        return {int(transfer[peer]): ranges_of(transfer[moved]) for transfer in data[name]}

    calls = tuple(Call(ranges_of(call["rows"]), ranges_of(call["keys"])) for call in data["calls"])
    return Stage(transfers("receive", "from"), transfers("send", "to"), calls)


def ranges_of_list(pairs: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """As they are: documents touch."""
    return tuple((int(begin), int(end)) for begin, end in pairs)


def band_of(mask: str) -> tuple[Optional[int], Optional[int]]:
    """How far behind and ahead of a row its keys are at most; None: no limit. Rows and keys are the same tokens."""
    text = mask.partition("@")[0]
    known: dict[str, tuple[Optional[int], Optional[int]]] = {"full": (None, None), "causal": (None, 0)}
    if text in known:
        return known[text]
    if match := re.fullmatch(r"window:(\d+)", text):
        return int(match[1]) - 1, 0
    if match := re.fullmatch(r"local:(-?\d+|inf),(-?\d+|inf)", text):
        left, right = (None if side == "inf" else int(side) for side in match.groups())
        return left, right
    if text == BLOCKS:
        return None, None
    raise PlanError(f"expected a plan for mask blocks, full, causal, window:SIZE or local:LEFT,RIGHT, got {mask!r}")


def check(plan: Plan):
    """Raises a PlanError unless each token is on one rank, and what is sent or used is there by then."""
    rows = [r for rank in plan.ranks for r in rank.rows]
    if ranges_of(rows) != ranges_of([(0, plan.tokens)]) or count(tuple(rows)) != plan.tokens:
        distinct = count(ranges_of(rows))
        raise PlanError(
            f"expected each of {plan.tokens} tokens on one rank, got {count(tuple(rows))} on all ranks, {distinct} of them distinct"
        )
    if plan.head_shards < 1 or plan.size < 1 or plan.size % plan.head_shards:
        raise PlanError(f"expected head_shards to divide {plan.size} ranks, got {plan.head_shards}")
    if plan.moves_queries and plan.head_shards != 1:
        raise PlanError(f"expected head_shards 1 of a plan that moves queries, got {plan.head_shards}")
    for number, rank in enumerate(plan.ranks):
        if len(rank.stages) != plan.stage_count:
            raise PlanError(f"rank {number}: expected {plan.stage_count} stages, got {len(rank.stages)}")
    held = [rank.rows for rank in plan.ranks]
    for i in range(plan.stage_count):
        before = list(held)
        for number, rank in enumerate(plan.ranks):
            stage, where = rank.stages[i], f"rank {number}, stage {i}"
            for peer, keys in stage.receive.items():
                if not 0 <= peer < plan.size or plan.ranks[peer].stages[i].send.get(number) != keys:
                    raise PlanError(f"{where}: expected rank {peer} to send what is received from it")
            for peer, keys in stage.send.items():
                if not 0 <= peer < plan.size or plan.ranks[peer].stages[i].receive.get(number) != keys:
                    raise PlanError(f"{where}: expected rank {peer} to receive what is sent to it")
                if not contains(before[number], keys):
                    raise PlanError(f"{where}: expected to have what is sent to rank {peer}")
            held[number] = ranges_of(r for part in (held[number], *stage.receive.values()) for r in part)
            for call in stage.calls:
                if plan.moves_queries:
                    if not contains(held[number], call.rows) or not contains(rank.rows, call.keys):
                        raise PlanError(f"{where}: expected calls of rows that have arrived, over keys that the rank owns")
                    continue
                if not contains(held[number], call.keys):
                    raise PlanError(f"{where}: expected calls to use what has arrived")
                if call.rows != plan.held(number):
                    raise PlanError(f"{where}: expected calls of all rows that the rank has")
    for number, rank in enumerate(plan.ranks):
        # A key in two calls would count twice; or a row, where keys stay.
        calls = [call for stage in rank.stages for call in stage.calls]
        if plan.moves_queries and sum(count(call.rows) for call in calls) != count(rank.computed):
            raise PlanError(f"rank {number}: expected each row in one call, got it in two")
        if not plan.moves_queries and sum(count(call.keys) for call in calls) != count(rank.keys):
            raise PlanError(f"rank {number}: expected each key in one call, got it in two")


def make_plan(
    *,
    ranks: int,
    tokens: int,
    heads: int,
    key_heads: Optional[int] = None,
    head_dim: int = 128,
    value_dim: Optional[int] = None,
    batch: int = 1,
    dtype: str = "bf16",
    causal: bool = False,
    window: Union[int, tuple[int, int], None] = None,
    documents: Optional[Sequence[int]] = None,
    mask_mod: Any = None,
    backward: bool = False,
    link: Optional[str] = None,
    chunk: Optional[int] = None,
    deterministic: bool = False,
    scheme: Optional[str] = None,
    placement: Optional[str] = None,
    head_shards: Optional[int] = None,
    target: str = "sm_90a",
) -> Plan:
    """The plan with the least predicted time, by attn-schedule.

    Arguments: numbers of ranks, tokens, query and key heads; `dtype`, f16, bf16 or f32, for what bytes are counted; `causal`
    and `window` as of attn_mlir.attention; `documents`: lengths of sequences packed into the tokens, which do not see each
    other; `mask_mod`: any other mask, of attn_mlir.mask, which the compiler looks at pair by pair, and which attention is to
    be given again; `backward`: of which pass the time is to be least; `link`: how ranks reach each other, as attn-schedule takes it;
    `chunk`: tokens that a rank has at least in a row; `deterministic`: only plans whose output has the bits of one rank;
    `scheme` and `placement`: only such plans; `head_shards`: only plans in which so many ranks exchange rows for heads, with 1
    those that move keys, as a bias and JAX want them, not queries.
    """
    sizes = {"B": batch, "Hq": heads, "Hkv": key_heads or heads, "M": tokens, "N": tokens, "D": head_dim, "Dv": value_dim or head_dim}
    problem = [*(f"{name}={size}" for name, size in sizes.items()), f"dtype={dtype}", f"mask={mask_text(causal, window)}"]
    problem += ["pass=backward"] if backward else []
    problem += ["tf32=1"] if dtype == "f32" else []  # GPUs have no other products of f32
    options = [f"--ranks={ranks}", "--json", "--top=1", f"--target={target}", f"--problem={' '.join(problem)}"]
    given = {"link": link, "chunk": chunk, "scheme": scheme, "placement": placement, "head-shards": head_shards}
    options += [f"--{name}={value}" for name, value in given.items() if value is not None]
    options += [f"--documents={','.join(map(str, documents))}"] if documents is not None else []
    options += ["--deterministic"] if deterministic else []
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        if mask_mod is not None:
            if causal or window is not None or documents is not None:
                raise PlanError("expected a mask_mod or causal, window and documents, got both")
            size = chunk or default_chunk(tokens, ranks, deterministic)
            file = Path(folder) / "blocks"
            file.write_text(picture(mask_mod, tokens, size, batch, heads))
            options += [f"--blocks={file}", *([] if chunk else [f"--chunk={size}"])]
        result = run_tool("attn-schedule", options)
    if result.returncode:
        raise PlanError(result.stderr.strip().removeprefix("attn-schedule: error: "))
    return Plan({**json.loads(result.stdout)["plan"], "deterministic": deterministic})


def default_chunk(tokens: int, ranks: int, deterministic: bool) -> int:
    """As the planner has it."""
    chunk = 256
    while not deterministic and chunk > 16 and tokens < 2 * ranks * chunk:
        chunk //= 2
    return chunk


def mask_text(causal: bool, window: Union[int, tuple[int, int], None]) -> str:
    if window is None:
        return "causal" if causal else "full"
    left, right = (window, 0) if isinstance(window, int) else window
    return f"local:{left},{min(right, 0) if causal else right}"
