"""No login keeps Howdah from working by taking locks whose keys it can tell from the source."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from policy_support import Create
from psycopg import Error
from support import Connect, Db, column, one, refused, wait_until_blocked

from howdah.migrations import migrate
from howdah.procedures import FILES, source

# Two numbers, a kind's and a thing's, or one made of what everybody knows: all keys that can be made without a secret.
GUESSES = """
with things as materialized (
    select n::bigint as n from generate_series(0, (select max(d.id) from howdah.destinations d) + 2) n
    union select l.id from howdah.listeners l
    union select l.id * 1024 + n from howdah.listeners l, generate_series(0, 3) n
    union select c.id from howdah.consumers c union select a.id from howdah.acks a
    union select n.id * 30 + o from howdah.destinations n, generate_series(0, 29) o
    union select m.message_id & 2147483647 from howdah.msgs m
    union select hashtext(w)
    from unnest(array[':news', ':s', '*:s', 's', 'tick', 'desk7', '00000000-0000-0000-0000-000000000001', 'news']) w
    union select hashint8((t.seq * 1000000 + t.destination_id) * 1000003 # a.id)
    from howdah.topic_msgs_0 t, howdah.acks a
    union select hashtext(d.id || 'a = 1') from howdah.destinations d
)
select count(pg_advisory_lock(k, t.n::integer)) from generate_series(1213154369, 1213154393) k, things t
where t.n between -2147483648 and 2147483647
"""
WHOLE = """
select count(pg_advisory_lock(hashtextextended('g', d.id))),
    count(pg_advisory_lock((1::bigint << 62) | (d.id::bigint << 42) | (s << 36) | b))
from howdah.destinations d, (values (0), (1), (2), (3), (63)) s(s), generate_series(0, 9) b
"""

SECRET = "select array[l.last_value, t.last_value] from howdah.lock_secret l, howdah.ticket_secret t"

WORK = {
    "totals": "select howdah.maintain_totals() >= 0",
    "backlog": "select howdah.maintain_backlog() >= 0",
    "expiry": "select howdah.maintain_expired() = 1",
    "a failure": "select outcome = 'returned' from howdah.record_failure('q', (select message_id"
    " from howdah.msgs where destination_id ="
    " (select id from howdah.destinations where name = 'q') and headers is null limit 1))",
    "a failure in a row": (
        "select outcome = 'returned' from howdah.record_failure('fragile', (select message_id"
        " from howdah.browse('fragile')))"
    ),
    "a queue": "select howdah.create_queue('new') is not null",
    "a topic": "select howdah.create_topic('new') is not null",
    "a subscription": "select howdah.subscribe('news', 's') = 'news::s'",
    "a wildcard": "select howdah.subscribe('*', 's') = '*::s'",
    "a reader": "select count(*) = 1 from howdah.receive('news::reader')",
    "a shared reader": "select count(*) = 1 from howdah.receive('news::crowd')",
    "strict order": "select count(*) = 1 from howdah.receive('strict')",
    "a group": "select count(*) = 1 from howdah.receive('grouped')",
    "a selector": "select count(*) = 1 from howdah.receive('q', 1, selector => 'a = 1')",
    "a listener": "select count(*) = 1 from howdah.receive_as('l')",
    "a limit": "select count(howdah.send('narrow', 'x')) = 9 from generate_series(1, 9)",
    "a consumer": "select count(*) = 1 from howdah.receive('single', 1, consumer => (select id from howdah.consumers))",
    "a priority": "select howdah.send('strict', 'x', priority => 9) is not null",
    "a schedule": "select howdah.schedule('q', 'x', period => '1 day', name => 'tick') is not null",
    "a conversation": "select howdah.end_conversation('00000000-0000-0000-0000-000000000001')",
    "a client id": "select howdah.claim_client_id('desk7') is not null",
    "a temporary queue": "select howdah.create_temporary_queue() is not null",
    "the ring of topics": "select howdah.maintain_topics() is not null",
    "subscriptions": "select howdah.maintain_subscriptions() is not null",
}


@pytest.fixture
def prepared(db: Db, create: Create) -> Db:
    """A database with one of each kind of thing."""
    create()
    create("fragile", disable_after=5, poison_handling=True)
    create("strict", strict_order=True)
    create("grouped", message_groups="transaction")
    create("single", delivery_policy="single")
    create("narrow", message_limit=100)
    for queue in ("q", "fragile", "strict", "single", "narrow"):
        one(db, "select howdah.send(%s, 'x')", (queue,))
    one(db, "select howdah.send('grouped', 'x', headers => '{\"JMSXGroupID\": \"g\"}')")
    one(db, "select howdah.send('q', 'x', headers => '{\"a\": 1}')")
    one(db, "select howdah.send('q', 'x', time_to_live => interval '1 ms')")
    one(db, "select howdah.open_consumer('single')")
    one(db, "select howdah.create_listener('l', 'q')")
    one(db, "select howdah.create_topic('news')")
    one(db, "select howdah.subscribe('news', 'reader')")
    one(db, "select howdah.subscribe('news', 'crowd', shared => true)")
    one(db, "select howdah.send('news', 'x')")
    db.execute("set lock_timeout = '300ms'")
    return db


def outcomes(db: Db) -> dict[str, object]:
    """What each piece of work comes to, undone again: true if it did what it should."""
    found: dict[str, object] = {}
    for name, statement in WORK.items():
        try:
            with db.transaction(force_rollback=True):
                found[name] = one(db, statement)
        except Error as error:
            found[name] = error.diag.message_primary
        one(db, "select howdah.release_client_id()")  # which a rollback does not
        one(db, "select howdah.maintain_topics()")  # a ring that was moved and rolled back is settled
    return found


@pytest.mark.slow
def test_nothing_waits_for_locks_that_a_stranger_can_guess(prepared: Db, connect: Connect) -> None:
    """And nothing looks empty. Advisory locks need no right at all."""
    done = dict.fromkeys(WORK, True)
    assert outcomes(prepared) == done
    stranger = connect()
    stranger.execute("set lock_timeout = '300ms'")
    assert one(stranger, GUESSES) > 1000
    stranger.execute(WHOLE)
    assert outcomes(prepared) == done


def test_every_key_of_an_advisory_lock_holds_a_secret() -> None:
    """Of the session's own connection too, whose token nobody else knows."""
    secret = re.compile(
        r"\((\()?(howdah[.]_(lock|ticket)_key[(]|v_key[)]|v_base [+] v_permit[)]"
        r"|hashint8extended[(](p_seq|[pt][.]seq, v_secret)|1213154386, [(v]"
        r"|hashtextextended[(](v_|p_queue[.])connection)"
    )
    for file in FILES:
        for call in re.findall(r"pg_(?:try_)?advisory\w+(.*)", source(file)):
            assert secret.match(call), (file, call)


@pytest.mark.first_case
@pytest.mark.parametrize("granted", [True, False])
def test_only_the_owner_needs_advisory_locks_and_the_list_of_them(prepared: Db, granted: bool) -> None:
    text = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    (hardening,) = re.findall(r"```sql\n(do .*?)```", text, re.DOTALL)
    owner = one(prepared, "select nspowner::regrole::text from pg_namespace where nspname = 'howdah'")
    with prepared.transaction(force_rollback=True):
        prepared.execute(hardening.replace("howdah_owner", owner if granted else "pg_monitor").encode())
        statements = [WORK[name] for name in ("a failure", "strict order", "a limit", "a client id", "a consumer")]
        for statement in statements if granted else statements[:1]:
            if granted:
                assert one(prepared, statement)
            else:
                refused(prepared, "42501", statement)
        if granted:
            one(prepared, "select howdah.release_client_id()")


@pytest.mark.parametrize("queue", ["q", "fragile"])
def test_who_saw_the_locks_of_one_failure_cannot_hold_up_the_next(prepared: Db, connect: Connect, queue: str) -> None:
    record = "select attempt from howdah.record_failure(%s, (select min(message_id) from howdah.browse(%s)))"
    stranger = connect()
    with prepared.transaction():
        assert one(prepared, record, (queue, queue)) == 1
        seen = column(
            stranger, "select (classid::bigint << 32) | objid::bigint from pg_locks where locktype = 'advisory'"
        )
    assert seen
    stranger.execute("select pg_advisory_lock(k) from unnest(%s::bigint[]) k", (seen,))
    assert one(prepared, record, (queue, queue)) == 2


def test_failures_of_one_message_are_recorded_one_after_the_other(prepared: Db, connect: Connect) -> None:
    """Also by those who waited, whose key is an old one then."""
    (message,) = column(prepared, "select min(message_id) from howdah.browse('q')")
    record = "select attempt from howdah.record_failure('q', %s)"
    sessions = [connect() for _ in range(4)]
    prepared.execute("begin")
    assert one(prepared, record, (message,)) == 1
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(one, session, record, (message,)) for session in sessions]
        for session in sessions:
            wait_until_blocked(prepared, session)
        prepared.execute("commit")
        assert sorted(other.result(30) for other in others) == [2, 3, 4, 5]


