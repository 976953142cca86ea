"""What a restart, a crash and a killed backend leave, on a server of the test's own."""

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Db, column, fail, kill_backend, one, receive, refused, wait_until

from howdah.engine.embedded import EmbeddedServer


def ids(db: Db, queue: str) -> list[int]:
    return [message.message_id for message in receive(db, queue, 9, "browse")]


def open_db(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


@pytest.mark.first_case
@pytest.mark.parametrize("mode", ["fast", "immediate"])
@pytest.mark.behaviour("AMQ-34")
@pytest.mark.behaviour("AMQ-33")
@pytest.mark.behaviour("AMQ-32")
@pytest.mark.behaviour("AMQ-15")
@pytest.mark.behaviour("IMQ-34")
@pytest.mark.behaviour("IMQ-46")
@pytest.mark.behaviour("IMQ-50")
def test_of_ten_messages_sent_in_alternating_modes_five_survive_a_restart_clean_or_not(
    private_server: EmbeddedServer, mode: str
) -> None:
    with open_db(private_server) as db:
        one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3, "journal_level": "full"}')""")
        one(db, "select howdah.create_queue('other', '{\"default_priority\": 8}')")
        persistent = []
        for number in range(10):
            kind = "non-persistent" if number % 2 else "persistent"
            sent = one(db, "select howdah.send('q', %s, delivery_mode => %s)", (str(number), kind))
            if number % 2 == 0:
                persistent.append(sent)
        one(db, "select howdah.send('other', 'x', delivery_mode => 'non-persistent', delay => '1 ms')")
        parked = one(db, "select howdah.send('other', 'y', delay => '1 ms')")
        fail(db, persistent[0])
        queues = db.execute("select * from howdah.list_queues()").fetchall()
        held = psycopg.connect(private_server.start().dsn)
        held.execute("select howdah.receive('q', 3)")
    private_server.stop("immediate" if mode == "immediate" else "fast")
    with pytest.raises(psycopg.OperationalError):
        held.execute("select 1")
    held.close()

    with open_db(private_server) as db:
        assert db.execute("select * from howdah.list_queues()").fetchall() == queues
        assert [m.message_id for m in receive(db, n=100, verb="browse")] == persistent
        assert one(db, "select live from howdah.queue_stats('q')") == 5
        with db.transaction():
            got = receive(db, n=100)
        assert [m.message_id for m in got] == persistent
        assert [m.delivery_count for m in got] == [2, 1, 1, 1, 1]
        assert [m.message_id for m in receive(db, "other", 9)] == [parked]
        assert one(db, "select count(*) from howdah.audit_messages") == 0
        assert one(db, "select count(*) from howdah.msgs_nonpersistent") == 0
        assert receive(db, n=100) == []
        one(db, "select howdah.send('q', 'new', delivery_mode => 'non-persistent')")
        assert [m.body for m in receive(db)] == ["new"]
        if mode == "fast":
            assert one(db, "select lost from howdah.queue_stats('q')") == 5


@pytest.mark.behaviour("IMQ-50")
def test_after_a_crash_nothing_is_delivered_before_everything_can_be(private_server: EmbeddedServer) -> None:
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        sent = one(db, "select howdah.send_batch('q', array_fill(repeat('x', 1000), array[5000]))")
        dsn = private_server.start().socket_dsn  # who asks for a port again and again can take it
    private_server.stop("immediate")
    refusals: list[psycopg.OperationalError] = []

    def first_connection() -> Db | None:
        while len(refusals) < 5000:
            try:
                return psycopg.connect(dsn, autocommit=True)
            except psycopg.OperationalError as error:
                refusals.append(error)
                time.sleep(0.005)
        return None

    with ThreadPoolExecutor(1) as pool:
        connecting = pool.submit(first_connection)
        wait_until(lambda: refusals)
        private_server.start()
        consumer = connecting.result(60)
    assert consumer is not None
    with consumer:
        assert column(consumer, "select message_id from howdah.receive('q', 10000)") == sent


