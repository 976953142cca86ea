"""Results of audits that none made, and a reader of their pages."""

import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from howdah.audit import AuditResult, Queue, RuleResult
from howdah.audit.origin import Origin
from howdah.audit.page import write_page
from howdah.audit.reports.shown import OTHERS, Shown

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)

NASTY = "</td><script>alert('x')</script><img src=x onerror=alert(1)> & \u202eevil\x1b[31m $x_1$ {{ 7 * 7 }}"

ORIGIN = Origin("shop", "db:5432", "18.4", "7001", "auditor", "ann on host", "1.0", "4.3.0", "2026-05-01 12:00:00 UTC")


def queue(name: str, verdict: str = "proved", **terms: int) -> Queue:
    numbers = {field.name: 0 for field in fields(Queue) if field.type == "int"}
    return Queue(**{"queue": name, "journal_level": "full", "verdict": verdict} | numbers | terms)  # type: ignore[arg-type]


def rule(name: str, severity: str, count: int = 0) -> RuleResult:
    return RuleResult(name, severity, f"means {name}", count, (7, 8)[:count], ("q",)[:count])


def result(*rules: RuleResult, queues: tuple[Queue, ...] = ()) -> AuditResult:
    return AuditResult(
        queues=queues,
        rules=rules,
        rows={"journal": 1234, "messages": 5},
        taken_at="2026-05-01 12:00:00+00",
        locked=True,
        seconds=1.5,
        read_seconds=0.5,
        output=None,
        snapshot="00000003-1",
        origin=ORIGIN,
    )


NOTHING = Shown(60, NOON, NOON, None, {}, [], [], [], [], [], [], [], [], [], [], [], [])


class Reader(HTMLParser):
    """The elements of a page, what they load, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open):
            self.text += data

    def check(self) -> None:
        """Nothing is left open, nothing runs, and nothing is loaded."""
        assert self.open == []
        assert not {tag for tag, _ in self.elements} & {
            "script",
            "img",
            "link",
            "iframe",
            "object",
            "a",
            "form",
            "base",
        }
        for _, attributes in self.elements:
            for name, value in attributes.items():
                assert not re.match("on|src", name), attributes
                if name.endswith("href"):
                    assert (value or "").startswith("#"), attributes


def page_of(result: AuditResult, shown: Shown, folder: Path) -> Reader:
    write_page(result, shown, [folder / "page.html"])
    text = (folder / "page.html").read_text()
    assert "default-src 'none'" in text
    assert [path.name for path in folder.iterdir()] == ["page.html"]
    reader = Reader(text)
    reader.check()
    return reader


def many(queues: int, name: str = "q{}") -> Shown:
    """Reports of so many queues over three buckets."""
    names = {number: name.format(number) for number in range(1, queues + 1)}
    drawn = dict(list(names.items())[:8])
    times = [NOON + timedelta(minutes=minute) for minute in range(3)]

    def each(only: dict[int, str], **more: Any) -> list[dict[str, Any]]:
        return [{"destination_id": number, "queue": name} | more for number, name in only.items()]

    def curves(**more: Any) -> list[dict[str, Any]]:
        ends = timedelta(minutes=1)
        return [row | {"bucket_at": at, "ends_at": at + ends} for at in times for row in each(drawn, **more)]

    waits = {"basis": "each message", "waits": 9, "p50_ms": 1.0, "p90_ms": 2.0, "p99_ms": 3.5e6, "max_ms": 1e9}
    cause = {"fingerprint": "f", "incidents": 2, "messages": 1, "dead": 1, "queues": 1, "first_at": NOON,
             "last_at": NOON, "error_class": NASTY, "sqlstate": None, "sample_text": NASTY, "sample_message": 3,
             "sample_incident": 4}  # fmt: skip
    balance = {"worker": NASTY, "handled": 5, "failed": 1, "busy_seconds": 2.0, "seconds": 60.0, "share": 0.5,
               "workers": 2, "mean_ms": 4.0, "usual_ms": 2.0, "slow": True}  # fmt: skip
    outlook = {"ready": 5, "waiting": 1, "recent_seconds": 60, "came_in_per_second": None, "went_out_per_second": 2.0,
               "drain_seconds": 3.0, "outlook": "drains"}  # fmt: skip
    return Shown(
        seconds=60,
        first=NOON,
        taken_at=NOON + timedelta(minutes=3),
        journal_kept_from=NOON + timedelta(minutes=1),
        busiest=drawn,
        totals=each(names, sent=3, came_in=3, consumed=2, expired=0, went_out=2),
        throughput=[
            *curves(came_in=3, went_out=2),
            {"destination_id": 0, "queue": OTHERS, "bucket_at": NOON, "came_in": 1, "went_out": 1},
        ],
        queueing=each(names, bucket_at=None, **waits),
        queueing_over_time=curves(**waits),
        backlog=curves(messages=4, oldest_seconds=None),
        redelivery=[row | {"failures": failures} for row in each(names, messages=2) for failures in (0, 3, 11)],
        causes=[dict(cause) for _ in range(queues)],
        dead_messages=curves(came_in=1, went_out=0, messages=3),
        forecast=each(names, **outlook),
        handling=each(names, calls=9, mean_ms=0.02, p50_ms=0.016, p90_ms=0.5, p99_ms=None, longest_ms=None),
        balance=each(names, **balance),
        slow_consumers=each(names, **balance),
    )
