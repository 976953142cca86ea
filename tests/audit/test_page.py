"""The page: what it says first, that it loads and runs nothing, and that it stays readable whatever is in it."""

import io
import re
import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import howdah, refused
from rich.console import Console
from support import Db, one

import howdah.audit as howdah_audit
from howdah.audit import AuditError, AuditResult, Queue, RuleResult, print_report
from howdah.audit.digests import BY_ROW
from howdah.audit.evidence import COMMAND
from howdah.audit.headline import Headline, headline
from howdah.audit.highlights import highlights
from howdah.audit.origin import Origin
from howdah.audit.page import unproved, write_page
from howdah.audit.page.parts import ROWS_MAX, clean, duration
from howdah.audit.ranges import Coverage, Span
from howdah.audit.reports.forecast import GROWS
from howdah.audit.reports.shown import OTHERS, Shown
from howdah.cli.audit import code_of

from .conftest import Audit
from .traffic import live_through_everything, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[2] / "docs" / "audit.md"
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


def test_the_verdict_and_whose_it_is_come_first(tmp_path: Path) -> None:
    sound = result(rule("missing", "error"), rule("odd", "warning", 2), queues=(queue("q", messages=1),))
    page = page_of(sound, NOTHING, tmp_path).text

    said = ["Every message is accounted for, with 1 warning.", "shop at db:5432, cluster 7001", "00000003-1",
            "1,234 journal", "ann on host, as role auditor", "Howdah 1.0, PostgreSQL 18.4, Spark 4.3.0",
            "What was not proved", "What no audit can see", "A forged record", "What was checked", "means missing",
            "Throughput", "The journal holds nothing.", "Signature"]  # fmt: skip
    places = [page.index(words) for words in said]
    assert places == sorted(places)


def test_a_broken_rule_is_said_before_all_else() -> None:
    assert headline(result(rule("a", "error"), rule("b", "warning"))) == Headline(
        "Every message is accounted for.", "good"
    )
    assert headline(result(rule("a", "error", 2), rule("b", "warning", 1))) == Headline(
        "Not every message is accounted for: 1 rule broken.", "bad"
    )


def test_the_headline_says_of_how_many_queues_it_was_proved_and_how_to_have_more(tmp_path: Path) -> None:
    weak = [queue(f"q{number}", "sends not recorded independently") for number in range(12)]
    temporary = queue("_TEMP.1", "only what is present is known")
    first = headline(result(rule("b", "warning", 1), queues=(*weak, temporary, queue("q", messages=1))))
    assert first == Headline(
        "Every message is accounted for in 1 of 13 queues; in the other 12 a lost message would not show,"
        " for their sends are not on"
        " record; 1 warning.",
        "warn",
        "To have them recorded from now on: howdah queue alter NAME -o journal_level=full",
    )
    some = result(queues=(*weak[:1], queue("q")))
    assert headline(some).verdict.startswith("Every message is accounted for in 1 of 2 queues; in the other one")
    page = page_of(some, NOTHING, tmp_path)
    assert headline(some).verdict in page.text
    assert headline(some).advice in page.text
    shown = Console(file=io.StringIO(), width=300, force_terminal=True)
    print_report(some, shown)
    assert isinstance(shown.file, io.StringIO)
    assert "\x1b[1;33mEvery message is accounted for in 1 of 2 queues" in shown.file.getvalue()
    assert headline(some).advice in shown.file.getvalue()


def test_the_headline_judges_a_subscription_by_its_topic_and_names_the_command_that_helps() -> None:
    whole = (
        queue("q"),
        queue("t::all", "proved by its topic's sends"),
        queue("t::picky", "no record says what it should have got"),
    )
    assert headline(result(queues=whole)) == Headline("Every message is accounted for.", "good")
    alter = "To have them recorded from now on: howdah {}"
    short = (*whole, queue("u:client:s", "sends not recorded independently"))
    assert headline(result(queues=short)).verdict.startswith(
        "Every message is accounted for in 2 of 3 queues; in the other"
    )
    assert headline(result(queues=short)).advice == alter.format("topic alter NAME -o journal_level=full")
    silent = (*short, queue("t::off", "only what is present is known"), queue("weak", "only what is present is known"))
    assert headline(result(queues=silent)).advice == alter.format(
        "queue alter NAME -o journal_level=full, howdah topic alter NAME -o journal_level=full,"
        " howdah subscription alter NAME -o journal_level=exits"
    )
    said = unproved(result(queues=tuple(replace(one, messages=1) for one in silent)), many(1))
    assert "Queue t::picky: no record says what it should have got." in said
    assert not [line for line in said if "t::all" in line]


def test_what_was_not_proved_is_said(tmp_path: Path) -> None:
    weak = [queue(f"q{number}", "sends not recorded independently", messages=1) for number in range(7)]
    silent = queue("never used", "only what is present is known")
    sound = replace(result(queues=(*weak, silent, queue("q", messages=1, lost=2, unrecorded_in=3))), locked=False)
    said = "\n".join(unproved(sound, many(1)))

    assert "Queues q0, q1, q2, q3, q4 and 2 more: sends not recorded independently." in said
    assert "never used" not in said
    assert "3 messages came and 0 left without a record" in said
    assert "2 non-persistent messages are counted as lost" in said
    assert "before 2026-05-01 12:01:00 UTC" in said
    assert "no table was emptied" in said


