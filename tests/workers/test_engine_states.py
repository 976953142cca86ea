"""Workers of an engine that is paused, quiesced or stopped: they wait, blame no message, and go on by themselves."""

from __future__ import annotations

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work

STOP = "select state from howdah.stop_engine(interval '20 seconds')"


@pytest.mark.slow
@pytest.mark.parametrize("state", ["paused", "quiesced", "stopped"])
def test_workers_wait_and_go_on_by_themselves(jobs: Work, start: StartWorkers, state: str) -> None:
    workers = start("chainapp:app")
    workers.wait_started()
    jobs.send("0")
    wait_until(lambda: jobs.left() == 0)
    one(jobs.db, f"select howdah.{'pause' if state == 'paused' else 'quiesce'}_engine()")
    if state == "stopped":
        assert one(jobs.db, STOP) == "stopped"
    wait_until(lambda: any(f"the engine is {state}" in str(event) for event in workers.events("cannot receive")))
    one(jobs.db, "select howdah.resume_engine()")
    jobs.send("-1")
    wait_until(lambda: jobs.left() == 0)
    assert column(jobs.db, "select error_text from howdah.incidents('work')") == []


@pytest.mark.slow
def test_a_handler_whose_send_a_pause_refuses_is_not_to_blame(jobs: Work, start: StartWorkers) -> None:
    """chainapp's handler sends on what it gets; the pause comes while it is at work."""
    workers = start("chainapp:app")
    workers.wait_started()
    jobs.send("200")
    wait_until(lambda: one(jobs.db, "select count(*) from work.once") > 3)
    one(jobs.db, "select howdah.pause_engine()")
    wait_until(lambda: bool(workers.events("cannot receive")))
    before = one(jobs.db, "select count(*) from work.once")
    one(jobs.db, "select howdah.resume_engine()")
    wait_until(lambda: one(jobs.db, "select count(*) from work.once") == 201)
    assert before < 201
    assert column(jobs.db, "select error_text from howdah.incidents('work')") == []


@pytest.mark.slow
def test_a_quiesce_lets_handlers_end_so_that_a_stop_succeeds_under_load(jobs: Work, start: StartWorkers) -> None:
    workers = start("chainapp:app", processes=1, sessions=2)
    workers.wait_started()
    jobs.send("300", *[str(-number) for number in range(1, 201)])
    wait_until(lambda: one(jobs.db, "select count(*) from work.once") > 20)
    one(jobs.db, "select howdah.quiesce_engine()")
    assert one(jobs.db, STOP) == "stopped"
    assert one(jobs.db, "select transactions + leases from howdah.engine_state()") == 0
    one(jobs.db, "select howdah.resume_engine()")
    wait_until(lambda: one(jobs.db, "select count(*) from work.once") == 501)
    assert column(jobs.db, "select error_text from howdah.incidents('work')") == []
