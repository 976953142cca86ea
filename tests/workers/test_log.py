"""The workers' log: its channels and settings, what the engine has to say, and the line of metrics."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from command import howdah, refused
from support import Db, deliver_and_fail, one, wait_until
from workers_support import StartWorkers, Work

from howdah.engine import connect
from howdah.workers.log import writer
from howdah.workers.log.channels import Levels
from howdah.workers.log.reader import LogReader
from howdah.workers.log.settings import ALL, BadSetting, LogSettings, parse

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


@pytest.fixture
def syslog() -> Iterator[socket.socket]:
    """A syslog server."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(20)
        yield server


@pytest.fixture
def read(dsn: str, db: Db) -> Iterator[list[dict[str, Any]]]:
    """What a reader of the engine's log has written so far; it runs."""
    lines: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(formatter.format(record)))

    formatter, kept = writer.LineFormatter(), Kept()
    logging.getLogger("howdah").addHandler(kept)
    logging.getLogger("howdah").setLevel(logging.INFO)
    reader = LogReader(dsn, "shop", look_seconds=0.02)
    reader.start()
    wait_until(lambda: one(db, "select count(*) from howdah.log_readers") == 1)
    yield lines
    reader.stop()
    logging.getLogger("howdah").removeHandler(kept)


def say_all() -> None:
    for level in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
        logging.getLogger("howdah.worker").log(logging.getLevelNamesMapping()[level], "said as %s", level)


def said(text: str) -> list[str]:
    return [line["event"].removeprefix("said as ") for line in map(json.loads, text.splitlines())]


def configure(path: Path, **settings: str) -> LogSettings:
    named = {f"imq.log.{name.replace('_', '.')}": value for name, value in settings.items()}
    return writer.configure(as_json=True, settings={"imq.log.file.dirpath": str(path)} | named)


@pytest.mark.behaviour("IMQ-72")
@pytest.mark.behaviour("IMQ-73")
@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("ERROR", ["ERROR", "CRITICAL"]),
        ("WARNING", ["WARNING", "ERROR", "CRITICAL"]),
        ("INFO", ["INFO", "WARNING", "ERROR", "CRITICAL"]),
    ],
)
def test_the_setting_of_the_level_selects_it_and_what_is_more_severe(
    level: str, shown: list[str], tmp_path: Path
) -> None:
    configure(tmp_path, level=level)
    say_all()
    assert said((tmp_path / "log.txt").read_text()) == shown


@pytest.mark.behaviour("IMQ-74")
@pytest.mark.behaviour("IMQ-75")
def test_each_channel_gets_events_of_the_levels_that_are_its_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], syslog: socket.socket
) -> None:
    host, port = syslog.getsockname()
    configure(
        tmp_path,
        console_output="ERROR",
        file_output="INFO",
        syslog_output="WARNING|ERROR",
        syslog_address=f"{host}:{port}",
        syslog_identity="shop",
        syslog_facility="LOG_LOCAL1",
    )
    say_all()
    assert said(capfd.readouterr().err) == ["ERROR", "CRITICAL"]
    assert said((tmp_path / "log.txt").read_text()) == ["INFO"]
    heard = [syslog.recv(1000).decode() for _ in range(3)]
    assert said("\n".join(line.partition("shop: ")[2] for line in heard)) == ["WARNING", "ERROR", "CRITICAL"]
    assert {line.partition(">")[0] for line in heard} == {"<140", "<139", "<138"}


def test_no_channel_is_silence_and_a_console_can_be_standard_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(tmp_path, console_output="NONE", file_output="NONE")
    say_all()
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())
    configure(tmp_path, console_stream="OUT", file_output="none")
    say_all()
    assert len(said(capfd.readouterr().out)) == 4


