"""What an operator does with messages that failed: every act whole or not at all, and on record."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from support import SYSTEM, Clock, Connect, Db, all_refused, column, deliver_and_fail, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def dead(db: Db, error: str = "broken", error_class: str = "ValueError", body: str = "x") -> int:
    """A message that died of an error in q."""
    sent: int = one(db, "select howdah.send('q', %s)", (body,))
    assert fail(db, sent, error_text=error, error_class=error_class)[2] == "moved"
    return sent


def acts(db: Db) -> list[tuple[Any, ...]]:
    """What operators did: act, queue, other queue, reason, actor, message; in order."""
    return db.execute(
        "select act, queue, other_queue, reason, actor, message_id from howdah.audit_acts order by act_id, message_id"
    ).fetchall()


def test_what_replays_by_fingerprint_is_what_the_cause_counts_as_dead(db: Db) -> None:
    orders = [dead(db, f"no order {number}") for number in range(3)]
    disk = dead(db, "disk full")
    cause, count = db.execute("select fingerprint, dead from howdah.poison_causes('q', max_causes => 1)").fetchall()[0]
    replay = "select howdah.replay(%s, fingerprint => %s)"
    assert one(db, replay, (SYSTEM, cause)) == count == 3
    assert [m.message_id for m in receive(db, n=9)] == orders
    assert one(db, replay, (SYSTEM, cause)) == 0
    assert column(db, "select message_id from howdah.list_poison()") == [disk]


def test_a_sample_of_those_that_a_filter_meets_is_replayed_the_longest_dead_first(db: Db, clock: Clock) -> None:
    ids = []
    for text in ("a", "b", "a", "a"):
        ids.append(dead(db, text, error_class=text.upper()))
        clock.advance(10)
    assert one(db, "select howdah.replay(%s, error_class => 'A', max_messages => 2)", (SYSTEM,)) == 2
    assert [m.message_id for m in receive(db, n=9)] == [ids[0], ids[2]]
    young = clock.now
    assert one(db, "select howdah.replay(%s, newer_than => %s)", (SYSTEM, young)) == 0
    assert one(db, "select howdah.replay(%s, older_than => %s, origin => 'q')", (SYSTEM, young)) == 2


def test_a_selector_chooses_what_is_listed_and_replayed_wherever_it_lies(db: Db) -> None:
    sent = []
    for number, region in enumerate(("EU", "US", "EU", "EU")):
        sent.append(
            one(db, "select howdah.send('q', 'x', headers => %s)", (f'{{"region": "{region}", "n": {number}}}',))
        )
        fail(db, sent[-1])
    one(db, "select howdah.park_messages(%s, array[%s]::bigint[], delay => interval '1 day')", (SYSTEM, sent[2]))
    chosen = "region = 'EU' and n < 3"
    assert column(db, "select message_id from howdah.list_poison(selector => %s)", (chosen,)) == [sent[0], sent[2]]
    assert one(db, "select howdah.replay(%s, selector => %s)", (SYSTEM, chosen)) == 2
    assert one(db, "select howdah.replay(%s, selector => %s)", (SYSTEM, chosen)) == 0
    assert {m.message_id for m in receive(db, n=9)} == {sent[0], sent[2]}
    refused(db, "HD023", "select howdah.replay(%s, selector => 'region =')", (SYSTEM,))
    refused(db, "HD005", "select howdah.replay(%s, array[1]::bigint[], selector => 'true')", (SYSTEM,))
    assert one(db, "select count(*) from howdah.list_poison()") == 2


@pytest.mark.first_case
@pytest.mark.parametrize("discard", [False, True])
def test_an_edited_copy_goes_to_the_origin_and_names_the_original(db: Db, discard: bool) -> None:
    sent = one(
        db,
        "select howdah.send('q', '{\"n\": 1}'::jsonb, headers => '{\"a\": 1, \"b\": 2}',"
        " correlation_id => 'c', priority => 7,"
        " message_type => 't', reply_to => 'r')",
    )
    deliver_and_fail(db)
    copy = one(
        db,
        "select howdah.replay_edited(%s, %s, body => '{\"n\": 2}', headers => '{\"a\": 3}', discard => %s)",
        (SYSTEM, sent, discard),
    )
    (message,) = receive(db)
    assert copy != sent
    assert (message.message_id, message.body, message.headers) == (
        copy, '{"n": 2}', {"a": 3, "howdah_edited_from": sent}
    )  # fmt: skip
    assert (message.correlation_id, message.priority, message.message_type, message.reply_to) == ("c", 7, "t", "r")
    assert (message.delivery_count, message.stage, message.origin_queue, message.content_type) == (
        1, 0, None, "application/json"
    )  # fmt: skip
    assert column(db, "select message_id from howdah.list_poison()") == ([] if discard else [sent])
    done = [row[0] for row in acts(db)]
    assert done == (["discarded", "edited", "edited"] if discard else ["edited", "edited"])


def test_what_is_not_edited_stays_and_each_call_makes_another_copy(db: Db) -> None:
    sent = one(
        db, "select howdah.send('q', '\\x00ff'::bytea, headers => '{\"a\": 1}', delivery_mode => 'non-persistent')"
    )
    fail(db, sent)
    edit = "select howdah.replay_edited(%s, %s, target => 'aside')"
    copies = [one(db, edit, (SYSTEM, sent)) for _ in range(2)]
    found = receive(db, "aside", n=9)
    assert [m.message_id for m in found] == copies
    assert {(m.bytes, m.headers["a"], m.delivery_mode) for m in found} == {(b"\x00\xff", 1, "non-persistent")}
    assert one(db, "select howdah.replay_edited(%s, %s, bytes => '\\x01')", (SYSTEM, sent))
    assert receive(db)[0].bytes == b"\x01"


@pytest.mark.behaviour("WAS-04")
def test_a_moved_message_remembers_its_origin_and_replay_sends_it_home(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 3}')""")
    sent = one(db, "select howdah.send('q', 'x', headers => '{\"a\": 1}', correlation_id => 'c', priority => 7)")
    fail(db, sent)
    everywhere = "select array_agg(message_id) from howdah.audit_messages"

    def content(queue: str) -> tuple[Any, ...]:
        (m,) = receive(db, queue, verb="browse")
        return m.message_id, m.body, m.headers, m.correlation_id, m.priority, m.sent_at, m.content_type

    before = content("q")
    assert one(db, "select howdah.move_messages('q', %s, 'aside', 'look at it')", ([sent, sent],)) == 1
    (message,) = receive(db, "aside", verb="browse")
    assert (message.origin_queue, message.dead_at, message.delivery_count) == ("q", None, 1)
    assert (content("aside"), one(db, everywhere)) == (before, [sent])
    refused(db, "HD013", "select howdah.move_messages('q', %s, 'aside')", ([sent],))
    assert one(db, "select howdah.replay('aside')") == 1
    assert (content("q"), one(db, everywhere)) == (before, [sent])
    (message,) = receive(db)
    assert (message.origin_queue, message.stage, message.delivery_count) == (None, 2, 1)


