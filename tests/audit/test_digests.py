"""Digests prove what is sound, and find by row whatever an audit of every row finds."""

import itertools
import random
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chance
import pytest
from support import Db, one

from howdah.audit import AuditResult, pace, ranges, session
from howdah.audit.digests import BY_ROW, WORD

from .conftest import Audit, same
from .traffic import receive, send

MESSAGES = 100 * WORD
FILL = (
    "insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)"
    " select %(begun)s + (n * %(pace)s + %(later)s) * interval '1 millisecond', d.id, %(event)s,"
    " array[(n + 1000000::bigint) * 1000000 + d.id], %(begun)s + n * %(pace)s * interval '1 ms'"
    " from generate_series(1, %(messages)s) n cross join howdah.destinations d where d.name = %(queue)s"
)
"""As single messages leave it: one sent every ``pace`` milliseconds, and consumed ``later``."""


def fill(
    db: Db, queue: str, *, level: str = "full", messages: int = MESSAGES, pace: float = 0.1, later: int = 1
) -> int:
    """A queue that was made two hours ago, through which messages went; its number."""
    number: int = one(
        db, "select howdah.create_queue(%s, jsonb_build_object('journal_level', %s::text))", (queue, level)
    )
    db.execute("update howdah.destinations set created_at = now() - interval '2 hours', journal_level_at ="
               " now() - interval '2 hours' where id = %s", (number,))  # fmt: skip
    begun = one(db, "select now() - interval '30 minutes'")
    for event in ("sent", "consumed") if level == "full" else ("consumed",):
        values = {"queue": queue, "event": event, "messages": messages, "pace": pace, "begun": begun}
        db.execute(FILL, values | {"later": later if event == "consumed" else 0})
    return number


def shares(result: AuditResult) -> dict[str | None, tuple[int, int]]:
    """Of each queue, how many ranges were proved by digest and how many by row."""
    return {queue.queue: (queue.by_digest, queue.by_row) for queue in result.coverage}


def test_of_a_sound_journal_no_rows_are_read_but_the_samples(audit: Audit, db: Db, monkeypatch: Any) -> None:
    monkeypatch.setattr(ranges, "SAMPLE", 3)
    fill(db, "quick")
    fill(db, "recording.exits", level="exits")
    # Slower than the grace of a second for a range: each message is compared with its own time of sending.
    fill(db, "slow", messages=10 * WORD, pace=1000)
    db.execute("select howdah.create_queue('batches', '{\"journal_level\": \"full\"}')")
    for _ in range(10):
        send(db, "batches", 100)
        assert len(receive(db, "batches", 100)) == 100
    result = audit(rows=False)

    assert result.ok, result.rules
    total = sum(by_digest + by_row for by_digest, by_row in shares(result).values())
    assert sum(by_row for _, by_row in shares(result).values()) == 3
    assert total >= 2 * MESSAGES // WORD + 10
    assert result.rows["journal"] <= 3 * 2 * WORD
    assert {span.why for span in result.spans} == {(), ("sample",)}
    assert (result.queue("quick").sent, result.queue("quick").consumed) == (MESSAGES, MESSAGES)
    assert (result.queue("recording.exits").unrecorded_in, result.queue("batches").consumed) == (MESSAGES, 1000)
    same(result, audit(rows=True))


