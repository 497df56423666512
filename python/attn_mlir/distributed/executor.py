# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One rank's part of a plan, forward and backward, by any Communicator and on arrays of NumPy or torch.

Keys go where the plan sends them, a call of a plan is a call of a kernel over them in ascending order, and partial results of
a row's calls are merged in the order of stages. In the backward the keys go once more, and the sums of dK and dV come back to
their owners in f32, who add them in ascending order of ranks: all bits are the same in every run.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import operator
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from .. import mask as masks
from ..arrays import type_of
from ..errors import BindingError
from ..functional import dropout_arrays
from ..mask.positions import Positions
from . import queries
from .calls import add_columns, attend, columns, differentiate, keeping, merge, random_words
from .communicator import Communicator, agree_on
from .options import FLOATS, check_options
from .plan import BLOCKS, Call, Plan, PlanError
from .ranges import Ranges, count
from .tokens import Library, Store, split


class Heads(NamedTuple):
    """Which heads a rank computes: `rows` of queries, `keys` of keys and values."""

    rows: slice
    keys: slice

    @property
    def row_count(self) -> int:
        return self.rows.stop - self.rows.start

    @property
    def key_count(self) -> int:
        return self.keys.stop - self.keys.start


@dataclasses.dataclass
class Saved:
    """What the backward needs: query, key, value of the tokens that the rank holds, output and LSE, of its heads, the bias
    of its tokens, the lengths, and seed and offset of dropout."""

    query: Any
    key: Any
    value: Any
    output: Any
    lse: Any
    bias: Any = None
    lengths: Any = None
    random: Any = None


class Gradients(NamedTuple):
    """Of the rank's tokens. Those of the bias and of `reads`, the arrays of floats that score_mod reads, are None and none unless
    they are asked for."""

    query: Any
    key: Any
    value: Any
    bias: Any
    reads: list[Any]


