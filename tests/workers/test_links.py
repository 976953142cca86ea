"""Forwarders: they wake at once, take over from each other, and link several engines in any shape."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import psycopg
import pytest
from forwarding_support import forwarding
from links_support import VARIABLE, bodies, create
from psycopg import sql
from support import Db, column, one, wait_until
from workers_support import StartWorkers

from howdah.workers.links import Links


def test_a_forwarder_forwards_what_comes(dsn: str, a: Db, b: Db) -> None:
    """What lies there, and what is sent while it waits."""
    create(a)
    a.execute("select howdah.send('out', 'before')")
    with forwarding(dsn):
        wait_until(lambda: bodies(b) == ["before"])
        a.execute("select howdah.send('out', 'after')")
        wait_until(lambda: bodies(b) == ["before", "after"])
    assert bodies(a, "out") == []


@pytest.mark.behaviour("AMQ-16")
def test_another_forwarder_takes_over(dsn: str, a: Db, b: Db) -> None:
    """At once if the first ends in order; one is active at a time."""
    create(a)
    with ExitStack() as opened:
        opened.enter_context(forwarding(dsn, holder="second"))
        wait_until(lambda: one(a, "select holder from howdah.list_links()") == "second")
        with forwarding(dsn, holder="first"):
            a.execute("select howdah.send('out', 'one')")
            wait_until(lambda: bodies(b) == ["one"])
            assert one(a, "select holder from howdah.list_links()") == "second"
            opened.close()
            wait_until(lambda: one(a, "select holder from howdah.list_links()") == "first")
            a.execute("select howdah.send('out', 'two')")
            wait_until(lambda: bodies(b) == ["one", "two"])


def test_a_link_that_is_paused_or_dropped_stops(dsn: str, a: Db, b: Db) -> None:
    """And goes on when it is resumed."""
    create(a)
    with forwarding(dsn) as forwarder:
        wait_until(lambda: one(a, "select holder from howdah.list_links()"))
        a.execute("select howdah.pause_link('to_b')")
        a.execute("select howdah.send('out', 'one')")
        a.execute("select howdah.resume_link('to_b')")
        wait_until(lambda: bodies(b) == ["one"])
        a.execute("select howdah.drop_link('to_b')")
        wait_until(lambda: not forwarder.is_alive())


def test_a_worker_process_runs_links(a: Db, b: Db, start: StartWorkers, other: str) -> None:
    """Without being told to."""
    create(a)
    a.execute("select howdah.send('out', 'one')")
    start("workapp:app")
    wait_until(lambda: bodies(b) == ["one"])


def test_links_that_are_new_are_found(dsn: str, a: Db, b: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner looks for them from time to time."""
    monkeypatch.setattr("howdah.workers.links.runner.LOOK_SECONDS", 0.05)
    links = Links(dsn, "runner")
    links.start()
    create(a)
    a.execute("select howdah.send('out', 'one')")
    wait_until(lambda: bodies(b) == ["one"])
    wait_until(lambda: links.forwarded == 1)
    links.stop()


