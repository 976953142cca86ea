"""Random sequences of calls against the real pgmq and against the facade: the same answers, and the same is left."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import chance
import psycopg
import pytest
from pgmq_worlds import BEGIN, SIGNATURES, Caller, Worlds, install_facade, install_real

pytestmark = pytest.mark.own_database


@pytest.fixture
def worlds(new_database: Callable[[], str], dsn: str) -> Iterator[Worlds]:
    real = new_database()
    install_real(real)
    install_facade(dsn)
    with psycopg.connect(real, autocommit=True) as one, psycopg.connect(dsn, autocommit=True) as other:
        made = Worlds(one, other)
        made.set_clock(BEGIN)
        yield made


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


def test_the_random_calls_cover_all_but_what_partitions_change() -> None:
    called = {one.partition("(")[0] for one in SIGNATURES}
    assert len(called) == 40
