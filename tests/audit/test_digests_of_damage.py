"""Whatever damage rows have, an audit by digest finds it by the same rule as one of every row."""

import random
from typing import Any

import chance
import pytest
from digests_support import MESSAGES, fill, shares
from support import Db

from howdah.audit import ranges, session
from howdah.audit.digests import WORD

from .conftest import Audit, same


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
    few, by_digest = audit(rows=True), audit(rows=False)
    monkeypatch.setattr(session, "FEW_ROWS", -1)
    same(few, audit(rows=True))
    same(by_digest, audit(rows=False))
    assert not few.ok
