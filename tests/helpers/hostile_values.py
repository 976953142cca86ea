"""Hostile values of each type, as texts that PostgreSQL reads as the type."""

from __future__ import annotations

import json

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
