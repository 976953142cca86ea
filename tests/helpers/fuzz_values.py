"""What the fuzz test puts into arguments.

Hostile values of each type, and sound ones so that the other arguments do not stand in the way.

All values are texts that PostgreSQL reads as the type: whatever is refused is refused by the function.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

Value = str | None

HUGE = 1_000_000
"""Characters of the longest texts."""

NUMBERS = {
    "integer": ["0", "-1", "1", "1000001", "2147483647", "-2147483648"],
    "bigint": [
        "0",
        "-1",
        "1",
        "2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "4611686018427387904",
        "1048576",
    ],
    "numeric": ["0", "-1", "NaN", "Infinity", "-Infinity", "1e-300", "1e300", "9223372036854775808", "9" * 1000],
    "double precision": ["0", "-1", "1", "10", "10.5", "NaN", "Infinity", "-Infinity", "1e-300", "1e300"],
}
TEXTS = [
    "",
    " ",
    "\t\r\n",
    "\x01\x1b[31m\x7f\x9b",
    "\u202e\u2066evil\u2069\u200b\ufeff",
    "'; drop schema howdah cascade; --",
    '"',
    "\\",
    "%s%%n",
    "NaN",
    "-1",
    "99999999999999999999999999",
    "00000000-0000-0000-0000-000000000000",
    "_SYSTEM.x",
    "_TEMP.1",
    "*",
    "a.*",
    ">",
    "x" * 243,
    "\U0001f600" * 3000,
    "1:9223372036854775807:",
    "9223372036854775807:1:",
    "queue://orders",
    "x" * HUGE,
    "\u202e" * HUGE,
]
SELECTORS = [
    "a = 1",
    "a between 1e400 and -1e400",
    "a = 9223372036854775808 * 9223372036854775807",
    "a / 0 = 1",
    "a + 1 > " + "9" * 400,
    "a like 'x!%' escape '!'",
    "a like '%' escape 'xx'",
    "JMSTimestamp > 1e300",
    "JMSPriority = 1e300",
    "not " * 1500 + "a = 1",
    "(" * 3000 + "a = 1" + ")" * 3000,
    " or ".join(f"a{n} = {n}" for n in range(3000)),
    "a in (" + ",".join(f"'{n}'" for n in range(5000)) + ")",
]
CRONS = [
    "* * * * *",
    "*/0 * * * *",
    "99999999999999999999 * * * *",
    "1-99999999999 * * * *",
    "0 0 31 2 *",
    ("1," * 9000) + "1 * * * *",
]
ZONES = ["UTC", "Europe/Vienna", "utc+99999999", "posixrules", "../../etc/passwd"]
TIMES = [
    "4713-01-01 00:00:00+00 BC",
    "0001-01-01 00:00:00+00 BC",
    "0001-01-01 00:00:00+00",
    "1969-12-31 23:59:59+00",
    "9999-12-31 23:59:59.999999+00",
    "10000-01-01 00:00:00+00",
    "294276-12-31 23:59:59.999999+00",
    "infinity",
    "-infinity",
]
INTERVALS = [
    "0",
    "-1 microsecond",
    "1 microsecond",
    "-178000000 years",
    "178000000 years",
    "2147483647 days",
    "2147483647 months -2147483648 days",
    "100 years",
    "1 month -31 days",
    "-1 year 361 days",
    "1 year -359 days",
    "2562047788 hours",
    "-2562047788 hours",
]
ENDLESS = ["infinity", "-infinity"]
"""Intervals too, from PostgreSQL 17 on."""
UUIDS = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
BYTES = ["\\x", "\\x00ff80", "\\x" + "41" * HUGE]
SCALARS = [
    None,
    True,
    -1,
    0,
    1.5,
    1e300,
    10**400,
    2**31,
    2**63,
    "",
    "x",
    "NaN",
    "-1",
    "1e400",
    "infinity",
    "\u202e\x01",
    "3/1s burst 2",
    "0/0ms",
    f"{10**30}/1ms burst {10**30}",
    [],
    {},
    [None],
    {"": None},
]

RATES = [
    "100/1s",
    "1/7d",
    "9999999/7d burst 9999999",
    "0/1s",
    "-1/1s",
    "0.5/1s",
    "1/1s burst 2",
    "1/1s burst 0",
    "9999999/1ms",
    "9999999/9999999d",
    "1/" + "9" * 400 + "s",
    " 1/1s",
    "1/1s\n",
    "\u0661/1s",
]
HEADER_NAMES = ["tenant", "x" * 200, "x" * 201, "'; drop schema howdah cascade; --", '%L"\\', "JMSXGroupID", "\u202e"]
OPTION_VALUES = {"rate_limit": RATES, "rate_limit_per_key": RATES, "limit_key": HEADER_NAMES}
"""What options of a kind of their own have besides SCALARS."""

DEEP = "[" * 500 + "]" * 500
JSONS = [
    "null",
    "true",
    "1e400",
    "-0",
    '""',
    "[]",
    "{}",
    "[1, 2]",
    "[null]",
    "[[]]",
    "[{}]",
    '{"": ""}',
    '{"\\u202e\\u0001": [1, {"a": null}]}',
    DEEP,
    json.dumps({"x" * HUGE: "y" * HUGE}),
    json.dumps([{"a": n} for n in range(20000)]),
]
ATTRIBUTES = [
    *("hosts", "members", "destination", "priority", "time_to_live_ms", "predefined_only", "client_id", "service"),
    *("sslmode", "min_size", "max_size", "delivery_mode", "reconnect_attempts", "password"),
]
KEYS = {
    "plans": ["schedule_id", "was", "times", "missed", "next_at", "error"],
    "failures": [
        *(
            "message_id",
            "error_text",
            "error_class",
            "sqlstate",
            "traceback",
            "duration_ms",
            "worker",
            "failure_key",
            "details",
        ),
        *("priority", "position", "stage", "delay_ms", "conversation_id", "message_group", "reject"),
    ],
    "figures": ["queue", "listener", "handled", "failed", "busy_seconds", "handling_counts"],
    "queues": ["queue", "verdict"],
    "rules": ["rule", "severity", "count"],
    "facts": ["journal", "incidents", "messages", "journal_kept_from", "manifest", "path", "started_at"],
    "properties": [
        *(
            "priority",
            "correlation_id",
            "reply_to",
            "message_type",
            "conversation_id",
            "headers",
            "content_type",
            "sent_at",
        ),
        *("expires_at", "time_to_live", "delivery_mode", "dead_reason", "origin_queue"),
    ],
    "headers": [
        *(
            "AMQ_SCHEDULED_DELAY",
            "AMQ_SCHEDULED_PERIOD",
            "AMQ_SCHEDULED_REPEAT",
            "AMQ_SCHEDULED_CRON",
            "AMQ_SCHEDULER_ACTION",
        ),
        *(
            "AMQ_SCHEDULER_ACTION_START_TIME",
            "AMQ_SCHEDULER_ACTION_END_TIME",
            "scheduledJobId",
            "JMSXGroupID",
            "JMSXGroupSeq",
        ),
    ],
    "messages": [
        *("key", "message_id", "text", "bytes", "content_type", "headers", "priority", "correlation_id", "reply_to"),
        *("message_type", "reliability", "lives_ms", "expires_ms", "conversation_id", "sent_at"),
    ],
    "attributes": ATTRIBUTES,
    "overrides": ATTRIBUTES,
    "objects": ["name", "kind", "attributes", "read_only"],
    "since": ["snapshot", "dropped", "system"],
    "upto": ["snapshot", "dropped", "system"],
}
"""What JSON arguments have for keys, by the argument's name."""
WHOLE = {"options", "facts", "properties", "headers", "since", "upto", "attributes", "overrides"}
"""Those that are objects, where the others are arrays of them."""


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
