"""replay and discard: what an administrator does with dead messages."""

import pytest
from support import SYSTEM, Connect, Db, all_refused, column, deliver_and_fail, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


def dead(db: Db, count: int = 1) -> list[int]:
    ids: list[int] = one(
        db, "select howdah.send_batch('q', array(select 'body' || n from generate_series(1, %s) n))", (count,)
    )
    for number in ids:
        assert fail(db, number)[2] == "moved"
    return ids


@pytest.mark.behaviour("WAS-04")
@pytest.mark.behaviour("AMQ-111")
def test_a_replayed_message_is_the_same_message_and_counts_from_one_again(db: Db) -> None:
    sent = one(db, "select howdah.send('q', 'x', headers => '{\"a\": 1}', correlation_id => 'c', priority => 2)")
    assert deliver_and_fail(db) == (1, "moved")
    assert one(db, "select count(*) from howdah.audit_messages") == 1
    assert one(db, "select howdah.replay(%s, %s)", (SYSTEM, [sent])) == 1
    assert one(db, "select count(*) from howdah.audit_messages") == 1
    (message,) = receive(db, verb="browse")
    assert (message.message_id, message.body, message.headers, message.correlation_id, message.priority) == (
        sent, "x", {"a": 1}, "c", 2
    )  # fmt: skip
    assert (message.delivery_count, message.origin_queue, message.dead_at, message.stage) == (1, None, None, 2)
    assert message.position == 2
    assert deliver_and_fail(db) == (1, "moved")
    assert column(db, "select stage from howdah.incidents('q') order by 1") == [0, 2]


def test_a_replayed_message_is_found_without_its_position(db: Db) -> None:
    (sent,) = dead(db)
    one(db, "select howdah.replay(%s)", (SYSTEM,))
    assert fail(db, sent)[1:] == (1, "moved")


def test_all_or_the_oldest_few_are_replayed_in_order_and_a_second_call_finds_none(db: Db) -> None:
    ids = dead(db, 5)
    assert one(db, "select howdah.replay(%s, max_messages => 0)", (SYSTEM,)) == 0
    assert one(db, "select howdah.replay(%s, max_messages => 2)", (SYSTEM,)) == 2
    assert one(db, "select howdah.replay(%s)", (SYSTEM,)) == 3
    assert one(db, "select howdah.replay(%s)", (SYSTEM,)) == 0
    assert [m.message_id for m in receive(db, n=9)] == ids


@pytest.mark.behaviour("WAS-04")
def test_an_administrator_moves_messages_to_another_queue_and_back(db: Db) -> None:
    one(db, "select howdah.create_queue('aside')")
    sent = one(db, "select howdah.send('q', 'x')")
    assert one(db, "select howdah.replay('q', %s, target => 'aside')", ([sent],)) == 1
    assert receive(db) == []
    assert one(db, "select howdah.replay('aside', %s, target => 'q')", ([sent, sent],)) == 1
    assert [(m.message_id, m.body) for m in receive(db)] == [(sent, "x")]


def test_two_administrators_at_once_do_not_replay_a_message_twice(db: Db, connect: Connect) -> None:
    (sent,) = dead(db)
    other = connect()
    with db.transaction():
        assert one(db, "select howdah.replay(%s)", (SYSTEM,)) == 1
        assert one(other, "select howdah.replay(%s)", (SYSTEM,)) == 0
        refused(other, "HD013", "select howdah.replay(%s, %s)", (SYSTEM, [sent]))
        refused(other, "HD013", "select howdah.discard(%s, %s)", (SYSTEM, [sent]))
    assert len(receive(db, n=9)) == 1


@pytest.mark.behaviour("WAS-05")
def test_a_discarded_message_is_in_no_table_and_is_counted(db: Db) -> None:
    sent = one(db, "select howdah.send('q', 'unmistakable')")
    discarded = "select discarded from howdah.queue_stats('q')"
    tables = column(db, "select c.oid::regclass::text from pg_class c where relnamespace = 'howdah'::regnamespace"
                        " and relkind in ('r', 'p') and not relispartition")  # fmt: skip

    def holding() -> list[str]:
        """The tables with a row in which the body is written, as bytes or as text."""
        written = "t::text like '%756e6d697374616b61626c65%' or t::text like '%unmistakable%'"
        return [table for table in tables if one(db, f"select count(*) from {table} t where {written}")]

    assert holding() == ["howdah.msgs"]
    assert one(db, discarded) == 0
    assert one(db, "select howdah.discard('q', %s, 'no use')", ([sent],)) == 1
    assert one(db, discarded) == 1
    assert holding() == []
    assert db.execute("select event, reason, message_id from howdah.audit_journal").fetchall() == [
        ("discarded", "no use", sent)
    ]
    refused(db, "HD013", "select howdah.discard('q', %s)", ([sent],))


