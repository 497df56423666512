# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks and scores: Python functions called on symbols, and the regions of attn.attention that come of it."""

from __future__ import annotations

import inspect
import json
from typing import Any, Callable, NoReturn, Optional, Sequence, Union

from ..arrays import find_numpy, type_of, view_by_numpy, view_of
from ..errors import BindingError
from ..problem import Capture, Region
from .places import TraceError
from .ranges import NATURAL, Bound, Lists, Need
from .symbols import BOOL, FLOAT, INDEX, INT, Tracer, Value, as_float, fail, lift, plain
from .tensors import Tensor


#: The place of query positions among those of a predicate: b, h, i, j.
ROW = 2


def place_of(function: Callable[..., Any]) -> str:
    """File and line of a function's definition."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def without_function(*_: Any) -> NoReturn:
    fail("expected a traced function, got the record of one, which cannot be traced again")


class Recorded(Tensor):
    """A tensor in place of another of its type."""

    def __init__(self, array: Any, dims: tuple[str, ...]):
        self.array, self.dims, self.dtype = array, dims, type_of(array, "tensor")[0]


class Traced:
    """What Mask and Score share: the function, its name for messages, and the region it traces to."""

    kind = ""
    arguments: Sequence[tuple[str, str]] = ()
    result = ""

    #: What the positions range over, then the sizes of the whole.
    sizes: Sequence[str] = ("B", "Hq", "M", "N", "tokens", "heads")

    #: Made for one call, as of a record or of others: what is kept for further calls is not kept by it.
    is_temporary = False

    #: Tokens and query heads of the whole attention that this is a part of (positions.py).
    whole = (0, 0)

    def __init__(self, function: Callable[..., Any], named: str = ""):
        self.function, self.named = function, named
        self.needs: list[Need] = []
        self.bounds: list[Bound] = []
        self.lists: list[Lists] = []
        self.most_rows: Optional[int] = None
        self.text, self.tensors = (named, []) if named else self.trace()

    @classmethod
    def from_record(cls, record: str, arrays: Sequence[Any]) -> "Traced":
        """What gave `record`, reading other arrays of the same types."""
        text, dims, needs, bounds, lists, most_rows = json.loads(record)
        result = cls(without_function, text)
        result.is_temporary = True
        result.tensors = [Recorded(array, tuple(d)) for array, d in zip(arrays, dims)]
        result.needs = [Need(*need) for need in needs]
        result.bounds = [Bound(*bound) for bound in bounds]
        result.lists = [Lists(*numbers) for numbers in lists]
        result.most_rows = most_rows
        return result

    @property
    def record(self) -> str:
        """The region, and the dimensions of what it reads and what is known of the reads, as text."""
        return json.dumps([self.text, [t.dims for t in self.tensors], self.needs, self.bounds, self.lists, self.most_rows])

    @property
    def reads_are_checked(self) -> bool:
        """Whether nothing outside of arrays in host memory is read once `check_reads` and `check_lists` have seen them: all positions are
        bare, or known to be elements."""
        if self.whole != (0, 0) or (self.lists and not find_numpy()):
            return False
        return all(bound.size <= type_of(self.tensors[bound.capture].array)[1][bound.dim] for bound in self.bounds)

    def check_lists(self, keys: int):
        """Raises a BindingError where lists of blocks in host memory are none, of N `keys`."""
        for lists in self.lists if (numpy := find_numpy()) else ():
            views = [view_of(self.tensors[number].array) for number in (lists.counts, lists.indices)]
            if any(view.device != "cpu" for view in views):
                continue
            counts, indices = (view_by_numpy(view, numpy) for view in views)
            expected = f"lists of blocks that the {self.kind} reads: expected"
            if indices.shape[:3] != counts.shape:
                raise BindingError(f"{expected} a list of indices for each count, got counts {counts.shape} and indices {indices.shape}")
            room, blocks = indices.shape[3], -(-keys // lists.keys)
            # As numbers without a sign negative ones are large.
            if (counts > room).any():
                raise BindingError(f"{expected} counts from 0 to {room}, got {counts[counts > room].view('i4')[0]}")
            used = numpy.arange(room) < counts[..., None]
            wrong = used & (indices >= blocks)
            if wrong.any():
                raise BindingError(f"{expected} blocks from 0 to {blocks - 1}, of {keys} keys, got {indices[wrong].view('i4')[0]}")
            if (used[..., 1:] & (indices[..., 1:] <= indices[..., :-1])).any():
                raise BindingError(f"{expected} blocks in ascending order, got others")

    def check_reads(self, sizes: Sequence[int], rows: Optional[int] = None):
        """Raises a BindingError where an array has no element for some batch, head or position, or there are more rows than this is for; sizes are B, Hq, M, N.
        `rows`: those of a sequence, where M is what these may be."""
        got = sizes[2] if rows is None else rows
        if self.most_rows is not None and got > self.most_rows:
            raise BindingError(f"expected at most {self.most_rows} query rows, which the {self.kind} is for, got {got}")
        sizes = (*sizes, *self.whole)
        for need in self.needs:
            got = type_of(self.tensors[need.capture].array)[1][need.dim]
            least = -(-sizes[need.position] // need.step)
            if got < least:
                size = self.sizes[need.position] + (f" / {need.step}" if need.step > 1 else "")
                raise BindingError(
                    f"array {need.capture} that the {self.kind} reads: expected dim {need.dim} to be at least {least} ({size}), got {got}"
                )

    def trace(self) -> tuple[str, list[Tensor]]:
        tracer = Tracer()
        symbols = [Value(f"%{name}", type, NATURAL if type == INDEX else None) for name, type in self.arguments]
        for number, symbol in enumerate(symbols[-4:]):
            symbol.position = number
        with tracer.active():
            try:
                result = self.function(*symbols)
            except Exception as error:
                raise tracer.failure or error from None
            result = plain(result)
            if isinstance(result, (bool, int, float)):
                result = lift(float(result) if self.result == FLOAT else result, self.result)
            if self.result == FLOAT and isinstance(result, Value) and result.type in (INDEX, INT):
                result = as_float(result)
            if not isinstance(result, Value) or result.type != self.result:
                wanted = "a condition" if self.result == BOOL else "a number"
                got = result.type if isinstance(result, Value) else type(result).__name__
                raise TraceError(f"{place_of(self.function)}: expected the {self.kind} to give {wanted}, got {got}")
        head = ", ".join(f"%{name}: {type}" for name, type in self.arguments)
        body = "\n".join([*tracer.lines, f"{tracer.indent}attn.yield {result.name} : {self.result}"])
        self.needs, self.bounds = list(dict.fromkeys(tracer.needs)), list(dict.fromkeys(tracer.bounds))
        self.lists = list(dict.fromkeys(tracer.lists))
        self.most_rows = tracer.most_rows
        return f"({head}) {{\n{body}\n    }}", tracer.tensors

    @property
    def region(self) -> Region:
        """For an AttentionProblem; the tensors that it reads have the kind in their names."""
        text = self.text
        captures = []
        for k, t in enumerate(self.tensors):
            captures.append(Capture(f"{self.kind}_{k}", t.type))
            text = text.replace(f"%@{k}@", f"%{self.kind}_{k}")
        return Region(text, tuple(captures))

    def name_of(self, array: Any) -> str:
        """That of the capture which is `array`."""
        return next(f"{self.kind}_{k}" for k, t in enumerate(self.tensors) if t.array is array)

    @property
    def arrays(self) -> list[Any]:
        """What to pass for the captures."""
        return [t.array for t in self.tensors]

    def __str__(self):
        return self.region.text


class Mask(Traced):
    """A traced mask_mod. Masks combine: causal() & document(ids), a | b, ~a."""

    kind, result = "mask", BOOL
    arguments = (("b", INDEX), ("h", INDEX), ("i", INDEX), ("j", INDEX))

    def __call__(self, b, h, i, j):
        return self.function(b, h, i, j)

    def __and__(self, other: "Mask") -> "Mask":
        return Mask(lambda *p: self.function(*p) & other.function(*p))

    def __or__(self, other: "Mask") -> "Mask":
        return Mask(lambda *p: self.function(*p) | other.function(*p))

    def __invert__(self) -> "Mask":
        return Mask(lambda *p: ~self.function(*p))


class Score(Traced):
    """A traced score_mod."""

    kind, result = "score", FLOAT
    arguments = (("s", FLOAT), *Mask.arguments)

    def __call__(self, s, b, h, i, j):
        return self.function(s, b, h, i, j)


class Factor(Score):
    """A traced prob_mod that is its first argument times a number."""

    kind = "factor"


def trace_mask(function: Union[Mask, Callable[..., Any]]) -> Mask:
    """A Mask from a function of (b, h, i, j): batch, query head, query position, key position."""
    if not callable(function):
        raise BindingError(f"expected a mask or a function of (b, h, i, j), got {type(function).__name__}")
    return function if isinstance(function, Mask) else Mask(function)


def trace_score(function: Union[Score, Callable[..., Any]]) -> Score:
    """A Score from a function of (score, b, h, i, j)."""
    if not callable(function):
        raise BindingError(f"expected a score or a function of (score, b, h, i, j), got {type(function).__name__}")
    return function if isinstance(function, Score) else Score(function)
