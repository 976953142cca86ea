"""What JMS says a selector is worth, told by expressions that are made at random and evaluated in Python.

An expression is its text and a function from headers to its value: the model never reads the text.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from selector_values import UNTYPED, Truth, both, calculate, compare, either, like, no

Headers = dict[str, Any]

NAMES = ("i", "j", "d", "s", "w", "b", "c", "z", "o", "x$_1", "Größe")

STRINGS = (
    "",
    "a",
    "ab",
    "abc",
    "a_c",
    "%",
    "a%",
    "it's",
    "\\",
    "a\\b",
    "10",
    "true",
    "NULL",
    "é",
    "{a,b}",
    '"',
    "a\nb",
)

NUMBERS = (
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "10",
    "0.0",
    "1.0",
    "0.5",
    "-2.5",
    "3.25",
    "1e3",
    "0.1",
    "9223372036854775807",
)

HUGE = (
    "-9223372036854775808",
    "9007199254740993",
    "1e300",
    "-1e300",
    "1e-300",
    "1e400",
    "-1e400",
    "18446744073709551616",
)


@dataclass(frozen=True)
class Expression:
    """A text and its value; `binds` is the rank of its outermost operator, by which parentheses are set."""

    text: str
    value: Callable[[Headers], Any]
    binds: int = 9

    def within(self, rank: int, chance: random.Random) -> str:
        """The text as an operand of an operator of that rank; sometimes with needless parentheses."""
        return f"({self.text})" if self.binds < rank or chance.random() < 0.05 else self.text


def truth(value: Any) -> Truth:
    """A value as a condition."""
    return value if value is None or isinstance(value, bool) else False


def quoted(text: str) -> str:
    """A string as a literal."""
    return "'" + text.replace("'", "''") + "'"


class Maker:
    """Makes expressions and headers."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def name(self) -> Expression:
        name = self.chance.choice(NAMES)
        return Expression(name, lambda headers: headers.get(name))

    def literal(self) -> Expression:
        text = self.chance.choice(NUMBERS)
        return Expression(text, lambda _: Decimal(text) if "." not in text and "e" not in text else float(text), 7)

    def numeric(self, depth: int) -> Expression:
        """A calculation, a number or a name."""
        roll = self.chance.random()
        if depth == 0 or roll < 0.5:
            return self.name() if self.chance.random() < 0.6 else self.literal()
        if roll < 0.6:
            operand = self.numeric(depth - 1)
            if self.chance.random() < 0.5:
                return Expression(
                    f"+{operand.within(7, self.chance)}", lambda h: calculate("+", Decimal(0), operand.value(h)), 7
                )
            return Expression(
                f"- {operand.within(7, self.chance)}", lambda h: calculate("-", Decimal(0), operand.value(h)), 7
            )
        op = self.chance.choice("+-*/")
        rank = 5 if op in "+-" else 6
        left, right = self.numeric(depth - 1), self.numeric(depth - 1)
        text = f"{left.within(rank, self.chance)} {op} {right.within(rank + 1, self.chance)}"
        return Expression(text, lambda h: calculate(op, left.value(h), right.value(h)), rank)

    def predicate(self, depth: int) -> Expression:
        """A comparison, BETWEEN, IN, LIKE, IS NULL or a boolean."""
        choose, name = self.chance.choice, self.name()
        form = choose(("compare", "compare", "compare", "equal", "between", "in", "like", "null", "flag"))
        not_ = self.chance.random() < 0.4
        word = "NOT " if not_ else ""
        turned: Callable[[Truth], Truth] = no if not_ else lambda value: value
        if form == "compare":
            op, left, right = choose(("=", "<>", "<", "<=", ">", ">=")), self.numeric(depth), self.numeric(depth)
            text = f"{left.within(5, self.chance)} {op} {right.within(5, self.chance)}"
            return Expression(text, lambda h: compare(op, left.value(h), right.value(h)), 4)
        if form == "equal":
            op, string = choose(("=", "<>")), choose((*STRINGS, True, False))
            other = str(string).upper() if isinstance(string, bool) else quoted(string)
            pair = [name.text, other] if self.chance.random() < 0.7 else [other, name.text]
            return Expression(f" {op} ".join(pair), lambda h: compare(op, name.value(h), string), 4)
        if form == "between":
            it, low, high = (self.numeric(depth) for _ in range(3))
            text = (
                f"{it.within(5, self.chance)} {word}BETWEEN {low.within(5, self.chance)} AND"
                f" {high.within(5, self.chance)}"
            )
            if not_:
                return Expression(
                    text,
                    lambda h: either(compare("<", it.value(h), low.value(h)), compare(">", it.value(h), high.value(h))),
                    4,
                )
            return Expression(
                text,
                lambda h: both(compare(">=", it.value(h), low.value(h)), compare("<=", it.value(h), high.value(h))),
                4,
            )
        if form == "in":
            strings = self.chance.sample(STRINGS, self.chance.randint(1, 4))

            def among(headers: Headers) -> Truth:
                found = name.value(headers)
                return turned(None if found is None else isinstance(found, str) and found in strings)

            return Expression(f"{name.text} {word}IN ({', '.join(map(quoted, strings))})", among, 4)
        if form == "like":
            pattern = "".join(
                choose(("a", "b", "c", "%", "_", "!", "\\", "é", "'")) for _ in range(self.chance.randint(0, 4))
            )
            escape = choose(("", "!", "\\", "%", "a"))
            text = f"{name.text} {word}LIKE {quoted(pattern)}" + (f" ESCAPE {quoted(escape)}" if escape else "")
            return Expression(text, lambda h: turned(like(name.value(h), pattern, escape)), 4)
        if form == "null":
            return Expression(f"{name.text} IS {word}NULL", lambda h: turned(name.value(h) is None), 4)
        flag = choose((name, name, Expression("TRUE", lambda _: True), Expression("FALSE", lambda _: False)))
        return flag

    def condition(self, depth: int) -> Expression:
        """A selector."""
        roll = self.chance.random()
        if depth == 0 or roll < 0.3:
            return self.predicate(min(depth, 2))
        left = self.condition(depth - 1)
        if roll < 0.45:
            return Expression(f"NOT {left.within(3, self.chance)}", lambda h: no(truth(left.value(h))), 3)
        right = self.condition(depth - 1)
        if roll < 0.5:
            op = self.chance.choice(("=", "<>"))
            return Expression(
                f"({left.text}) {op} ({right.text})", lambda h: compare(op, left.value(h), right.value(h)), 4
            )
        rank, word, join = (2, "AND", both) if roll < 0.75 else (1, "OR", either)
        text = f"{left.within(rank, self.chance)} {word} {right.within(rank + 1, self.chance)}"
        return Expression(text, lambda h: join(truth(left.value(h)), truth(right.value(h))), rank)

    def header(self) -> tuple[str, Any]:
        """JSON text, and the value it has for the model."""
        roll = self.chance.random()
        if roll < 0.45:
            text = self.chance.choice(NUMBERS if self.chance.random() < 0.8 else HUGE)
            return text, Decimal(text)
        if roll < 0.65:
            return "", self.chance.choice(STRINGS)
        if roll < 0.8:
            return self.chance.choice((("true", True), ("false", False)))
        if roll < 0.9:
            return "null", None
        return self.chance.choice(("[1]", "{}", '{"a": 1}', "[]", '["a"]')), UNTYPED