def corrupt(db: Db, number: int, other: int) -> None:
    """Damage of each kind, each in a range of its own, much of which keeps the counts."""
    at = iter(range(3 * WORD, MESSAGES, 2 * WORD))

    def message() -> int:
        return (next(at) + 1_000_000) * 1_000_000 + number

    def change(what: str, event: str = "consumed", **values: Any) -> None:
        words = {"one": message(), "other": number + 1, "event": event, "elsewhere": other} | values
        where = "event = %(event)s and message_ids = array[%(one)s::bigint]"
        done = db.execute(what.replace("THESE", where), words)
        assert done.rowcount, what

    update = "update howdah.journal set {} where THESE".format
    copy = (
        "insert into howdah.journal (at, xid, destination_id, event, message_ids, oldest_sent_at)"
        " select at, xid, destination_id, event, message_ids, oldest_sent_at from howdah.journal where THESE"
    )
    change("delete from howdah.journal where THESE")
    change("delete from howdah.journal where THESE", "sent")
    change(copy)
    both = message()
    change(copy, "sent", one=both)
    change(copy, "consumed", one=both)
    # one left twice in another's place; a pair whose numbers have the same sum
    change(update("message_ids = array[message_ids[1] + 1000000]"))
    first = message()
    change(update("message_ids = array[message_ids[1] - 1000000]"), one=first)
    change(update("message_ids = array[message_ids[1] + 1000000]"), one=first + 5_000_000)
    # numbers of another queue, of none, none at all, and more than were sent
    change(update("message_ids = array[message_ids[1] - %(one)s + %(elsewhere)s + 999999000000]"))
    change(update("message_ids = array[message_ids[1] + 500000]"))
    change(update("message_ids = array[null::bigint]"))
    change(update("message_ids = array[-message_ids[1]]"))
    change(update("message_ids = message_ids || message_ids"))
    # arrays whose first element has another number, and of two dimensions
    change(update("message_ids = ('[0:0]={' || message_ids[1] || '}')::bigint[]"))
    change(update("message_ids = array[array[message_ids[1], message_ids[1]]]"))
    change(update("priorities = array[array[3, 4]]"))
    change(update("last_id = message_ids[1] + 2000000"))
    change(update("digests = array['\\x00', '\\x01']::bytea[]"))
    # in another queue, in none, moved there
    change(update("destination_id = %(elsewhere)s"))
    change(update("destination_id = %(elsewhere)s"), "sent")
    change(update("destination_id = 987654"))
    change(update("event = 'moved', other_destination_id = %(elsewhere)s"))
    change(update("event = 'replayed', other_destination_id = %(elsewhere)s"))
    for event in ("expired", "discarded", "lost", "sent"):
        change(update(f"event = '{event}'"))
    change(update("event = 'consumed'"), "sent")
    change(update("nonpersistent = true"))
    change(update("nonpersistent = true"), "sent")
    # times: consumed before it was sent, the same without what the row says of its sending, ahead, expired
    change(update("at = at - interval '5 minutes'"))
    change(update("at = at - interval '5 minutes', oldest_sent_at = oldest_sent_at - interval '5 minutes'"))
    change(update("at = at - interval '5 minutes', oldest_sent_at = null"))
    change(update("at = at + interval '5 minutes'"), "sent")
    change(update("at = at + interval '5 minutes', oldest_sent_at = oldest_sent_at + interval '5 minutes'"), "sent")
    change(update("at = at + interval '32 minutes'"))
    change(update("expires_at = array[at - interval '1 minute']"), "sent")
    # of two that were consumed at each other's times one came before it was sent
    here, there = message(), message()
    db.execute(
        "update howdah.journal j set at = o.at from howdah.journal o where j.event = 'consumed' and o.event ="
        " 'consumed' and ((j.message_ids = array[%(a)s::bigint] and o.message_ids = array[%(b)s::bigint])"
        " or (j.message_ids = array[%(b)s::bigint] and o.message_ids = array[%(a)s::bigint]))",
        {"a": here, "b": there + 30_000_000},
    )
    # what is there: of one that was consumed, and one that nobody sent
    for one_there in (message(), 77_000_000 + number):
        db.execute(
            "insert into howdah.msgs (seq, message_id, sent_at, destination_id, rank, is_text, content_type, body)"
            " values (%s, %s, now() - interval '1 minute', %s, 5, true, 'text/plain', 'x')",
            (one_there % 1_000_003, one_there, number),
        )
    failed = message()
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " recorded_by, due_at) values (%s, now() - interval '40 minutes', %s, 2, 0, 'delayed', 'x', now())",
        (failed, number),
    )
    strange = message() + 500_000
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " recorded_by) values (%s, now() - interval '1 minute', %s, 1, 0, 'returned', 'x')",
        (strange, number),
    )


@pytest.mark.parametrize("pause", [0.1, 150])
def test_whatever_is_wrong_is_found_by_the_same_rule_as_by_reading_every_row(
    audit: Audit, db: Db, pause: float, monkeypatch: Any
) -> None:
    """pause: 64 messages in 6 milliseconds, which all may have been consumed after all were sent, or in 10 seconds."""
    monkeypatch.setattr(ranges, "SAMPLE", 1)
    number, other = fill(db, "damaged", pace=pause), fill(db, "other", pace=pause)
    fill(db, "sound", pace=pause)
    corrupt(db, number, other)
    by_digest, by_row = audit(rows=False), audit(rows=True)

    same(by_digest, by_row)
    assert not by_digest.ok
    told = {rule.name for rule in by_digest.rules if rule.count}
    assert told >= {
        "missing", "from_nowhere", "consumed_twice", "sent_twice", "identity", "expired_early", "two_modes",
        "left_before_sent", "in_future", "consumed_expired", "incident_missing", "redelivered_early",
        "incident_without_message",
    }  # fmt: skip
    assert shares(by_digest)["sound"][0] >= MESSAGES // WORD - 1
    assert shares(by_digest)["damaged"][0] > MESSAGES // WORD // 3
    assert {why for span in by_digest.spans for why in span.why} >= {"special", "touched", "unequal", "modes", "order"}


