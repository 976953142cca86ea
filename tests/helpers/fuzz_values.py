"""What the fuzz test puts into arguments.

Hostile values of each type, and sound ones so that the other arguments do not stand in the way.

All values are texts that PostgreSQL reads as the type: whatever is refused is refused by the function.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

from hostile_values import (
    BYTES,
    CRONS,
    HUGE,
    INTERVALS,
    JSONS,
    KEYS,
    NUMBERS,
    OPTION_VALUES,
    SCALARS,
    SELECTORS,
    TEXTS,
    TIMES,
    UUIDS,
    WHOLE,
    ZONES,
    Value,
)


class World:
    """What there is in the database: names and numbers by the argument's name, and options by the function's."""

    def __init__(
        self,
        known: Mapping[str, Sequence[str]],
        options: Mapping[str, Sequence[str]],
        places: Sequence[Mapping[str, Sequence[str]]],
        intervals: Sequence[str] = INTERVALS,
    ) -> None:
        self.known = known
        self.intervals = intervals
        self.options = options
        #: What belongs together: a queue, a message in it, its position, its lease or attempt.
        self.places = [*places, {}]

    def sound(
        self, dice: random.Random, name: str, kind: str, place: Mapping[str, Sequence[str]] | None = None
    ) -> Value:
        """A value that is most likely accepted, in the place if it has one there."""
        if kind.endswith("[]"):
            return array([self.sound(dice, _one_of(name), kind[:-2], place) for _ in range(1 if place else 2)])
        if place and name in place:
            return dice.choice(place[name])
        if kind == "jsonb" and name in ("since", "upto"):
            name = "offset"
        if self.known.get(name):
            return dice.choice(self.known[name])
        return {
            "integer": "1",
            "bigint": "1",
            "numeric": "5",
            "double precision": "0",
            "boolean": dice.choice(["true", "false"]),
            "interval": dice.choice(["0", "1 second"]),
            "timestamp with time zone": "2030-01-01 00:00:00+00",
            "uuid": UUIDS[1],
            "json": "[]",
            "jsonb": "[]" if name in ("plans", "failures", "figures", "queues", "rules", "objects") else "{}",
            "bytea": "\\x6162",
            "text": "text",
        }.get(kind)

    def hostile(self, dice: random.Random, function: str, name: str, kind: str) -> list[Value]:
        """All that is tried for an argument; NULL is one of them."""
        if kind.endswith("[]"):
            inner = self.hostile(dice, function, _one_of(name), kind[:-2])
            some = [value for value in inner if value is None or len(value) < HUGE // 10]
            some = dice.sample(some, min(len(some), 6))
            many = array([self.sound(dice, _one_of(name), kind[:-2])] * 5000)
            return [
                None,
                "{}",
                "{NULL}",
                many,
                array(some),
                *(array([value]) for value in some),
                f"{{{array(some)},{array(some)}}}",
            ]
        found: list[Value] = [None, *self._plain(dice, function, name, kind)]
        if kind in ("text", "bigint", "uuid", "integer"):
            found += [value for values in self.known.values() for value in values[:1] if _reads(value, kind)]
        return found

    def _plain(self, dice: random.Random, function: str, name: str, kind: str) -> Sequence[Value]:
        if kind in NUMBERS:
            return NUMBERS[kind]
        if kind in ("jsonb", "json"):
            return [*JSONS, *self._objects(dice, function, name)]
        if kind == "text":
            more = {"selector": SELECTORS, "cron": CRONS, "time_zone": ZONES}.get(name, [])
            return [*TEXTS, *more]
        lists: dict[str, Sequence[Value]] = {
            "boolean": ["true", "false"],
            "interval": self.intervals,
            "timestamp with time zone": TIMES,
            "uuid": UUIDS,
            "bytea": BYTES,
        }
        return lists[kind]

    def _objects(self, dice: random.Random, function: str, name: str) -> list[Value]:
        """Objects with known keys and hostile values, as they are and in an array."""
        keys = self.options.get(function, ()) if name == "options" else KEYS.get(name, ())
        made: list[Value] = []
        for key in keys:
            for scalar in [*dice.sample(SCALARS, 6), *OPTION_VALUES.get(key, ())]:
                one = {key: scalar}
                if name == "facts":
                    one |= {key: value for key, value in json.loads(self.known["facts"][0]).items() if key not in one}
                if name == "failures" and key != "message_id":
                    one["message_id"] = int(dice.choice(self.known.get("message_id") or ["1"]))
                made.append(_json(one if name in WHOLE else [one]))
        for _ in range(10 if keys else 0):
            whole = {key: dice.choice(SCALARS) for key in dice.sample(keys, min(len(keys), 4))}
            made.append(_json(whole if dice.random() < 0.5 else [whole]))
        return made


def _json(value: object) -> str:
    return json.dumps(value)


def _one_of(name: str) -> str:
    """The name that an array's items have."""
    return {"bodies": "body", "priorities": "priority", "queues": "queue"}.get(name, name.removesuffix("s"))


def _reads(value: str, kind: str) -> bool:
    """Whether a text is a value of the type."""
    bits = {"bigint": 63, "integer": 31}
    if kind in bits:
        return value.lstrip("-").isdigit() and -(2 ** bits[kind]) <= int(value) < 2 ** bits[kind]
    return kind == "text" or (len(value) == 36 and value.count("-") == 4)


def array(values: Sequence[Value]) -> str:
    """An array's literal."""
    quote: Callable[[str], str] = lambda value: '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "{" + ",".join("NULL" if value is None else quote(value) for value in values) + "}"
