# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manifest's launch expressions (docs/Manifest.md, "Expressions"), as lib/Runtime/Expression.cpp evaluates them."""

from __future__ import annotations

import re
from typing import Callable, Mapping, NoReturn, Union

from ..errors import ManifestError

Number = Union[int, float]
Access = Callable[[str, int], int]

MAX_LENGTH = 4096
MAX_DEPTH = 200
TOKEN = re.compile(
    r" *(?:(?P<float>\d+(?:\.\d*(?:e[+-]?\d+)?|e[+-]?\d+))|(?P<int>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<op>.))"
)
FUNCTIONS = ("floordiv", "ceildiv", "mod", "min", "max")


class Scope:
    """What names stand for: symbols by name, and the sizes and strides (in elements) of operands."""

    def __init__(self, symbols: Mapping[str, int], dims: Mapping[str, list[int]], strides: Mapping[str, list[int]]):
        self.symbols, self.dims, self.strides = symbols, dims, strides

    def access(self, kind: str, name: str, index: int) -> int:
        values = (self.dims if kind == "dim" else self.strides).get(name, ())
        if index >= len(values):
            raise ManifestError(f"unknown name '{kind}({name}, {index})'")
        return values[index]

    def symbol(self, name: str) -> int:
        if name not in self.symbols:
            raise ManifestError(f"unknown name '{name}'")
        return self.symbols[name]


def checked(value: int) -> int:
    """`value`, which must be a 64-bit signed integer, as it is in C++."""
    if not -(2**63) <= value < 2**63:
        raise ManifestError("64-bit overflow")
    return value


def apply(kind: str, a: Number, b: Number) -> Number:
    """One operation; a float makes + - * min max floating point."""
    if kind in ("floordiv", "ceildiv", "mod"):
        if isinstance(a, float) or isinstance(b, float):
            raise ManifestError("expected integers in floordiv, ceildiv and mod")
        if b <= 0:
            raise ManifestError(f"expected a positive divisor, got {b}")
        return {"floordiv": a // b, "ceildiv": -(-a // b), "mod": a % b}[kind]
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    operations = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}
    result = operations[kind]() if kind in operations else (min if kind == "min" else max)(a, b)
    return result if isinstance(result, float) else checked(result)


class Parser:
    """Recursive descent over the grammar; a node is a function of the scope."""

    def __init__(self, text: str):
        self.text, self.position, self.depth = text, 0, 0

    def parse(self) -> Callable[[Scope], Number]:
        node = self.expr()
        if self.peek():
            self.fail("expected an operator or the end")
        return node

    def expr(self):
        return self.chain(("+", "-"), self.term)

    def term(self):
        return self.chain(("*",), self.factor)

    def chain(self, operators, operand):
        node = operand()
        while self.peek() in operators:
            node = self.binary(self.take(), node, operand())
        return node

    def factor(self):
        if self.depth >= MAX_DEPTH:
            self.fail("expression is nested too deeply")
        self.depth += 1
        node = self.factor_body()
        self.depth -= 1
        return node

    def factor_body(self):
        token = self.match()
        if token is None or (token["op"] and token["op"] not in "-("):
            self.fail("expected a number, a name or '('")
        text = self.take()
        if text == "-":
            inner = self.factor()
            return lambda scope: apply("-", 0, inner(scope))
        if text == "(":
            inner = self.expr()
            self.expect(")")
            return inner
        if token["float"] or token["int"]:
            return self.literal(token)
        return self.name(text, token.start("name"))

    def literal(self, token):
        value = float(token["float"]) if token["float"] else int(token["int"])
        if value == float("inf") or (isinstance(value, int) and value >= 2**63):
            self.position = token.start() + len(token[0]) - len(token[0].lstrip())
            self.fail("number is out of range")
        return lambda scope: value

    def name(self, name: str, start: int):
        if name in ("dim", "stride"):
            return self.access(name)
        if name in FUNCTIONS:
            self.expect("(")
            lhs = self.expr()
            self.expect(",")
            rhs = self.expr()
            self.expect(")")
            return self.binary(name, lhs, rhs)
        if self.peek() == "(":
            self.position = start
            self.fail(f"unknown function '{name}'")
        return lambda scope: scope.symbol(name)

    def access(self, kind: str):
        self.expect("(")
        token = self.match()
        if token is None or not token["name"]:
            self.fail("expected an operand's name")
        operand = self.take()
        self.expect(",")
        token = self.match()
        if token is None or not token["int"]:
            self.fail("expected a dimension's number")
        index = int(self.take())
        self.expect(")")
        return lambda scope: scope.access(kind, operand, index)

    @staticmethod
    def binary(kind: str, lhs, rhs):
        return lambda scope: apply(kind, lhs(scope), rhs(scope))

    def match(self):
        return TOKEN.match(self.text, self.position)

    def peek(self) -> str:
        token = self.match()
        return token[0].strip(" ") if token else ""

    def take(self) -> str:
        token = self.match()
        self.position = token.end()
        return token[0].strip(" ")

    def expect(self, text: str):
        if self.peek() != text:
            self.fail(f"expected '{text}'")
        self.take()

    def fail(self, what: str) -> NoReturn:
        rest = self.text[self.position :]
        column = self.position + len(rest) - len(rest.lstrip(" ")) + 1
        raise ManifestError(f"column {column}: {what} in '{self.text}'")


class Expression:
    """A parsed expression.

    >>> Expression("ceildiv(M, 128) * Hq").evaluate(Scope({"M": 300, "Hq": 8}, {}, {}))
    24
    """

    def __init__(self, text: Union[str, Number]):
        self.text = text if isinstance(text, str) else repr(text)
        if len(self.text) > MAX_LENGTH:
            raise ManifestError(f"expected at most {MAX_LENGTH} characters in an expression, got {len(self.text)}")
        try:
            self.node = Parser(self.text).parse()
        except RecursionError:  # Python's own limit may come first
            raise ManifestError(f"expression is nested too deeply in '{self.text}'") from None

    def evaluate(self, scope: Scope) -> Number:
        try:
            return self.node(scope)
        except ManifestError as error:
            raise ManifestError(f"{error} in '{self.text}'") from None

    def __repr__(self):
        return f"Expression({self.text!r})"
