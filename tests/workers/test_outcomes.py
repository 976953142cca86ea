"""Reject, Retry and rules: what handlers want done with messages that they cannot handle."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work

from howdah.workers import App, AppError, Reject, Retry

APP = "outcomesapp:app"


def incident(jobs: Work, message: int) -> dict[str, Any]:
    """The only incident of a message."""
    columns = "attempt outcome error_class error_text sqlstate traceback details"
    (row,) = jobs.db.execute(
        f"select {columns.replace(' ', ', ')} from howdah.incidents() where message = %s".encode(), (message,)
    ).fetchall()
    return dict(zip(columns.split(), row, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("queue", ["work", "single"])
def test_a_rejected_message_is_dead_after_one_delivery_and_its_neighbours_are_handled(
    jobs: Work, start: StartWorkers, queue: str
) -> None:
    """By raising or by rule, in batches and one by one, after a rollback and after an error that blames nobody."""
    bodies = ["reject", "plain", "reject-from", "reject-deadlock", "plain", "reject-after-rollback", "wrong", "key"]
    sent = dict(zip(jobs.send(*bodies, queue=queue), bodies, strict=True))
    start(target=APP)
    jobs.wait_empty(queue)
    rejected = [message for message, body in sent.items() if body != "plain"]
    assert jobs.dead() == rejected
    assert jobs.effects() == [message for message in sent if message not in rejected]
    assert {tuple(jobs.trace(message)) for message in rejected} <= {(1,), (1, 1)}
    assert {(incident(jobs, message)["attempt"], incident(jobs, message)["outcome"]) for message in rejected} == {
        (1, "moved")
    }
    assert column(jobs.db, "select distinct dead_reason from howdah.audit_messages") == ["rejected by its handler"]
    assert [incident(jobs, message)["details"] for message in rejected] == [
        {"reason": reason} if reason else None
        for reason in (
            "unusable",
            "unusable",
            "always the same deadlock",
            "undone by itself",
            "wrong for good",
            None,
        )
    ]


def test_the_incident_tells_the_cause_and_the_reason(jobs: Work, start: StartWorkers) -> None:
    (caused, bare, deadlock) = jobs.send("reject-from", "reject", "reject-deadlock")
    start(target=APP)
    jobs.wait_empty()
    told = incident(jobs, caused)
    assert (told["error_class"], told["error_text"]) == ("LookupError", "no such thing")
    assert re.search(
        r'raise LookupError\("no such thing"\)(.|\n)*direct cause(.|\n)*Reject: unusable', told["traceback"]
    )
    assert (incident(jobs, bare)["error_class"], incident(jobs, bare)["error_text"]) == ("Reject", "unusable")
    assert incident(jobs, deadlock)["sqlstate"] == "40P01"


@pytest.mark.first_case
@pytest.mark.parametrize("queue", ["work", pytest.param("single", marks=pytest.mark.slow)])
def test_a_message_to_be_retried_is_parked_for_the_time_asked_for_and_counted(
    jobs: Work, start: StartWorkers, queue: str
) -> None:
    """In place of the queue's delay; 0 means at once; of the handler's word and the rule's, the handler's holds."""
    one(jobs.db, "select howdah.alter_queue(%s, '{\"redelivery_delay_ms\": 900000}')", (queue,))
    bodies = ["plain", "retry", "retry-by-policy", "plain", "retry-at-once", "reject-wins"]
    plain, retry, by_policy, last, at_once, wins = jobs.send(*bodies, queue=queue)
    start(target=APP)
    wait_until(lambda: jobs.effects() == [plain, last, at_once])
    wait_until(lambda: len(column(jobs.db, "select 1 from howdah.parked")) == 3)
    assert jobs.trace(at_once) in ([1, 2], [1, 1, 2])
    waits: dict[int, int] = dict(
        jobs.db.execute(
            "select p.message_id, round(extract(epoch from p.due_at - i.recorded_at))::integer from howdah.parked p"
            " join howdah.incidents() i on i.message = p.message_id"
        ).fetchall()
    )
    assert {message: round(wait, -1) for message, wait in waits.items()} == {retry: 3600, by_policy: 900, wins: 3600}
    assert incident(jobs, retry)["details"] == {"reason": "not yet"}
    assert (incident(jobs, retry)["error_class"], incident(jobs, wins)["error_class"]) == ("Retry", "Wrong")
    assert incident(jobs, at_once)["outcome"] == "returned"


def test_a_message_retried_to_its_limit_is_dead(jobs: Work, start: StartWorkers) -> None:
    """And the most specific rule decides: Odd is Wrong too, which is rejected."""
    (odd,) = jobs.send("odd")
    start(target=APP)
    jobs.wait_empty()
    assert jobs.trace(odd) == [1, 2, 3, 4, 5]
    assert jobs.incidents(odd) == ["Odd"] * 5
    assert one(jobs.db, "select dead_reason from howdah.audit_messages") == "failed deliveries reached the limit"


@pytest.mark.first_case
@pytest.mark.parametrize("queue", ["work", pytest.param("single", marks=pytest.mark.slow)])
def test_rules_hold_for_transactions_that_are_not_committed_too(jobs: Work, start: StartWorkers, queue: str) -> None:
    jobs.db.execute("insert into work.checked values (1)")
    commit, plain, marked = jobs.send("commit", "plain", "rollback-only", queue=queue)
    start(target=APP)
    jobs.wait_empty(queue)
    assert jobs.dead() == [commit, marked]
    assert jobs.effects() == [plain]
    assert {message: jobs.incidents(message) for message in (commit, marked)} == {
        commit: ["UniqueViolation"],
        marked: ["RollbackOnly"],
    }


@pytest.mark.slow
def test_an_error_that_blames_nobody_is_retried_whatever_the_rules(jobs: Work, start: StartWorkers) -> None:
    (message,) = jobs.send("innocent")
    start(target=APP)
    jobs.wait_empty()
    assert jobs.effects() == [message]
    assert jobs.blamed() == set()


@pytest.mark.slow
def test_a_message_rejected_by_a_worker_that_is_killed_then_is_delivered_to_nobody(
    jobs: Work, start: StartWorkers
) -> None:
    """Killed after the rejection was recorded, and before it could be applied."""
    (message,) = jobs.send("reject", queue="single")
    jobs.db.execute("create trigger gate before insert on howdah.msgs for each statement execute function work.gate()")
    settling = "select 1 from pg_stat_activity where query ~ 'settle_failures' and wait_event = 'advisory'"
    with jobs.gate():
        workers = start(target=APP)
        wait_until(lambda: column(jobs.db, settling))
        assert jobs.dead() == []
        workers.kill()
        wait_until(lambda: not column(jobs.db, settling))
    jobs.wait_empty("single")
    assert jobs.trace(message) == [1]
    assert jobs.dead() == [message]
    assert jobs.incidents(message) == ["Reject"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([ValueError], "a rule is a pair"),
        ([(ValueError, "again")], "'again' is not an outcome"),
        ([(ValueError, ValueError)], "is not an outcome"),
        ([("ValueError", Reject)], "a class of exceptions, not for 'ValueError'"),
        ([(int, Reject)], "a class of exceptions"),
        ([(Reject, Retry)], "Reject is an outcome itself"),
        ([(ValueError, Reject), (ValueError, Retry)], "two rules for ValueError"),
        ([((KeyError, KeyError), Reject)], "two rules for KeyError"),
        ("reject", "rules must be a list"),
        (ValueError, "rules must be a list"),
    ],
)
def test_what_is_no_rule_is_refused_when_the_handler_is_registered(rules: Any, said: str) -> None:
    app = App()
    with pytest.raises(AppError, match=said):
        app.handler("orders", rules=rules)
    assert app.bindings == {}


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf"), "5", True, 4e9])
def test_no_time_to_wait_for_is_refused(after: Any) -> None:
    with pytest.raises(ValueError, match="after must be 0 or more seconds"):
        Retry(after=after)