def test_messages_parked_or_non_persistent_can_be_replayed_and_discarded_too(db: Db) -> None:
    one(db, "select howdah.create_queue('to')")
    send = "select howdah.send('q', 'x', delay => %s, delivery_mode => %s)"
    for verb in ("replay", "discard"):
        ids = [one(db, send, (delay, mode)) for delay in (None, "1 h") for mode in ("persistent", "non-persistent")]
        if verb == "replay":
            assert one(db, "select howdah.replay('q', %s, 'to')", (ids,)) == 4
            assert sorted(m.delivery_mode for m in receive(db, "to", 9)) == ["non-persistent"] * 2 + ["persistent"] * 2
        else:
            assert one(db, "select howdah.discard('q', %s)", (ids,)) == 4
    assert one(db, "select count(*) from howdah.audit_messages") == 0


def test_a_message_whose_origin_is_gone_needs_a_target(db: Db) -> None:
    dead(db)
    one(db, "select howdah.drop_queue('q')")
    refused(db, "HD001", "select howdah.replay(%s)", (SYSTEM,))
    one(db, "select howdah.create_queue('q2')")
    assert one(db, "select howdah.replay(%s, target => 'q2')", (SYSTEM,)) == 1


def test_bad_input_to_replay_and_discard_is_refused(db: Db) -> None:
    ids = dead(db, 2)
    alive = one(db, "select howdah.send('q', 'x')")
    all_refused(
        db,
        [
            ("HD001", "select howdah.replay('none')"),
            ("HD001", "select howdah.replay(null)"),
            ("HD001", f"select howdah.replay('{SYSTEM}', target => 'none')"),
            ("HD001", f"select howdah.replay('q', '{{{alive}}}')"),
            ("HD005", f"select howdah.replay('{SYSTEM}', max_messages => -1)"),
            ("HD013", f"select howdah.replay('{SYSTEM}', '{{{ids[0]}, 999999}}')"),
            ("HD013", f"select howdah.replay('{SYSTEM}', '{{{ids[0]}, null}}')"),
            ("HD013", f"select howdah.replay('{SYSTEM}', '{{{alive}}}')"),
            ("HD001", "select howdah.discard('none', '{1}')"),
            ("HD001", "select howdah.discard(null, '{1}')"),
            ("HD005", "select howdah.discard('q', null)"),
            ("HD013", f"select howdah.discard('{SYSTEM}', '{{{ids[0]}, 999999}}')"),
            ("HD013", f"select howdah.discard('{SYSTEM}', '{{null}}')"),
        ],
    )


@pytest.mark.slow
@pytest.mark.behaviour("WAS-21")
def test_a_backend_that_dies_in_the_middle_of_a_move_neither_loses_nor_doubles_the_message(
    db: Db, connect: Connect
) -> None:
    one(db, "select howdah.create_queue('to')")
    one(db, """select howdah.alter_queue('q', '{"decided_at": "receive"}')""")
    sent = one(db, "select howdah.send('q', 'x')")
    assert fail(db, sent)[2] == "returned"
    total = "select array_agg(message_id) from howdah.audit_messages"
    for number in range(100):
        mover = connect()
        mover.execute("begin")
        if number % 2:  # an operator's move, and that of a poison message
            one(mover, "select howdah.replay('q', %s, 'to')", ([sent],))
        else:
            assert receive(mover) == []
            assert one(mover, "select state from howdah.audit_messages") == "dead"
        # Not with a timeout, whose first look is after 100 ms.
        one(db, "select pg_terminate_backend(%s)", (mover.info.backend_pid,))
        while one(db, "select count(*) from pg_stat_activity where pid = %s", (mover.info.backend_pid,)):
            pass
        assert one(db, total) == [sent]
    assert one(db, "select howdah.replay('q', %s, 'to')", ([sent],)) == 1
    assert one(db, total) == [sent]
