"""The page: what it says first, that it loads and runs nothing, and that it stays readable whatever is in it."""

import io
import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from audit_page_support import NASTY, NOTHING, ORIGIN, Reader, many, page_of, queue, result, rule
from command import howdah, refused
from rich.console import Console
from support import Db, one

import howdah.audit as howdah_audit
from howdah.audit import AuditError, RuleResult, print_report
from howdah.audit.digests import BY_ROW
from howdah.audit.evidence import COMMAND
from howdah.audit.highlights import highlights
from howdah.audit.page import write_page
from howdah.audit.page.parts import ROWS_MAX, clean, duration
from howdah.audit.ranges import Coverage, Span
from howdah.audit.reports.forecast import GROWS

from .conftest import Audit
from .traffic import live_through_everything, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


DOCS = Path(__file__).parents[2] / "docs" / "audit.md"


def test_the_verdict_and_whose_it_is_come_first(tmp_path: Path) -> None:
    sound = result(rule("missing", "error"), rule("odd", "warning", 2), queues=(queue("q", messages=1),))
    page = page_of(sound, NOTHING, tmp_path).text

    said = ["Every message is accounted for, with 1 warning.", "shop at db:5432, cluster 7001", "00000003-1",
            "1,234 journal", "ann on host, as role auditor", "Howdah 1.0, PostgreSQL 18.4, Spark 4.3.0",
            "What was not proved", "What no audit can see", "A forged record", "What was checked", "means missing",
            "Throughput", "The journal holds nothing.", "Signature"]  # fmt: skip
    places = [page.index(words) for words in said]
    assert places == sorted(places)


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
