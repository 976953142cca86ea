"""Finding messages, showing them without what is private, following them, and dealing with all that match."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, one, refused

DAY = 86400
FIND = "select * from howdah.find_messages('q', %s, %s, %s)"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


def send(db: Db, body: Any = "x", **options: Any) -> int:
    """A message in q; a body that is no text is sent as JSON."""
    kind = "text" if isinstance(body, str) else "jsonb"
    named = "".join(f", {name} => %({name})s" for name in options)
    options = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in options.items()}
    value = body if kind == "text" else json.dumps(body)
    sent: int = one(db, f"select howdah.send('q', %(sent)s::{kind}{named})", {"sent": value, **options})
    return sent


def pages(db: Db, filter: dict[str, Any], rows: int = 1000) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """All messages that match, and the last row of each page."""
    found: list[tuple[Any, ...]] = []
    ends: list[tuple[Any, ...]] = []
    after = None
    while not ends or not ends[-1][11]:
        *page, end = db.execute(FIND, (json.dumps(filter), json.dumps(after) if after else None, rows)).fetchall()
        assert end[0] is None
        assert len(page) <= rows
        found += page
        ends.append(end)
        after = end[9]
    return found, ends


def ids(db: Db, **filter: Any) -> set[int]:
    """The messages that match."""
    found = [row[0] for row in pages(db, filter)[0]]
    assert len(found) == len(set(found))
    return set(found)


def test_messages_are_found_by_selector_header_body_priority_group_and_time(db: Db) -> None:
    plain = send(db, "about apples", priority=2)
    headed = send(db, "about pears", headers={"region": "EU", "n": 3}, priority=7)
    grouped = send(db, {"fruit": "plum"}, headers={"JMSXGroupID": "g"})
    sent_at = one(db, "select sent_at::text from howdah.find_messages('q', '{\"body\": \"pears\"}') limit 1")
    assert ids(db) == {plain, headed, grouped}
    assert ids(db, selector="region = 'EU' and n > 2") == {headed}
    assert ids(db, header={"region": "EU", "n": "3"}) == {headed}
    assert ids(db, body="apples") == {plain}
    assert ids(db, body="plum") == ids(db, group="g") == {grouped}
    assert ids(db, min_priority=5) == {headed}
    assert ids(db, min_priority=4) == {headed, grouped}
    assert ids(db, sent_before=sent_at) | ids(db, sent_after=sent_at) == {plain, headed, grouped}
    assert ids(db, sent_after="2100-01-01T00:00:00Z") == set()


def test_states_are_told_and_filtered(db: Db) -> None:
    ready, delayed, parked = send(db), send(db, delay="1 hour"), send(db)
    leased = one(db, "select howdah.send('q', 'l', priority => 9)")
    one(db, "select howdah.park_messages('q', array[%s]::bigint[])", (parked,))
    one(db, "select count(*) from howdah.lease('q')")
    dead = send(db)
    assert fail(db, dead)[2] == "moved"
    for state, message in (("ready", ready), ("delayed", delayed), ("parked", parked), ("leased", leased)):
        assert ids(db, state=state) == {message}
        assert one(db, "select state from howdah.show_message('q', %s)", (message,)) == state
    assert ids(db) == {ready, delayed, parked, leased}
    found = 'select message_id from howdah.find_messages(%s, \'{"state": "dead", "origin": "q"}\')'
    assert column(db, found, (SYSTEM,)) == [dead, None]
    assert one(db, "select state from howdah.show_message(%s, %s)", (SYSTEM, dead)) == "dead"


def test_a_messages_history_has_its_journal_its_incidents_and_its_acts(db: Db) -> None:
    one(db, 'select howdah.alter_queue(\'q\', \'{"journal_level": "full", "max_failed_deliveries": 3}\')')
    sent = send(db)
    fail(db, sent)
    one(db, "select howdah.discard('q', array[%s]::bigint[], 'enough')", (sent,))
    rows = db.execute("select * from howdah.message_history('q', %s)", (sent,)).fetchall()
    assert [row[1:3] for row in rows] == [
        ("journal", "sent"),
        ("incident", "returned"),
        ("journal", "discarded"),
        ("act", "discarded"),
        (None, None),
    ]
    assert rows[1][7]["attempt"] == 1
    assert rows[3][5:7] == (one(db, "select current_user"), "enough")
    assert rows[-1][9] is True


@pytest.fixture
def gone(db: Db, clock: Clock) -> int:
    """The number of a message that was sent five days ago, consumed three days ago, and has no failure."""
    one(db, "select howdah.alter_queue('q', '{\"journal_level\": \"full\"}')")
    clock.advance(-5 * DAY)
    sent = send(db)
    clock.advance(2 * DAY)
    one(db, "select message_id from howdah.receive('q')")
    clock.advance(3 * DAY)
    send(db)
    return sent


def looking_at(db: Db, function: str, text: str, few: str) -> Iterator[None]:
    """A look at the record that ends early."""
    definition = one(db, "select pg_get_functiondef(%s::regproc)", (f"howdah.{function}",))
    assert text in definition
    db.execute(definition.replace(text, few))
    yield
    db.execute(definition)


@pytest.fixture
def few_records(db: Db) -> Iterator[None]:
    yield from looking_at(db, "_history_of_journal", ":= 200000;", ":= 2;")


@pytest.fixture
def few_acts(db: Db) -> Iterator[None]:
    yield from looking_at(db, "message_history", ":= 10000;", ":= 2;")


HISTORY = "select event, looked, complete from howdah.message_history('q', %s)"


def test_the_history_of_a_message_that_is_gone_is_found_however_old(db: Db, gone: int) -> None:
    assert db.execute(HISTORY, (gone,)).fetchall() == [
        ("sent", None, None),
        ("consumed", None, None),
        (None, 3, True),
    ]


def test_the_history_of_a_message_that_is_gone_says_when_older_records_were_not_looked_at(
    db: Db, gone: int, few_records: None
) -> None:
    rows = db.execute(HISTORY, (gone,)).fetchall()
    assert rows[-1] == (None, 2, False)
    assert len(rows) < 3


def test_a_history_is_not_complete_if_older_acts_were_not_looked_at(
    db: Db, gone: int, clock: Clock, few_acts: None
) -> None:
    kept = one(db, "select message_id from howdah.browse('q')")
    for _ in range(2):
        one(db, "select howdah.park_messages('q', array[%s]::bigint[])", (kept,))
        one(db, "select howdah.retry('q', array[%s]::bigint[])", (kept,))
    assert [db.execute(HISTORY, (number,)).fetchall()[-1][2] for number in (gone, kept)] == [False, False]
    # Acts from before it was sent cannot be of it.
    clock.advance(60)
    later = send(db)
    assert db.execute(HISTORY, (later,)).fetchall()[-1][2] is True


@pytest.mark.parametrize("act", ["retry", "move", "park", "discard", "replay"])
def test_each_act_deals_with_all_that_match_in_batches_under_the_callers_name(db: Db, act: str) -> None:
    one(db, "select howdah.create_queue('aside')")
    source = SYSTEM if act == "replay" else "q"
    sent = [send(db, headers={"n": n}) for n in range(5)]
    if act == "replay":
        for message in sent:
            fail(db, message)
    if act == "retry":
        one(db, "select howdah.park_messages('q', %s::bigint[])", (sent,))
    options: dict[str, Any] = {"target": "aside"} if act == "move" else {}
    results: list[tuple[Any, ...]] = []
    while not results or not results[-1][3]:
        results.append(
            db.execute(
                "select * from howdah.act_on_matching(%s, %s, '{\"selector\": \"n < 3\"}', 'why', 2, %s)",
                (source, act, json.dumps(options)),
            ).fetchall()[0]
        )
        options["after"] = results[-1][4]
    assert [row[:2] for row in results] == [(2, 0), (1, 0)]
    done = {"retry": "retried", "move": "moved", "park": "parked", "discard": "discarded", "replay": "replayed"}[act]
    acts = db.execute(
        "select act, actor, reason, cardinality(message_ids) from howdah.list_acts(%s, max_acts => 2)", (source,)
    ).fetchall()
    user = one(db, "select current_user")
    assert acts == [(done, user, "why", 1), (done, user, "why", 2)]


def test_a_page_ends_at_its_rows_and_the_next_begins_behind_it(db: Db) -> None:
    sent = [send(db, priority=priority) for priority in (1, 8, 4, 8)] + [send(db, delay="1 hour")]
    found, ends = pages(db, {}, rows=2)
    assert [row[0] for row in found] == [sent[1], sent[3], sent[2], sent[0], sent[4]]
    assert [(end[10], end[11]) for end in ends] == [(2, False), (2, False), (1, True)]


def test_a_look_is_bounded_and_says_how_far_it_looked(db: Db) -> None:
    one(db, "select count(*) from howdah.send_batch('q', array_fill('x'::text, array[20001]))")
    last = send(db, "needle", priority=0)
    (end,) = db.execute(FIND, ('{"body": "needle"}', None, 50)).fetchall()
    assert (end[0], end[10], end[11]) == (None, 20000, False)
    (found, end) = db.execute(FIND, ('{"body": "needle"}', json.dumps(end[9]), 50)).fetchall()
    assert (found[0], end[10], end[11]) == (last, 2, True)
    assert db.execute("select * from howdah.count_matching('q')").fetchall() == [(20002, 20002, True, None)]


def test_a_look_ends_after_the_bytes_of_bodies_that_it_may_read(db: Db) -> None:
    for _ in range(5):
        send(db, "x" * 9_000_000)
    rows = db.execute(FIND, ('{"body": "y"}', None, 50)).fetchall()
    assert [(row[0], row[10], row[11]) for row in rows] == [(None, 4, False)]


def test_a_look_locks_nothing_and_waits_for_nobody(db: Db, connect: Connect) -> None:
    sent = send(db)
    holder = connect()
    with holder.transaction(force_rollback=True):
        assert column(holder, "select message_id from howdah.receive('q')") == [sent]
        assert ids(db) == {sent}
    looker = connect()
    with looker.transaction():
        assert ids(looker) == {sent}
        assert one(looker, "select count(*) from howdah.count_matching('q')") == 1
        assert one(looker, "select id from howdah.show_message('q', %s)", (sent,)) == sent
        assert column(db, "select message_id from howdah.receive('q')") == [sent]


@pytest.mark.parametrize(
    "given",
    [
        "[]", '{"colour": "red"}', '{"state": "lost"}', '{"min_priority": 10}', '{"min_priority": "x"}',
        '{"sent_after": "soon"}', '{"header": "x"}', '{"body": 1}', '{"group": null}',
    ],
)  # fmt: skip
def test_a_filter_with_an_unknown_key_or_a_wrong_value_is_refused(db: Db, given: str) -> None:
    for call in ("find_messages('q', %s)", "count_matching('q', %s)", "act_on_matching('q', 'discard', %s, 'why')"):
        refused(db, "HD005", f"select howdah.{call}", (given,))


@pytest.mark.parametrize(
    "after", ["3", "{}", '{"place": 9, "rank": 1, "key": 1}', '{"place": 1, "rank": 1, "key": -7}']
)
def test_a_cursor_that_no_search_gave_is_refused(db: Db, after: str) -> None:
    refused(db, "HD005", "select howdah.find_messages('q', '{}', %s)", (after,))
    refused(
        db,
        "HD005",
        "select howdah.act_on_matching('q', 'park', '{}', 'why', options => jsonb_build_object('after', %s::jsonb))",
        (after,),
    )


LOOKS = (
    "select count(*) from howdah.find_messages('q')",
    "select count(*) from howdah.count_matching('q')",
    "select count(*) from howdah.show_message('q', 1)",
    "select count(*) from howdah.message_history('q', 1)",
)
ACTS = ("select howdah.act_on_matching('q', 'discard', '{}', 'why')", "select howdah.set_redaction('>', '$')")


def test_a_browser_looks_and_a_producer_does_not_and_neither_acts(db: Db, connect: Connect) -> None:
    browser, producer = connect("howdah_browser"), connect("howdah_producer")
    for look in LOOKS:
        one(browser, look)
        refused(producer, "42501", look)
    for act in (*ACTS, "select howdah.drop_redaction('>', '$')"):
        refused(browser, "42501", act)
        refused(producer, "42501", act)


def test_another_teams_queue_is_refused(db: Db, connect: Connect) -> None:
    for verb, holder in db.execute("select verb, role from howdah.list_grants('q') order by verb = 'admin'").fetchall():
        one(db, "select howdah.revoke_queue('q', %s, %s)", (verb, holder))
    for look in LOOKS:
        refused(connect("howdah_browser"), "HD010", look)
    refused(connect("howdah_admin"), "HD010", ACTS[0])


SECRET = {"name": "Ada", "card": {"number": "4111", "month": 3}, "people": [{"pin": "9876"}, {"pin": "5432"}]}


def test_what_a_rule_hides_leaves_the_server_neither_by_a_look_nor_by_a_guess(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card.number', 'PCI')")
    one(db, "select howdah.set_redaction('>', '$.people[*].pin')")
    sent = send(db, SECRET)
    hidden = {"name": "Ada", "card": {"number": "[redacted]", "month": 3}, "people": [{"pin": "[redacted]"}] * 2}
    for viewer in (db, connect("howdah_browser")):
        assert json.loads(one(viewer, "select body from howdah.show_message('q', %s)", (sent,))) == hidden
        assert json.loads(pages(viewer, {})[0][0][7]) == hidden
        for guess in ("4111", "9876", "411"):
            assert ids(viewer, body=guess) == set()
            assert (
                one(viewer, "select matching from howdah.count_matching('q', %s)", (json.dumps({"body": guess}),)) == 0
            )
        assert ids(viewer, body="Ada") == {sent}


def test_the_older_looks_show_redacted_bodies_to_those_who_only_browse(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    sent = send(db, SECRET)
    looks = (
        "select body from howdah.browse('q')",
        f"select (message).body from howdah.poison_message({sent})",
    )
    for look in looks:
        assert "4111" not in one(connect("howdah_browser"), look)
        assert "4111" in one(connect("howdah_consumer"), look)
        assert "4111" in one(db, look)
    assert one(connect("howdah_auditor"), "select msg from howdah.activemq_msgs where container = 'queue://q'") is None
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.set_redaction('t', '$.card')")
    one(db, "select howdah.send('t', %s::jsonb)", (json.dumps(SECRET),))
    assert not any(
        "4111" in body for body in column(connect("howdah_browser"), "select body from howdah.topic_history('t')")
    )


@pytest.mark.parametrize(
    ("kind", "body"),
    [("text", "4111"), ("text", '"4111"'), ("text", '{"card": "4111"'), ("bytea", b'{"card": "4111"}')],
)
def test_where_a_rule_matches_a_body_that_is_no_json_object_is_hidden_whole(
    db: Db, connect: Connect, kind: str, body: Any
) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    sent = one(db, f"select howdah.send('q', %s::{kind})", (body,))
    assert one(db, "select body from howdah.show_message('q', %s)", (sent,)) == "[redacted]"
    shown = db.execute("select body, bytes from howdah.browse('q')").fetchall()
    assert shown[0][0 if kind == "text" else 1] == body
    seen = connect("howdah_browser").execute("select body, bytes from howdah.browse('q')").fetchall()
    assert seen == [("[redacted]", None) if kind == "text" else (None, b"[redacted]")]


def test_redaction_rules_are_listed_dropped_and_on_record(db: Db) -> None:
    assert one(db, "select howdah.set_redaction('a.*', '$.x', 'one')") is True
    assert one(db, "select howdah.set_redaction('a.*', '$.x', 'two')") is False
    user = one(db, "select current_user")
    rules = "select pattern, path, reason, set_by from howdah.list_redactions()"
    assert db.execute(rules.encode()).fetchall() == [("a.*", "$.x", "two", user)]
    assert one(db, "select howdah.drop_redaction('a.*', '$.x', 'over')") is True
    assert one(db, "select howdah.drop_redaction('a.*', '$.x')") is False
    changes = db.execute("select act, actor, name, reason from howdah.list_changes('redaction')").fetchall()
    made = [("dropped", "over"), ("altered", "two"), ("created", "one")]
    assert changes == [(act, user, "a.* $.x", reason) for act, reason in made]
    refused(db, "HD003", "select howdah.set_redaction('a b', '$')")
    for path in ("card", "$..card", "$.a b", "$." + secrets.token_hex(5000), "", None):
        refused(db, "HD005", "select howdah.set_redaction('q', %s)", (path,))


def test_messages_in_other_hands_are_left_and_counted(db: Db, connect: Connect) -> None:
    one(db, "select howdah.send('q', 'leased', priority => 9)")
    one(db, "select count(*) from howdah.lease('q')")
    held, free = send(db), send(db)
    holder = connect()
    with holder.transaction():
        assert column(holder, "select message_id from howdah.receive('q')") == [held]
        done = db.execute("select done, passed, complete from howdah.act_on_matching('q', 'discard', '{}', 'why')")
        assert done.fetchall() == [(1, 2, True)]
        assert one(db, "select message_ids from howdah.list_acts('q')") == [free]
    assert one(db, "select count(*) from howdah.list_leases('q')") == 1


def test_dead_messages_are_replayed_by_their_cause_and_none_without_a_home(db: Db) -> None:
    one(db, """select howdah.create_queue('gone', '{"max_failed_deliveries": 1}')""")
    disk, other = send(db), send(db)
    lost = one(db, "select howdah.send('gone', 'x')")
    fail(db, disk, error_text="disk full")
    fail(db, other, error_text="no order")
    deliver_and_fail(db, "gone", error_text="disk full")
    one(db, "select howdah.drop_queue('gone')")
    cause = column(db, "select last_fingerprint from howdah.list_poison() where message_id = %s", (disk,))[0]
    filter = json.dumps({"cause": cause})
    assert one(db, "select matching from howdah.count_matching(%s, %s)", (SYSTEM, filter)) == 2
    done = db.execute("select done, passed from howdah.act_on_matching(%s, 'replay', %s, 'why')", (SYSTEM, filter))
    assert done.fetchall() == [(1, 1)]
    assert ids(db) == {disk}
    assert set(column(db, "select message_id from howdah.list_poison()")) == {other, lost}


@pytest.mark.parametrize(
    "wrong",
    [
        "'burn', '{}', 'why'", "'discard', '{}', ' '", "'discard', '{}', null", "'discard', '{}', 'why', 0",
        "'move', '{}', 'why'", "'discard', '{}', 'why', 5, '{\"target\": \"q\"}'", "'discard', '{}', 'why', 5, '[]'",
    ],
)  # fmt: skip
def test_an_act_without_a_reason_or_with_a_wrong_option_is_refused(db: Db, wrong: str) -> None:
    send(db)
    refused(db, "HD005", f"select howdah.act_on_matching('q', {wrong})")
    assert len(ids(db)) == 1


def test_a_dead_message_and_one_of_a_subscription_stay_redacted(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    one(db, "select howdah.set_redaction('t', '$.card')")
    one(db, "select howdah.create_topic('t')")
    subscription = one(db, "select howdah.subscribe('t', 'c', 's')")
    one(db, "select howdah.send('t', %s::jsonb)", (json.dumps(SECRET),))
    dead = send(db, SECRET)
    assert fail(db, dead)[2] == "moved"
    browser = connect("howdah_browser")
    bodies = [
        one(browser, "select body from howdah.browse(%s)", (SYSTEM,)),
        one(browser, "select body from howdah.browse(%s)", (subscription,)),
        one(browser, "select (message).body from howdah.poison_message(%s)", (dead,)),
        one(browser, "select body from howdah.show_message(%s, %s)", (SYSTEM, dead)),
        column(browser, "select body from howdah.find_messages(%s)", (SYSTEM,))[0],
    ]
    assert [json.loads(body)["card"] for body in bodies] == ["[redacted]"] * 5
    guess = json.dumps({"body": "4111"})
    assert one(browser, "select matching from howdah.count_matching(%s, %s)", (SYSTEM, guess)) == 0


TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACED = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


def traced(db: Db, rows: int) -> tuple[list[tuple[Any, ...]], int]:
    """What names the trace, in pages of so many rows, and how many messages were looked at."""
    found: list[tuple[Any, ...]] = []
    looked, after = 0, None
    while True:
        *page, end = db.execute(
            "select message_id, queue_name, state, source, cursor, looked, complete"
            " from howdah.find_trace(%s, %s::jsonb, %s)",
            (TRACE, json.dumps(after) if after else None, rows),
        ).fetchall()
        assert len(page) <= 2 * rows
        found += [row[:4] for row in page]
        looked += end[5]
        after = end[4]
        if end[6]:
            assert after is None
            return found, looked


def test_messages_of_a_trace_are_found_in_all_queues_page_by_page(db: Db) -> None:
    one(db, "select howdah.create_queue('second')")
    one(db, "select howdah.create_queue('empty')")
    first = send(db, headers=TRACED)
    send(db)
    late = send(db, headers=TRACED, delay="1 h")
    leased = one(db, "select message_id from howdah.lease('q', 1, '1 h')")
    there = one(db, "select howdah.send('second', 'x', headers => %s)", (json.dumps(TRACED),))
    expected = {
        (first, "q", "leased", "header"),
        (late, "q", "delayed", "header"),
        (there, "second", "ready", "header"),
    }
    assert leased == first
    for rows in (1, 2, 3, 50):
        found, looked = traced(db, rows)
        assert set(found) == expected, rows
        assert len(found) == 3
        assert looked == 4
    assert ids(db, trace=TRACE) == {first, late}


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 50])
def test_a_page_of_a_trace_counts_failures_and_messages_together(db: Db, rows: int) -> None:
    failed = send(db)
    deliver_and_fail(db, details=Jsonb({"trace_id": TRACE}))
    sent = {send(db, headers=TRACED) for _ in range(2)}
    found, after, complete = [], None, False
    while not complete:
        *page, (*_, after, complete) = db.execute(
            "select message_id, source, cursor, complete from howdah.find_trace(%s, %s::jsonb, %s)",
            (TRACE, json.dumps(after) if after else None, rows),
        ).fetchall()
        assert len(page) <= rows
        found += [row[:2] for row in page]
    assert sorted(found) == sorted([(failed, "failure"), *((number, "header") for number in sent)])


def test_a_trace_is_found_only_where_the_caller_may_browse(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('secret')")
    here = send(db, headers=TRACED)
    hidden = one(db, "select howdah.send('secret', 'x', headers => %s)", (json.dumps(TRACED),))
    one(
        db,
        "select howdah.record_failure('secret', %s, 'E', 'x', details => %s)",
        (hidden, f'{{"trace_id": "{TRACE}"}}'),
    )
    reader = connect("howdah_browser")
    one(db, "select howdah.revoke_queue('secret', 'browse', 'howdah_browser')")
    assert [row[0] for row in traced(reader, 50)[0]] == [here]
    assert {row[0] for row in traced(db, 50)[0]} == {here, hidden}


@pytest.mark.parametrize("wrong", ["", "x", TRACE[:-1], TRACE + "0", None])
def test_what_is_no_trace_is_refused(db: Db, wrong: str | None) -> None:
    refused(db, "HD005", "select * from howdah.find_trace(%s)", (wrong,))
    if wrong is not None:
        refused(db, "HD005", FIND, (json.dumps({"trace": wrong}), None, 1))


@pytest.mark.parametrize("cursor", ['"x"', "[]", '{"queue": "x"}', '{"queue": 1, "place": 9}', '{"place": 1}'])
def test_a_cursor_that_no_search_for_a_trace_gave_is_refused(db: Db, cursor: str) -> None:
    refused(db, "HD005", "select * from howdah.find_trace(%s, %s::jsonb)", (TRACE, cursor))


def test_things_are_found_by_a_part_of_their_names_by_who_sees_them(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_topic('Shop.News')")
    one(db, "select howdah.subscribe('Shop.News', 'reader')")
    one(db, "select howdah.create_queue('shop.orders')")
    one(db, "select howdah.schedule('shop.orders', 'x', period => '1 hour', name => 'shop.nightly')")
    one(db, "select howdah.register_worker('shop-1', 'h', 1, 1, array['q'])")
    one(db, "select howdah.register_instance('shop-1', 'h', 1)")
    one(db, "select howdah.create_link('shop-link', 'shop.orders', 'there', dsn_env => 'HOWDAH_LINK_DSN')")
    found = "select kind, name, queue_name from howdah.find_names('SHOP')"
    everything = [
        ("instance", "shop-1", None),
        ("link", "shop-link", "shop.orders"),
        ("queue", "shop.orders", None),
        ("schedule", "shop.nightly", "shop.orders"),
        ("subscription", "Shop.News::reader", "Shop.News"),
        ("topic", "Shop.News", None),
        ("worker", "shop-1", None),
    ]
    assert db.execute(found).fetchall() == everything
    assert db.execute("select kind from howdah.find_names('', 1)").fetchall() == [(row[0],) for row in everything]
    reader = connect("howdah_browser")
    one(db, "select howdah.revoke_queue('shop.orders', 'browse', 'howdah_browser')")
    seen = [row for row in everything if "shop.orders" not in row]
    assert reader.execute(found).fetchall() == seen


def test_a_topics_message_stays_redacted_when_it_dies_in_a_subscription_or_waits_there(
    db: Db, connect: Connect
) -> None:
    one(db, "select howdah.set_redaction('news.eu', '$.card')")
    one(db, "select howdah.create_topic('news.eu')")
    for pattern in ("news.eu", "news.>"):
        subscription = one(db, "select howdah.subscribe(%s, 's')", (pattern,))
        one(db, "select howdah.alter_queue(%s, '{\"max_failed_deliveries\": 1}')", (subscription,))
        number = one(db, "select howdah.send('news.eu', %s::jsonb)", (json.dumps(SECRET),))
        assert fail(db, number, queue=subscription)[2] == "moved"
        browser = connect("howdah_browser")
        bodies = [
            one(browser, "select body from howdah.browse(%s)", (SYSTEM,)),
            one(browser, "select (message).body from howdah.poison_message(%s)", (number,)),
            one(browser, "select body from howdah.show_message(%s, %s)", (SYSTEM, number)),
            column(browser, "select body from howdah.find_messages(%s)", (SYSTEM,))[0],
        ]
        assert [json.loads(body)["card"] for body in bodies] == ["[redacted]"] * 4
        guess = json.dumps({"body": "4111"})
        assert one(browser, "select matching from howdah.count_matching(%s, %s)", (SYSTEM, guess)) == 0
        one(db, "select howdah.purge_queue(%s)", (SYSTEM,))
        one(db, "select howdah.unsubscribe(%s)", (subscription,))


def test_an_alias_shows_nothing_that_its_queue_hides(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    one(db, "select howdah.create_queue('other'), howdah.create_alias('short', 'q')")
    moved = one(db, "select howdah.send('other', %s::jsonb)", (json.dumps(SECRET),))
    one(db, "select howdah.move_messages('other', array[%s]::bigint[], 'q')", (moved,))
    send(db, SECRET)
    bodies = column(connect("howdah_browser"), "select body from howdah.browse('short')")
    assert [json.loads(body)["card"] for body in bodies] == ["[redacted]"] * 2
