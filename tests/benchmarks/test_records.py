"""A record keeps what was measured, and says what became slower or reached its goal."""

import json
import tomllib
from pathlib import Path

import measured
import pytest
from command import howdah, refused

from howdah.benchmarks import (
    pgmq,
    stream,
)
from howdah.benchmarks.compare import compare
from howdah.benchmarks.lines import Line, lines
from howdah.benchmarks.record import OURS, Record
from howdah.benchmarks.report import write
from howdah.benchmarks.row import Row
from howdah.benchmarks.rows import KEYS, ROWS
from howdah.benchmarks.show import reached, verdict


def sample(rate: float, floor: float = 1000.0) -> Record:
    """A record of two rows, one with its floor in the same run."""
    record = Record({"date": "then"})
    for wobble in (0.99, 1.0, 1.01):
        record.add("send-one", "1 connection", OURS, "/s", rate * wobble)
        record.add("send-one", "1 connection", "bare INSERT", "/s", floor * wobble)
        record.add("backlog", "drained", OURS, "/s", rate * wobble)
        record.add("large", "queue_stats", OURS, "ms", 2.5 * (900 / rate) * wobble)
    return record


def test_compare_tells_a_slowdown_from_a_slower_machine(tmp_path: Path) -> None:
    assert not any(change.slower for change in compare(sample(900), sample(900)))
    slower = {(change.row, change.relative) for change in compare(sample(900), sample(600)) if change.slower}
    assert slower == {("send-one", True), ("backlog", False), ("large", False)}
    # Everything at half the speed, the floor too: the row that has one is not slower.
    machine = {change.row for change in compare(sample(900), sample(450, 500)) if change.slower}
    assert machine == {"backlog", "large"}

    old, new = tmp_path / "old.json", tmp_path / "new.json"
    sample(900).write(old)
    sample(600).write(new)
    done = howdah("", "bench", "--record", new, "--against", old)
    assert done.code == 1
    assert done.out.count("slower") == 3
    assert howdah("", "bench", "--record", old, "--against", old).code == 0


def test_repetitions_that_overlap_are_no_change() -> None:
    old, new = sample(900), sample(900)
    for result in new.results:
        result.values = [result.values[0] * 0.5, *result.values]
    assert not any(change.slower for change in compare(old, new))


def test_a_record_whose_rows_were_all_measured_again_has_no_date_of_its_own(tmp_path: Path) -> None:
    new = {"machine": {"cores": 4}, "versions": {"PostgreSQL": "18.5"}, "server": {"fsync": "on"}}
    record = sample(900)
    record.about |= {"machine": {"cores": 2}, "versions": {"PostgreSQL": "18.4", "pgmq": "1"}, "server": {}}
    record.about |= {"load before": 1.0, "size": "full", "rounds": 3, "body": "64 bytes", "journal_level": "exits"}
    record.renew(new)

    def page() -> str:
        record.add("backlog", "drained", OURS, "/s", 1, [1, 2])
        write(record, tmp_path / "page.html")
        return (tmp_path / "page.html").read_text()

    for row in ("send-one", "backlog"):
        record.forget(row, "later")
    assert "<th>Date" in (some := page())
    assert "<th>Measured again" in some
    record.forget("large", "later")
    assert "<th>Date" not in (every := page())
    assert "<th>Measured<" in every
    assert "backlog: later" in every
    assert "cores 4" in every
    assert "PostgreSQL 18.5, pgmq 1" in every


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = sample(900)
    record.write(tmp_path / "kept.json")
    assert Record.read(tmp_path / "kept.json") == record
    (tmp_path / "other.json").write_text(json.dumps({"format": 0}))
    refused(howdah("", "bench", "--record", tmp_path / "other.json"), "no benchmark record", code=2)
    refused(howdah("", "bench", "--only", "nonsense"), KEYS[0], code=2)


def row(key: str) -> Row:
    return next(row for row in ROWS if row.key == key)


def test_goals_mark_ratios_by_who_stands_beside_and_figures_alone() -> None:
    record = Record()
    record.add("receive-100", "1 connection", OURS, "/s", 310_000)
    record.add("receive-100", "1 connection", pgmq.WHO, "/s", 120_000)
    record.add("receive-100", "1 connection", "bare table, SKIP LOCKED", "/s", 1_000_000)
    marks = {
        line.other: (verdict(row("receive-100"), line), reached(row("receive-100"), line))
        for line in lines(record, row("receive-100"))
    }
    assert marks == {pgmq.WHO: ("✗", ""), "bare table, SKIP LOCKED": ("", "")}
    for case, ratio, said in (
        ("4 connections", 0.75, "✓"),
        ("64 connections", 0.5, "✓"),
        ("64 connections", 0.49, "✗"),
    ):
        line = Line(case, 100, "/s", "bare INSERT", 100 / ratio, ratio, (100, 100), 1)
        assert (verdict(row("send-one"), line), reached(row("send-one"), line)) == (said, "")
    for case, rate in (("4 consumers, by 1", 4_000), ("4 consumers, by 100", 80_000)):
        alone = Line(case, rate, "/s", "", 0, 0, (rate, rate), 1)
        assert reached(row("topic-shared"), alone) == "✓"
    beside = Line("4 consumers, by 1", 4_000, "/s", "a queue", 4_800, 0.83, (4_000, 4_000), 1)
    assert (verdict(row("topic-shared"), beside), reached(row("topic-shared"), beside)) == ("✗", "✓")

    for case, ours, expected in (("p50", 1.49, "✓"), ("p50", 1.51, "✗"), ("p99", 2.49, "✓"), ("p99", 2.51, "✗")):
        line = Line(case, ours, "ms", "bare commit with NOTIFY", 1, 1 / ours, (ours, ours), 1)
        assert (verdict(row("latency"), line), reached(row("latency"), line)) == (expected, "")


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ([0.8], "one pair"),
        ([0.8, 0.81, 0.82, 0.83], ""),
        ([0.9, 0.97, 1.02, 1.1], "within noise"),
        ([0.2, 0.4, 0.6, 0.8], "unsteady"),
        ([1.3, 1.4, 1.45, 3.0], "unsteady"),
    ],
)
def test_a_ratio_that_says_little_is_marked(pairs: list[float], says: str, tmp_path: Path) -> None:
    record = Record({"machine": {}, "versions": {}, "server": {}, "date": "now", "load before": 1.0, "size": "full"})
    record.about |= {"rounds": 4, "body": "64 bytes", "journal_level": "exits"}
    for ratio in pairs:
        record.add("send-one", "1 connection", OURS, "/s", 1000 * ratio)
        record.add("send-one", "1 connection", "bare INSERT", "/s", 1000)
    (line,) = lines(record, row("send-one"))
    assert line.doubt == says
    write(record, tmp_path / "page.html")
    assert f"<small>{says}</small>" in (tmp_path / "page.html").read_text()
    summed = tomllib.loads(measured.summary(record))["rows"]["send-one"]["1 connection"]
    assert summed["bare INSERT"][2:] == ([says] if says else [])


def test_a_row_that_only_a_peer_has_shows_no_figure_of_ours() -> None:
    record = Record()
    record.add(stream.ROW, "batches of 10,000", "PgQ", "/s", 400_000)
    (line,) = lines(record, row(stream.ROW))
    assert (line.ours, line.other, line.theirs, line.ratio) == (0, "PgQ", 400_000, 0)
    assert (verdict(row(stream.ROW), line), reached(row(stream.ROW), line)) == ("", "")