@pytest.mark.behaviour("IMQ-22")
@pytest.mark.behaviour("WAS-21")
@pytest.mark.behaviour("IMQ-49")
def test_what_was_answered_is_there_after_kills_and_a_prepared_transaction_can_still_be_ended(
    private_server: EmbeddedServer,
) -> None:
    with open_db(private_server) as db:
        one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
        one(db, "select howdah.create_queue('to')")
        sent = one(db, "select howdah.send('q', 'x')")
        one(db, """select howdah.create_queue('met', '{"max_failed_deliveries": 1, "decided_at": "receive"}')""")
        poison = one(db, "select howdah.send('met', 'x')")
        assert fail(db, poison, "met")[2] == "returned"
        prepared = one(db, "select howdah.send('to', 'prepared')")
        db.execute("begin")
        assert len(receive(db, "to")) == 1
        late = one(db, "select howdah.send('to', 'late')")
        db.execute("prepare transaction 'p'")
    everything = sorted([sent, poison, prepared])
    for number in range(4):
        mover = open_db(private_server)
        mover.execute("begin")
        if number % 2:  # an operator's move, and that of a poison message
            one(mover, "select howdah.replay('q', %s, 'to')", ([sent],))
        else:
            assert receive(mover, "met") == []
            assert ids(mover, SYSTEM) == [poison]
        kill_backend(private_server, mover)
        with open_db(private_server) as db:
            assert [ids(db, queue) for queue in ("q", "met", "to", SYSTEM)] == [[sent], [poison], [prepared], []]
            assert column(db, "select message_id from howdah.audit_messages order by 1") == everything
    with open_db(private_server) as db:
        answered = one(db, "select howdah.send('q', 'y')")
        private_server.stop("immediate")
    with open_db(private_server) as db:
        assert [m.message_id for m in receive(db, n=9, verb="browse")] == [sent, answered]
        assert receive(db, "to") == []
        db.execute("commit prepared 'p'")
        assert [m.message_id for m in receive(db, "to", 9)] == [late]
        assert fail(db, sent)[2] == "moved"
        assert receive(db, "met") == []
        assert [m.message_id for m in receive(db, SYSTEM, 9)] == [sent, poison]


@pytest.mark.behaviour("IMQ-121")
def test_a_send_whose_standby_does_not_answer_does_not_return(private_server: EmbeddedServer) -> None:
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        db.execute("alter system set synchronous_standby_names = 'nobody'")
        one(db, "select pg_reload_conf()")
        wait_until(lambda: one(db, "select current_setting('synchronous_standby_names')") == "nobody")
        waiting = "select count(*) from pg_stat_activity where pid = %s and wait_event = 'SyncRep'"
        other = psycopg.connect(private_server.start().dsn, autocommit=True)

        def a_commit_waits() -> bool:
            other.pgconn.consume_input()
            if not other.pgconn.is_busy():
                while other.pgconn.get_result():
                    pass
                other.pgconn.send_query(b"select pg_logical_emit_message(true, '', '')")
            return bool(one(db, waiting, (other.info.backend_pid,)))

        wait_until(a_commit_waits)  # once the checkpointer, too, has read the setting
        sender = psycopg.connect(private_server.start().dsn, autocommit=True)
        pid = sender.info.backend_pid
        sender.pgconn.send_query(b"select howdah.send('q', 'x')")
        wait_until(lambda: one(db, waiting, (pid,)) == 1)
        assert receive(db, verb="browse") == []
        db.execute("set synchronous_commit = local")
        db.execute("alter system reset synchronous_standby_names")
        one(db, "select pg_reload_conf()")
        wait_until(lambda: one(db, waiting, (pid,)) == 0)
        wait_until(lambda: len(receive(db, verb="browse")) == 1)
        sender.close()
        other.close()
        refused(db, "HD001", "select howdah.receive('none')")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("count", "how", "total"),
    [
        ("volatile", "fast", 7),
        ("volatile", "immediate", 7),
        ("volatile", "killed backend", 5),
        ("recorded", "fast", 5),
        ("recorded", "immediate", 5),
        ("hardened", "fast", 5),
        ("hardened", "immediate", 5),
    ],
)
@pytest.mark.behaviour("WAS-46")
@pytest.mark.behaviour("WAS-47")
def test_only_a_volatile_count_is_forgotten_and_only_when_the_server_ends(
    private_server: EmbeddedServer, count: str, how: str, total: int
) -> None:
    """Cleanly or in a crash; a server that begins anew, because a session's process was killed, has not ended."""

    def deliver(db: Db) -> bool:
        """One delivery that fails, told by the consumer unless the queue counts by itself."""
        if count == "hardened":
            attempts = column(db, "select attempt from howdah.begin_attempts(%s)", (queue,))
            with db.transaction(force_rollback=True):
                got = [db.execute("select howdah.receive_attempt(%s, %s)", (queue, key)).fetchall() for key in attempts]
            if got:
                db.execute("update howdah.attempts set begun_at = begun_at - interval '11 seconds'")
            return bool(got)
        db.execute("begin")
        messages = receive(db, queue)
        db.execute("rollback" if messages else "commit")
        for message in messages:
            fail(db, message.message_id, queue)
        return bool(messages)

    queue = f"counted-{count}"
    with open_db(private_server) as db:
        options = Jsonb({"preset": "websphere_mq", "max_failed_deliveries": 5, "backout_count": count})
        one(db, "select howdah.create_queue(%s, %s)", (queue, options))
        one(db, "select howdah.send(%s, 'x')", (queue,))
        assert deliver(db)
        assert deliver(db)
    if how == "killed backend":
        kill_backend(private_server, open_db(private_server))
    else:
        private_server.stop("fast" if how == "fast" else "immediate")
    deliveries = 2
    with open_db(private_server) as db:
        while deliver(db):
            deliveries += 1
        assert len(receive(db, "SYSTEM.DEAD.LETTER.QUEUE")) == 1
    assert deliveries == total
