"""`howdah log`: what the engine logged, its level, and lines of one's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from command import howdah, refused
from support import Db, deliver_and_fail, one


@pytest.fixture
def dead(db: Db) -> int:
    """A message that has reached its limit."""
    one(db, "select howdah.create_queue('q', '{\"max_failed_deliveries\": 1}')")
    message: int = one(db, "select howdah.send('q', 'x'::text)")
    deliver_and_fail(db)
    return message


def test_the_log_is_shown_from_old_to_new_by_level_queue_event_and_time(dsn: str, db: Db, dead: int) -> None:
    assert howdah(dsn, "log", "write", "till opened", "-d", "till=3").out == "logged\n"
    rows = howdah(dsn, "log", "show", "--event", "message_dead", "--json").json
    assert rows[0]["details"]["message_id"] == dead
    lines = howdah(dsn, "log", "show").out.splitlines()
    assert [line.split()[2] for line in lines[-2:]] == ["WARNING", "INFO"]
    assert "message reached its limit" in lines[-2]
    assert "till opened" in lines[-1]
    for words, number in (
        (["-l", "warning"], 1),
        (["-q", "q", "-l", "WARNING"], 1),
        (["-n", 1], 1),
        (["-l", "ERROR"], 0),
    ):
        assert len(howdah(dsn, "log", "show", "--json", *words).json) == number
    assert len(howdah(dsn, "log", "show", "--event", "LOG", "--since", "1h", "--json").json) == 1
    assert howdah(dsn, "log", "show", "--level", "ERROR").out == "nothing was logged\n"
    refused(howdah(dsn, "log", "show", "--level", "DEBUG"), "DEBUG", 2)


def test_the_engines_level_is_shown_and_set(dsn: str) -> None:
    assert howdah(dsn, "log", "level").out == "the engine logs INFO and what is more severe\n"
    assert howdah(dsn, "log", "level", "error").out == "the engine logs ERROR\n"
    assert howdah(dsn, "log", "level", "--json").json == {"level": "ERROR"}
    howdah(dsn, "log", "write", "not kept", "-l", "WARNING")
    howdah(dsn, "log", "write", "kept", "--level", "error")
    assert [row["text"] for row in howdah(dsn, "log", "show", "--event", "log", "--json").json] == ["kept"]


@pytest.mark.slow
def test_following_shows_what_is_logged_from_then_on(dsn: str, db: Db) -> None:
    one(db, "select howdah.log('ERROR', 'before')")
    command = [sys.executable, "-m", "howdah.cli.main", "log", "follow", "--level", "WARNING", "--event", "log"]
    with subprocess.Popen(
        command, env=os.environ | {"HOWDAH_DSN": dsn}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        while "following" not in following.stderr.readline():
            assert following.poll() is None
        one(db, "select howdah.log('INFO', 'too little')")
        one(db, "select howdah.log('ERROR', 'till is empty', '{\"till\": 3}')")
        line = following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 130
    user = one(db, "select session_user")
    assert line.split()[1:] == ["error", "till", "is", "empty", f"by={user}", "till=3"]


@pytest.mark.slow
def test_json_of_what_is_followed_is_one_event_a_line(dsn: str, db: Db) -> None:
    command = [sys.executable, "-m", "howdah.cli.main", "log", "follow", "--json"]
    with subprocess.Popen(
        command, env=os.environ | {"HOWDAH_DSN": dsn}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        while "following" not in following.stderr.readline():
            assert following.poll() is None
        one(db, "select howdah.log('INFO', 'hello')")
        assert json.loads(following.stdout.readline())["text"] == "hello"
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 130
