"""What may look like a fault to a rule and is none: one database with all of it gives no findings."""

import itertools
from datetime import timedelta
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, one
from topics_support import bodies, publish, subscribe, topic

from howdah.audit import AuditResult

from .conftest import Audit
from .traffic import fail, receive, send

HOUR = 3600


def queue(db: Db, name: str, **options: object) -> None:
    one(db, "select howdah.create_queue(%s, %s)", (name, Jsonb({"journal_level": "full"} | options)))


def put(db: Db, name: str, group: str, **options: object) -> int:
    """Send a message of a group."""
    names = "".join(f", {key} => %s" for key in options)
    headers = Jsonb({"JMSXGroupID": group, "n": group})
    number: int = one(db, f"select howdah.send(%s, 'x', headers => %s{names})", (name, headers, *options.values()))
    return number


def groups(db: Db, clock: Clock, connect: Connect) -> None:
    """Messages of groups that come in another order than their numbers, each for a reason."""
    queue(db, "groups", message_groups="transaction", redelivery_delay_ms=5000)
    queue(db, "other")
    usual = [put(db, "groups", group) for group in "aab"]
    for message in usual:
        clock.advance(1)
        assert receive(db, "groups") == [message]

    with (late := connect()).transaction():
        waiting = put(late, "groups", "late")
        passing = put(db, "groups", "late")
        assert receive(db, "groups") == [passing]
        clock.advance(1)
    assert receive(db, "groups") == [waiting]

    failed, behind = put(db, "groups", "failed"), put(db, "groups", "failed")
    assert fail(db, "groups", behind) == "delayed"
    assert receive(db, "groups") == [failed]
    clock.advance(6)
    assert receive(db, "groups") == [behind]

    delayed, direct = put(db, "groups", "delayed", delay="1 hour"), put(db, "groups", "delayed")
    assert receive(db, "groups") == [direct]
    clock.advance(HOUR)
    assert receive(db, "groups") == [delayed]

    parked, next_one = put(db, "groups", "parked"), put(db, "groups", "parked")
    one(db, "select howdah.park_messages('groups', %s)", ([parked],))
    assert receive(db, "groups") == [next_one]
    clock.advance(1)
    one(db, "select howdah.retry('groups', %s)", ([parked],))
    assert receive(db, "groups") == [parked]

    low, high = put(db, "groups", "ranks", priority=1), put(db, "groups", "ranks", priority=9)
    assert receive(db, "groups") == [high]
    clock.advance(1)
    assert receive(db, "groups") == [low]

    first = put(db, "groups", "chosen")
    chosen = one(db, "select howdah.send('groups', 'x', headers => %s)",
                 (Jsonb({"JMSXGroupID": "chosen", "n": "me"}),))  # fmt: skip
    assert one(db, "select message_id from howdah.receive('groups', 1, selector => 'n = ''me''')") == chosen
    clock.advance(1)
    assert receive(db, "groups") == [first]

    moved, stays = put(db, "groups", "moved"), put(db, "groups", "moved")
    one(db, "select howdah.move_messages('groups', %s, 'other')", ([moved],))
    assert receive(db, "groups") == [stays]
    clock.advance(1)
    one(db, "select howdah.move_messages('other', %s, 'groups')", ([moved],))
    assert receive(db, "groups") == [moved]

    leased, after = put(db, "groups", "leased"), put(db, "groups", "leased")
    for message in (leased, after):
        lease = one(db, "select lease from howdah.lease('groups')")
        assert one(db, "select howdah.ack('groups', %s, array[%s]::bigint[])", (lease, message)) == 1


def groups_that_were_off(db: Db, clock: Clock, connect: Connect) -> None:
    """Sent while the option was on, received while it was off."""
    queue(db, "off", message_groups="transaction")
    first, second = put(db, "off", "a"), put(db, "off", "a")
    one(db, "select howdah.alter_queue('off', '{\"message_groups\": \"none\"}')")
    with connect().transaction(force_rollback=True) as undone:
        assert receive(undone.connection, "off") == [first]
        assert receive(db, "off") == [second]
    clock.advance(1)
    assert receive(db, "off") == [first]
    one(db, "select howdah.alter_queue('off', '{\"message_groups\": \"transaction\"}')")

    queue(db, "sticky", message_groups="sticky", delivery_policy="round_robin")
    consumers = [one(db, "select howdah.open_consumer('sticky')") for _ in range(2)]
    sent = [put(db, "sticky", "a") for _ in range(4)]
    taken: list[int] = []
    for consumer in (*reversed(consumers), *consumers):
        clock.advance(1)
        taken += [row[0] for row in db.execute(
            "select message_id from howdah.receive('sticky', 10, consumer => %s)", (consumer,)).fetchall()]  # fmt: skip
    assert set(taken) <= set(sent)


