"""A log file that rolls over by size or age and keeps nine archives, with any number of processes that write to it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from howdah.workers.log import writer
from howdah.workers.log.rollover import RolloverFile

WRITER = """
import logging, sys
from howdah.workers.log.rollover import RolloverFile
handler = RolloverFile(sys.argv[1], maxBytes=4000, backupCount=500)
log = logging.getLogger("x")
log.addHandler(handler)
for number in range(int(sys.argv[3])):
    log.warning("%s %s %s", sys.argv[2], number, "x" * (number % 50))
"""


def write(handler: logging.Handler, text: str) -> None:
    handler.handle(logging.makeLogRecord({"msg": text, "levelno": logging.INFO, "levelname": "INFO"}))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.behaviour("IMQ-77")
def test_after_twelve_rollovers_there_are_the_newest_and_nine_archives(tmp_path: Path) -> None:
    handler = RolloverFile(tmp_path / "log.txt", maxBytes=10)
    for number in range(13):
        write(handler, f"line {number:02}")
    handler.close()
    assert names(tmp_path) == ["log.txt", *(f"log_{n}" for n in range(1, 10))]
    assert (tmp_path / "log.txt").read_text() == "line 12\n"
    assert [(tmp_path / f"log_{n}").read_text() for n in range(1, 10)] == [f"line {12 - n:02}\n" for n in range(1, 10)]


@pytest.mark.behaviour("IMQ-76")
def test_a_line_that_would_exceed_the_size_begins_a_new_file(tmp_path: Path) -> None:
    handler = RolloverFile(tmp_path / "log.txt", maxBytes=12)
    for text in ("12345", "12345", "1", "long beyond every limit", "2"):
        write(handler, text)
    handler.close()
    texts = [
        (tmp_path / name).read_text() for name in ("log_3", "log_2", "log_1", "log.txt") if (tmp_path / name).exists()
    ]
    assert texts == ["12345\n12345\n", "1\n", "long beyond every limit\n", "2\n"]


@pytest.mark.behaviour("IMQ-76")
def test_a_file_that_is_old_enough_is_rolled_over_whoever_began_it(tmp_path: Path) -> None:
    now = 1_800_000_000.0
    path = tmp_path / "log.txt"

    def handler() -> RolloverFile:
        made = RolloverFile(path, maxBytes=0, seconds=3600, clock=lambda: now)
        made.setFormatter(writer.LineFormatter())
        return made

    def line(text: str) -> None:
        one = handler()  # a restarted process
        record = logging.makeLogRecord({"msg": text, "levelno": logging.INFO, "created": now, "msecs": 0.0})
        one.handle(record)
        one.close()

    line("first")
    now += 3599
    line("second")
    os.utime(path)
    now += 1
    line("third")
    assert names(tmp_path) == ["log.txt", "log_1"]
    assert "third" in path.read_text()
    assert len((tmp_path / "log_1").read_text().splitlines()) == 2


def test_without_a_time_on_its_first_line_a_file_is_as_old_as_it_was_when_opened(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("no time here\n")
    os.utime(path, (1000, 1000))
    handler = RolloverFile(path, seconds=60, clock=lambda: 1059.0)
    write(handler, "a")
    assert names(tmp_path) == ["log.txt"]
    handler.close()
    os.utime(path, (1000, 1000))
    handler = RolloverFile(path, seconds=60, clock=lambda: 1060.0)
    write(handler, "b")
    handler.close()
    assert names(tmp_path) == ["log.txt", "log_1"]


@pytest.mark.slow
def test_processes_that_write_to_one_file_lose_and_split_no_line(tmp_path: Path) -> None:
    lines, processes = 400, 3
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "log.txt", str(number), str(lines)])
        for number in range(processes)
    ]
    assert [process.wait(120) for process in running] == [0] * processes
    found = [line.split(" ") for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert sorted((int(a), int(b)) for a, b, _ in found) == [(a, b) for a in range(processes) for b in range(lines)]
    assert all(len(rest) == int(b) % 50 for _, b, rest in found)
    assert len(names(tmp_path)) > 5
    assert all(path.stat().st_size <= 4000 for path in tmp_path.iterdir())


def test_a_file_that_was_moved_away_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    handler = RolloverFile(path)
    write(handler, "a")
    path.rename(tmp_path / "old")
    write(handler, "b")
    handler.close()
    assert (path.read_text(), (tmp_path / "old").read_text()) == ("b\n", "a\n")


def test_a_file_that_cannot_be_renamed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(source: str, target: str) -> None:
        raise PermissionError(source)

    handler = RolloverFile(tmp_path / "log.txt", maxBytes=5)
    monkeypatch.setattr(os, "rename", never)
    for text in ("1234", "5678"):
        write(handler, text)
    handler.close()
    assert (tmp_path / "log.txt").read_text() == "1234\n5678\n"
