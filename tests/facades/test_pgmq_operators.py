"""What an operator may do with a message that a client of pgmq has read: nothing, while it is hidden."""

from __future__ import annotations

import json

import psycopg
import pytest
from support import Clock, Db, column, one

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def ids(dsn: str, db: Db, clock: Clock) -> list[int]:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks'), howdah.create_queue('aside')")
    db.execute("select pgmq.send_batch('tasks', array['1', '2']::jsonb[])")
    assert column(db, "select msg_id from pgmq.read('tasks', 30, 1)") == [1]
    return column(db, "select message_id from howdah.browse('tasks', 10) union select message_id from howdah.parked")


def hidden(ids: list[int]) -> int:
    return min(ids)


NAMED = (
    "select howdah.move_messages('tasks', array[%s]::bigint[], 'aside')",
    "select howdah.move_messages('tasks', array[%s]::bigint[], 'aside', dry_run => true)",
    "select howdah.retry('tasks', array[%s]::bigint[])",
    "select howdah.park_messages('tasks', array[%s]::bigint[], delay => '1 h')",
    "select howdah.replay_edited('tasks', %s, body => '3', target => 'aside', discard => true)",
    "select howdah.discard('tasks', array[%s]::bigint[], 'no')",
)


@pytest.mark.first_case
@pytest.mark.parametrize("act", NAMED)
def test_a_hidden_message_that_is_named_is_refused_until_it_is_shown_again(
    db: Db, ids: list[int], clock: Clock, act: str
) -> None:
    with pytest.raises(psycopg.Error) as error:
        db.execute(act.encode(), (hidden(ids),))
    assert error.value.sqlstate == "HD013"
    assert one(db, "select pgmq.delete('tasks', 1)") is True
    db.execute("select pgmq.send('tasks', '4')")
    (again,) = column(db, "select msg_id from pgmq.read('tasks', 30, 5) where msg_id = 3")
    clock.advance(31)
    db.execute(act.encode(), (hidden(ids) + (again - 1) * 1_000_000,))


@pytest.mark.first_case
@pytest.mark.parametrize("act", ["move", "park", "discard", "retry"])
def test_an_act_on_all_that_match_passes_by_what_is_hidden(db: Db, ids: list[int], clock: Clock, act: str) -> None:
    options = {"move": {"target": "aside"}, "park": {"delay": "1 h"}}.get(act, {})
    call = "select sum(done), sum(passed) from howdah.act_on_matching('tasks', %s, '{}', 'why', options => %s)"
    done, passed = db.execute(call.encode(), (act, json.dumps(options))).fetchone() or (None, None)
    assert done == (0 if act == "retry" else 1)
    assert one(db, "select count(message_id) from howdah.find_messages('tasks', '{\"state\": \"leased\"}')") == 1
    assert passed == (1 if act in ("move", "discard") else 0)  # the others look at free messages alone
    assert one(db, "select read_ct from pgmq.q_tasks where msg_id = 1") == 1
    assert one(db, "select pgmq.delete('tasks', 1)") is True


def test_acts_on_a_whole_queue_leave_what_is_hidden(db: Db, ids: list[int], clock: Clock) -> None:
    assert one(db, "select howdah.move_all('tasks', 'aside')") == 1
    assert one(db, "select howdah.purge_queue('tasks')") == 0
    assert one(db, "select pgmq.delete('tasks', 1)") is True


def test_a_delayed_message_is_in_nobodys_hands(db: Db, ids: list[int], clock: Clock) -> None:
    db.execute("select pgmq.send('tasks', '3', 60); select pgmq.set_vt('tasks', 2, 60)")
    assert one(db, "select howdah.purge_queue('tasks')") == 2


def test_pgmqs_own_purge_takes_the_hidden_ones_too_but_no_lease_of_howdah(db: Db, ids: list[int], clock: Clock) -> None:
    assert len(db.execute("select * from howdah.lease('tasks', 1, '1 h')").fetchall()) == 1
    assert one(db, "select pgmq.purge_queue('tasks')") == 1
    assert one(db, "select queue_length from pgmq.metrics('tasks')") == 1


def test_metrics_count_hidden_messages_as_leased(db: Db, ids: list[int], clock: Clock) -> None:
    labels = '{"queue": "tasks", "state": "leased"}'
    assert (
        one(db, "select value from howdah.metrics() where name = 'howdah_queue_messages' and labels = %s", (labels,))
        == 1
    )
    assert one(db, "select state from howdah.show_message('tasks', %s)", (hidden(ids),)) == "leased"


def test_a_full_queue_does_not_make_room_by_what_is_hidden(db: Db, ids: list[int], clock: Clock) -> None:
    db.execute("""select howdah.alter_queue('tasks', '{"message_limit": 2, "limit_behaviour": "remove_oldest"}')""")
    db.execute("select pgmq.send('tasks', '3')")
    assert sorted(column(db, "select msg_id from pgmq.q_tasks")) == [1, 3]


def test_an_expired_message_is_swept_when_its_reader_is_done(db: Db, ids: list[int], clock: Clock) -> None:
    db.execute("select howdah.send('tasks', '3'::jsonb, time_to_live => '40 s')")
    assert column(db, "select msg_id from pgmq.read('tasks', 60, 2)") == [2, 3]
    clock.advance(50)
    db.execute("select howdah.maintain_expired()")
    assert one(db, "select count(*) from howdah.parked where expires_at is not null") == 1
    assert one(db, "select pgmq.delete('tasks', 3)") is True


def test_a_message_of_another_priority_or_place_is_hidden_by_its_number(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t'), pgmq.create('u')")
    number = one(db, "select howdah.send('t', '1'::jsonb, priority => 9)") // 1_000_000
    identity = one(db, "select howdah.send('t', '2'::jsonb)")
    moved = identity // 1_000_000
    assert column(db, "select msg_id from pgmq.set_vt('t', %s, 60)", [number]) == [number]
    assert column(db, "update pgmq.q_t set vt = now() where msg_id = %s returning msg_id", [number]) == [number]
    db.execute("select howdah.move_messages('t', array[%s]::bigint[], 'u')", [identity])
    db.execute("select howdah.move_messages('u', array[%s]::bigint[], 't')", [identity])
    assert column(db, "select msg_id from pgmq.set_vt('t', %s, 60)", [moved]) == [moved]


def test_an_archive_takes_each_number_once_and_none_that_no_message_has(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t')")
    insert = "insert into pgmq.a_t (msg_id, vt, message) values (%s, now(), '{}')"
    db.execute(insert, [5])
    for number, state in ((5, "23505"), (None, "23502"), (0, "HD005")):
        with pytest.raises(psycopg.Error) as caught:
            db.execute(insert, [number])
        assert caught.value.sqlstate == state
    assert column(db, "select msg_id from pgmq.a_t") == [5]


def test_an_archived_message_that_is_changed_keeps_what_pgmq_does_not_know(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t')")
    db.execute("select howdah.send('t', '1'::jsonb, correlation_id => 'c', message_type => 'm')")
    db.execute("select pgmq.archive('t', 1); update pgmq.a_t set message = '2'")
    kept = db.execute("select correlation_id, message_type from howdah.kept_messages").fetchall()
    assert kept == [("c", "m")]