EVENTS = ("sent", "consumed", "expired", "discarded", "moved", "replayed", "lost", "other")


def damage_at_random(db: Db, dice: random.Random, queues: list[int], times: int) -> None:
    """Changes of random rows of the journal: another value of its own, or one of another row."""
    for _ in range(times):
        numbers = [(dice.randint(1, MESSAGES) + 1_000_000) * 1_000_000 + dice.choice(queues) for _ in range(2)]
        change = dice.choice(
            (
                "message_ids = array[j.message_ids[1] + %(step)s * 1000000]",
                "message_ids = array[j.message_ids[1] + %(step)s]",
                "message_ids = o.message_ids",
                "message_ids = ('[0:0]={' || o.message_ids[1] || '}')::bigint[]",
                "message_ids = j.message_ids || o.message_ids",
                "at = j.at + %(step)s * interval '7 seconds'",
                "at = j.at + %(step)s * interval '0.3 seconds'",
                "at = o.at",
                "at = o.at, oldest_sent_at = o.oldest_sent_at",
                "oldest_sent_at = o.oldest_sent_at",
                "destination_id = %(queue)s",
                "destination_id = %(queue)s, message_ids = array[j.message_ids[1] / 1000000 * 1000000 + %(queue)s]",
                "event = %(event)s, other_destination_id = %(queue)s",
                "event = o.event",
                "nonpersistent = not j.nonpersistent",
                "reason = %(reason)s",
                "expires_at = array[j.at + %(step)s * interval '4 seconds']",
                "group_ids = array['g']",
                "priorities = array[3, 4]::smallint[]",
                "last_id = j.message_ids[1] + 1000000 * abs(%(step)s)",
                "xid = greatest(j.xid - 1, 3)",
            )
        )
        db.execute(
            f"update howdah.journal j set {change} from howdah.journal o where j.message_ids = array[%(one)s::bigint]"
            " and o.message_ids = array[%(another)s::bigint] and j.event = %(whose)s and o.event = %(others)s".encode(),
            {
                "one": numbers[0],
                "another": numbers[1],
                "step": dice.choice((-64, -63, -5, -1, 1, 2, 17, 64)),
                "queue": dice.choice([*queues, 987_654]),
                "event": dice.choice(EVENTS),
                "reason": dice.choice(("held", "selected", "forged", "its incidents were deleted")),
                "whose": dice.choice(("sent", "consumed")),
                "others": dice.choice(("sent", "consumed")),
            },
        )


def test_random_damage_is_judged_alike(audit: Audit, db: Db) -> None:
    dice = chance.dice()
    quick, slow, exits = fill(db, "quick"), fill(db, "slow", pace=140), fill(db, "exits", level="exits")
    damage_at_random(db, dice, [quick, slow, exits], 60)
    by_digest = audit(rows=False)
    same(by_digest, audit(rows=True))
    assert not by_digest.ok
    proved, by_row = (sum(column) for column in zip(*shares(by_digest).values(), strict=True))
    assert proved > by_row - ranges.SAMPLE


