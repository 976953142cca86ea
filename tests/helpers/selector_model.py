"""What JMS says a selector is worth, told by expressions that are made at random and evaluated in Python.

An expression is its text and a function from headers to its value: the model never reads the text.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Headers = dict[str, Any]
Truth = bool | None

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
LIMIT = 2**63


class Untyped:
    """A value of a type that JMS does not have, or a calculation that has no result."""


UNTYPED = Untyped()


@dataclass(frozen=True)
class Calculated:
    """What came of a calculation, in which every number is an integer of 64 bits or a double.

    A header compared is exact.
    """

    value: int | float | Untyped


@dataclass(frozen=True)
class Expression:
    """A text and its value; `binds` is the rank of its outermost operator, by which parentheses are set."""

    text: str
    value: Callable[[Headers], Any]
    binds: int = 9

    def within(self, rank: int, chance: random.Random) -> str:
        """The text as an operand of an operator of that rank; sometimes with needless parentheses."""
        return f"({self.text})" if self.binds < rank or chance.random() < 0.05 else self.text


def number(value: Any) -> Any:
    """A value as a number to calculate with: int, float, Untyped or None."""
    if value is None or isinstance(value, Calculated):
        return value if value is None else value.value
    if isinstance(value, float):
        return value
    if not isinstance(value, Decimal):
        return UNTYPED
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= 0 and -LIMIT <= value < LIMIT:
        return int(value)
    return double(float(value))


def double(value: float) -> float:
    """Without subnormal numbers."""
    return 0.0 if abs(value) < 2.3e-308 else value


def calculate(op: str, left: Any, right: Any) -> Any:
    """Java's arithmetic, but for integers that overflow."""
    left, right = number(left), number(right)
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int):
        if op == "/":
            if right == 0:
                return None
            whole = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        else:
            whole = {"+": left + right, "-": left - right, "*": left * right}[op]
        return Calculated(whole if -LIMIT <= whole < LIMIT else float(whole))
    if isinstance(left, Untyped) or isinstance(right, Untyped):
        return Calculated(UNTYPED)
    left, right = float(left), float(right)
    if op != "/":
        result = {"+": left + right, "-": left - right, "*": left * right}[op]
    elif right != 0:
        result = left / right
    else:
        result = math.nan if left == 0 else math.copysign(math.inf, left)
    return Calculated(UNTYPED if math.isnan(result) else double(result))


def kind(value: Any) -> str:
    """JMS's type of a value."""
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", Decimal: "number", int: "number", float: "number"}.get(type(value), "none")


def exact(value: Any) -> Decimal:
    """A number for comparisons; of a double the decimal that it prints as."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def compare(op: str, left: Any, right: Any) -> Truth:
    """Unknown of an unknown, false of unlike types, and of a string or boolean but for = and <>."""
    if left is None or right is None:
        return None
    if isinstance(left, Calculated) or isinstance(right, Calculated):
        left, right = number(left), number(right)
    if kind(left) != kind(right) or kind(left) == "none":
        return False
    if kind(left) == "number":
        left, right = exact(left), exact(right)
    elif op not in ("=", "<>"):
        return False
    return bool(
        {"=": left == right, "<>": left != right}[op]
        if op in ("=", "<>")
        else {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
    )


def no(value: Truth) -> Truth:
    """NOT."""
    return None if value is None else not value


def both(left: Truth, right: Truth) -> Truth:
    """AND."""
    return False if left is False or right is False else None if left is None or right is None else True


def either(left: Truth, right: Truth) -> Truth:
    """OR."""
    return no(both(no(left), no(right)))


def truth(value: Any) -> Truth:
    """A value as a condition."""
    return value if value is None or isinstance(value, bool) else False


def like(value: Any, pattern: str, escape: str) -> Truth:
    """LIKE of a string; false of anything else."""
    if not isinstance(value, str):
        return None if value is None else False
    out, i = "", 0
    while i < len(pattern):
        char = pattern[i]
        if escape and char == escape:
            i += 1
            out += re.escape(pattern[i : i + 1])
        else:
            out += {"%": ".*", "_": "."}.get(char) or re.escape(char)
        i += 1
    return re.fullmatch(out, value, re.DOTALL) is not None


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
