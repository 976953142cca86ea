"""receive_locked and consume_locked: hold first, take what was handled."""

import pytest
from support import Clock, Connect, Db, Message, all_refused, column, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    for body in "abc":
        one(db, "select howdah.send('q', %s)", (body,))


def consume(db: Db, *messages: Message) -> None:
    db.execute(
        "select howdah.consume_locked('q', %s::bigint[], %s::integer[], %s::bigint[])",
        ([m.message_id for m in messages], [m.priority for m in messages], [m.position for m in messages]),
    )


def test_what_is_consumed_is_gone_and_the_rest_is_back_in_its_place(db: Db, connect: Connect) -> None:
    other = connect()
    with db.transaction():
        a, b, c = receive(db, n=3, verb="receive_locked")
        assert receive(other, n=3) == []
        assert receive(other, n=3, verb="receive_locked") == []
        consume(db, a, c)
    assert [m.message_id for m in receive(db, n=9)] == [b.message_id]
    assert len(column(db, "select 1 from howdah.audit_journal where event = 'consumed'")) == 3


def test_rollback_gives_back_what_was_consumed(db: Db) -> None:
    with db.transaction(force_rollback=True):
        consume(db, *receive(db, n=3, verb="receive_locked"))
    assert len(receive(db, n=9)) == 3
    assert one(db, "select count(*) from howdah.audit_journal") == 3


def test_every_kind_of_message_can_be_held_and_consumed(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'd', delay => '1 s')")
    one(db, "select howdah.send('q', 'e', delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('q', 'f', delivery_mode => 'non-persistent', delay => '1 s')")
    clock.advance(1)
    with db.transaction():
        held = receive(db, n=9, verb="receive_locked")
        assert sorted(str(m.body) for m in held) == list("abcdef")
        consume(db, *held)
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert column(db, "select nonpersistent from howdah.audit_journal order by message_id") == [
        False, False, False, False, True, True
    ]  # fmt: skip


def test_a_call_that_disposes_of_a_message_gives_each_other_one_once(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    a, b, _ = receive(db, n=3, verb="browse")
    db.execute(
        "update howdah.msgs set expires_at = howdah.now() - interval '1 s' where message_id = %s", (b.message_id,)
    )
    with db.transaction():
        assert [m.body for m in receive(db, n=3, verb="receive_locked")] == ["a", "c"]
    with db.transaction():
        assert [m.body for m in receive(db, n=1, verb="receive_locked")] == ["a"]
    assert fail(db, a.message_id)[2] == "moved"


def test_consuming_twice_or_too_late_is_refused(db: Db, connect: Connect) -> None:
    other = connect()
    with db.transaction():
        (a,) = receive(db, verb="receive_locked")
        consume(db, a)
        refused(db, "HD013", "select howdah.consume_locked('q', %s, %s, %s)",
                ([a.message_id], [a.priority], [a.position]))  # fmt: skip
    (b,) = receive(db, verb="receive_locked")  # its transaction ended with the call
    assert [m.message_id for m in receive(other)] == [b.message_id]
    refused(db, "HD013", "select howdah.consume_locked('q', %s, %s, %s)", ([b.message_id], [4], [b.position]))


def test_a_message_named_twice_is_consumed_once(db: Db) -> None:
    with db.transaction():
        (a,) = receive(db, verb="receive_locked")
        consume(db, a, a)
    assert column(db, "select message_id from howdah.audit_journal") == [a.message_id]


def test_bad_input_to_consume_locked_is_refused(db: Db) -> None:
    (a,) = receive(db, verb="browse")
    all_refused(
        db,
        [
            ("HD001", "select howdah.consume_locked('none', '{}', '{}', '{}')"),
            ("HD001", "select howdah.consume_locked(null, '{}', '{}', '{}')"),
            ("HD005", "select howdah.consume_locked('q', null, null, null)"),
            ("HD005", "select howdah.consume_locked('q', '{1}', '{4}', '{}')"),
            ("HD005", "select howdah.consume_locked('q', '{1}', '{}', '{1}')"),
            ("HD005", "select howdah.consume_locked('q', '{1}', '{4}', null)"),
            ("HD013", "select howdah.consume_locked('q', '{null}', '{4}', '{1}')"),
            ("HD013", f"select howdah.consume_locked('q', '{{{a.message_id}}}', '{{-2147483648}}', '{{1}}')"),
            ("HD013", f"select howdah.consume_locked('q', '{{{a.message_id}}}', '{{null}}', '{{null}}')"),
            (
                "HD013",
                f"select howdah.consume_locked('q', '{{{a.message_id}, 999}}', '{{4, 4}}', '{{{a.position}, 999}}')",
            ),
        ],
    )
