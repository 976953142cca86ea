"""Workers whose transactions commit by reliability."""

from __future__ import annotations

import pytest
from support import column, one
from workers_support import StartWorkers, Work

LEVELS = ("RELIABLE_PERSISTENT", "ASSURED_PERSISTENT")


@pytest.fixture
def notes(jobs: Work) -> Work:
    """Each effect of a handler notes how long its commit would wait."""
    jobs.db.execute("alter table work.effects add waits text default current_setting('synchronous_commit')")
    return jobs


def send(jobs: Work, level: str, number: int = 5) -> None:
    one(
        jobs.db,
        "select howdah.send_batch('work', array_fill('plain'::text, array[%s::integer]), reliability => %s)",
        (number, level),
    )


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("hardened", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_worker_with_the_option_waits_as_long_as_its_messages_need(
    notes: Work, start: StartWorkers, level: str, hardened: bool
) -> None:
    if hardened:
        one(notes.db, "select howdah.alter_queue('work', '{\"backout_count\": \"hardened\"}')")
    send(notes, level)
    start(commit_by_reliability=True)
    notes.wait_empty()
    send(notes, level)
    notes.wait_empty()
    expected = "off" if level == LEVELS[0] else "on"
    assert column(notes.db, "select waits from work.effects") == [expected] * 10


@pytest.mark.slow
def test_a_worker_without_it_commits_as_the_server_is_set(notes: Work, start: StartWorkers) -> None:
    send(notes, LEVELS[0])
    start()
    notes.wait_empty()
    assert set(column(notes.db, "select waits from work.effects")) == {"on"}
