"""Writes docs/sql-api.md from the headers of the procedures.

``python -m howdah.procedures.reference > docs/sql-api.md``
"""

from __future__ import annotations

import re

from .contents import FILES, source
from .parser import first_paragraph

TITLES = {
    "destinations": "Destinations",
    "temporary": "Temporary queues",
    "selectors": "Selectors",
    "topics": "Topics and subscriptions",
    "send": "Sending",
    "schedules": "Schedules and delayed messages",
    "receive": "Receiving",
    "consumers": "Consumers",
    "leases": "Leases",
    "failure": "Failures",
    "listeners": "Listeners",
    "operator": "The operator",
    "inspect": "Looking",
    "views": "Views",
    "archive": "Archive",
    "journal": "The journal as a stream",
    "audit": "Audits",
    "runtime": "Locks and workers",
    "maintenance": "Maintenance",
}
"""The page's sections, in its order: the folders that hold public functions."""
PAGES = {
    "destinations": ("poison", "limits"),
    "temporary": ("request-reply",),
    "selectors": ("selectors", "consumers"),
    "topics": ("topics",),
    "send": ("producers", "request-reply", "limits"),
    "receive": ("consumers", "request-reply", "hardened-queues"),
    "consumers": ("consumers",),
    "leases": ("leases", "sessions"),
    "schedules": ("scheduling",),
    "failure": ("handling-failures", "poison"),
    "listeners": ("listeners",),
    "operator": ("poison-operator",),
    "inspect": ("request-reply", "limits"),
    "archive": ("archive",),
    "journal": ("streaming",),
    "audit": ("audit-schedule",),
}
"""Where a group's functions are explained."""

_BLOCK = re.compile(
    r"(?P<header>(?:^--[^\n]*\n)+)\s*create or replace (?P<kind>function|view) howdah\.(?P<name>\w+)", re.MULTILINE
)
_SIGNATURE = re.compile(
    r"create or replace function howdah\.(\w+)\s*(\(.*?\))\s*\breturns\b(.*?)\nlanguage", re.DOTALL | re.IGNORECASE
)

INTRODUCTION = """# SQL API

Made from the headers in `procedures/`; `make docs` writes it anew.

Everything lies in the schema `howdah` and can be called by any client. Arguments can be given by name
(`howdah.send('orders', 'hello', priority => 9)`), and all but the first ones have defaults. Errors have SQLSTATEs of
their own: see [errors](errors.md). Which role may call what stands at each function; an administrator grants
membership in these roles, which may bear other names (see [operations](operations.md)).

`howdah.message`, the row that `receive`, `receive_locked` and `browse` return:

| field | type | meaning |
| --- | --- | --- |
| `message_id` | bigint | identity of the message for its whole life |
| `queue` | text | the queue it lies in |
| `body` | text | the body, if it was sent as text or JSON; else NULL |
| `bytes` | bytea | the body, if it was sent as bytes; else NULL |
| `content_type` | text | MIME type of the body |
| `headers` | jsonb | application properties, an object; NULL: none |
| `priority` | integer | 0 to 9; higher comes first |
| `correlation_id`, `reply_to`, `message_type` | text | as in JMS |
| `conversation_id` | uuid | the conversation it belongs to |
| `delivery_mode` | text | `persistent` or `non-persistent` |
| `sent_at`, `expires_at` | timestamptz | time of the send call; not delivered from `expires_at` on |
| `delivery_count` | integer | 1 on the first delivery, one more with each recorded failure |
| `redelivered` | boolean | whether a failure was recorded before |
| `position` | bigint | its place among messages of its priority |
| `stage` | integer | how often it was moved or replayed; failures count within a stage |
| `origin_queue`, `dead_reason`, `dead_at` | text, text, timestamptz | in an exception destination: from where, why and when |
"""  # noqa: E501


def signatures(text: str, name: str) -> list[str]:
    """The declarations of a function's overloads."""
    found = []
    for match in _SIGNATURE.finditer(text):
        if match[1] == name:
            found.append(f"howdah.{name}{match[2]} returns {match[3].strip()}")
    return found


def paragraph(header: str) -> str:
    """A header's lines as Markdown: the summary, the facts as a list, the remarks."""
    lines = [line.removeprefix("--").removeprefix(" ").rstrip() for line in header.strip().split("\n")]
    summary = first_paragraph(header).split(": ", 1)[1]
    out = [summary[0].upper() + summary[1:], ""]
    for line in lines[lines.index("") + 1 :]:
        fact = re.match(r"(Returns|Raises|Role) +(.*)", line)
        if fact:
            out.append(f"- **{fact[1]}** {fact[2]}")
        elif line.startswith("         "):
            out.append(f"  {line.strip()}")
        else:
            out.append(line)
    return "\n".join(out).replace("\n\n\n", "\n\n")


def render() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for group, title in TITLES.items():
        names = [name for name in FILES if name.split("/")[0] == group]
        parts.append(f"## {title}\n")
        if group in PAGES:
            links = ", ".join(f"[{page}]({page}.md)" for page in PAGES[group])
            parts.append(f"Explained with examples: {links}.\n")
        for name in names:
            text = source(name)
            for match in _BLOCK.finditer(text):
                if match["name"].startswith("_"):
                    continue
                if match["kind"] == "view":
                    heading = first_paragraph(match["header"]).split(":", 1)[0]
                    parts.append(f"### {heading}\n\n{paragraph(match['header'])}\n")
                    continue
                code = "\n".join(signatures(text, match["name"]))
                parts.append(f"### {match['name']}\n\n```sql\n{code}\n```\n\n{paragraph(match['header'])}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(render(), end="")