class Executor:
    """`options` are of attn_mlir.attention: mask_mod and score_mod of the whole, soft_cap, scale, dropout, seed, offset, target,
    device, allow_tf32. The plan's own mask holds beside mask_mod; what dropout drops is what one device would."""

    def __init__(self, plan: Plan, communicator: Communicator, options: Mapping[str, Any]):
        check_options(options)
        self.plan, self.communicator, self.rank = plan, communicator, communicator.rank
        self.mine = plan.ranks[min(self.rank, plan.size - 1)]
        self.options = dict(options)
        self.mask_mod, self.score_mod = self.options.pop("mask_mod", None), self.options.pop("score_mod", None)
        self.rate = self.options.pop("dropout", None) or 0.0
        #: Numbers of dropout, of the next forward; read in each.
        self.seed, self.offset = self.options.pop("seed", None), self.options.pop("offset", None) or 0
        #: By call: the mask and the score of these rows and keys. Arrays are of one library and on one device.
        self.parts: dict[Call, dict[str, Any]] = {}
        self.lengths: Any = None
        self.random: Any = None
        self.behind: Any = None

    def forward(self, query: Any, key: Any, value: Any, sink: Any = None, bias: Any = None, lengths: Any = None) -> tuple[Any, Saved]:
        """The output of the rank's tokens, from their query, key and value; `sink` [Hq] as of attn_mlir.attention. `bias` is that of
        the rank's rows and of all keys, [B, Hq, tokens of the rank, tokens of the plan] with any dimension 1; `lengths` [B], i32: how
        many tokens of each batch exist."""
        self.agree(query, key, value, sink, bias, lengths)
        library, heads = Library(query), self.heads(self.rank)
        random = random_words(library, self.seed, self.offset) if self.rate else None
        self.set_data(lengths, random)
        query, key, value = (self.cut(array) for array in (query, key, value))
        held = self.spread((query, key, value))
        if self.plan.moves_queries:
            results = queries.forward(self, query, key, value, sink)
            return results[0], Saved(query, key, value, *results, None, lengths, random)
        shape = (*held[0].shape[:3], value.shape[3])
        output: Any = None
        lse = library.full(shape[:3], float("-inf"), library.dtype(self.score_dtype))
        if sink is not None:
            sink = sink[heads.rows]
            lse = lse if self.mine.keys else library.full(lse.shape, 0.0, lse.dtype) + sink[:, None]
        has_parts = sum(len(stage.calls) for stage in self.mine.stages) > 1
        for call, keys, values in self.calls(held[1], held[2]):
            # The sink is in one part of a row, the first.
            more: dict[str, Any] = {"sink": sink if output is None else None, "result_dtype": self.score_dtype if has_parts else None}
            more["bias"] = columns(library, bias, call.keys)
            part, part_lse = attend(held[0], keys, values, **more, **self.at(call, library), **self.options)
            if output is None:
                output, lse = part, part_lse
            else:
                output, lse = merge(library, (output, lse), (part, part_lse))
        output = library.full(shape, 0.0, query.dtype) if output is None else library.convert(output, query.dtype)
        return self.gather_rows(output, heads), Saved(held[0], held[1], held[2], output, lse, bias, lengths, random)

    def lse(self, saved: Saved) -> Any:
        """[B, Hq, tokens], of the rank's tokens. The bytes that it takes to get it from other ranks are in no plan."""
        return self.gather_rows(saved.lse[..., None], self.heads(self.rank))[..., 0]

    def backward(
        self, saved: Saved, d_output: Any, d_lse: Any = None, *, bias_gradient: bool = False, capture_gradients: bool = False
    ) -> Gradients:
        """The gradients of the rank's query, key and value, from that of its output, and of its LSE if that was used. Those of
        what score_mod reads, and of a bias of which ranks share rows, are the part of the rank's tokens: that of the whole is the
        sum over ranks, as of all weights."""
        library, dtype = Library(d_output), self.score_dtype
        self.set_data(saved.lengths, saved.random)
        d_output, d_lse = self.cut(d_output), self.cut(d_lse)
        (d_output,) = self.spread_rows((d_output,))
        more = {}
        if d_lse is not None:
            more["d_lse"] = self.spread_rows((d_lse[..., None],))[0][..., 0]
        wide = library.dtype(dtype)
        if self.plan.moves_queries:
            return queries.backward(self, saved, d_output, d_lse, capture_gradients)
        d_query = library.full(saved.query.shape, 0.0, wide)
        d_bias = library.full(saved.bias.shape, 0.0, wide) if bias_gradient else None
        learned = self.learned() if capture_gradients else []
        d_reads = [library.full(array.shape, 0.0, wide) for array in learned]
        more.update(bias_gradient=bias_gradient, capture_gradients=bool(learned))
        sums = Store(library)
        for call, keys, values in self.calls(saved.key, saved.value):
            part, d_key, d_value, *others = differentiate(
                saved.query, keys, values, saved.output, saved.lse, d_output, deterministic=True, result_dtype=dtype,
                bias=columns(library, saved.bias, call.keys), **more, **self.at(call, library), **self.options,
            )  # fmt: skip
            d_query += part
            sums.add(call.keys, (d_key, d_value))
            if bias_gradient:
                add_columns(d_bias, others.pop(0), call.keys)
            for total, gradient in zip(d_reads, others):
                total += gradient
        d_key, d_value = self.reduce(sums, saved, library)
        d_query, d_key, d_value = self.gather_gradients(d_query, d_key, d_value, saved)
        d_bias = library.convert(d_bias, saved.bias.dtype) if bias_gradient else None
        return Gradients(d_query, d_key, d_value, d_bias, [library.convert(d, a.dtype) for d, a in zip(d_reads, learned)])

    def learned(self) -> list[Any]:
        """The arrays of floats that score_mod reads, in the order of its reads."""
        if self.score_mod is None:
            return []
        return [array for array in masks.trace_score(self.score_mod).arrays if type_of(array, "array")[0] in FLOATS]

    def sum_over_ranks(self, array: Any) -> Any:
        """Of what all ranks have a part of, in ascending order of ranks."""
        library = Library(array)
        flat = library.flatten([array])
        received = self.communicator.exchange([flat] * self.plan.size, [len(flat)] * self.plan.size)()
        return functools.reduce(operator.add, received).reshape(array.shape)

    def sink_gradient(self, sink: Any, saved: Saved, d_output: Any, d_lse: Any = None) -> Any:
        """[Hq], of the rank's tokens alone: that of the whole is the sum over ranks, as of all weights. Moves what `backward` does."""
        library, heads = Library(d_output), self.heads(self.rank)
        self.set_data(saved.lengths, saved.random)
        d_output, d_lse = self.cut(d_output), self.cut(d_lse)
        (d_output,) = self.spread_rows((d_output,))
        delta = (library.convert(d_output, saved.lse.dtype) * library.convert(saved.output, saved.lse.dtype)).sum(-1)
        if d_lse is not None:
            delta = delta - self.spread_rows((d_lse[..., None],))[0][..., 0]
        wide = library.convert(sink, saved.lse.dtype)
        share = library.module.exp(wide[heads.rows][:, None] - saved.lse)
        result = library.full((self.sizes[1],), 0.0, saved.lse.dtype)
        result[heads.rows] = -(share * delta).sum((0, 2))
        return library.convert(result, sink.dtype)

    def set_data(self, lengths: Any, random: Any):
        """Those of the attention that follows; masks and scores of calls read them."""
        if lengths is not self.lengths or random is not self.random:
            self.parts = {}
        self.lengths, self.random, self.behind = lengths, random, None
        if lengths is not None and self.mine.rows:
            places = Library(self.nothing).positions(self.mine.rows)
            self.behind = places[None, :] >= lengths[:, None]

    def cut(self, array: Any) -> Any:
        """[B, H, the rank's tokens, ...] with zeros behind the lengths, where anything may be."""
        if array is None or self.behind is None:
            return array
        library = Library(array)
        behind = self.behind.reshape(self.behind.shape[0], 1, -1, *(1,) * (len(array.shape) - 3))
        return library.module.where(behind, library.full((), 0.0, array.dtype), array)

    def agree(self, query: Any, key: Any, value: Any, sink: Any, bias: Any, lengths: Any):
        """Raises an error on all ranks where arrays do not fit on one of them, or plans, types or options differ."""

        def facts() -> str:
            self.check(query, key, value)
            self.check_bias(bias)
            self.check_lengths(lengths)
            dropout_arrays(query, self.rate, self.seed, self.offset)
            given = {name: value for name, value in self.options.items() if value is not None}
            given.update({name: True for name, array in (("sink", sink), ("bias", bias)) if array is not None})
            given.update({"dropout": (self.rate, int(self.seed), int(self.offset))} if self.rate else {})
            given.update({"lengths": [int(n) for n in lengths]} if lengths is not None else {})
            mods = [trace(mod).record for trace, mod in ((masks.trace_mask, self.mask_mod), (masks.trace_score, self.score_mod)) if mod]
            given.update({"mods": hashlib.sha256("".join(mods).encode()).hexdigest()[:16]} if mods else {})
            return f"plan {self.plan.digest[:16]} {self.dtypes[0]} {list(self.sizes)} {sorted(given.items())}"

        agree_on(self.communicator, facts)

    # ---- What calls compute ----

    def calls(self, key: Any, value: Any) -> Iterator[tuple[Call, Any, Any]]:
        """The rank's calls in their order, with keys and values. What the next stage needs is on its way while one is computed."""
        store = Store(Library(key))
        store.add(self.plan.held(self.rank), (key, value))
        first = 1 if self.plan.head_shards > 1 else 0
        wait = self.send_keys(first, store)
        for i in range(first, self.plan.stage_count):
            wait()
            wait = self.send_keys(i + 1, store)
            for call in self.mine.stages[i].calls:
                keys, values = store.take(call.keys)
                yield call, keys, values

    def send_keys(self, number: int, store: Store) -> Any:
        """Begins a stage's transfers; returns what waits for them and adds to the store what arrives."""
        if number >= self.plan.stage_count or self.plan.is_quiet(number):
            return lambda: None
        stage, library = self.mine.stages[number], store.library
        parts = [library.flatten(store.take(stage.send[p])) if stage.send.get(p) else self.nothing for p in self.everybody]
        shapes = [[self.key_shape(count(stage.receive.get(p, ())), which) for which in (0, 1)] for p in self.everybody]
        wait = self.exchange(parts, shapes)

        def arrive():
            for peer, arrays in enumerate(wait()):
                store.add(stage.receive.get(peer, ()), arrays)

        return arrive

    def at(self, call: Call, library: Library) -> dict[str, Any]:
        """mask_mod and score_mod of a call."""
        if call not in self.parts:
            self.parts[call] = self.make_part(call, library)
        return self.parts[call]

    def make_part(self, call: Call, library: Library) -> dict[str, Any]:
        rows, keys = (self.places(part, library) for part in (call.rows, call.keys))
        first = (self.heads(self.rank).rows.start, call.rows[0][0], call.keys[0][0])
        whole = library.integers((self.plan.tokens, *first))
        at = Positions(rows, keys, whole, self.plan.tokens, self.sizes[1])
        conditions = [*self.plan_masks(library), *([self.mask_mod] if self.mask_mod is not None else [])]
        if self.lengths is not None:
            lengths = masks.tensor(self.lengths)
            conditions.append(lambda b, h, i, j: (i < lengths[b]) & (j < lengths[b]))
        part: dict[str, Any] = {}
        if conditions:
            part["mask_mod"] = at.mask(lambda *p: functools.reduce(operator.and_, (condition(*p) for condition in conditions)))
        if self.score_mod is not None:
            part["score_mod"] = at.score(self.score_mod)
        if self.rate:
            part.update(rate=self.rate, kept_mod=at.score(keeping(self.score_mod, self.random, self.rate)))
        return part

    def places(self, tokens: Ranges, library: Library) -> Any:
        """For Positions. Bounds give the tiles in another order than lists do, so that bits are those of one rank with lists."""
        if len(tokens) == 1 and not self.plan.is_deterministic:
            return None
        return library.positions(tokens)

    def plan_masks(self, library: Library) -> list[Any]:
        """What the plan was made for."""
        left, right = self.plan.band
        found: list[Any] = []
        if right is not None:
            found.append(lambda b, h, i, j: j <= i + right)
        if left is not None:
            found.append(lambda b, h, i, j: j >= i - left)
        if len(self.plan.documents) > 1:
            int32 = library.dtype("i32")
            ids = [library.full((end - begin,), number, int32) for number, (begin, end) in enumerate(self.plan.documents)]
            found.append(masks.document(library.concatenate(ids, 0)))
        return found

    # ---- What ranks exchange ----

    def exchange(self, parts: Sequence[Any], shapes: Sequence[Sequence[Sequence[int]]]) -> Any:
        """Begins to send flat arrays; what is returned waits for those of the given shapes, some from each rank."""
        counts = [sum(functools.reduce(operator.mul, shape, 1) for shape in group) for group in shapes]
        wait = self.communicator.exchange(parts, counts)
        return lambda: [split(flat, group) for flat, group in zip(wait(), shapes)]

    def spread(self, arrays: Sequence[Any]) -> list[Any]:
        """Query, key and value of the rank's tokens as those of its heads of all tokens of its group."""
        if self.plan.head_shards == 1:
            return list(arrays)
        query, key, value = arrays
        parts, shapes = [], []
        for peer in self.everybody:
            heads, tokens = self.heads(peer), self.tokens_of_member(peer)
            part = [query[:, heads.rows], key[:, heads.keys], value[:, heads.keys]]
            parts.append(Library(query).flatten(part) if peer in self.group else self.nothing)
            mine = self.heads(self.rank)
            counts = (mine.row_count, mine.key_count, mine.key_count)
            shapes.append([(query.shape[0], n, tokens, array.shape[3]) for n, array in zip(counts, arrays)])
        return self.assemble(self.exchange(parts, shapes)())

    def spread_rows(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays [B, Hq, tokens, ...] as those of the rank's heads of all tokens of its group."""
        if self.plan.head_shards == 1:
            return list(arrays)
        parts, shapes, mine = [], [], self.heads(self.rank)
        for peer in self.everybody:
            part = [array[:, self.heads(peer).rows] for array in arrays]
            parts.append(Library(arrays[0]).flatten(part) if peer in self.group else self.nothing_like(arrays[0]))
            shapes.append([(a.shape[0], mine.row_count, self.tokens_of_member(peer), a.shape[3]) for a in arrays])
        return self.assemble(self.exchange(parts, shapes)())

    def assemble(self, received: Sequence[Sequence[Any]]) -> list[Any]:
        """Arrays of the group's tokens, ascending, from those of its members."""
        store = Store(Library(received[self.rank][0]))
        for peer in self.group:
            store.add(self.plan.ranks[peer].rows, received[peer])
        return store.take(self.plan.held(self.rank)) if self.plan.held(self.rank) else list(received[self.rank])

    def gather_rows(self, array: Any, heads: Heads) -> Any:
        """All heads of the rank's tokens, from an array of its heads of its group's tokens."""
        if self.plan.head_shards == 1:
            return array
        return self.gather_heads([array], [(heads, "rows")])[0]

    def gather_heads(self, arrays: Sequence[Any], kinds: Sequence[tuple[Heads, str]]) -> list[Any]:
        """As gather_rows, of several arrays; those of "keys" are summed where ranks have copies of a key head."""
        library = Library(arrays[0])
        store = Store(library)
        store.add(self.plan.held(self.rank), arrays)
        parts, shapes = [], []
        for peer in self.everybody:
            rows = self.plan.ranks[peer].rows if peer in self.group else ()
            parts.append(library.flatten(store.take(rows)) if rows else self.nothing_like(arrays[0]))
            tokens = count(self.mine.rows) if peer in self.group else 0
            shapes.append([(a.shape[0], a.shape[1], tokens, a.shape[3]) for a in arrays])
        received = self.exchange(parts, shapes)()
        results = []
        for which, (array, (_, kind)) in enumerate(zip(arrays, kinds)):
            total = self.sizes[1] if kind == "rows" else self.sizes[2]
            result = library.full((array.shape[0], total, count(self.mine.rows), array.shape[3]), 0.0, array.dtype)
            for peer in self.group:
                heads = self.heads(peer)
                result[:, heads.rows if kind == "rows" else heads.keys] += received[peer][which]
            results.append(result)
        return results

    def reduce(self, sums: Store, saved: Saved, library: Library) -> tuple[Any, Any]:
        """Gradients of the keys and values that the rank holds, of its heads, from the parts that ranks have computed."""
        parts, shapes = [], []
        for peer in self.everybody:
            back = self.plan.returned(self.rank, peer) if self.is_partner(peer) else ()
            parts.append(library.flatten(sums.take(back)) if back else self.nothing_like(saved.lse))
            tokens = count(self.plan.returned(peer, self.rank)) if self.is_partner(peer) else 0
            shapes.append([self.key_shape(tokens, which) for which in (0, 1)])
        gradients = tuple(library.full(a.shape, 0.0, saved.lse.dtype) for a in (saved.key, saved.value))
        own = Store(library)
        own.add(self.plan.held(self.rank), gradients)
        for peer, arrays in enumerate(self.exchange(parts, shapes)()):
            at = 0
            for begin, end in self.plan.returned(peer, self.rank) if self.is_partner(peer) else ():
                self.add_tokens(own, (begin, end), [array[:, :, at : at + end - begin] for array in arrays])
                at += end - begin
        return gradients

    @staticmethod
    def add_tokens(store: Store, tokens: tuple[int, int], arrays: Sequence[Any]):
        """Adds to the arrays of a store, in their own memory."""
        for first, last, own in store.pieces:
            low, high = max(tokens[0], first), min(tokens[1], last)
            if low < high:
                for target, array in zip(own, arrays):
                    target[:, :, low - first : high - first] += array[:, :, low - tokens[0] : high - tokens[0]]

    def gather_gradients(self, d_query: Any, d_key: Any, d_value: Any, saved: Saved) -> tuple[Any, Any, Any]:
        """Of all heads of the rank's tokens, in their own type."""
        library, dtype, heads = Library(d_query), saved.query.dtype, self.heads(self.rank)
        # Copies of a key head are summed in f32; what is whole travels in its own type.
        has_copies = self.plan.head_shards > self.sizes[2]
        arrays = [d_query, d_key, d_value] if has_copies else [library.convert(a, dtype) for a in (d_query, d_key, d_value)]
        if self.plan.head_shards > 1:
            arrays = self.gather_heads(arrays, [(heads, "rows"), (heads, "keys"), (heads, "keys")])
        results = [library.convert(array, dtype) for array in arrays]
        return results[0], results[1], results[2]

    # ---- Sizes ----

    def check(self, query: Any, key: Any, value: Any):
        """Raises an error where arrays are not those of the rank's tokens; finds sizes, and what to send where nothing is sent."""
        if self.communicator.size != self.plan.size:
            raise PlanError(f"expected a plan for {self.communicator.size} ranks, as there are, got one for {self.plan.size}")
        if self.plan.mask_text == BLOCKS and self.mask_mod is None:
            raise PlanError("expected the mask_mod that the plan was made for, got none")
        types = [type_of(array, name) for name, array in (("query", query), ("key", key), ("value", value))]
        tokens = count(self.mine.rows)
        for name, (_, shape) in zip(("query", "key", "value"), types):
            if len(shape) != 4 or shape[2] != tokens:
                raise BindingError(
                    f"{name}: expected [batch, heads, {tokens}, head dim], of the tokens of rank {self.rank} of the plan, got {list(shape)}"
                )
        (batch, heads, _, dim), (_, key_heads, *_), (*_, value_dim) = (shape for _, shape in types)
        shards = self.plan.head_shards
        if heads % shards or (key_heads % shards and shards % key_heads):
            raise BindingError(f"expected heads that {shards} ranks share out, got {heads} query heads and {key_heads} key heads")
        self.dtypes = [dtype for dtype, _ in types]
        self.score_dtype = "f64" if self.dtypes[0] == "f64" else "f32"
        self.sizes = (batch, heads, key_heads, dim, value_dim)
        self.nothing = query.reshape(-1)[:0]

    def check_bias(self, bias: Any):
        if bias is None:
            return
        if self.plan.head_shards > 1 or self.plan.moves_queries:
            raise PlanError(
                f"expected a plan that moves keys, with head_shards 1, for a bias, whose rows do not travel, got {self.plan.scheme}: pass head_shards=1 to make_plan"
            )
        batch, heads = self.sizes[:2]
        wanted = (batch, heads, count(self.mine.rows), self.plan.tokens)
        got = type_of(bias, "bias")[1]
        if len(got) != 4 or any(a not in (1, b) for a, b in zip(got, wanted)):
            raise BindingError(f"bias: expected {list(wanted)}, or 1 in place of a size, on rank {self.rank} of the plan, got {list(got)}")

    def check_lengths(self, lengths: Any):
        if lengths is None:
            return
        if type_of(lengths, "lengths") != ("i32", (self.sizes[0],)):
            dtype, shape = type_of(lengths, "lengths")
            raise BindingError(f"lengths: expected {self.sizes[0]} of i32, one for each batch, got {dtype} of {list(shape)}")

    def key_shape(self, tokens: int, which: int) -> tuple[int, ...]:
        """Of keys (0) or values (1) of the rank's heads."""
        batch, _, _, dim, value_dim = self.sizes
        return batch, self.heads(self.rank).key_count, tokens, (dim, value_dim)[which]

    def heads(self, rank: int) -> Heads:
        _, heads, key_heads, _, _ = self.sizes
        shards = self.plan.head_shards
        member = rank % shards
        first = member * key_heads // shards
        rows = slice(member * heads // shards, (member + 1) * heads // shards)
        return Heads(rows, slice(first, max(first + 1, (member + 1) * key_heads // shards)))

    def tokens_of_member(self, peer: int) -> int:
        """0 outside of the group."""
        return count(self.plan.ranks[peer].rows) if peer in self.group else 0

    def is_partner(self, peer: int) -> bool:
        """It computes the same heads of another group."""
        return peer % self.plan.head_shards == self.rank % self.plan.head_shards

    def nothing_like(self, array: Any) -> Any:
        return array.reshape(-1)[:0]

    @property
    def everybody(self) -> range:
        return range(self.plan.size)

    @property
    def group(self) -> range:
        return self.plan.group(self.rank)