def test_a_dead_message_moved_on_keeps_its_evidence_and_moved_to_its_origin_is_as_before(db: Db) -> None:
    sent = dead(db, "broken")
    (before,) = receive(db, SYSTEM, verb="browse")
    one(db, "select howdah.move_messages(%s, %s, 'aside', 'see ticket 7')", (SYSTEM, [sent]))
    (message,) = receive(db, "aside", verb="browse")
    assert (message.dead_at, message.origin_queue) == (before.dead_at, "q")
    assert message.dead_reason is not None
    assert message.dead_reason.startswith("failed deliveries reached the limit; moved by ")
    assert message.dead_reason.endswith(": see ticket 7")
    assert one(db, "select count(*) from howdah.incidents('q', %s)", (sent,)) == 1
    one(db, "select howdah.move_messages('aside', %s, 'q')", ([sent],))
    (message,) = receive(db)
    assert (message.dead_at, message.dead_reason, message.origin_queue) == (None, None, None)


def test_a_message_moved_to_the_systems_exception_destination_is_dead(db: Db) -> None:
    sent = one(db, "select howdah.send('q', 'x', time_to_live => '1 h')")
    one(db, "select howdah.move_messages('q', %s, %s)", ([sent], SYSTEM))
    assert column(db, "select message_id from howdah.list_poison()") == [sent]
    assert column(db, "select expires_at from howdah.audit_messages") == [None]


def test_the_journal_of_a_move_adds_up_in_both_queues(db: Db) -> None:
    ids = [
        one(db, "select howdah.send('q', 'x', delivery_mode => %s)", (mode,))
        for mode in ("persistent", "non-persistent")
    ]
    one(db, "select howdah.move_messages('q', %s, 'aside')", (ids,))
    figures = "select moved_out, moved_in, live, enqueued - dequeued from howdah.queue_stats(%s)"
    assert db.execute(figures.encode(), ("q",)).fetchall() == [(2, 0, 0, 0)]
    assert db.execute(figures.encode(), ("aside",)).fetchall() == [(0, 2, 2, 2)]


