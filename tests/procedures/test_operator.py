"""What an operator does with messages that failed: every act whole or not at all, and on record."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from operator_acts_support import acts, dead
from support import SYSTEM, Connect, Db, all_refused, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


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
