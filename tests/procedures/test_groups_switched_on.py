"""Groups are switched on where they may be, and order what the queue has from its beginning."""

from __future__ import annotations

from groups_support import send, take
from policy_support import Create
from support import Clock, Connect, Db, all_refused, column, one


def test_turning_groups_on_takes_the_queue_from_its_beginning(db: Db, create: Create, connect: Connect) -> None:
    create()
    send(db, "a1", "a2")
    other = connect()
    other.execute("begin")
    assert take(other, 1) == ["a1"]
    assert take(db, 1) == ["a2"], "no order is promised without groups"
    other.execute("rollback")
    one(db, """select howdah.alter_queue('q', '{"message_groups": "transaction"}')""")
    assert take(db) == ["a1"]


def test_groups_do_not_go_with_hardened_counts_nor_with_subscriptions(db: Db, create: Create) -> None:
    create()
    one(db, "select howdah.create_topic('t')")
    all_refused(
        db,
        [
            (
                "HD004",
                """select howdah.create_queue('x', '{"message_groups": "sticky", "backout_count": "hardened"}')""",
            ),
            ("HD004", """select howdah.alter_queue('q', '{"message_groups": "sometimes"}')"""),
            ("HD004", """select howdah.subscribe('t', 's', 'c', options => '{"message_groups": "sticky"}')"""),
        ],
    )


def test_a_lease_of_before_groups_were_switched_on_holds_up_its_group_once_it_has_ended(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q")
    send(db, "a1", "b1", "a2")
    assert column(db, "select body from howdah.lease('q', 1, '30 seconds')") == ["a1"]
    one(db, "select howdah.alter_queue('q', '{\"message_groups\": \"transaction\"}')")
    clock.advance(31)
    assert take(db) == ["a1", "b1", "a2"]


def test_a_due_message_waits_for_those_of_its_group_though_the_head_is_of_before_groups_were_switched_on(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q")
    sent = send(db, "a1", "a2", "a3")
    with db.transaction(force_rollback=True):
        assert take(db, 1) + take(db, 1) == ["a1", "a2"]
    one(db, "select howdah.alter_queue('q', '{\"message_groups\": \"transaction\"}')")
    one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '10 seconds')", (sent[2],))
    clock.advance(11)
    assert take(db, 1) == ["a1"]
    assert take(db) + take(db) == ["a2", "a3"]
