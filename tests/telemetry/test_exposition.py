"""The text that Prometheus reads: a parser of another project takes it, and finds the same figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from command import howdah
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from support import Clock, Db, deliver_and_fail, one, receive

from howdah.engine import connect
from howdah.telemetry.families import FAMILIES
from howdah.telemetry.metrics import exposition, rendered

HOSTILE = 'say "no"\\n\nthen </script> \u202e # EOF'


def parsed(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The samples by name and labels. The parser refuses what breaks a rule of the format."""
    assert text.endswith("# EOF\n")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for sample in family.samples
    }


def labelled(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def test_a_parser_finds_the_figures_of_a_queue_and_when_its_totals_began(db: Db, clock: Clock, dsn: str) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    clock.advance(10)
    receive(db)
    deliver_and_fail(db, error_class=HOSTILE)
    one(db, "select howdah.maintain_totals()")
    one(db, "select howdah.maintain_backlog()")
    with connect(dsn) as connection:
        text = exposition(connection)
        assert exposition(connection, queues=0).count('queue="q"') == 0
    found = parsed(text)
    assert found[labelled("howdah_queue_messages_enqueued_total", queue="q")] == 3
    assert found[labelled("howdah_queue_messages_dequeued_total", queue="q", outcome="consumed")] == 1
    assert found[labelled("howdah_failures_total", error_class=HOSTILE)] == 1
    assert found[labelled("howdah_wait_seconds_bucket", le="10.0")] == 1
    assert found[labelled("howdah_wait_seconds_bucket", le="5.0")] == 0
    assert found[labelled("howdah_wait_seconds_count")] == 1
    began = one(db, "select extract(epoch from created_at) from howdah.metric_epoch")
    assert found[labelled("howdah_messages_enqueued_created")] == float(round(began, 6))
    assert found[labelled("howdah_queue_wait_seconds_created", queue="q")] == float(round(began, 6))


def test_each_sample_of_the_function_has_a_metric_and_no_metric_is_without_one(db: Db, dsn: str) -> None:
    """Those that need a link or an audit have no sample yet."""
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    options = '{"keep_bodies_ms": 60000, "max_concurrent": 5, "rate_limit": "9/1s burst 9"}'
    one(db, "select howdah.create_queue('q', %s)", (options,))
    one(db, "select howdah.send('q', 'a'::text)")
    receive(db)
    one(db, "select howdah.send('q', 'b'::text)")
    deliver_and_fail(db)
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    figures = '[{"queue": "q", "handled": 1, "failed": 0, "busy_seconds": 1, "handling_counts": [%s]}]'
    one(db, "select howdah.record_worker_figures(%s, 60, %s)", (worker, figures % ", ".join(["1"] * 32)))
    one(db, "select howdah.maintain_totals()")
    one(db, "select howdah.maintain_backlog()")
    with connect(dsn) as connection:
        samples = connection.admin.metrics()
        text = exposition(connection)
    shown = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    absent = {name for name in FAMILIES if name not in shown}
    assert all(name.startswith(("howdah_link_", "howdah_audit_")) for name in absent), absent
    parsed(text)
    lines = [line for line in rendered(samples).splitlines() if not line.startswith("#")]
    assert len([line for line in lines if "_created" not in line]) == len(samples), "none was left out"


def test_numbers_and_times_are_written_as_the_format_wants() -> None:
    rows: list[dict[str, Any]] = [
        {"name": "howdah_workers", "labels": {}, "value": 2.0, "created": None},
        {"name": "howdah_link_forwarded_total", "labels": {"link": "l"}, "value": 1e15,
         "created": datetime(2026, 1, 2, tzinfo=UTC)},
        {"name": "howdah_of_a_later_release", "labels": {}, "value": 1.0, "created": None},
    ]  # fmt: skip
    assert [line for line in rendered(rows).splitlines() if not line.startswith("# HELP")] == [
        "# TYPE howdah_workers gauge",
        "howdah_workers 2",
        "# TYPE howdah_link_forwarded counter",
        'howdah_link_forwarded_total{link="l"} 1000000000000000',
        'howdah_link_forwarded_created{link="l"} 1767312000.000000',
        "# EOF",
    ]


def test_the_command_prints_the_text_or_json_for_so_many_queues(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_queue('q')")
    printed = howdah(dsn, "metrics")
    assert printed.code == 0
    assert labelled("howdah_queue_workers", queue="q") in parsed(printed.out)
    assert 'queue="' not in howdah(dsn, "metrics", "--queues", "0").out
    rows = howdah(dsn, "metrics", "--json").json
    assert {"name": "howdah_queue_workers", "labels": {"queue": "q"}, "value": 0.0, "created": None} in rows
    assert howdah(dsn, "metrics", "--queues", "-1").code != 0
    assert howdah(dsn, "metrics", "--role", "howdah_producer").code != 0