@pytest.mark.parametrize("kind", ["properties", "toml", "json"])
def test_a_file_holds_the_settings_and_the_command_comes_before_it(kind: str, tmp_path: Path) -> None:
    config = tmp_path / f"log.{kind}"
    settings = {
        "imq.log.level": "WARNING",
        "imq.log.file.dirpath": str(tmp_path / "logs"),
        "imq.log.file.rolloverbytes": "1000",
        "imq.log.console.output": "NONE",
        "imq.metrics.interval": "60",
    }
    if kind == "properties":
        lines = [f"{name} = {value}" for name, value in settings.items()]
        config.write_text("\n".join(["# our log", "imq.portmapper.port=7676", *lines]).replace("60", "\\\n  60"))
    elif kind == "toml":
        config.write_text("\n".join(f'{name} = "{value}"' for name, value in settings.items()))
    else:
        config.write_text(json.dumps(settings | {"loggers": {"howdah.worker": {"level": "ERROR"}}}))
    found = writer.configure(as_json=True, config=config, settings={"imq.log.file.filename": "shop.log"})
    assert (found.level, found.console, found.rollover_bytes) == ("WARNING", frozenset(), 1000)
    assert (found.metrics_seconds, found.file) == (60, tmp_path / "logs" / "shop.log")
    say_all()
    assert said((tmp_path / "logs" / "shop.log").read_text()) == ["WARNING", "ERROR", "CRITICAL"][kind == "json" :]
    assert writer.configure(as_json=True, level="ERROR", config=config).level == "ERROR"
    logging.getLogger("howdah.worker").setLevel(logging.NOTSET)


