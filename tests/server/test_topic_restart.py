"""What is left of topics and queues after a restart or a crash, on a server of the test's own."""

import psycopg
import pytest
from support import Db, column, fail, one, receive
from topics_support import bodies, consume, publish, subscribe, topic

from howdah.engine.embedded import EmbeddedServer


def open_db(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


RETENTION = {
    # ActiveMQ's table: kind and mode, durable subscriber; a late consumer gets it; it is there after a restart.
    "AMQ-49": ("queue", "non-persistent", False, True, False),
    "AMQ-50": ("queue", "persistent", False, True, True),
    "AMQ-51": ("topic", "non-persistent", False, False, False),
    "AMQ-52": ("topic", "non-persistent", True, True, False),
    "AMQ-53": ("topic", "persistent", False, False, False),
    "AMQ-54": ("topic", "persistent", True, True, True),
}


@pytest.mark.first_case
@pytest.mark.parametrize("mode", ["immediate", pytest.param("fast", marks=pytest.mark.slow)])
@pytest.mark.behaviour("AMQ-44")
@pytest.mark.behaviour("AMQ-49")
@pytest.mark.behaviour("AMQ-50")
@pytest.mark.behaviour("AMQ-51")
@pytest.mark.behaviour("AMQ-52")
@pytest.mark.behaviour("AMQ-53")
@pytest.mark.behaviour("AMQ-54")
def test_the_retention_table_of_activemq_holds_in_every_cell(private_server: EmbeddedServer, mode: str) -> None:
    late, kept = {}, {}
    with open_db(private_server) as db:
        for row, (kind, delivery, durable, _, _) in RETENTION.items():
            for moment in ("late", "restart"):
                name = f"{row}.{moment}"
                one(db, f"select howdah.create_{kind}(%s)", (name,))
                if durable:
                    subscribe(db, name, name)
                publish(db, "x", to=name, delivery_mode=delivery)
            late[row] = len(bodies(db, consumer(db, row, "late"))) == 1
    private_server.stop(mode)  # type: ignore[arg-type]
    with open_db(private_server) as db:
        for row in RETENTION:
            kept[row] = len(bodies(db, consumer(db, row, "restart"))) == 1
    assert late == {row: expected[3] for row, expected in RETENTION.items()}
    assert kept == {row: expected[4] for row, expected in RETENTION.items()}


def consumer(db: Db, row: str, moment: str) -> str:
    """Whom a consumer that comes now receives from."""
    kind, _, durable, _, _ = RETENTION[row]
    name = f"{row}.{moment}"
    return name if kind == "queue" else f"{name}::{name}" if durable else subscribe(db, None, name, durable=False)


@pytest.mark.first_case
@pytest.mark.parametrize("mode", ["immediate", pytest.param("fast", marks=pytest.mark.slow)])
@pytest.mark.behaviour("IMQ-47")
@pytest.mark.behaviour("IMQ-48")
def test_subscriptions_and_what_each_has_acknowledged_are_the_same_after_a_restart(
    private_server: EmbeddedServer, mode: str
) -> None:
    wanted = "subscription, selector, shared, no_local, prioritized, paused, behind, delivered, set_aside"
    with open_db(private_server) as db:
        topic(db)
        topic(db, "T.u")
        a = subscribe(db, "a", options={"max_failed_deliveries": 3, "redelivery_delay_ms": 0})
        b = subscribe(db, "b", client_id="c", selector="n > 1", shared=True)
        c = subscribe(db, "c", ">", options={"prioritized": True})
        one(db, "select howdah.pause(%s)", (c,))
        sent = [publish(db, str(n), headers={"n": n}, priority=n)[0] for n in range(5)]
        publish(db, "lost", delivery_mode="non-persistent")
        publish(db, "u", to="T.u")
        assert bodies(db, a, 2) == ["0", "1"]
        fail(db, sent[2], a)
        with db.transaction():
            receive(db, b, 9, "receive_locked")
            consume(db, b, sent[3])
        held = psycopg.connect(private_server.start().dsn)
        held.execute("select howdah.receive(%s)", (a,))
        before = db.execute(f"select {wanted} from howdah.list_subscriptions()".encode()).fetchall()
        acks = column(
            db, "select (container, client_id, sub_name, priority)::text from howdah.activemq_acks order by 1"
        )
        options = one(db, "select howdah.queue_options(%s)", (a,))
    private_server.stop(mode)  # type: ignore[arg-type]
    held.close()
    with open_db(private_server) as db:
        after = db.execute(f"select {wanted} from howdah.list_subscriptions()".encode()).fetchall()
        assert [row[:6] + row[7:] for row in after] == [row[:6] + row[7:] for row in before]
        assert (
            column(db, "select (container, client_id, sub_name, priority)::text from howdah.activemq_acks order by 1")
            == acks
        )
        assert one(db, "select howdah.queue_options(%s)", (a,)) == options
        got = receive(db, a, 9)
        assert [(m.body, m.delivery_count) for m in got] == [("2", 2), ("3", 1), ("4", 1)]
        assert bodies(db, b) == ["2", "4"]
        one(db, "select howdah.resume(%s)", (c,))
        assert bodies(db, c) == ["4", "u", "3", "2", "1", "0"]
        publish(db, "new", headers={"n": 9})
        assert [bodies(db, name) for name in (a, b, c)] == [["new"], ["new"], ["new"]]