def expiry(db: Db, clock: Clock, connect: Connect) -> None:
    """Messages that end after they expired, for they were delivered before; and some that expire."""
    queue(db, "expiry", max_failed_deliveries=1)
    held, leased, dead, consumed, *_ = send(db, "expiry", 6, time_to_live="1 hour")
    with (holder := connect()).transaction():
        position = one(holder, "select position from howdah.receive_locked('expiry')")
        clock.advance(HOUR * 0.9)
        lease = one(db, "select lease from howdah.lease('expiry', 1, '5 hours')")
        assert fail(db, "expiry", dead) == "moved"
        assert receive(db, "expiry") == [consumed]
        clock.advance(HOUR)
        one(
            holder,
            "select howdah.consume_locked('expiry', array[%s]::bigint[], '{4}', array[%s]::bigint[])",
            (held, position),
        )
    assert one(db, "select howdah.ack('expiry', %s, array[%s]::bigint[])", (lease, leased)) == 1
    assert receive(db, "expiry") == []
    one(db, "select howdah.maintain_expired()")
    assert one(db, "select howdah.replay(%s, array[%s]::bigint[])", (SYSTEM, dead)) == 1
    assert receive(db, "expiry") == [dead]

    topic(db, journal_level="full", retain_ms=36_000_000)
    early, late = (subscribe(db, name, options={"journal_level": "full"}) for name in ("early", "late"))
    publish(db, "x", "y", time_to_live="1 hour")
    assert len(bodies(db, early)) == 2
    clock.advance(HOUR * 2)
    assert bodies(db, late) == []
    publish(db, "z")
    assert (bodies(db, early), bodies(db, late)) == (["z"], ["z"])
    one(db, "select howdah.seek_subscription(%s, '-infinity')", (early,))
    assert bodies(db, early) == ["z"]


def schedules_and_locks(db: Db, clock: Clock) -> None:
    """Firings, and a lock that goes from hand to hand."""
    queue(db, "scheduled")
    one(db, "select howdah.schedule('scheduled', 'x', delay => '1 minute', period => '1 minute', repeat => 2)")
    for _ in range(4):
        clock.advance(60)
        db.execute("select howdah.fire_schedules('[]')")
    receive(db, "scheduled", 2)
    for holder in ("a", "a", "b", "a"):
        epoch = one(db, "select howdah.acquire_lock('work', %s, 30)", (holder,))
        clock.advance(29)
        if holder == "b":
            one(db, "select howdah.release_lock('work', %s, %s)", (epoch, holder))
        clock.advance(2)


@pytest.fixture
def result(db: Db, clock: Clock, connect: Connect, audit: Audit) -> AuditResult:
    groups(db, clock, connect)
    groups_that_were_off(db, clock, connect)
    expiry(db, clock, connect)
    schedules_and_locks(db, clock)
    return audit()


def test_no_rule_takes_what_is_allowed_for_a_fault_and_the_hours_add_up(result: AuditResult) -> None:
    assert result.ok, [rule for rule in result.rules if not rule.passed]
    assert [rule.name for rule in result.rules if not rule.passed] == []
    for hour in result.hours:
        assert hour.opening + hour.came == hour.went + hour.closing
        assert hour.closing >= 0
    for before, after in itertools.pairwise(result.hours):
        if before.queue == after.queue:
            assert after.hour - before.hour >= timedelta(hours=1)
            assert after.opening == before.closing
    last = {hour.queue: hour for hour in result.hours}
    for queue in result.queues:
        there = queue.live + queue.parked + queue.dead
        assert (last[queue.queue].closing if queue.queue in last else 0) == there
    assert last["groups"].verdict == "proved"
    assert last["t::early"].verdict == "sends not recorded independently"
    assert len([hour for hour in result.hours if hour.queue == "groups"]) >= 2


