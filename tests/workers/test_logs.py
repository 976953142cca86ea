"""The application's own lines in the worker's log, and which message each line was written for."""

import json
import logging
import logging.config
import socket
from pathlib import Path

import psycopg
import pytest
from command import howdah, refused
from support import one
from workers_support import StartWorkers, Work

from howdah.workers.log import writer


def say_all() -> None:
    """One line of each level, as the worker says them."""
    for level in ("DEBUG", "INFO", "WARNING", "ERROR"):
        logging.getLogger("howdah.worker").log(logging.getLevelNamesMapping()[level], "said as %s", level)


@pytest.mark.slow
def test_the_applications_lines_are_shown_with_logger_message_queue_and_correlation_id(
    jobs: Work, start: StartWorkers
) -> None:
    workers = start("logsapp:app")
    message_id = one(jobs.db, "select howdah.send('work', 'mocha', correlation_id => 'c-7')")
    jobs.wait_empty()

    (line,) = workers.events("brewing mocha")
    assert {name: line[name] for name in ("level", "logger", "queue", "message", "correlation_id", "cups")} == {
        "level": "info",
        "logger": "shop.orders",
        "queue": "work",
        "message": message_id,
        "correlation_id": "c-7",
        "cups": 2,
    }
    (inside,) = workers.events("in a thread with context")
    assert inside["message"] == message_id
    (outside,) = workers.events("in a plain thread")
    assert "message" not in outside
    (started,) = workers.events("worker started")
    assert started["logger"] == "howdah.worker"
    assert "message" not in started
    database = psycopg.conninfo.conninfo_to_dict(str(jobs.db.info.dsn))["dbname"]
    assert str(started["database"]).startswith(f"database {database} on ")
    assert "password" not in started["database"]
    assert workers.events("too much") == []


@pytest.mark.slow
def test_the_level_holds_for_the_applications_lines_too(jobs: Work, start: StartWorkers) -> None:
    workers = start("logsapp:app", log_level="DEBUG")
    jobs.send("mocha")
    jobs.wait_empty()
    assert len(workers.events("too much")) == 1
    assert not any(
        line["logger"].startswith(writer.QUIET)
        for line in map(json.loads, workers.log.read_text().splitlines())
        if "logger" in line
    )


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("kind", [*(pytest.param(kind, marks=pytest.mark.slow) for kind in ("json", "ini")), "toml"])
def test_a_file_configures_logging(kind: str, jobs: Work, start: StartWorkers, tmp_path: Path) -> None:
    own = tmp_path / "own.log"
    line = "%(levelname)s %(howdah_queue)s %(howdah_message_id)s %(message)s"
    config = tmp_path / f"log.{kind}"
    if kind == "ini":
        config.write_text(
            "[loggers]\nkeys=root,shop\n[handlers]\nkeys=own\n[formatters]\nkeys=own\n"
            "[logger_root]\nhandlers=\n[logger_shop]\nqualname=shop\nlevel=DEBUG\nhandlers=own\n"
            f"[handler_own]\nclass=FileHandler\nargs=({str(own)!r},)\nformatter=own\n[formatter_own]\nformat={line}\n"
        )
    elif kind == "json":
        settings = {
            "formatters": {"own": {"format": line}},
            "handlers": {"own": {"class": "logging.FileHandler", "filename": str(own), "formatter": "own"}},
            "loggers": {"shop": {"level": "DEBUG", "handlers": ["own"]}},
        }
        config.write_text(json.dumps(settings))
    else:
        config.write_text(
            f"[formatters.own]\nformat = '{line}'\n"
            f"[handlers.own]\nclass = 'logging.FileHandler'\nfilename = '{own}'\nformatter = 'own'\n"
            "[loggers.shop]\nlevel = 'DEBUG'\nhandlers = ['own']\n"
        )
    start("logsapp:app", log_config=config)
    (message_id,) = jobs.send("mocha")
    jobs.wait_empty()
    assert own.read_text().splitlines() == [
        f"DEBUG work {message_id} too much",
        f"INFO work {message_id} brewing mocha",
        f"INFO work {message_id} in a thread with context",
        "INFO None None in a plain thread",
    ]


@pytest.mark.behaviour("IMQ-72")
@pytest.mark.behaviour("IMQ-73")
@pytest.mark.usefixtures("logging_as_it_was")
@pytest.mark.parametrize(
    ("level", "shown"),
    [("ERROR", ["ERROR"]), ("WARNING", ["WARNING", "ERROR"]), ("INFO", ["INFO", "WARNING", "ERROR"])],
)
def test_a_level_shows_itself_and_what_is_more_severe(level: str, shown: list[str], tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer.configure(as_json=True, level=level, path=path)
    say_all()
    assert [json.loads(line)["level"].upper() for line in path.read_text().splitlines()] == shown


@pytest.mark.behaviour("IMQ-74")
@pytest.mark.behaviour("IMQ-75")
@pytest.mark.behaviour("IMQ-76")
@pytest.mark.usefixtures("logging_as_it_was")
def test_console_file_and_syslog_each_get_what_their_level_says_and_a_file_is_rolled_over_by_its_size(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config, file = tmp_path / "log.json", tmp_path / "all.log"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as syslog:
        syslog.bind(("127.0.0.1", 0))
        syslog.settimeout(20)
        handlers = {
            "console": {"class": "logging.StreamHandler", "level": "ERROR"},
            "syslog": {"class": "logging.handlers.SysLogHandler", "level": "WARNING", "address": syslog.getsockname()},
            "file": {
                "class": "logging.handlers.RotatingFileHandler",
                "level": "INFO",
                "filename": str(file),
                "maxBytes": 60,
                "backupCount": 9,
            },
        }
        config.write_text(json.dumps({"handlers": handlers, "root": {"level": "INFO", "handlers": list(handlers)}}))
        writer.configure(as_json=True, config=config)
        say_all()
        assert capfd.readouterr().err.splitlines() == ["said as ERROR"]
        heard = [syslog.recv(1000).rstrip(b"\0").partition(b">")[2] for _ in range(2)]
        assert heard == [b"said as WARNING", b"said as ERROR"]
        assert file.read_text().splitlines() == ["said as INFO", "said as WARNING", "said as ERROR"]
        say_all()
        assert [path.name for path in sorted(tmp_path.glob("all.log*"))] == ["all.log", "all.log.1"]


@pytest.mark.usefixtures("logging_as_it_was")
def test_a_file_that_configures_nothing_is_wrong_usage(tmp_path: Path) -> None:
    for name, text in (("log.json", "{"), ("log.toml", "handlers = 1"), ("log.ini", "what"), ("l.json", '{"root": 1}')):
        config = tmp_path / name
        config.write_text(text)
        refused(howdah("", "worker", "shop:app", "--log-config", config), "is not a logging configuration", 2)
    refused(howdah("", "worker", "shop:app", "--log-config", tmp_path / "missing.json"), "does not exist", 2)


@pytest.mark.usefixtures("logging_as_it_was")
def test_an_application_that_configures_logging_itself_does_not_silence_the_worker(
    capfd: pytest.CaptureFixture[str],
) -> None:
    writer.configure(as_json=False)
    logging.config.dictConfig({"version": 1})
    assert logging.getLogger("howdah.worker").disabled
    writer.enable()
    logging.getLogger("howdah.worker").info("still here")
    assert "still here" in capfd.readouterr().err
