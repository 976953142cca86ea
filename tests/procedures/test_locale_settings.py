"""No function or view formats by its caller's locale or time zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from support import Clock, Connect, Db, column, one

FORMATTED = re.compile(r"\b(to_char|to_number|to_date|to_timestamp)\s*\(([^;]*?'(?P<pattern>(?:[^']|'')*)'\s*\))")

CALLED = re.compile(r"\b(?:to_char|to_number|to_date|to_timestamp)\s*\(")

OF_TIMES = re.compile(r"Y|MM|HH|IW|DD|SS")


def of_a_locale(pattern: str) -> bool:
    """Whether a pattern asks for names, points or signs of lc_time, lc_numeric or lc_monetary."""
    bare = re.sub(r'"[^"]*"', "", pattern).upper()
    if OF_TIMES.search(bare):
        return "TM" in bare
    return bool(re.search(r"TM|[DGL]", re.sub(r"PL|SG", "", bare)))


def locale_bound(text: str) -> list[str]:
    """What in a function's or view's text depends on lc_time, lc_numeric or lc_monetary, or may do so."""
    code = re.sub(r"--[^\n]*", "", text)
    patterns = [match["pattern"] for match in FORMATTED.finditer(code)]
    found = [pattern for pattern in patterns if of_a_locale(pattern)]
    if len(patterns) != len(CALLED.findall(code)):
        found.append("a pattern that is no literal")
    return found + re.findall(r"(?:::\s*|\bas\s+)money\b|\bmoney\s*'", code)


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("to_char(n, '999D99')", ["999D99"]),
        ("to_char(n, 'FM999G999')", ["FM999G999"]),
        ("to_char(n, 'L999')", ["L999"]),
        ("to_char(t, 'TMDay DD')", ["TMDay DD"]),
        ("to_number(s, '9' || x)", ["a pattern that is no literal"]),
        ("12::money + '1'::text", ["::money"]),
        ("to_char(t, 'IYYY\"wD\"IW') || to_char(n, 'FM009.99PL')", []),
    ],
)
def test_what_depends_on_the_locale_is_found(text: str, bound: list[str]) -> None:
    assert locale_bound(text) == bound


def test_no_function_or_view_formats_by_the_callers_locale(db: Db) -> None:
    """On a server that has no locale but C the settings lc_* show nothing."""
    texts = db.execute(
        "select p.oid::regprocedure::text, p.prosrc from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " union all select c.oid::regclass::text, pg_get_viewdef(c.oid) from pg_class c"
        " where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('v', 'm')"
    ).fetchall()
    assert any(CALLED.search(text) for _, text in texts)
    assert {name: found for name, text in texts if (found := locale_bound(re.sub("::text", "", text)))} == {}
    typed = "select attrelid::regclass::text from pg_attribute where atttypid = 'money'::regtype"
    assert column(db, f"{typed} and attrelid::regclass::text like 'howdah.%%'") == []


@pytest.mark.first_case
@pytest.mark.parametrize("zone", ["Europe/Vienna", "America/St_Johns", "Asia/Kolkata"])
def test_the_journals_weeks_begin_on_monday_by_utc_in_every_time_zone(
    db: Db, connect: Connect, clock: Clock, zone: str
) -> None:
    clock.set(datetime(2026, 3, 25, tzinfo=UTC))
    session = connect()
    for name, value in (("TimeZone", zone), ("DateStyle", "SQL, DMY")):
        session.execute("select set_config(%s, %s, false)", (name, value))
    one(session, "select howdah.maintain_journal()")
    db.execute("set timezone to 'UTC'; set datestyle to iso")
    bounds = column(
        db,
        (
            "select pg_get_expr(c.relpartbound, c.oid) from pg_class c where c.relname ~ '^journal_2026w1[3-6]$'"
            " order by c.relname"
        ),
    )
    assert bounds == [
        f"FOR VALUES FROM ('2026-{first} 00:00:00+00') TO ('2026-{last} 00:00:00+00')"
        for first, last in (("03-23", "03-30"), ("03-30", "04-06"), ("04-06", "04-13"), ("04-13", "04-20"))
    ]
