"""Who waits is woken by NOTIFY at the commit of what was sent; where nobody waits nothing is notified."""

import pytest
from support import Connect, Db, deliver_and_fail, one, receive, refused, wait_until


@pytest.fixture
def q(db: Db) -> str:
    """The payload of the queue's notifications."""
    return str(one(db, "select howdah.create_queue('q')"))


@pytest.fixture
def ear(connect: Connect) -> Db:
    """A session that listens."""
    made = connect()
    made.execute("listen howdah")
    return made


def heard(ear: Db) -> list[str]:
    """Payloads of what was committed since the last time: a session has them before the end of its next statement."""
    ear.execute("select 1")
    return [notification.payload for notification in ear.notifies(timeout=0)]


def wait(db: Db, queue: str = "q", since: int | None = None) -> tuple[int, str, str, bool]:
    """What howdah.wait returns: since, channel, payload, unsettled."""
    row = db.execute("select since, channel, payload, unsettled from howdah.wait(%s, %s)", (queue, since)).fetchone()
    assert row is not None
    return row


def make_old(db: Db, milliseconds: int) -> None:
    """Let the last request to be woken, or its refusal, be so much older."""
    db.execute(
        "select setval(d.waiting, coalesce(h.last, nextval(d.waiting)) - (%s::bigint << 20), h.last is not null)"
        " from howdah.destinations d, pg_sequence_last_value(d.waiting) h(last) where name = 'q'",
        (milliseconds,),
    )


def send_many(db: Db, number: int) -> None:
    """So many sends, a transaction each."""
    for _ in range(number):
        one(db, "select howdah.send('q', 'x')")


def test_a_send_notifies_while_somebody_waits_and_else_not(db: Db, ear: Db, q: str) -> None:
    one(db, "select howdah.send('q', 'unnoticed')")
    assert heard(ear) == []
    assert wait(db)[1:3] == ("howdah", q)
    one(db, "select howdah.send('q', 'noticed')")
    assert heard(ear) == [q]
    make_old(db, 2100)
    one(db, "select howdah.send('q', 'too late')")
    assert heard(ear) == []
    assert one(db, "select pg_sequence_last_value(waiting) from howdah.destinations where name = 'q'") is None
    wait(db)
    one(db, "select howdah.send('q', 'noticed')")
    assert heard(ear) == [q]


@pytest.mark.parametrize(
    "send",
    [
        "howdah.send('q', 'x')",
        "howdah.send('q', '{}'::jsonb)",
        "howdah.send('q', '\\x00'::bytea)",
        "howdah.send('q', 'x', priority => 9)",
        "howdah.send('q', 'x', delivery_mode => 'non-persistent')",
        "howdah.send_batch('q', array['x', 'y'])",
    ],
)
def test_every_way_of_sending_notifies_once_at_commit_and_not_if_told_so(db: Db, ear: Db, q: str, send: str) -> None:
    one(db, "select howdah.create_queue('other')")
    wait(db)
    with db.transaction():
        one(db, f"select {send}")
        one(db, f"select {send}")
        one(db, "select howdah.send('other', 'x')")
        assert heard(ear) == []
    assert heard(ear) == [q]
    one(db, f"select {send.removesuffix(')')}, notify => false)")
    assert heard(ear) == []


@pytest.mark.parametrize(
    "send",
    [
        "howdah.send('q', 'x', delay => '1 minute')",
        "howdah.send_batch('q', array['x'], delay => '1 minute')",
        "howdah.send_batch('q', '{}'::text[])",
    ],
)
def test_what_cannot_be_received_yet_wakes_nobody(db: Db, ear: Db, q: str, send: str) -> None:
    wait(db)
    one(db, f"select {send}")
    assert heard(ear) == []


def test_a_rollback_notifies_nobody(db: Db, ear: Db, q: str) -> None:
    wait(db)
    with db.transaction(force_rollback=True):
        one(db, "select howdah.send('q', 'x')")
    assert heard(ear) == []


def test_a_refused_send_notifies_nobody(db: Db, ear: Db, q: str) -> None:
    wait(db)
    one(db, "select howdah.pause('q', sending => true)")
    refused(db, "HD008", "select howdah.send('q', 'x')")
    assert heard(ear) == []


def test_a_transaction_that_took_long_notifies_at_its_commit(db: Db, connect: Connect, ear: Db, q: str) -> None:
    wait(db)
    producer = connect()
    with producer.transaction():
        one(producer, "select howdah.send('q', 'x')")
        make_old(db, 60_000)
        assert heard(ear) == []
    assert heard(ear) == [q]