def test_what_a_setting_does_not_say_is_as_without_it() -> None:
    found = parse({})
    assert (found.console, found.file, found.syslog, found.metrics_seconds) == (ALL, None, frozenset(), None)
    assert parse({"imq.log.file.rolloversecs": "-1"}).rollover_seconds == 0
    assert parse({"imq.metrics.interval": "5", "imq.metrics.enabled": "false"}).metrics_seconds is None
    assert parse({"imq.metrics.interval": "0"}).metrics_seconds is None
    assert Levels("ERROR|info").filter(logging.makeLogRecord({"levelno": logging.INFO + 5}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("imq.log.levels", "INFO"),
        ("imq.log.level", "LOUD"),
        ("imq.log.console.output", "ERROR|LOUD"),
        ("imq.log.console.output", ""),
        ("imq.log.console.stream", "BOTH"),
        ("imq.log.file.rolloverbytes", "1k"),
        ("imq.log.file.rolloversecs", "-5"),
        ("imq.log.syslog.facility", "LOG_PIZZA"),
        ("imq.metrics.interval", "soon"),
        ("imq.metrics.enabled", "yes"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name.replace(".", r"\.")):
        parse({name: value})
    refused(howdah("", "worker", "shop:app", "--log-set", f"{name}={value}"), name, 2)


def test_a_file_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(howdah("", "worker", "shop:app", "--log-file", tmp_path / "file" / "log.txt"), "file", 2)
    refused(howdah("", "worker", "shop:app", "--log-set", "imq.log.level"), "is not NAME=VALUE", 2)


def test_an_event_of_the_engine_is_a_line_with_its_level_queue_and_facts(db: Db, read: list[dict[str, Any]]) -> None:
    one(db, "select howdah.create_queue('q', '{\"max_failed_deliveries\": 1}')")
    message = one(db, "select howdah.send('q', 'x'::text)")
    deliver_and_fail(db)
    details = '{"till": 3, "level": "info", "event": "all is well", "by": "root", "logger": "x"}'
    one(db, "select howdah.log('ERROR', 'till is empty', %s)", (details,))
    wait_until(lambda: any(line["event"] == "till is empty" for line in read))
    lines = {line["event"]: line for line in read}
    dead = lines["message reached its limit"]
    assert {"level": "warning", "logger": "howdah.engine", "code": "MESSAGE_DEAD", "queue": "q"}.items() <= dead.items()
    assert (dead["message_id"], dead["outcome"]) == (message, "moved")
    line = lines["till is empty"]
    assert (line["level"], line["till"], line["logger"]) == ("error", 3, "howdah.engine")
    assert line["by"] == one(db, "select session_user"), "no fact passes for another one"


def test_a_reader_that_was_away_writes_what_it_missed_once(dsn: str, db: Db, read: list[dict[str, Any]]) -> None:
    for number in range(3):
        one(db, "select howdah.log('INFO', %s)", (f"line {number}",))
    wait_until(lambda: len(read) == 3)
    # In the transaction that read them it would read them again.
    committed = "select pid from pg_stat_activity where application_name = 'howdah log' and state = 'idle'"
    wait_until(lambda: db.execute(committed).fetchone() is not None)
    one(db, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah log'")
    one(db, "select howdah.log('INFO', 'line 3')")
    wait_until(lambda: any(line["event"] == "line 3" for line in read))
    assert [line["event"] for line in read if line["event"].startswith("line")] == [f"line {n}" for n in range(4)]


@pytest.mark.slow
def test_a_restarted_set_of_workers_writes_what_happened_meanwhile(jobs: Work, start: StartWorkers) -> None:
    first = start()
    first.wait_started()
    wait_until(lambda: one(jobs.db, "select count(*) from howdah.log_readers") == 1)
    first.close()
    one(jobs.db, "select howdah.log('WARNING', 'while nobody worked')")
    second = start(processes=2)
    wait_until(lambda: second.events("while nobody worked"))
    one(jobs.db, "select howdah.log('WARNING', 'now')")
    wait_until(lambda: second.events("now"))
    second.close()
    assert len(second.events("while nobody worked")) == len(second.events("now")) == 1


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-71")
def test_an_interval_of_one_second_yields_lines_of_metrics_and_off_yields_none(jobs: Work, start: StartWorkers) -> None:
    workers = start(metrics_seconds=1)
    workers.wait_started()
    wait_until(lambda: len(workers.events("metrics")) >= 1)
    jobs.send(*["plain"] * 20)
    jobs.wait_empty()
    (before,) = [len(workers.events("metrics"))]
    wait_until(lambda: len(workers.events("metrics")) >= before + 2)
    workers.close()
    lines = workers.events("metrics")
    assert round(sum(line["in"] * line["seconds"] for line in lines)) == 20
    assert round(sum(line["out"] * line["seconds"] for line in lines)) == 20
    assert all(0.5 < line["seconds"] < 20 for line in lines)
    assert (lines[-1]["there"], lines[-1]["logger"]) == (0, "howdah.metrics")
    named = [line["queues"]["work"] for line in lines if "queues" in line]
    assert sum(figures["out"] for figures in named) > 0

    silent = start()
    wait_until(lambda: len(silent.events("worker started")) >= 2)
    jobs.send("plain")
    jobs.wait_empty()
    quiet_until = time.monotonic() + 2.5
    wait_until(lambda: time.monotonic() > quiet_until)
    silent.close()
    assert silent.events("metrics") == lines


@pytest.mark.slow
def test_a_failed_delivery_is_in_the_metrics(jobs: Work, start: StartWorkers) -> None:
    workers = start(metrics_seconds=0.2)
    wait_until(lambda: workers.events("metrics"))
    jobs.send("fail")
    wait_until(lambda: any(line["failed"] > 0 for line in workers.events("metrics")))


def test_a_worker_without_its_database_says_once_that_it_reads_no_events(tmp_path: Path) -> None:
    configure(tmp_path, console_output="NONE")
    reader = LogReader("host=127.0.0.1 port=1 dbname=none connect_timeout=1", "shop", look_seconds=0.01)
    reader.start()
    path = tmp_path / "log.txt"
    wait_until(lambda: path.exists() and "events of the engine not read" in path.read_text())
    reader.stop()
    assert len(path.read_text().splitlines()) == 1


def test_an_application_writes_lists_and_follows_the_log(dsn: str) -> None:
    with connect(dsn) as connection:
        position = connection.logs.since()["next_position"]
        connection.logs.write("WARNING", "till is empty", {"till": 3})
        (row,) = connection.logs.list("WARNING")
        assert (row["logged_event"], row["text"], row["details"]) == ("LOG", "till is empty", {"till": 3})
        found = connection.logs.since(position)
        assert [entry["text"] for entry in found["entries"]] == ["till is empty"]
        assert connection.logs.since(found["next_position"])["entries"] == []


def test_the_log_of_a_session_goes_with_its_transaction(dsn: str, db: Db) -> None:
    with psycopg.connect(dsn) as other:
        other.execute("select howdah.log('INFO', 'x')")
        other.rollback()
    assert one(db, "select count(*) from howdah.log_events") == 0
