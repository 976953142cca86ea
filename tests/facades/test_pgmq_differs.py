"""Random sequences of calls against the real pgmq and against the facade: the same answers, and the same is left."""

from __future__ import annotations

import random
import threading

import chance
import psycopg
import pytest
from pgmq_worlds import PARTED, SIGNATURES, Caller, Worlds

pytestmark = pytest.mark.own_database


SIGNATURE = """select p.proname::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.proretset
from pg_proc p where p.pronamespace = 'pgmq'::regnamespace and p.proname !~ '^_' order by 1, 2"""
FIELDS = """select t.typname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnum
from pg_type t join pg_attribute a on a.attrelid = t.typrelid
where t.typnamespace = 'pgmq'::regnamespace and t.typname in
    ('message_record', 'queue_record', 'metrics_result', 'meta', 'topic_bindings', 'notify_insert_throttle')
    and a.attnum > 0
order by 1, 4"""


def test_all_signatures_records_and_tables_are_those_of_the_real_one(worlds: Worlds) -> None:
    found = worlds.both(SIGNATURE)
    assert (len(found), len({name for name, *_ in found})) == (67, 43)
    worlds.both(FIELDS)


@pytest.mark.first_case
@pytest.mark.parametrize("seed", chance.seeds(6))
def test_random_calls_give_the_same_answers_and_leave_the_same(worlds: Worlds, seed: int) -> None:
    caller = Caller(worlds, random.Random(chance.use(seed)))
    for queue in caller.queues:
        worlds.both("select pgmq.create(%s)", (queue,))
    for number in range(250):
        caller.step()
        if number % 10 == 9:
            worlds.compare()
    worlds.compare()


def test_the_random_calls_cover_all_but_what_has_tests_of_its_own() -> None:
    called = {one.partition("(")[0] for one in SIGNATURES}
    assert len(called) == 40
    assert called.isdisjoint(PARTED)


@pytest.mark.first_case
@pytest.mark.parametrize("name", ["bad;name", "x" * 48])
def test_a_queue_in_partitions_refuses_the_same_names(worlds: Worlds, name: str) -> None:
    assert worlds.both("select pgmq.create_partitioned(%s)", (name,))[0] == "P0001"


def test_an_archive_that_is_not_there_is_not_parted(worlds: Worlds) -> None:
    worlds.both("select pgmq.convert_archive_partitioned('nobody')")
    worlds.both("select pgmq.convert_archive_partitioned('bad;name')")


def test_a_queue_in_partitions_is_a_queue(worlds: Worlds) -> None:
    """The real one asks for pg_partman, which is not here. So this compares with a queue without partitions."""
    worlds.real.execute("select pgmq.create('parted')")
    worlds.facade.execute("select pgmq.create_partitioned('parted', '1 day', '7 days', premake => 2)")
    worlds.both("select pgmq.send('parted', '1')")
    worlds.both("select pgmq.archive('parted', 1)")
    worlds.facade.execute("select pgmq.convert_archive_partitioned('parted')")
    worlds.both("select * from pgmq.a_parted")
    assert worlds.facade.execute("select is_partitioned from pgmq.meta").fetchall() == [(True,)]
    worlds.both("select pgmq.drop_queue('parted')")


@pytest.mark.slow
def test_the_trigger_function_notifies_as_often_and_on_the_same_channel(worlds: Worlds) -> None:
    """The real one reads the server's clock here, so that both throttle by the same."""
    worlds.both("select pgmq.create('jobs')")
    worlds.both("select pgmq.enable_notify_insert('jobs', 3600000)")
    heard = []
    for world in (worlds.real, worlds.facade):
        world.execute("create table public.q_jobs (n int)")
        world.execute(
            "create trigger own after insert on public.q_jobs for each row"
            " execute function pgmq.notify_queue_listeners()"
        )
        world.execute('listen "pgmq.q_jobs.INSERT"')
        world.execute("insert into public.q_jobs values (1), (2)")
        world.execute("select pgmq.send('jobs', '{}')")
        heard.append([(note.channel, note.payload) for note in world.notifies(timeout=0.3)])
    assert heard == [[("pgmq.q_jobs.INSERT", "")]] * 2


POLLED = ("read", "read_grouped", "read_grouped_rr", "read_grouped_head")


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("name", POLLED)
def test_a_poll_ends_with_a_message_that_comes_meanwhile_or_with_its_time(worlds: Worlds, name: str) -> None:
    worlds.both("select pgmq.create('jobs')")
    poll = f"select msg_id, read_ct from pgmq.{name}_with_poll('jobs', 30, 5, %s, 20)"
    assert worlds.both(poll, (0,)) == []
    assert worlds.both(poll, (1,)) == []
    found = []
    for world in (worlds.real, worlds.facade):
        with psycopg.connect(world.info.dsn, password=world.info.password, autocommit=True) as other:

            def send(
                sender: psycopg.Connection[tuple[object, ...]] = other, watched: int = world.info.backend_pid
            ) -> None:
                asleep = "select wait_event = 'PgSleep' from pg_stat_activity where pid = %s"
                while sender.execute(asleep, (watched,)).fetchall() != [(True,)]:
                    pass
                sender.execute("select pgmq.send_batch('jobs', array['1', '2']::jsonb[])")

            sending = threading.Thread(target=send)
            sending.start()
            found.append(world.execute(poll.encode(), (60,)).fetchall())
            sending.join()
    assert found[0] == found[1] != []