def test_messages_dead_by_more_than_their_own_incidents_are_not_accused(db: Db, audit: Audit) -> None:
    queue(db, "talks", max_failed_deliveries=2, count_by="conversation")
    talk = "11111111-1111-1111-1111-111111111111"
    first, second = (one(db, "select howdah.send('talks', 'x', conversation_id => %s)", (talk,)) for _ in range(2))
    assert fail(db, "talks", first, 2) == "moved"
    assert receive(db, "talks") == []
    queue(db, "cleaned", max_failed_deliveries=1, clean_incidents=True)
    (cleaned,) = send(db, "cleaned", 1)
    assert fail(db, "cleaned", cleaned) == "moved"
    queue(db, "full", message_limit=1)
    send(db, "full", 1)
    queue(db, "elsewhere", max_failed_deliveries=1, exception_queue="full")
    (elsewhere,) = send(db, "elsewhere", 1)
    assert fail(db, "elsewhere", elsewhere) == "moved"
    db.execute("delete from howdah.poison_details where message_id = %s", (elsewhere,))
    db.execute(
        'select howdah.create_queue(\'attempts\', \'{"max_failed_deliveries": 1, "backout_count": "hardened"}\')'
    )
    silent, refused = send(db, "attempts", 2)
    db.execute("select howdah.begin_attempts('attempts', 2)")
    assert fail(db, "attempts", silent) == "moved"
    one(db, "select outcome from howdah.record_failure('attempts', %s, reject => true)", (refused,))
    bare = {}
    for by in ("conversation", "group"):
        queue(db, by, max_failed_deliveries=2, count_by=by)
        for kept in (True, False):
            headers, talk = Jsonb({"JMSXGroupID": f"{by} {kept}"}), str(uuid4())
            guilty, behind = (
                one(db, "select howdah.send(%s, 'x', headers => %s, conversation_id => %s)", (by, headers, talk))
                for _ in range(2)
            )
            assert fail(db, by, guilty, 2) == "moved"
            assert receive(db, by) == []  # for the other one is at its limit too
            bare[by, kept] = (guilty, behind)
    queue(db, "tidy", max_failed_deliveries=1, count_by="conversation")
    talk = str(uuid4())
    early, later = (one(db, "select howdah.send('tidy', 'x', conversation_id => %s)", (talk,)) for _ in range(2))
    assert fail(db, "tidy", early) == "moved"
    one(db, "select howdah.alter_queue('tidy', '{\"clean_incidents\": true}')")
    assert fail(db, "tidy", later) == "moved"
    assert one(db, "select count(*) from howdah.poison_details where message_id = %s", [early]) == 0
    gone = [silent, refused, *bare["conversation", False], *bare["group", False]]
    db.execute("delete from howdah.poison_details where message_id = any (%s)", (gone,))
    rule = audit().rule("dead_without_incidents")
    # An attempt leaves no incident; who was rejected has one, and a conversation or group at its limit too.
    assert sorted(rule.samples) == sorted(
        (elsewhere, refused, *bare["conversation", False], *bare["group", False])[:5]
    ), second
    assert rule.count == 6


def test_one_out_of_order_is_found_behind_a_thousand_that_were_overtaken_with_good_reason(db: Db, audit: Audit) -> None:
    queue(db, "crowd", message_groups="transaction")
    (number,) = column(db, "select id from howdah.destinations where name = 'crowd'")
    late, early, front, last = (send(db, "crowd", count) for count in (1_100, 1_100, 1, 1))
    db.execute("delete from howdah.msgs where destination_id = %s", (number,))
    db.execute("update howdah.destinations set created_at = created_at - interval '40 minutes',"
               " journal_level_at = journal_level_at - interval '40 minutes' where id = %s", (number,))  # fmt: skip
    db.execute("update howdah.journal set at = at - interval '30 minutes', group_ids = array_fill('g'::text,"
               " array[cardinality(message_ids)]),"
               " priorities = array_fill(4::smallint, array[cardinality(message_ids)]) where destination_id = %s",
               (number,))  # fmt: skip
    # Each was sent when what had been sent before was there, but for the second batch: the first one's sender was late.
    db.execute("update howdah.journal j set settled_xid = case when j.message_ids[1] = %s then s.xid else j.xid end"
               " from howdah.journal s"
               " where j.destination_id = %s and s.message_ids[1] = %s", (early[0], number, late[0]))  # fmt: skip
    for ids, ago in ((early, 20), (late, 15), (last, 10), (front, 5)):
        db.execute("insert into howdah.journal (at, destination_id, event, message_ids)"
                   " values (howdah.now() - %s * interval '1 minute', %s, 'consumed', %s)",
                   (ago, number, ids))  # fmt: skip
    rule = audit().rule("out_of_order")
    assert (rule.count, rule.samples) == (1, tuple(last))
    assert f"before message {front[0]} in front of it" in rule.rows[0].seen