def test_a_parked_message_waits_for_its_time_or_for_the_operator(db: Db, clock: Clock) -> None:
    ids = one(db, "select howdah.send_batch('q', array['a', 'b', 'c', 'd'])")
    assert one(db, "select howdah.park_messages('q', %s, delay => '1 h')", (ids[:1],)) == 1
    assert one(db, "select howdah.park_messages('q', %s, until => %s)", (ids[1:2], clock.now.replace(year=2100))) == 1
    assert one(db, "select howdah.park_messages('q', %s, reason => 'wait for a fix')", (ids[2:3],)) == 1
    assert [m.body for m in receive(db, n=9)] == ["d"]
    clock.advance(3600)
    assert [m.body for m in receive(db, n=9)] == ["a"]
    assert one(db, "select howdah.park_messages('q', %s, delay => '1 s')", (ids[1:2],)) == 1
    clock.advance(1)
    assert [m.body for m in receive(db, n=9)] == ["b"]
    clock.advance(86400 * 365 * 50)
    assert receive(db, n=9) == []
    assert one(db, "select parked_reason from howdah.poison_message(%s)", (ids[2],)) == "operator"
    assert one(db, "select howdah.retry('q', %s)", (ids[2:3],)) == 1
    assert [m.body for m in receive(db, n=9)] == ["c"]


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_released_message_is_received_in_its_old_place(db: Db, mode: str) -> None:
    ids = [one(db, "select howdah.send('q', %s, delivery_mode => %s)", (body, mode)) for body in "abcdef"]
    one(db, "select howdah.park_messages('q', %s)", (ids[1:3],))
    assert [m.body for m in receive(db, n=2)] == ["a", "d"]
    assert one(db, "select howdah.retry('q')") == 2
    assert [m.body for m in receive(db, n=9)] == ["b", "c", "e", "f"]
    assert one(db, "select howdah.retry('q')") == 0