@pytest.mark.slow
def test_what_others_wrote_is_shown_and_does_nothing(tmp_path: Path) -> None:
    broken = replace(
        result(
            RuleResult(NASTY, "error", NASTY, 1, (1,), (NASTY,)),
            queues=(queue(NASTY, "not balanced", faults=1, messages=1),),
        ),
        origin=replace(ORIGIN, database=NASTY, role=NASTY, person=NASTY),
        snapshot=NASTY,
    )
    page = page_of(broken, many(3, NASTY.replace("{", "{{").replace("}", "}}") + " {}"), tmp_path)

    assert "<script>alert('x')</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "\\u202eevil\\x1b[31m" in page.text
    assert not set(page.text) & {"\u202e", "\x1b"}
    for line in highlights(many(3, NASTY.replace("{", "{{").replace("}", "}}"))):
        assert not set(line) & {"\u202e", "\x1b", "\n"}


@pytest.mark.slow
def test_two_hundred_queues_stay_readable(tmp_path: Path) -> None:
    crowded = result(
        queues=tuple(queue(f"q{number}", messages=number, sent=number, consumed=number) for number in range(200))
    )
    page = page_of(crowded, many(200), tmp_path)

    assert sum(tag == "tr" for tag, _ in page.elements) < 12 * (ROWS_MAX + 3)
    assert page.text.count("175 others") >= 8
    keys = [attributes for tag, attributes in page.elements if tag == "line"]
    assert len({(key["stroke"], key.get("stroke-dasharray")) for key in keys[:9]}) == 9  # eight, and all others
    assert (tmp_path / "page.html").stat().st_size < 400_000


@pytest.mark.slow
def test_each_drawing_has_words_for_those_who_do_not_see_it(tmp_path: Path) -> None:
    page = page_of(result(), many(2), tmp_path)
    figures = [attributes for tag, attributes in page.elements if attributes.get("role") == "img"]

    assert [figure["aria-label"] for figure in figures][:2] == [
        "Messages that came in, over time, of q1, q2, all others",
        "Messages that went out, over time, of q1, q2, all others",
    ]
    assert len(figures) == sum(tag == "figure" for tag, _ in page.elements) == 7
    named = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    markers = [name for name in named if not re.fullmatch(r"[mp][0-9a-f]{10}", str(name))]
    assert markers == []  # only shapes named by their content: the same name is the same shape
    heads = [attributes for tag, attributes in page.elements if tag == "th"]
    assert all(head.get("scope") in ("col", "row") for head in heads)


@pytest.mark.slow
def test_the_same_audit_gives_the_same_page(tmp_path: Path) -> None:
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in pages:
        write_page(result(), many(2), [path])
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_a_page_that_cannot_be_written_is_an_error_and_leaves_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot write"):
        write_page(result(), NOTHING, [tmp_path / "nowhere" / "page.html"])


def test_a_page_without_a_folder_is_refused_before_spark_starts(dsn: str, db: Db, tmp_path: Path) -> None:
    refused(howdah(dsn, "audit", "--page", tmp_path / "nowhere" / "page.html"), "there is no folder", 3)


def test_texts_are_cut_and_times_told_in_two_units() -> None:
    assert clean("a\n b\tc") == "a b c"
    assert clean("x" * 400) == "x" * 299 + "…"
    seconds = {
        2e-5: "20 µs",
        0.0123: "12.3 ms",
        5: "5 s",
        59.99: "60 s",
        61: "1 min 1 s",
        3600: "1 h",
        90_000: "1 d 1 h",
        1e9: "11,574 d",
    }
    assert {value: duration(value) for value in seconds} == seconds


def test_the_exit_code_is_that_of_the_gravest_finding_that_counts() -> None:
    sound, warned, broken = result(rule("a", "error")), result(rule("a", "warning", 1)), result(rule("a", "error", 1))
    codes = {on: [code_of(one, on) for one in (sound, warned, broken)] for on in ("error", "warning", "never")}
    assert codes == {"error": [0, 0, 1], "warning": [0, 6, 1], "never": [0, 0, 0]}
    assert code_of(result(rule("a", "notice", 1)), "warning") == 0


def test_an_empty_database_has_a_page(audit: Audit, tmp_path: Path) -> None:
    made = audit(page=tmp_path / "page.html")

    assert (made.ok, made.page, made.highlights) == (True, tmp_path / "page.html", ())
    page = Reader((tmp_path / "page.html").read_text())
    page.check()
    assert "Every message is accounted for." in page.text
    assert "Every queue is empty." in page.text


def test_real_traffic_is_reported_and_its_parquet_lies_beside_the_page(
    audit: Audit,
    db: Db,
    tmp_path: Path,
    spark: "SparkSession",
) -> None:
    live_through_everything(db, "q", "full")
    db.execute("select howdah.record_failure('q', %s, '<b>bold</b> 12', error_class => 'KeyError')", send(db, "q", 1))
    db.execute("update howdah.journal set oldest_sent_at = at - interval '3 s' where event = 'consumed'")
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 1, array['q'])")
    db.execute(
        "select howdah.record_worker_figures(%s, 60, jsonb_build_array(jsonb_build_object('queue', 'q',"
        " 'handled', 8, 'failed', 0,"
        " 'busy_seconds', 0.008, 'handling_counts', array_fill(0, array[31]) || 8)))",
        [worker],
    )
    made = audit(output=tmp_path / "audits" / "today", bucket_seconds=3600)

    page = Reader((tmp_path / "audits" / "today" / "index.html").read_text())
    page.check()
    for words in (
        "KeyError: <b>bold</b> 12",
        "_SYSTEM.Exception.Destination.howdah",
        "over 18 min",
        "proved",
        "q.dead",
    ):
        assert words in page.text, words
    again = subprocess.run(COMMAND, shell=True, cwd=made.output, capture_output=True, text=True, check=True).stdout
    assert again == f"{made.evidence}  -\n"
    assert made.evidence in page.text
    assert made.origin is not None
    assert made.origin.role == "postgres"
    assert any(line.startswith("Dead messages: 2 there") for line in made.highlights), made.highlights
    reports = {path.name for path in (tmp_path / "audits" / "today" / "reports").iterdir()}
    assert reports == {
        "throughput", "queueing", "backlog", "redelivery", "causes", "dead_messages", "forecast", "handling", "balance",
        "slow_consumers",
    }  # fmt: skip
    for block in re.findall(r"^```sql\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL):
        assert db.execute(block).fetchall() == [("w", "q", 8, 0, Decimal("0.008"))]
    (program,) = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    printed = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"q None {GROWS}" in printed.stdout.splitlines()
    flow = (
        spark.read.parquet(str(tmp_path / "audits" / "today" / "reports" / "throughput"))
        .where("queue = 'q'")
        .toLocalIterator()
    )
    assert sum(row["sent"] for row in flow) == 29


def test_the_page_says_which_ranges_were_proved_by_digest_and_which_by_row(tmp_path: Path) -> None:
    found = replace(
        result(queues=(queue(NASTY),)),
        coverage=(Coverage(NASTY, 1000, 128_000, 3, 300, 2), Coverage(None, 0, 0, 1, 1, 0)),
        spans=(
            Span(NASTY, 64_000_007, 127_000_007, 1, 64, ("unequal",)),
            Span(NASTY, 640_000_007, 703_000_007, 1, 64, ("sample",)),
            Span(NASTY, 1_280_000_007, 65_279_000_007, 1000, 64_000),
            Span(None, None, None, 1, 0, ("topic",)),
        ),
    )
    page = page_of(found, NOTHING, tmp_path)
    page.check()
    for words in (
        "1,000 ranges of message numbers by digest, 4 by row, of which 2 are a sample",
        f"row: {BY_ROW['unequal']}",
        "64000007",
        "65279000007",
        "of no queue",
        "128,000",
    ):
        assert words in page.text, words
    shown = Console(file=io.StringIO(), width=200)
    print_report(found, shown)
    assert isinstance(shown.file, io.StringIO)
    assert "1,000 ranges of message numbers by digest" in shown.file.getvalue()
    (tmp_path / "page.html").unlink()
    assert "every row of the journal was looked at" in page_of(result(), NOTHING, tmp_path).text


def test_the_evidence_breaks_where_the_screen_is_narrow_and_is_not_cut_off() -> None:
    style = (Path(howdah_audit.__file__).parent / "page" / "page.css").read_text(encoding="utf-8")
    # 64 hexadecimal digits have no place to break; "anywhere" alone makes the cell's narrowest width less than them.
    assert ".facts td { overflow-wrap: anywhere; }" in style


def test_the_terminals_table_breaks_no_name_of_a_queue_in_80_columns() -> None:
    names = ("orders.incoming.germany1", "q")
    terms = {"sent": 1234567, "unrecorded_in": 12, "consumed": 1234567, "lost": 12345, "live": 9}
    some = result(queues=(queue(names[0], "sends not recorded independently", **terms), queue(names[1])))
    shown = Console(file=io.StringIO(), width=80)
    print_report(some, shown)
    assert isinstance(shown.file, io.StringIO)
    text = shown.file.getvalue()
    assert names[0] in text
    assert "1,234,567 consumed" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "sends not recorded" in text


def test_the_terminal_says_what_a_subscription_got_and_over_what_rows_the_rules_went() -> None:
    some = result(queues=(queue("t::s", unrecorded_in=3, consumed=3), queue("q", unrecorded_in=2, live=2)))
    some = replace(some, rows={"messages": 1, "acts": 0, "journal": 1234})
    shown = Console(file=io.StringIO(), width=120)
    print_report(some, shown)
    assert isinstance(shown.file, io.StringIO)
    text = shown.file.getvalue()
    assert "3 from its topic" in text
    assert "2 not recorded" in text
    assert "what one snapshot has: 1 message, 1,234 journal rows. It took 1.5 s." in text