def test_a_chain_of_three_engines(
    dsn: str, a: Db, b: Db, new_engine: Callable[[], str], other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a over b to c: the origin stays, the route grows."""
    third = new_engine()
    monkeypatch.setenv("HOWDAH_TEST_THIRD", third)
    create(a)
    create(b, "to_c", "in", "end", dsn_env="HOWDAH_TEST_THIRD")
    with psycopg.connect(third, autocommit=True) as c:
        c.execute("select howdah.create_queue('end')")
        for n in range(50):
            a.execute("select howdah.send('out', %s)", (str(n),))
        with forwarding(dsn), forwarding(other, "to_c"):
            wait_until(lambda: len(bodies(c, "end")) == 50)
        assert bodies(c, "end") == [str(n) for n in range(50)]
        headers = column(c, "select headers from howdah.browse('end', 1)")[0]
        assert "/out/" in headers["JMS_Howdah_Origin"]
        assert headers["JMS_Howdah_Route"].split() == [
            one(db, "select engine_id::text from howdah.link_engine()") for db in (a, b)
        ]


@pytest.mark.slow
def test_three_engines_fan_in_to_one(dsn: str, a: Db, b: Db, new_engine: Callable[[], str], other: str) -> None:
    """Each sender's order is kept; identities that are equal do not mix."""
    with ExitStack() as opened:
        senders = [(dsn, a)]
        for _ in range(2):
            more = new_engine()
            db = opened.enter_context(psycopg.connect(more, autocommit=True))
            db.execute("select howdah.create_queue('out')")
            senders.append((more, db))
        for number, (_, db) in enumerate(senders):
            create(db)
            for n in range(40):
                db.execute("select howdah.send('out', %s)", (f"{number} {n}",))
        for where, _ in senders:
            opened.enter_context(forwarding(where))
        wait_until(lambda: len(bodies(b)) == 120)
    found = bodies(b)
    for number in range(3):
        assert [x for x in found if x.startswith(f"{number} ")] == [f"{number} {n}" for n in range(40)]
    assert one(b, "select count(*) from howdah.list_arrivals()") == 3


def test_two_engines_link_both_ways(dsn: str, a: Db, b: Db, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go there and answers come back; a link between the same two queues makes no circle."""
    monkeypatch.setenv("HOWDAH_TEST_BACK", dsn)
    create(a)
    create(b, "to_a", "in", "out", dsn_env="HOWDAH_TEST_BACK")
    with forwarding(dsn), forwarding(other, "to_a"):
        for n in range(20):
            a.execute("select howdah.send('out', %s)", (f"a{n}",))
            b.execute("select howdah.send('in', %s)", (f"b{n}",))
        wait_until(lambda: sum(x.startswith("a") for x in bodies(b)) == 20)
        wait_until(lambda: sum(x.startswith("b") for x in bodies(a, "out")) == 20)
    assert sorted(bodies(b)) == sorted(f"a{n}" for n in range(20))
    assert sorted(bodies(a, "out")) == sorted(f"b{n}" for n in range(20))


LEVELS = (
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    "RELIABLE_PERSISTENT",
    "ASSURED_PERSISTENT",
)


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-23")
@pytest.mark.parametrize("kind", ["queue", "subscription"])
def test_best_effort_does_not_wait_for_a_target_that_is_away(
    dsn: str, a: Db, b: Db, other: str, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It is dropped and counted. The other four levels arrive later, as what they are."""
    source = "out"
    if kind == "subscription":
        a.execute("select howdah.create_topic('news')")
        source = one(a, "select howdah.subscribe('news', 'far')")
    create(a, queue=source, retry_ms_max=50)
    monkeypatch.setenv(VARIABLE, "host=127.0.0.1 port=1")
    with forwarding(dsn):
        wait_until(lambda: one(a, "select state from howdah.list_links()") == "away")
        for level in LEVELS:
            a.execute(
                "select howdah.send(%s, %s, reliability => %s)",
                ("news" if kind == "subscription" else "out", level, level),
            )
        sent = one(a, "select clock_timestamp()")
        wait_until(lambda: one(a, "select error_at > %s from howdah.list_links()", (sent,)))
        monkeypatch.setenv(VARIABLE, other)
        wait_until(lambda: len(bodies(b)) == 4)
    arrived = b.execute("select body, reliability from howdah.browse('in')").fetchall()
    assert sorted(arrived) == sorted((level, level) for level in LEVELS[1:])
    assert one(a, "select dropped from howdah.list_links()") == 1
    journal = "select reason, reliability from howdah.journal where event = 'discarded'"
    assert a.execute(journal).fetchall() == [("LINK_AWAY: to_b", 0)]
    ended = "select count(*) from howdah.audit_journal where queue = %s and event in ('consumed', 'discarded')"
    assert one(a, ended, (source,)) == 5, "each once"


@pytest.mark.own_database
def test_a_stricter_default_isolation_does_not_matter(dsn: str, a: Db, b: Db) -> None:
    """Receipts are looked for in the latest state, whatever the databases' default is."""
    for db in (a, b):
        db.execute(
            sql.SQL("alter database {} set default_transaction_isolation = 'repeatable read'").format(
                sql.Identifier(db.info.dbname)
            )
        )
    create(a)
    a.execute("select howdah.send('out', 'one')")
    with forwarding(dsn):
        wait_until(lambda: bodies(b) == ["one"])


def test_the_order_of_a_message_group_is_kept(dsn: str, a: Db, b: Db) -> None:
    """Where the source delivers groups in order, the target gets them in order."""
    for db, queue in ((a, "out"), (b, "in")):
        db.execute('select howdah.alter_queue(%s, \'{"message_groups": "transaction"}\')', (queue,))
    create(a, batch_size=3)
    for n in range(30):
        headers = f'{{"JMSXGroupID": "{n % 3}"}}'
        a.execute("select howdah.send('out', %s, headers => %s)", (str(n), headers))
    with forwarding(dsn):
        wait_until(lambda: len(bodies(b)) == 30)
    groups = b.execute("select headers ->> 'JMSXGroupID', body::integer from howdah.browse('in', 100)").fetchall()
    for group in "012":
        assert [n for name, n in groups if name == group] == list(range(int(group), 30, 3))