@pytest.mark.slow
def test_two_databases_have_different_secrets(db: Db, empty_dsn: str) -> None:
    migrate(empty_dsn)
    with psycopg.connect(empty_dsn) as other:
        for theirs, ours in zip(one(other, SECRET), one(db, SECRET), strict=True):
            assert theirs != ours


@pytest.mark.slow
def test_an_installation_of_newer_procedures_keeps_the_secret(db: Db, dsn: str) -> None:
    before = one(db, SECRET)
    db.execute("update howdah.engine set procedures_checksum = ''")
    migrate(dsn)
    assert one(db, SECRET) == before


@pytest.mark.parametrize("role", ["howdah_admin", "howdah_auditor", "howdah_consumer"])
def test_the_secret_and_the_engines_own_locks_are_the_owners_alone(connect: Connect, role: str) -> None:
    session = connect(role)
    refused(session, "42501", SECRET)
    refused(session, "42501", "select howdah._lock_key('failure', '1')")
    refused(session, "42501", "select name from howdah.latches for update")
    assert one(session, "select last_value from pg_sequences where sequencename = 'lock_secret'") is None


def test_the_locks_of_a_transaction_still_exclude_others(prepared: Db, connect: Connect) -> None:
    other = connect()
    with prepared.transaction(force_rollback=True), other.transaction(force_rollback=True):
        assert one(other, WORK["strict order"])
        assert not one(prepared, WORK["strict order"])
        assert one(other, WORK["a group"])
        assert not one(prepared, WORK["a group"])
    other.execute("begin; select howdah.maintain_totals()")
    refused(prepared, "55P03", "select howdah.maintain_totals()")