def test_who_waits_is_told_of_open_transactions_that_may_have_sent_before(db: Db, connect: Connect, q: str) -> None:
    producer, later = connect(), connect()
    with producer.transaction():
        one(producer, "select howdah.send('q', 'x')")
        since, *_, unsettled = wait(db)
        assert unsettled
        assert wait(db, since=since) == (since, "howdah", q, True)
        later.execute("begin; select howdah.send('q', 'y')")
    wait_until(lambda: not wait(db, since=since)[3])
    later.execute("commit")
    assert len(receive(db, n=2)) == 2


def test_a_request_is_seen_whatever_becomes_of_the_transaction_that_made_it(
    db: Db, connect: Connect, ear: Db, q: str
) -> None:
    with db.transaction(force_rollback=True):
        wait(db)
        one(connect(), "select howdah.send('q', 'x')")
    assert heard(ear) == [q]


def test_on_a_busy_queue_requests_are_not_granted_until_it_is_calm_again(db: Db, ear: Db, q: str) -> None:
    wait(db)
    one(db, "select howdah.send_batch('q', array_agg('x'::text), notify => false) from generate_series(1, 1000)")
    make_old(db, 1500)
    wait(db)
    send_many(db, 20)
    assert heard(ear) == []
    make_old(db, 1000)
    wait(db)
    send_many(db, 1)
    assert heard(ear) == [q]


def test_receiving_without_waiting_has_nobody_notified(db: Db, connect: Connect, ear: Db, q: str) -> None:
    consumer = connect()
    for _ in range(200):
        one(db, "select howdah.send('q', 'x')")
        assert len(receive(consumer)) == 1
        assert receive(consumer) == []
    assert heard(ear) == []
    assert one(db, "select pg_notification_queue_usage()") == 0


def test_a_replay_wakes_and_a_burial_does_not(db: Db, ear: Db, q: str) -> None:
    dead = one(db, "select queue from howdah.list_queues() where queue like '\\_SYSTEM%%'")
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}') is null""")
    one(db, "select howdah.send('q', 'x')")
    wait(db)
    wait(db, dead)
    assert deliver_and_fail(db)[1] == "moved"
    assert heard(ear) == []
    wait(db)  # a request holds for two seconds only
    assert one(db, "select howdah.replay(%s)", (dead,)) == 1
    assert heard(ear) == [q]


def test_a_transaction_can_be_prepared_if_its_sends_do_not_notify(db: Db, connect: Connect, q: str) -> None:
    if one(db, "select current_setting('max_prepared_transactions')::integer") == 0:
        pytest.skip("the server allows no prepared transactions")
    wait(db)
    with db.transaction(force_rollback=True):
        one(db, "select howdah.send('q', 'x')")
        refused(db, "0A000", "prepare transaction 'refused'")
    db.execute("begin")
    one(db, "select howdah.send('q', 'x', notify => false)")
    one(db, "select howdah.send_batch('q', array['y'], notify => false)")
    db.execute("prepare transaction 'allowed'")
    assert receive(db) == []
    db.execute("commit prepared 'allowed'")
    assert len(receive(db, n=5)) == 2


def test_waiting_needs_the_right_to_receive(db: Db, connect: Connect, q: str) -> None:
    wait(connect("howdah_consumer"))
    refused(connect("howdah_producer"), "42501", "select howdah.wait('q')")
    refused(connect("howdah_browser"), "42501", "select howdah.wait('q')")
    refused(db, "HD001", "select howdah.wait('none')")
    db.execute("delete from howdah.destination_grants where verb = 'receive' and role_name = 'howdah_consumer'")
    refused(connect("howdah_consumer"), "HD010", "select howdah.wait('q')")


def test_a_wrong_hint_from_the_future_or_the_past_does_no_harm(db: Db, ear: Db, q: str) -> None:
    for value in (0, 1, 9223372036854775807, 1 << 61):
        db.execute("select setval(waiting, %s) from howdah.destinations where name = 'q'", (value,))
        one(db, "select howdah.send('q', 'x')")
        assert heard(ear) == []
        wait(db)
        one(db, "select howdah.send('q', 'x')")
        assert heard(ear) == [q]
    wait_until(lambda: len(receive(db, n=100)) == 8)
