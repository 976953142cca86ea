"""What the page of performance quotes of the last full run is what the summary of that run says."""

import re
import tomllib

import measured
import pytest
from pages import ROOT

from howdah.benchmarks.record import Record

ROWS = tomllib.loads(measured.SUMMARY.read_text())["rows"]
PAGE = " ".join((ROOT / "docs/performance.md").read_text().split())

CONNECTIONS = [f"{number} connection{'s' if number > 1 else ''}" for number in (1, 4, 16, 64, 200)]
BARE = "bare DELETE by key and journal INSERT"

QUOTED: dict[str, list[tuple[str, ...]]] = {
    "nothing makes {}/s with default settings, and {}/s": [
        ("listener", "default settings"),
        ("listener", "best settings, 1 process"),
    ],
    "use `send_many` ({}/s in batches of 1,000)": [("send-1000", "by one Python or Node client")],
    "1,000,000 in one transaction at {}/s": [("load", "1,000,000 messages, one transaction")],
    "receive by hundreds: {}/s from one connection": [("receive-100", "1 connection")],
    "bodies of 4 KB make {} of a bare table, bodies of 1 MB {}": [
        ("bodies", "receive, 4 KB", "bare table"),
        ("bodies", "receive, 1 MB", "bare table"),
    ],
    "| {} of a transactional receive of 100;": [
        ("lease-acknowledge-100", "1 connection", "howdah.receive in a transaction")
    ],
    "32 consumers | {} of the queue without groups; by ten {}; by 100 a transaction {},": [
        ("groups", f"32 connections, by {size}", "no groups") for size in (1, 10, 100)
    ],
    "One consumer by 100: {} |": [("groups", "1 connection, by 100", "no groups")],
    "selects none | {} s for the first look, then {} ms each": [
        ("selector", "first look, nothing selected"),
        ("selector", "look again, nothing selected"),
    ],
    "one message in 1,000 | {}/s one after the other": [("selector", "one message in 1,000, one after the other")],
    "1 / 32 connections | {} / {} of no limit": [
        ("limits", "1 connection", "no limit"),
        ("limits", "32 connections", "no limit"),
    ],
    "| {}/s instead of {}: use it only where even a dead host": [
        ("counts", "bad: none", "=hardened count"),
        ("counts", "bad: none"),
    ],
    "one publish a transaction, 1 / 4 / 16 connections | {} / {} / {} of an INSERT": [
        ("topic-publish", case, "bare INSERT") for case in CONNECTIONS[:3]
    ],
    "four consumers | {}/s by one and {}/s by 100": [
        ("topic-shared", "4 consumers, by 1"),
        ("topic-shared", "4 consumers, by 100"),
    ],
    "{} ms while a worker counts in the background, else {} ms; of all": [
        ("large", "queue_stats of one queue, as workers keep it"),
        ("large", "queue_stats of one queue, before the background count"),
    ],
    "durable subscriptions makes {} of publishing with one": [
        ("topic-publish", "speed kept: 100 subscriptions against one beside it")
    ],
    "one / two processes, best settings | {} / {}/s": [
        ("listener", "best settings, 1 process"),
        ("listener", "best settings, 2 processes"),
    ],
    "p50 / p99 | {} / {} ms, where a bare commit with NOTIFY takes {} / {}": [
        ("latency", "p50"),
        ("latency", "p99"),
        ("latency", "p50", "=bare commit with NOTIFY"),
        ("latency", "p99", "=bare commit with NOTIFY"),
    ],
    "| send, one a transaction, 1 / 4 / 16 / 64 / 200 connections | {} / {} / {} / {} / {} of": [
        ("send-one", case, "bare INSERT") for case in CONNECTIONS
    ],
    "| receive, one a transaction, 1 / 4 / 16 / 64 / 200 connections | {} / {} / {} / {} / {} of": [
        ("receive-one", case, BARE) for case in CONNECTIONS
    ],
    "counted in the server | {} to": [("stream", "batches of 10,000, counted in the server")],
    "rows in {} s, {} rows a second": [
        ("audit", "10,000,000 rows of the journal, all by row", "seconds"),
        ("audit", "10,000,000 rows of the journal, all by row"),
    ],
    "Java's memory came to {} GB": [("audit", "10,000,000 rows of the journal, most memory of Java")],
    "eight connections made {} of what they make without one": [("audit-live", "8 connections", "no audit")],
}
"""Sentences of the page, and the figure of the record in place of each pair of braces.

A third part says which figure of a case it is: how many times as fast Howdah was as that one, or (with =) its own.
"""


def figure(row: str, case: str, which: str = "") -> float:
    """A figure of the summary, in the unit of the page."""
    cell = ROWS[row][case]
    if which == "seconds":
        return 10_000_000 / float(cell["Howdah"])
    if which.startswith("="):
        return float(cell[which[1:]][0])
    if which:
        return float(cell[which][1])
    value = float(cell["Howdah"])
    if cell["unit"] == "bytes":
        return value / 1e9
    return value / 1000 if (row, case) == ("selector", "first look, nothing selected") else value


@pytest.mark.parametrize("sentence", QUOTED)
def test_the_page_of_performance_quotes_the_record(sentence: str) -> None:
    pattern = re.escape(sentence).replace(r"\{\}", r"(\d[\d,]*(?:\.\d+)?)")
    found = re.search(pattern, PAGE)
    assert found, sentence
    for quoted, which in zip(found.groups(), QUOTED[sentence], strict=True):
        exact = figure(*which)
        # A figure is rounded to the places that the page shows, and to two significant ones at least.
        places = len(quoted.partition(".")[2])
        unit = (
            10.0**-places if places else 10.0 ** max(len(str(int(exact))) - len(quoted.replace(",", "").rstrip("0")), 0)
        )
        assert abs(float(quoted.replace(",", "")) - exact) <= 0.501 * unit, (quoted, exact)


def test_the_summary_is_short_and_has_the_figures_of_a_record() -> None:
    assert len(measured.SUMMARY.read_text().splitlines()) < 180
    record = Record(about={"date": "2026-11-24", "machine": {"cores": 2}})
    for value in (10.0, 30.0, 20.0):
        record.add("send-one", "1 connection", "bare INSERT", "/s", 2 * value)
        record.add("send-one", "1 connection", "Howdah", "/s", value)
    assert tomllib.loads(measured.summary(record)) == {
        "about": {"date": "2026-11-24", "machine": {"cores": 2}},
        "rows": {"send-one": {"1 connection": {"unit": "/s", "Howdah": 20, "bare INSERT": [40, 0.5]}}},
    }


@pytest.mark.behaviour("AMQ-67")
def test_the_published_figures_beside_activemqs_stores_name_their_method() -> None:
    summary = tomllib.loads(measured.SUMMARY.read_text())
    sends = {case: row for case, row in summary["rows"]["broker"].items() if case.startswith("send")}
    for case, row in sends.items():
        for store in ("ActiveMQ, JDBC store", "ActiveMQ, KahaDB"):
            figure, ratio = row[store]
            assert row["Howdah"] / figure == pytest.approx(ratio, rel=0.5), case
    assert len(sends) >= 2
    about = summary["about"]
    for word in ("date", "rounds", "machine", "body", "journal_level"):
        assert about[word], word
    assert {"Howdah", "PostgreSQL", "ActiveMQ"} <= about["versions"].keys()
    assert (about["server"]["fsync"], about["server"]["synchronous_commit"]) == ("on", "on")
    assert "ActiveMQ's JDBC store on the same server" in (ROOT / "docs/measurements/goals.md").read_text()
    assert "`fsync` and `synchronous_commit` on" in PAGE