def test_delayed_and_blocked_messages_are_released_at_once_and_go_on_counting(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('b', '{"max_failed_deliveries": 1, "exception_mode": "none"}')""")
    blocked = one(db, "select howdah.send('b', 'blocked')")
    assert deliver_and_fail(db, "b") == (1, "blocked")
    delayed = one(db, "select howdah.send('b', 'delayed', delay => '1 h')")
    assert receive(db, "b") == []
    assert one(db, "select howdah.retry('b', %s)", ([blocked, delayed],)) == 2
    assert [(m.body, m.delivery_count) for m in receive(db, "b", n=9)] == [("blocked", 2), ("delayed", 1)]


def test_every_act_is_recorded_with_the_role_that_did_it_and_traffic_is_not(db: Db, connect: Connect) -> None:
    one(db, """select howdah.alter_queue('q', '{"journal_level": "off"}')""")
    first, second, third, fourth = (dead(db) for _ in range(4))
    assert receive(db) == []
    assert acts(db) == []
    admin = connect("howdah_admin")
    one(admin, "select howdah.replay(%s, %s, reason => 'mended')", (SYSTEM, [first]))
    copy = one(admin, "select howdah.replay_edited(%s, %s, body => 'y')", (SYSTEM, second))
    one(admin, "select howdah.park_messages(%s, %s, reason => 'later')", (SYSTEM, [third]))
    one(admin, "select howdah.retry(%s, %s)", (SYSTEM, [third]))
    one(admin, "select howdah.move_messages(%s, %s, 'aside', 'for Ann')", (SYSTEM, [third]))
    one(admin, "select howdah.discard(%s, %s, 'useless')", (SYSTEM, [fourth]))
    one(admin, "select howdah.purge_queue('aside')")
    assert [(*row[:4], row[5]) for row in acts(db)] == [
        ("replayed", SYSTEM, "q", "mended", first),
        ("edited", SYSTEM, "q", None, second),
        ("edited", SYSTEM, "q", None, copy),
        ("parked", SYSTEM, None, "later", third),
        ("retried", SYSTEM, None, None, third),
        ("moved", SYSTEM, "aside", "for Ann", third),
        ("discarded", SYSTEM, None, "useless", fourth),
        ("purged", "aside", None, "purged", third),
    ]
    assert {row[4] for row in acts(db)} == {"howdah_admin"}
    listed = "select act from howdah.list_acts({})"
    assert column(admin, listed.format("'aside'")) == ["purged"]
    assert column(connect("howdah_auditor"), listed.format("message_id => %s"), (copy,)) == ["edited"]
    assert column(db, listed.format("before_act => 3")) == ["edited", "replayed"]
    refused(connect("howdah_consumer"), "42501", listed.format(""))
    refused(db, "HD005", listed.format("max_acts => 0"))
    refused(db, "HD001", listed.format("'none'"))


VERBS = [
    "howdah.replay({queue}, {ids})",
    "howdah.replay_edited({queue}, {first})",
    "howdah.move_messages({queue}, {ids}, 'aside')",
    "howdah.park_messages({queue}, {ids})",
    "howdah.retry({queue}, {ids})",
    "howdah.discard({queue}, {ids})",
]


def call(verb: str, *ids: int, queue: str = SYSTEM) -> str:
    """An operator's act on messages as SQL."""
    return "select " + verb.format(queue=f"'{queue}'", ids=f"'{{{','.join(map(str, ids))}}}'::bigint[]", first=ids[0])


@pytest.mark.parametrize("verb", VERBS)
def test_an_act_needs_the_administrators_role_and_right(db: Db, connect: Connect, verb: str) -> None:
    sent = dead(db)
    for role in ("howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor"):
        refused(connect(role), "42501", call(verb, sent))
    admin = connect("howdah_admin")
    db.execute("delete from howdah.destination_grants where verb = 'admin' and destination_id ="
               " (select id from howdah.destinations where name = %s)", (SYSTEM,))  # fmt: skip
    said = refused(admin, "HD010", call(verb, sent))
    assert said.message_hint
    assert acts(db) == []


def test_moving_and_replaying_need_the_right_at_the_target_too(db: Db, connect: Connect) -> None:
    sent = dead(db)
    admin = connect("howdah_admin")
    db.execute("delete from howdah.destination_grants where verb = 'admin' and destination_id ="
               " (select id from howdah.destinations where name = 'aside')")  # fmt: skip
    for verb in ("replay({0}, {1}, 'aside')", "move_messages({0}, {1}, 'aside')"):
        refused(admin, "HD010", "select howdah." + verb.format(f"'{SYSTEM}'", f"'{{{sent}}}'::bigint[]"))
    refused(admin, "HD010", "select howdah.replay_edited(%s, %s, target => 'aside')", (SYSTEM, sent))


@pytest.mark.parametrize("verb", VERBS)
def test_what_another_transaction_holds_is_refused_at_once_and_nothing_is_half_done(
    db: Db, connect: Connect, verb: str
) -> None:
    ids = [dead(db) for _ in range(2)]
    if "retry" in verb:
        one(db, "select howdah.park_messages(%s, %s)", (SYSTEM, ids))
    one_operator, other = connect("howdah_admin"), connect("howdah_admin")
    other.execute("set statement_timeout = '20s'")
    with one_operator.transaction():
        one(one_operator, call(verb, ids[0]))
        refused(other, "HD013", call(verb, ids[0]))
        if "{ids}" in verb:
            refused(other, "HD013", call(verb, *reversed(ids)))
    assert {row[5] for row in acts(db)} & set(ids) == ({*ids} if "retry" in verb else {ids[0]})
    assert one(db, "select count(*) from howdah.audit_messages where message_id = %s", (ids[1],)) == 1


@pytest.mark.parametrize("verb", [verb for verb in VERBS if "edited" not in verb and "park" not in verb])
def test_a_second_call_finds_nothing_to_do(db: Db, verb: str) -> None:
    sent = dead(db)
    if "retry" in verb:
        one(db, "select howdah.park_messages(%s, %s)", (SYSTEM, [sent]))
    assert one(db, call(verb, sent)) == 1
    refused(db, "HD013", call(verb, sent))


def test_bad_input_is_refused_before_anything_is_written(db: Db) -> None:
    ids = [dead(db), dead(db)]
    alive = one(db, "select howdah.send('q', 'x')")
    lost = one(db, "select howdah.send('aside', 'x')")
    one(db, """select howdah.create_queue('small', '{"max_message_bytes": 3}')""")
    one(db, "select howdah.create_queue('shut')")
    one(db, "select howdah.pause('shut')")
    cases = [(code, call(verb, *wrong)) for verb in VERBS if "{ids}" in verb
             for code, wrong in (("HD013", (ids[0], 999999)), ("HD013", (alive,)))]  # fmt: skip
    cases += [("HD001", call(verb, ids[0], queue="none")) for verb in VERBS]
    all_refused(
        db,
        [
            *cases,
            ("HD001", f"select howdah.move_messages('{SYSTEM}', '{{{ids[0]}}}', 'none')"),
            ("HD001", f"select howdah.move_messages('{SYSTEM}', '{{{ids[0]}}}', null)"),
            ("HD005", f"select howdah.move_messages('{SYSTEM}', '{{{ids[0]}}}', '{SYSTEM}')"),
            ("HD005", f"select howdah.move_messages('{SYSTEM}', null, 'q')"),
            ("HD013", f"select howdah.move_messages('{SYSTEM}', '{{null}}', 'q')"),
            ("HD005", f"select howdah.replay('{SYSTEM}', '{{{ids[0]}}}', '{SYSTEM}')"),
            ("HD005", f"select howdah.replay('{SYSTEM}', '{{{ids[0]}}}', error_class => 'ValueError')"),
            ("HD001", f"select howdah.replay('{SYSTEM}', origin => 'none')"),
            ("HD005", f"select howdah.park_messages('{SYSTEM}', null)"),
            ("HD005", f"select howdah.park_messages('{SYSTEM}', '{{{ids[0]}}}', delay => '-1 s')"),
            ("HD005", f"select howdah.park_messages('{SYSTEM}', '{{{ids[0]}}}', delay => '101 years')"),
            ("HD005", f"select howdah.park_messages('{SYSTEM}', '{{{ids[0]}}}', until => '2000-01-01')"),
            ("HD005", f"select howdah.park_messages('{SYSTEM}', '{{{ids[0]}}}', until => 'infinity')"),
            ("HD005", f"select howdah.park_messages('{SYSTEM}', '{{{ids[0]}}}', '2100-01-01', '1 h')"),
            ("HD013", f"select howdah.retry('{SYSTEM}', '{{{ids[0]}, null}}')"),
            ("HD005", f"select howdah.replay_edited('{SYSTEM}', {ids[0]}, body => 'x', bytes => 'x')"),
            ("HD005", f"select howdah.replay_edited('{SYSTEM}', {ids[0]}, headers => '[]')"),
            ("HD005", f"select howdah.replay_edited('{SYSTEM}', {ids[0]}, content_type => '', discard => true)"),
            ("HD007", f"select howdah.replay_edited('{SYSTEM}', {ids[0]}, body => 'long', target => 'small')"),
            ("HD008", f"select howdah.replay_edited('{SYSTEM}', {ids[0]}, target => 'shut', discard => true)"),
            ("HD013", f"select howdah.replay_edited('{SYSTEM}', null)"),
            ("HD013", f"select howdah.replay_edited('{SYSTEM}', {alive})"),
            ("HD001", f"select howdah.replay_edited('aside', {lost})"),
            ("HD001", "select * from howdah.list_poison('none')"),
            ("HD001", "select * from howdah.list_poison(origin => 'none')"),
            ("HD005", "select * from howdah.list_poison(max_rows => 0)"),
            ("HD005", "select * from howdah.poison_causes(max_causes => null)"),
            ("HD005", "select * from howdah.poison_causes(max_failures => 0)"),
            ("HD001", "select * from howdah.poison_causes('none')"),
            ("HD005", "select * from howdah.list_poison_queues(max_dead => null)"),
            ("HD001", "select * from howdah.list_poison_queues(origin => 'none')"),
            ("HD001", f"select * from howdah.poison_message({alive}, 'none')"),
        ],
    )


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_consumer_has_in_hand_is_refused_to_operators(db: Db, connect: Connect, verb: str) -> None:
    sent = dead(db)
    consumer = connect()
    with consumer.transaction(force_rollback=True):
        assert [m.message_id for m in receive(consumer, SYSTEM)] == [sent]
        refused(db, "HD013", call(verb, sent))
    assert acts(db) == []
    assert column(db, "select message_id from howdah.list_poison()") == [sent]


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_a_backend_that_dies_in_the_middle_of_an_act_leaves_everything_as_it_was(
    db: Db, connect: Connect, verb: str
) -> None:
    sent = dead(db)
    if "retry" in verb:
        one(db, "select howdah.park_messages(%s, %s)", (SYSTEM, [sent]))
    tables = "select array_agg(m::text) from howdah.audit_messages m", "select count(*) from howdah.audit_acts"
    before = [one(db, query) for query in tables]
    operator = connect()
    operator.execute("begin")
    one(operator, call(verb, sent))
    one(db, "select pg_terminate_backend(%s, 10000)", (operator.info.backend_pid,))
    assert [one(db, query) for query in tables] == before
    assert one(db, call(verb, sent))


def test_of_two_operators_who_replay_the_same_messages_at_once_one_does(db: Db, connect: Connect) -> None:
    ids = [dead(db) for _ in range(30)]
    together = threading.Barrier(2)
    codes = set()

    def replay_each(operator: Db) -> list[int]:
        done = []
        for sent in ids:
            together.wait(20)
            try:
                done += [sent] * one(operator, "select howdah.replay(%s, %s)", (SYSTEM, [sent]))
            except psycopg.Error as error:
                codes.add(error.sqlstate)
        return done

    operators = [connect(), connect()]
    with ThreadPoolExecutor(2) as pool:
        done = [sent for found in pool.map(replay_each, operators) for sent in found]
    assert sorted(done) == ids
    assert sorted(m.message_id for m in receive(db, n=99)) == ids
    assert (len(acts(db)), codes) == (30, {"HD013"})


def test_releasing_all_leaves_what_was_sent_with_a_delay(db: Db, clock: Clock) -> None:
    later = one(db, "select howdah.send('q', 'later', delay => '1 h')")
    aside = one(db, "select howdah.send('q', 'aside')")
    one(db, "select howdah.park_messages('q', %s)", ([aside],))
    assert one(db, "select howdah.retry('q')") == 1
    assert [m.message_id for m in receive(db, n=9)] == [aside]
    clock.advance(3600)
    assert [m.message_id for m in receive(db, n=9)] == [later]


BULK = {
    "replayed": "replay({queue}, {chosen}, max_messages => {most}, dry_run => {dry})",
    "moved": "move_messages({queue}, target => 'aside', {chosen}, max_messages => {most}, dry_run => {dry})",
    "discarded": "discard({queue}, {chosen}, max_messages => {most}, dry_run => {dry})",
}


def bulk(db: Db, act: str, chosen: str, *, most: str = "null", dry: bool = False) -> int:
    """Act on the dead messages of the system's exception destination that a filter, or a list of numbers, meets."""
    found: int = one(db, "select howdah." + BULK[act].format(queue=f"'{SYSTEM}'", chosen=chosen, most=most, dry=dry))
    return found


@pytest.mark.first_case
@pytest.mark.parametrize("act", BULK)
def test_the_filters_of_list_poison_choose_what_is_replayed_moved_or_discarded(db: Db, clock: Clock, act: str) -> None:
    ids = []
    for number, error_class in enumerate(("A", "B", "A", "A", "A")):
        ids.append(one(db, "select howdah.send('q', 'x', headers => jsonb_build_object('n', %s::int))", (number,)))
        fail(db, ids[-1], error_text="broken", error_class=error_class)
        clock.advance(60)
    filters = f"error_class => 'A', origin => 'q', older_than => '{clock.now}', selector => 'n < 4'"
    assert bulk(db, act, filters, dry=True) == 3
    assert bulk(db, act, filters, most="2", dry=True) == 2
    assert column(db, "select message_id from howdah.list_poison()") == ids
    assert acts(db) == []
    assert bulk(db, act, filters, most="2") == 2
    assert column(db, "select message_id from howdah.list_poison()") == [ids[1], ids[3], ids[4]]
    assert [(row[0], row[5]) for row in acts(db)] == [(act, ids[0]), (act, ids[2])]
    assert (
        bulk(db, act, "fingerprint => (select fingerprint from howdah.poison_causes() order by dead desc limit 1)") == 2
    )
    assert bulk(db, act, "error_class => 'none'") == 0


@pytest.mark.parametrize("act", BULK)
def test_a_dry_run_says_what_the_act_would_say(db: Db, connect: Connect, act: str) -> None:
    ids = [dead(db), dead(db)]
    assert bulk(db, act, f"message_ids => array[{ids[0]}]", dry=True) == 1
    call = BULK[act].format(queue=f"'{SYSTEM}'", chosen="message_ids => array[1, 2]", most="null", dry=True)
    assert refused(db, "HD013", f"select howdah.{call}").message_primary
    refused(connect("howdah_consumer"), "42501", f"select howdah.{call}")
    assert len(column(db, "select message_id from howdah.list_poison()")) == 2
    if act == "replayed":
        one(db, "select howdah.drop_queue('q', true)")
        refused(db, "HD001", f"select howdah.replay('{SYSTEM}', dry_run => true)")
        assert one(db, f"select howdah.replay('{SYSTEM}', target => 'aside', dry_run => true)") == 2


def test_moving_and_discarding_in_bulk_need_a_choice(db: Db) -> None:
    sent = dead(db)
    all_refused(
        db,
        [
            ("HD005", f"select howdah.discard('{SYSTEM}')"),
            ("HD005", f"select howdah.discard('{SYSTEM}', '{{{sent}}}', origin => 'q')"),
            ("HD005", f"select howdah.discard('{SYSTEM}', origin => 'q', max_messages => -1)"),
            ("HD001", f"select howdah.discard('{SYSTEM}', origin => 'none')"),
            ("HD023", f"select howdah.discard('{SYSTEM}', selector => 'a =')"),
            ("HD005", f"select howdah.move_messages('{SYSTEM}', target => 'aside')"),
            ("HD005", f"select howdah.move_messages('{SYSTEM}', '{{{sent}}}', 'aside', origin => 'q')"),
            ("HD001", f"select howdah.move_messages('{SYSTEM}', origin => 'q')"),
            ("HD005", "select howdah.move_all('q', 'q')"),
            ("HD005", "select howdah.move_all('q', 'aside', -1)"),
            ("HD001", "select howdah.move_all('q', 'none')"),
        ],
    )


def test_moving_all_takes_live_parked_and_nonpersistent_messages_and_leaves_what_is_in_hand(
    db: Db, connect: Connect
) -> None:
    sent = [one(db, "select howdah.send('q', %s)", (body,)) for body in "abc"]
    later = one(db, "select howdah.send('q', 'd', delay => interval '1 hour')")
    light = one(db, "select howdah.send('q', 'e', priority => 1, delivery_mode => 'non-persistent')")
    consumer = connect("howdah_consumer")
    with consumer.transaction():
        (held,) = receive(consumer, n=1)
        assert one(db, "select howdah.move_all('q', 'aside', 2, dry_run => true)") == 2
        assert one(db, "select howdah.move_all('q', 'aside', reason => 'a new home')") == 4
    assert held.message_id == sent[0]
    moved = column(db, "select message_id from howdah.browse('aside', 9) order by 1")
    assert moved == sorted([*sent[1:], later, light])
    assert set(column(db, "select origin_queue from howdah.browse('aside', 9)")) == {"q"}
    assert {row[:4] for row in acts(db)} == {("moved", "q", "aside", "a new home")}
    assert one(db, "select howdah.move_all('q', 'aside')") == 0


def test_what_waits_after_a_failure_is_listed_with_what_was_sent_with_a_delay(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('slow', '{"redelivery_delay_ms": 60000}')""")
    failed = one(db, "select howdah.send('slow', 'x')")
    one(db, "select howdah.record_failure('slow', %s)", (failed,))
    aside = one(db, "select howdah.send('slow', 'x')")
    one(db, "select howdah.park_messages('slow', array[%s]::bigint[], delay => interval '2 minutes')", (aside,))
    later = one(db, "select howdah.send('slow', 'x', delay => interval '3 minutes')")
    listed = "select message_id, reason from howdah.list_delayed('slow')"
    assert db.execute(listed).fetchall() == [(failed, "redelivery"), (aside, "operator"), (later, "delay")]
    refused(db, "HD013", "select howdah.cancel_delayed('slow', array[%s]::bigint[])", (failed,))
    clock.advance(61)
    assert db.execute(listed).fetchall() == [(aside, "operator"), (later, "delay")]


def test_a_message_sent_by_hand_is_an_act_with_its_reason(db: Db, connect: Connect) -> None:
    producer = connect("howdah_producer")
    send = "select howdah.send_by_hand(%s, 'hello', '{\"a\": 1}', 7, '1 hour', reason => 'to try')"
    sent: int = one(producer, send, ("q",))
    (waits,) = db.execute("select message_id, headers, priority, reason from howdah.list_delayed('q')").fetchall()
    assert waits == (sent, {"a": 1}, 7, "delay")
    one(db, "select howdah.create_topic('news'), howdah.subscribe('news', 'reader')")
    published: int = one(db, "select howdah.send_by_hand('news', 'told')")
    assert acts(db) == [
        ("sent", "q", None, "to try", "howdah_producer", sent),
        ("sent", "news", None, None, one(db, "select session_user::text"), published),
    ]


def test_what_may_not_be_sent_is_no_act_either(db: Db, connect: Connect) -> None:
    refused(connect("howdah_consumer"), "42501", "select howdah.send_by_hand('q', 'x')")
    refused(db, "HD001", "select howdah.send_by_hand('none', 'x')")
    refused(db, "HD005", "select howdah.send_by_hand('q', null)")
    one(db, "select howdah.pause('q')")
    refused(db, "HD008", "select howdah.send_by_hand('q', 'x', reason => 'try')")
    assert acts(db) == []


def test_what_is_paused_and_resumed_is_an_act_and_a_change_and_stands_once_in_the_list_of_both(db: Db) -> None:
    db.execute("set howdah.reason = 'night'")
    one(db, "select howdah.create_link('away', 'q', 'there', service => 'other')")
    number = one(db, "select howdah.schedule('q', 'x'::text, period => '1 hour', name => 'hourly')")
    for act in ("pause('q')", "pause('q')", "pause_link('away')", "resume_link('away')", "resume_link('away')"):
        one(db, f"select howdah.{act}")
    one(db, "select howdah.resume('q', receiving => false)")
    for act in ("pause", "resume", "cancel"):
        one(db, f"select howdah.{act}_schedule(%s)", (number,))
    made = db.execute("select act, queue_name, reason, message_ids from howdah.list_acts() order by act_id").fetchall()
    assert made == [
        ("paused", "q", "night", []),
        ("paused", "q", "link away: night", []),
        ("resumed", "q", "link away: night", []),
        ("resumed", "q", "sending: night", []),
        *(("paused", "q", "schedule hourly: night", []), ("resumed", "q", "schedule hourly: night", [])),
        ("cancelled", "q", "schedule hourly: night", []),
    ]
    listed = "select kind, act from howdah.list_changes() where change_id is null or kind in ('link', 'schedule')"
    assert column(db, "select act_id from howdah.list_changes() where act_id is not null") == []
    assert db.execute(listed).fetchall()[::-1] == [
        *(("link", "created"), ("schedule", "created"), ("link", "altered"), ("link", "altered")),
        *(("schedule", "altered"), ("schedule", "altered"), ("schedule", "dropped")),
    ]
    assert one(db, "select count(*)::int from howdah.audit_acts") == 0, "no operation on messages"


def test_a_queue_that_failures_disabled_and_an_operator_resumes_is_an_act(db: Db) -> None:
    one(db, "update howdah.destinations set disabled_at = howdah.now() where name = 'q' returning 1")
    one(db, "select howdah.resume('q')")
    assert column(db, "select act from howdah.list_acts()") == ["resumed"]


def test_an_application_that_cancels_its_own_schedule_is_no_operator_unless_it_says_why(
    db: Db, connect: Connect
) -> None:
    application = connect("howdah_producer")
    make = "select howdah.schedule('q', 'x'::text, period => '1 hour')"
    one(application, "select howdah.cancel_schedule(%s)", (one(application, make),))
    one(application, make)
    assert one(application, "select howdah.cancel_schedules('q')") == 1
    assert column(db, "select act from howdah.list_acts()") == []
    for why in ("enough", ""):
        application.execute("select set_config('howdah.reason', %s, false)", (why,))
        number = one(application, make)
        one(application, "select howdah.pause_schedule(%s)", (number,))
    one(db, "select howdah.cancel_schedules('q')")
    made = column(db, "select actor || ' ' || act from howdah.list_acts() order by act_id")
    assert made == ["howdah_producer paused", *[f"{one(db, 'select session_user::text')} cancelled"] * 2]


def test_a_message_sent_by_hand_has_type_group_correlation_answer_queue_and_time_to_live(db: Db) -> None:
    send = "howdah.send_by_hand('q', 'x', headers => %s, message_type => 'order', correlation_id => 'c1'"
    more = ", message_group => 'g', time_to_live => '1 hour', reply_to => 'answers')"
    sent: int = one(db, f"select {send}{more}", ('{"a": 1}',))
    is_ = db.execute(
        "select message_id, message_type, correlation_id, headers, reply_to, expires_at > howdah.now()"
        " from howdah.browse('q')"
    ).fetchall()
    assert is_ == [(sent, "order", "c1", {"a": 1, "JMSXGroupID": "g"}, "answers", True)]
    refused(db, "HD005", f"select {send}{more}", ("[1]",))


READ = "select idx_tup_fetch + seq_tup_read from pg_stat_xact_user_tables where relid = 'howdah.msgs'::regclass"
"""How many rows of the messages this transaction has read."""


@pytest.mark.first_case
@pytest.mark.parametrize("call", ["discard('q', %s, dry_run => true)", "move_messages('q', %s, 'r', dry_run => true)"])
def test_a_dry_run_on_named_messages_reads_these_and_not_the_queue(db: Db, clock: Clock, call: str) -> None:
    one(db, "select howdah.create_queue('r')")
    one(db, "select howdah.send_batch('q', array(select 'x' from generate_series(1, 5000)))")
    ids = column(db, "select message_id from howdah.browse('q', 2000)")[-20:]
    ids.append(one(db, "select howdah.send('q', 'x', delay => '1 minute')"))
    ids.append(one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')"))
    with db.transaction():
        before = one(db, READ)
        assert one(db, f"select howdah.{call}", (ids,)) == 22
        assert one(db, READ) - before < 1000
    leased = one(db, "select message_id from howdah.lease('q', 1, interval '1 minute')")
    refused(db, "HD013", f"select howdah.{call}", ([leased],))
    clock.advance(61)
    assert one(db, f"select howdah.{call}", ([leased, leased],)) == 1
