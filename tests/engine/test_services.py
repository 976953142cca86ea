"""Connecting with a service: its pool and its sessions."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from service_pools_support import BACKENDS, LISTENING, alter
from support import Db, one, wait_until

from howdah.engine import ConnectionFactory, Message, connect
from howdah.engine.errors import BadArgument, CannotConnect, ServiceUnavailable


@pytest.fixture
def orders(dsn: str) -> str:
    """The name of a queue made for the test."""
    with connect(dsn) as connection:
        connection.admin.create_queue("orders")
    return "orders"


@pytest.mark.behaviour("IMQ-05")
def test_a_connection_for_messages_administers_nothing_and_one_of_administrators_does(dsn: str, orders: str) -> None:
    with connect(dsn, service="jms") as connection:
        connection.send(orders, "x")
        with pytest.raises(ServiceUnavailable, match="not for administration"):
            connection.admin.create_queue("other")
    with connect(dsn, service="admin") as connection:
        connection.admin.create_queue("other")
    with connect(dsn) as connection:
        connection.admin.create_queue("third")


@pytest.mark.behaviour("IMQ-06")
def test_who_connects_with_a_service_that_is_not_active_is_refused_at_once(dsn: str, orders: str) -> None:
    alter(dsn, active=False)
    with pytest.raises(ServiceUnavailable, match="service jms is not active"):
        connect(dsn, service="jms")
    with pytest.raises(ServiceUnavailable):
        ConnectionFactory(dsn, service="jms").create_connection()
    with connect(dsn, service="admin") as connection:
        connection.send(orders, "x")


@pytest.mark.behaviour("IMQ-69")
def test_a_service_with_tls_refuses_a_plain_connection(dsn: str) -> None:
    with connect(dsn, service="admin") as connection:
        connection.services.alter("ssljms", active=True)
    with pytest.raises(ServiceUnavailable, match="demands TLS"):
        connect(dsn, service="ssljms")


def test_a_pool_of_the_applications_own_names_its_service_itself(dsn: str) -> None:
    import psycopg_pool

    with psycopg_pool.ConnectionPool(dsn, open=True) as pool, pytest.raises(BadArgument, match="service does not go"):
        connect(pool=pool, service="jms")


@pytest.mark.slow
@pytest.mark.own_database
@pytest.mark.behaviour("IMQ-10")
def test_a_services_pool_grows_to_its_maximum_under_load_and_the_reaper_closes_what_is_idle(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, min_connections=2, max_connections=5, idle_seconds=1)
    with connect(dsn, service="jms") as connection:
        connection.pool.wait()
        assert one(db, BACKENDS) == 2
        go = threading.Event()
        taken = []

        def load() -> None:
            with connection.session() as session:
                taken.append(session)
                go.wait(60)
                session.send(orders, "x")
                session.commit()

        threads = [threading.Thread(target=load) for _ in range(20)]
        for thread in threads:
            thread.start()
        wait_until(lambda: connection.pool.get_stats()["requests_waiting"] == 15)
        assert one(db, BACKENDS) == 5
        go.set()
        for thread in threads:
            thread.join(60)
        assert len(taken) == 20
        wait_until(lambda: one(db, BACKENDS) == 2)
        with connection.session() as session, session.transaction():
            assert len(session.receive(orders, 99)) == 20


@pytest.mark.behaviour("IMQ-11")
def test_at_the_services_maximum_a_further_session_waits_until_one_is_free_or_its_time_is_up(dsn: str) -> None:
    alter(dsn, max_connections=2)
    with connect(dsn, service="jms", timeout=0.5) as connection:
        first, _second = connection.session(), connection.session()
        with pytest.raises(CannotConnect):
            connection.session()
        threading.Timer(0.1, first.close).start()
        connection.session().close()


@pytest.mark.behaviour("IMQ-12")
def test_the_arguments_override_the_services_sizes_and_cannot_contradict_each_other(dsn: str) -> None:
    alter(dsn, min_connections=3, max_connections=5)
    for sizes in ({"max_size": 0}, {"min_size": 5}, {"min_size": 2, "max_size": 2}):
        with pytest.raises(BadArgument):
            connect(dsn, service="jms", **sizes)  # type: ignore[arg-type]
    with connect(dsn, service="jms", max_size=2) as connection:
        assert (connection.pool.min_size, connection.pool.max_size) == (1, 2)


@pytest.mark.own_database
@pytest.mark.behaviour("IMQ-13")
def test_a_dedicated_session_takes_two_connections_so_a_third_of_four_waits_or_is_refused(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, model="dedicated", max_connections=4)
    with connect(dsn, service="jms", timeout=0.5) as connection:
        first = connection.session()
        assert one(db, BACKENDS) == 2
        second = connection.session()
        assert one(db, BACKENDS) == 4
        with pytest.raises(CannotConnect, match="no pair"):
            connection.session()
        threading.Timer(0.1, first.close).start()
        with connection.session() as third, third.transaction():
            third.send(orders, "x")
        second.close()
        assert one(db, BACKENDS) == 4, "they are back in the pool, and nobody else listens"


@pytest.mark.own_database
def test_of_a_dedicated_pair_one_connection_waits_and_the_other_has_the_transaction(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, model="dedicated", max_connections=5)
    got: list[Message] = []
    with connect(dsn, service="jms") as connection, connection.session() as session:
        receiving = threading.Thread(target=lambda: got.extend(session.receive(orders, wait=30)))
        receiving.start()
        wait_until(lambda: one(db, LISTENING) == 1)
        assert one(db, BACKENDS) == 2
        connection.send(orders, "x")
        receiving.join(30)
        assert [message.body for message in got] == ["x"]
        session.commit()
    wait_until(lambda: one(db, BACKENDS) == 0)


def test_a_dedicated_service_needs_two_connections(dsn: str) -> None:
    alter(dsn, model="dedicated")
    with connect(dsn, service="jms", max_size=1) as connection, pytest.raises(BadArgument, match="two connections"):
        connection.session()


def test_sessions_that_are_opened_at_once_do_not_wait_for_each_others_second_connection(dsn: str) -> None:
    alter(dsn, model="dedicated", max_connections=4)
    opened: Counter[str] = Counter()
    with connect(dsn, service="jms", timeout=20) as connection:

        def use() -> None:
            with connection.session() as session:
                assert one(session.connection, "select 1") == 1
            opened["done"] += 1

        threads = [threading.Thread(target=use) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert opened["done"] == 12
