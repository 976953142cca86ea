"""The fast paths of a send store what howdah._send stores, and leave to it what is not usual."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one

MESSAGE = {
    "headers": Jsonb({"JMSXGroupID": "g", "weight": 7}),
    "priority": 7,
    "time_to_live": "1 hour",
    "correlation_id": "c",
    "reply_to": "r",
    "message_type": "t",
}
CASES: dict[str, dict[str, Any]] = {
    "a body alone": {},
    "headers": {"headers": MESSAGE["headers"]},
    "a higher priority": {"priority": 7},
    "the queue's priority": {"priority": 4},
    "a time to live": {"time_to_live": "1 mon -3 days"},
    "all": MESSAGE,
}
STORED = """
    select m.rank, m.stage, m.is_text, m.content_type, coalesce(m.body, b.body) as body, m.body is null as apart,
        m.headers, m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.reliability,
        m.expires_at - m.sent_at as life, m.message_id = m.seq * 1000000 + m.destination_id as derived,
        j.event, j.nonpersistent, j.expires_at = array[m.expires_at] as same_end, j.group_ids, j.priorities,
        j.digests, j.settled_xid is null as unsettled, j.oldest_sent_at = m.sent_at as same_time, j.reliability
    from howdah.msgs m
    left join howdah.bodies b using (message_id)
    left join howdah.journal j on j.event = 'sent' and j.message_ids = array[m.message_id]
    where m.message_id = %s
"""


def slow(db: Db, arguments: dict[str, Any], body: str) -> int:
    given: list[Any] = [arguments.get(name) for name in ("headers", "priority", "correlation_id", "reply_to")]
    sent: int = one(
        db,
        "select howdah._send('q', convert_to(%s, 'UTF8'), true, 'text/plain', %s, %s::integer, %s, %s, %s, null,"
        " %s::interval, null, null, true, null)",
        (body, *given, arguments.get("message_type"), arguments.get("time_to_live")),
    )
    return sent


def send(db: Db, arguments: dict[str, Any], body: str = "x") -> int:
    named = "".join(f", {name} => %({name})s" for name in arguments)
    sent: int = one(db, f"select howdah.send('q', %(body)s::text{named})", arguments | {"body": body})
    return sent


def calls_of(db: Db, name: str, arguments: dict[str, Any], body: str = "x") -> int:
    """How often a send calls a function. What the session counted before may not have been reported yet."""
    query = "select coalesce(sum(calls), 0)::integer from pg_stat_xact_user_functions where funcname = %s"
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        before: int = one(db, query, (name,))
        send(db, arguments, body)
        after: int = one(db, query, (name,))
    return after - before


@pytest.mark.parametrize("body", ["x", "x" * 5000], ids=["small", "large"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "options",
    [{}, {"journal_level": "full"}, {"journal_level": "full", "message_groups": "transaction"}, {"message_limit": 100}],
    ids=str,
)
def test_a_fast_path_stores_what_the_slow_path_stores(
    options: dict[str, Any], case: str, body: str, db: Db, create: Create
) -> None:
    create(**options)
    known = slow(db, CASES[case], body)

    sent = send(db, CASES[case], body)

    assert sent > known
    assert db.execute(STORED, (sent,)).fetchall() == db.execute(STORED, (known,)).fetchall()
    if body == "x" or case != "a body alone":
        assert calls_of(db, "_send", CASES[case], body) == 0


def test_the_first_message_of_a_priority_takes_the_slow_path_and_opens_its_lane(db: Db, create: Create) -> None:
    create()
    assert calls_of(db, "_send", {"priority": 8}) == 1
    assert calls_of(db, "_send", {"priority": 8}) == 0
    send(db, {})
    assert column(db, "select priority from howdah.receive('q', 10)") == [8, 8, 4]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"headers": Jsonb([1])}, "HD005"),
        ({"priority": 10}, "HD006"),
        ({"priority": -1}, "HD006"),
        ({"priority": -2147483648}, "HD006"),
        ({"time_to_live": "0"}, "HD005"),
        ({"time_to_live": "-1 years +361 days"}, "HD005"),  # positive by comparison, negative by its epoch
        ({"time_to_live": "1 year -360 days"}, "HD005"),  # the other way round
        ({"time_to_live": "101 years"}, "HD005"),
        ({"time_to_live": "2147483647 days"}, "HD005"),  # as seconds it is out of range
        ({"time_to_live": "-2147483647 days"}, "HD005"),
    ],
)
@pytest.mark.parametrize("level", ["exits", "full"])
def test_what_is_wrong_is_refused_as_by_the_slow_path(
    arguments: dict[str, Any], code: str, level: str, db: Db, create: Create
) -> None:
    create(journal_level=level)
    send(db, {"priority": 9})
    with pytest.raises(psycopg.Error) as raised:
        send(db, arguments)
    assert raised.value.sqlstate == code
    assert one(db, "select count(*) from howdah.msgs") == 1


@pytest.mark.parametrize("repeated", [False, True], ids=["the first", "a further one"])
def test_a_publish_with_a_life_below_zero_or_out_of_range_is_refused(repeated: bool, db: Db) -> None:
    one(db, "select howdah.create_topic('q')")
    one(db, "select howdah.subscribe('q', 's')")
    if repeated:
        send(db, {})
    for life in ("-1 years +361 days", "1 year -360 days", "2147483647 days"):
        with pytest.raises(psycopg.Error) as raised:
            send(db, {"time_to_live": life})
        assert raised.value.sqlstate == "HD005"


def test_a_queue_that_keeps_last_values_replaces_them(db: Db, create: Create) -> None:
    create(last_value_key="symbol")
    for price in ("1", "2"):
        send(db, {"headers": Jsonb({"symbol": "a"})}, price)
    assert column(db, "select body from howdah.browse('q')") == ["2"]


def test_a_stamped_message_has_its_sender_among_its_headers(db: Db, create: Create) -> None:
    create(stamp_user=True)
    send(db, {"headers": Jsonb({"a": 1})})
    (headers,) = column(db, "select headers from howdah.browse('q')")
    assert headers == {"a": 1, "JMSXUserID": one(db, "select session_user::text")}


@pytest.mark.parametrize(
    "arguments", [{"priority": 8}, {"delivery_mode": "non-persistent"}], ids=["priority", "non-persistent"]
)
def test_a_message_whose_lane_is_not_open_takes_the_place_of_one(
    arguments: dict[str, Any], db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=200)
    other, third = connect(), connect()
    with db.transaction(), other.transaction():
        send(db, arguments)  # it opens the lane, which others do not see yet
        for _ in range(120):
            send(other, arguments)
        for _ in range(60):
            send(third, {})


def test_a_full_queue_refuses_a_message_with_headers(db: Db, create: Create) -> None:
    create(message_limit=2, limit_behaviour="reject")
    for _ in range(2):
        send(db, {"headers": Jsonb({"a": 1})})
    with pytest.raises(psycopg.Error) as raised:
        send(db, {"headers": Jsonb({"a": 1})})
    assert raised.value.sqlstate == "HD018"


@pytest.mark.parametrize("level", ["exits", "full"])
def test_a_message_with_headers_is_committed_as_its_level_needs(level: str, db: Db, create: Create) -> None:
    create(journal_level=level)
    with db.transaction():
        db.execute("set local howdah.commit_by_reliability = 'on'")
        db.execute("set local synchronous_commit = 'off'")
        send(db, {"headers": Jsonb({"a": 1})})
        assert one(db, "select current_setting('synchronous_commit')") == "on"
