"""What JMS says that operators of selectors make of values: exact, calculated, unknown and untyped ones."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Truth = bool | None

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