def test_many_rows_are_judged_as_few_are(audit: Audit, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows go through one partition and are joined in other ways."""
    damage_at_random(db, chance.dice(), [fill(db, "quick"), fill(db, "slow", pace=140)], 40)
    few = audit(rows=True)
    monkeypatch.setattr(session, "FEW_ROWS", -1)
    same(few, audit(rows=True))
    assert not few.ok


def test_a_time_that_no_transaction_explains_has_every_row_read(audit: Audit, db: Db) -> None:
    number = fill(db, "q")
    fill(db, "sound")
    db.execute("update howdah.journal set xid = message_ids[1] / 1000000")  # a transaction each
    db.execute(
        "update howdah.journal set at = at - interval '70 minutes' where message_ids = array[%s::bigint]"
        " and event = 'sent'",
        (1_000_100_000_000 + number,),
    )
    by_digest, by_row = audit(rows=False), audit(rows=True)
    same(by_digest, by_row)
    assert by_digest.rule("against_transactions").count == 1
    assert sum(proved for proved, _ in shares(by_digest).values()) == 0
    assert {span.why for span in by_digest.spans} == {("clocks",)}


def test_a_queue_of_many_faults_is_read_as_a_whole_and_others_are_not(audit: Audit, db: Db, monkeypatch: Any) -> None:
    monkeypatch.setattr(ranges, "NAMED_MAX", 10)
    number = fill(db, "bad", messages=20 * WORD)
    fill(db, "good")
    db.execute(
        "delete from howdah.journal where destination_id = %s and event = 'consumed'"
        " and message_ids[1] / 1000000 %% 100 = 0",
        (number,),
    )
    by_digest, by_row = audit(rows=False), audit(rows=True)
    same(by_digest, by_row)
    assert by_digest.rule("missing").count == 12
    assert shares(by_digest)["bad"][0] == 0
    assert shares(by_digest)["good"][1] == ranges.SAMPLE
    monkeypatch.setattr(ranges, "MOST", 0.05)
    whole = audit(rows=False)
    same(whole, by_row)
    assert whole.rows["journal"] == by_row.rows["journal"]
    assert any("most" in span.why for span in whole.spans)


def test_reports_count_every_row_and_the_proof_goes_by_digest(audit: Audit, db: Db, tmp_path: Path) -> None:
    number = fill(db, "q")
    db.execute(
        "delete from howdah.journal where message_ids = array[%s::bigint] and event = 'consumed'",
        (1_000_100_000_000 + number,),
    )
    result = audit(output=tmp_path / "out", bucket_seconds=3600)

    assert result.rows["journal"] == 2 * MESSAGES - 1
    assert result.rule("missing").samples == (1_000_100_000_000 + number,)
    assert shares(result)["q"] == (100 - ranges.SAMPLE, 1 + ranges.SAMPLE)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "84 ranges of message numbers by digest, 17 by row, of which 16 are a sample" in page
    assert f"{MESSAGES - 1:,}" in page
    same(result, audit(rows=True))


def test_what_came_since_the_last_audit_is_told_by_digests_too(audit: Audit, db: Db) -> None:
    from howdah.audit.recorded import as_run
    from howdah.audit.since import Previous

    fill(db, "q")
    first = audit(rows=False)
    taken = db.execute("select %s::timestamptz", (first.taken_at,)).fetchone()
    assert taken is not None
    previous = Previous.of(as_run(first) | {"taken_at": taken[0]})
    for _ in range(5):
        send(db, "q", 200)
        receive(db, "q", 200)
    second = audit(rows=False, previous=previous)
    assert second.ok, second.rules
    same(second, audit(rows=True, previous=previous))
    # As if a message had gone unseen before: the record from then on does not explain it.
    assert previous is not None
    forged = Previous(previous.snapshot, previous.taken_at, {"q": 1})
    by_digest, by_row = (audit(rows=rows, previous=forged) for rows in (False, True))
    same(by_digest, by_row)
    assert by_digest.rule("since_last_audit").count == 1


def test_reasons_are_told_in_words() -> None:
    assert all(words and words[0].islower() and not words.endswith(".") for words in BY_ROW.values())


def test_an_audit_rests_while_others_write_and_only_then(db: Db, dsn: str, monkeypatch: Any) -> None:
    rests: list[float] = []
    monkeypatch.setattr(pace, "time", SimpleNamespace(sleep=rests.append, monotonic=time.monotonic))
    db.execute("select howdah.create_queue('q')")
    with pace.paced(dsn, local=True) as mine, pace.paced(dsn, local=False) as far:
        for _ in range(200):
            send(db, "q", 1)
        assert mine.is_busy()
        assert far.is_busy()
        far.rest()
        assert rests == []
        mine.rest()
        assert len(rests) == 1
        assert rests[0] > 0
        for _ in range(200):
            receive(db, "q")
        time.sleep(0.1)
        mine.rest()
        time.sleep(0.1)
        assert not mine.is_busy()
        rests.clear()
        mine.rest()
        assert rests == []
        # What decides the pace alone must not end an audit.
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah audit pace'"
        )
        mine.rest()
        assert not mine.is_busy()


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_the_journal_are_few_and_leave_nothing_out(seed: int) -> None:
    dice = random.Random(seed)
    places = [(begin, begin + dice.randint(1, 40)) for begin in dice.choices(range(2000), k=dice.randint(0, 60))]
    found = ranges.runs(places, 2040)
    assert all(begin < end for begin, end in found)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(found))
    covered = {block for begin, end in found for block in range(begin, end)}
    assert {block for begin, end in places for block in range(begin, end)} <= covered
    assert len(found) <= 2 * ranges.RUNS_MAX
