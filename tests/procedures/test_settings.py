"""No function's result depends on a setting that its caller can change; isolation, timeouts and who is asked apart."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from support import Clock, Connect, Db, column, one

# By what they could change; each group is one session's.
HOSTILE = {
    "strings": {
        "standard_conforming_strings": "off",
        "escape_string_warning": "on",
        "backslash_quote": "off",
        "array_nulls": "off",
        "transform_null_equals": "on",
        "bytea_output": "escape",
        "xmlbinary": "hex",
        "xmloption": "document",
        "quote_all_identifiers": "on",
        "default_text_search_config": "pg_catalog.german",
    },
    "times": {
        "DateStyle": "SQL, DMY",
        "IntervalStyle": "sql_standard",
        "TimeZone": "America/St_Johns",
        "timezone_abbreviations": "India",
        "extra_float_digits": "-15",
    },
    "other times": {
        "DateStyle": "German, MDY",
        "IntervalStyle": "iso_8601",
        "TimeZone": "Asia/Kolkata",
        "extra_float_digits": "3",
    },
    "locale": {
        "lc_messages": "C",
        "lc_monetary": "C.UTF-8",
        "lc_numeric": "C.UTF-8",
        "lc_time": "C.UTF-8",
        "client_min_messages": "debug5",
        "row_security": "off",
        "check_function_bodies": "off",
        "default_transaction_deferrable": "on",
        "default_toast_compression": "pglz",
        "synchronous_commit": "off",
        "gin_fuzzy_search_limit": "1",
        "cursor_tuple_fraction": "0.01",
        "default_statistics_target": "1",
        "lo_compat_privileges": "on",
    },
    "plpgsql": {
        "plpgsql.extra_errors": "all",
        "plpgsql.extra_warnings": "all",
        "plpgsql.check_asserts": "off",
        "plpgsql.print_strict_params": "on",
        "plpgsql.variable_conflict": "use_column",
        "plan_cache_mode": "force_custom_plan",
    },
    "planner": {
        "enable_bitmapscan": "off",
        "enable_hashagg": "off",
        "enable_hashjoin": "off",
        "enable_incremental_sort": "off",
        "enable_indexonlyscan": "off",
        "enable_material": "off",
        "enable_memoize": "off",
        "enable_mergejoin": "off",
        "enable_nestloop": "off",
        "enable_partition_pruning": "off",
        "enable_seqscan": "off",
        "enable_sort": "off",
        "geqo_threshold": "2",
        "from_collapse_limit": "1",
        "join_collapse_limit": "1",
        "plan_cache_mode": "force_generic_plan",
    },
    "parallel": {
        "enable_indexscan": "off",
        "enable_partitionwise_aggregate": "on",
        "enable_partitionwise_join": "on",
        "parallel_setup_cost": "0",
        "parallel_tuple_cost": "0",
        "min_parallel_table_scan_size": "0",
        "constraint_exclusion": "on",
        "jit_above_cost": "0",
        "work_mem": "64kB",
        "recursive_worktable_factor": "1000000",
        "random_page_cost": "1000000",
        "cpu_tuple_cost": "1000000",
        "geqo": "off",
    },
    "relations": {
        "default_tablespace": "pg_global",
        "temp_tablespaces": "pg_global",
        "default_table_access_method": "another_heap",
    },
    "ours": {
        "howdah.attempting": "yes",
        "howdah.connection": "somebody-elses-token",
    },
}

# By why they change no result; a server may lack some of them.
HARMLESS = {
    "which plan is made, and how much of it at once: PostgreSQL gives the same rows by each": """
        commit_siblings cpu_index_tuple_cost cpu_operator_cost effective_cache_size effective_io_concurrency
        enable_async_append enable_distinct_reordering enable_gathermerge enable_group_by_reordering
        enable_parallel_append enable_parallel_hash enable_presorted_aggregate enable_self_join_elimination
        enable_tidscan force_parallel_mode geqo_effort geqo_generations geqo_pool_size geqo_seed geqo_selection_bias
        hash_mem_multiplier io_combine_limit jit jit_expressions jit_inline_above_cost jit_optimize_above_cost
        jit_tuple_deforming maintenance_io_concurrency max_parallel_maintenance_workers max_parallel_workers
        max_parallel_workers_per_gather min_parallel_index_scan_size parallel_leader_participation seq_page_cost
        synchronize_seqscans temp_buffers vacuum_cleanup_index_scale_factor""",
    "when and how something is written or freed, never what": """
        backend_flush_after file_copy_method gin_pending_list_limit logical_decoding_work_mem maintenance_work_mem
        vacuum_buffer_usage_limit vacuum_cost_delay vacuum_cost_limit vacuum_cost_page_dirty vacuum_cost_page_hit
        vacuum_cost_page_miss vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age
        vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age
        vacuum_multixact_freeze_table_age vacuum_truncate wal_skip_threshold""",
    "isolation, which the documents speak of": """
        default_transaction_isolation default_transaction_read_only transaction_deferrable transaction_isolation
        transaction_read_only""",
    "when a call or a session is given up: an error, and nothing done": """
        client_connection_check_interval exit_on_error idle_in_transaction_session_timeout idle_session_timeout
        lock_timeout restrict_nonsystem_relation_kind statement_timeout tcp_keepalives_count tcp_keepalives_idle
        tcp_keepalives_interval tcp_user_timeout transaction_timeout wal_sender_timeout""",
    "what the client and the log see of a text": """
        application_name client_encoding log_parameter_max_length_on_error operator_precedence_warning trace_notify
        trace_sort""",
    "roles, passwords, collations and libraries, none of which a function of ours makes": """
        createrole_self_grant icu_validation_level local_preload_libraries md5_password_warnings password_encryption
        scram_iterations""",
    "how old the figures of a transaction may be, which list_transactions and figures show": "stats_fetch_consistency",
    "pinned by every function that runs with the owner's rights (test_catalog.py)": "search_path",
}
TRACING = re.compile(r"debug_|trace_|log_")
"""Those of a server built to be debugged: they write to its log, or choose another plan."""

POLICY = """{"max_failed_deliveries": 2, "use_exponential_backoff": true, "backoff_multiplier": 1.7,
    "redelivery_delay_ms": 1000, "collision_avoidance_factor": 0.15, "journal_level": "full", "notify_admin": true}"""

SCENARIO = [
    "create_queue('<script>')",
    "create_queue(E'a\\x1bb')",
    "create_queue(E'a.b\\n')",
    f"create_queue('a.q', '{POLICY}')",
    "create_queue('a.other', '{\"message_groups\": \"transaction\"}')",
    "queue_options('a.q')",
    "alter_queue('a.q', '{\"backoff_multiplier\": 1.9}')",
    "create_queue('Consumer.A.VirtualTopic.T')",
    "create_topic('VirtualTopic.T')",
    "create_topic('t.x')",
    "alter_engine('{\"imq.yellow.threshold\": 55}')",
    "set_policy('a.*.z', '{\"default_priority\": 6}')",
    "set_policy('a..z', '{}')",
    "list_policies()",
    "set_client_id('no such/id')",
    "set_connection('short')",
    "subscribe('t.*', 's', selector => 'price * 1.1 > 2.2 and name like ''a\\_%'' escape ''\\''', client_id => 'c1')",
    "subscribe('t.x', 'bad name')",
    "check_selector('a = 0.1 + 0.2 and b in (''x'', ''y'')')",
    "selector_matches('a + 0.2 = 0.30000000000000004', '{\"a\": 0.1}')",
    "selector_matches('a / 3.0 = 0.3333333333333333', '{\"a\": 1.0}')",
    "selector_matches('a = 1e23', '{\"a\": 1e23}')",
    "send('a.q', 'first', time_to_live => '40 days')",
    'send(\'a.q\', \'{"n": 1.5}\'::jsonb, headers => \'{"price": 2.1, "name": "a_1"}\', priority => 7)',
    "send('a.q', '\\000\\\\x'::text, headers => '{\"JMSXGroupID\": \"g\"}')",
    "send('a.q', decode('00ff5c', 'hex'), delay => '200 days')",
    (
        "send_batch('a.other', array['x', null, 'NULL'], headers => array['{\"JMSXGroupID\":"
        " \"g\"}', '{}', '{}']::jsonb[])"
    ),
    "send_batch('a.other', array['x', 'NULL'], headers => array['{\"JMSXGroupID\": \"g\"}', '{}']::jsonb[])",
    "send('queue://a.q,topic://t.x', 'both', headers => '{\"price\": 2.1, \"name\": \"a_1\"}')",
    "send('VirtualTopic.T', 'virtual')",
    "receive('Consumer.A.VirtualTopic.T')",
    "list_delayed('a.q')",
    "browse('a.q', 10)",
    "browse('a.q', 10, selector => 'price = 2.1 or price + 0.2 > 2.3')",
    "schedule('a.q', 'tick', cron => '*/10 8-17 1,15 jan-dec mon-fri', time_zone => 'Europe/Vienna', name => 'n')",
    "schedule('a.q', 'tick', cron => '* * * *')",
    "schedule('a.q', 'tick', cron => '61 * * * *')",
    "schedule('a.q', 'tock', period => '1 day 2 hours', repeat => 3, name => 'p')",
    """send('a.q', 'by headers', headers => '{"AMQ_SCHEDULED_DELAY": 60000, "AMQ_SCHEDULED_REPEAT": "2"}')""",
    "send('a.q', 'wrong', headers => '{\"AMQ_SCHEDULED_DELAY\": \"1x\"}')",
    "list_schedules()",
    "fire_schedules()",
    "savepoint",
    "receive('a.q', 2)",
    "rollback",
    (
        "record_failure('a.q', 1000003, 'no such ''thing'' at 0xdeadbeef or deadbeef99 in  12.5 s', 'E',"
        " '22P02', delay => '2 days')"
    ),
    "record_failure('a.q', 2000003, 'late 2024-01-01', 'E', details => '{\"x\": 1e5}')",
    "record_failure('a.q', 2000003, 'late 2025-12-31', 'E')",
    "incidents('a.q')",
    "poison_causes()",
    "list_poison()",
    "receive('_SYSTEM.Advisory', 5)",
    "receive('a.other', 2)",
    # All there is, ordered: a wildcard begins at one of the busy queues, which depends on how long ago they were looked
    # at.
    "receive('a.*', 20, selector => 'JMSXGroupID is null') as received",
    "receive('t.*:c1:s', 5)",
    "open_consumer('a.q', timeout => '1 hour')",
    "lease('a.q', 1, '6 days')",
    "extend('a.q', 1, '5 days')",
    "nack('a.q', 1, error_text => 'no')",
    "create_listener('l/1', 'a.q', '{\"max_sessions\": 2}')",
    "create_listener('l 1', 'a.q')",
    "list_listeners()",
    "park_messages('a.q', array[3000003], delay => '200 days')",
    "queue_stats('a.q')",
    "list_queues()",
    'next_journal_offset(\'{"snapshot": "3:3:", "dropped": "x"}\')',
    "activemq_msgs",
    "activemq_acks",
    "activemq_lock",
    "maintain_journal()",
    "maintain_totals()",
    "maintain_backlog()",
    "maintain_expired()",
    "maintain_incidents()",
    "drop_queue('a.other')",
]


def hide(value: Any) -> Any:
    """What is different each time: random UUIDs."""
    if isinstance(value, UUID):
        return "uuid"
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", "uuid", value)
    return value


def perform(db: Db, settings: dict[str, str]) -> list[tuple[str, Any]]:
    """What each call of the scenario gives under these settings, in a transaction that is rolled back."""
    known = {name.lower() for name in column(db, "select name from pg_settings")}
    said: list[tuple[str, Any]] = []
    db.execute("load 'plpgsql'")
    db.execute("create or replace function pg_temp.none() returns integer language plpgsql as 'begin return 1; end'")
    one(db, "select setseed(0.5)")  # where a wildcard begins
    with db.transaction(force_rollback=True):
        for name, value in settings.items():
            if name.lower() in known or name.startswith(("howdah.", "plpgsql.")):
                db.execute("select set_config(%s, %s, true)", (name, value))
        for call in SCENARIO:
            if call in ("savepoint", "rollback"):
                db.execute(b"savepoint s" if call == "savepoint" else b"rollback to s")
                continue
            source = f"howdah.{call}"
            # The literals of the call itself are the caller's affair.
            text = re.sub(r"(?<![E'\w])'((?:[^']|'')*)'", lambda m: "E'" + m[1].replace("\\", "\\\\") + "'", source)
            try:
                with db.transaction():
                    order = "" if call.endswith(")") else " order by 1"  # a view has none of its own
                    rows = db.execute(f"select * from {text}{order}".encode(), binary=True).fetchall()
                said.append((call, [tuple(hide(value) for value in row) for row in rows]))
            except psycopg.Error as error:
                said.append((call, (error.sqlstate, hide(error.diag.message_primary), error.diag.message_hint)))
    return said


@pytest.fixture(autouse=True)
def another_heap(db: Db) -> None:
    """An access method that a caller may name, as an extension would bring one."""
    if one(db, "select rolsuper from pg_roles where rolname = current_user"):
        db.execute("create access method another_heap type table handler heap_tableam_handler")


def test_every_setting_of_a_session_was_tried_or_is_harmless_for_a_reason(db: Db) -> None:
    tried = {name.lower() for group in HOSTILE.values() for name in group}
    harmless = {name for names in HARMLESS.values() for name in names.split()}
    assert not tried & harmless
    known = column(db, "select lower(name) from pg_settings where context = 'user' and strpos(name, '.') = 0")
    assert [name for name in known if name not in tried | harmless and not TRACING.match(name)] == []


@pytest.mark.slow
def test_a_caller_does_not_decide_where_and_how_relations_are_made(db: Db, connect: Connect, clock: Clock) -> None:
    clock.advance(400 * 86400)
    consumer, producer, admin = (connect(f"howdah_{kind}") for kind in ("consumer", "producer", "admin"))
    known = "select exists (select from pg_am where amname = 'another_heap')"
    for session in (consumer, producer, admin):
        session.execute("set default_tablespace = pg_global")
        if one(db, known):
            session.execute("set default_table_access_method = another_heap")
    before = one(db, "select max(oid) from pg_class")
    one(admin, "select howdah.create_queue('q', '{\"message_limit\": 5}')")
    one(admin, "select howdah.create_topic('t')")
    one(consumer, "select howdah.subscribe('t', 's')")
    one(consumer, "select howdah.create_temporary_queue()")
    assert one(consumer, "select howdah.maintain_journal()") > 0
    with producer.transaction():
        one(producer, "select howdah.begin_copy()")
        placed = (
            "select a.amname from pg_class c join pg_am a on a.oid = c.relam"
            " where c.oid = 'pg_temp.howdah_copy'::regclass"
        )
        assert one(producer, placed) == "heap"
    made = (
        "select distinct c.relkind::text, c.reltablespace, a.amname from pg_class c left"
        " join pg_am a on a.oid = c.relam"
        " where c.oid > %s and c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'S')"
    )
    assert {(kind, place) for kind, place, _ in db.execute(made, (before,))} == {("r", 0), ("S", 0)}
    assert {how for kind, _, how in db.execute(made, (before,)) if kind == "r"} == {"heap"}


@pytest.fixture
def plain(db: Db, clock: Clock) -> dict[str, int | None]:
    """The time stands still before the hour changes in spring and autumn; where each sequence stands."""
    clock.set(datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    # The template's totals are of later than that: once its server has made 20,000 transactions they would do for
    # queue_stats.
    db.execute("update howdah.engine set totals_at = howdah.now() - interval '1 day'")
    return dict(
        db.execute(
            "select c.oid::regclass::text, pg_sequence_last_value(c.oid) from pg_class c"
            " where c.relkind = 'S' and c.relnamespace = 'howdah'::regnamespace"
        ).fetchall()
    )


def again(db: Db, sequences: dict[str, int | None]) -> None:
    """Put the sequences back where they stood: numbers are to be the same."""
    for name, value in sequences.items():
        db.execute(
            "select setval(%s::regclass, coalesce(%s::bigint, s.seqstart), %s) from pg_sequence s"
            " where s.seqrelid = %s::regclass",
            (name, value, value is not None, name),
        )


@pytest.mark.slow
@pytest.mark.parametrize("group", HOSTILE)
def test_a_callers_settings_change_no_result(
    db: Db, connect: Connect, plain: dict[str, int | None], group: str
) -> None:
    expected = perform(connect(), {})
    again(db, plain)
    found = perform(connect(), HOSTILE[group])
    for (call, before), (_, after) in zip(expected, found, strict=True):
        assert after == before, call


@pytest.mark.slow
def test_the_scenario_gives_what_it_should(connect: Connect, plain: dict[str, int | None]) -> None:
    failed = {call: said[0] for call, said in perform(connect(), {}) if isinstance(said, tuple)}
    assert failed == {
        "create_queue('<script>')": "HD003",
        "create_queue(E'a\\x1bb')": "HD003",
        "create_queue(E'a.b\\n')": "HD003",
        "set_policy('a..z', '{}')": "HD003",
        "set_client_id('no such/id')": "HD003",
        "set_connection('short')": "HD005",
        "subscribe('t.x', 'bad name')": "HD003",
        (
            "send_batch('a.other', array['x', null, 'NULL'], headers => array['{\"JMSXGroupID\":"
            " \"g\"}', '{}', '{}']::jsonb[])"
        ): "HD005",
        "schedule('a.q', 'tick', cron => '* * * *')": "HD005",
        "schedule('a.q', 'tick', cron => '61 * * * *')": "HD005",
        "send('a.q', 'wrong', headers => '{\"AMQ_SCHEDULED_DELAY\": \"1x\"}')": "HD005",
        "create_listener('l 1', 'a.q')": "HD003",
        'next_journal_offset(\'{"snapshot": "3:3:", "dropped": "x"}\')': "HD005",
    }


def test_no_plain_literal_in_a_function_has_a_backslash(db: Db) -> None:
    """Its meaning would be standard_conforming_strings'."""
    texts = db.execute(
        "select p.oid::regprocedure::text, p.prosrc from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and strpos(p.prosrc, chr(92)) > 0"
    ).fetchall()
    suspects = []
    for name, text in texts:
        code = re.sub(r"--[^\n]*", "", text)
        code = re.sub(r"\bE'(?:[^'\\]|''|\\.)*'(\s*\n\s*'(?:[^'\\]|''|\\.)*')*", "", code)
        if "\\" in code:
            suspects.append(name)
    assert suspects == []


FORMATTED = re.compile(r"\b(to_char|to_number|to_date|to_timestamp)\s*\(([^;]*?'(?P<pattern>(?:[^']|'')*)'\s*\))")
CALLED = re.compile(r"\b(?:to_char|to_number|to_date|to_timestamp)\s*\(")
OF_TIMES = re.compile(r"Y|MM|HH|IW|DD|SS")


def of_a_locale(pattern: str) -> bool:
    """Whether a pattern asks for names, points or signs of lc_time, lc_numeric or lc_monetary."""
    bare = re.sub(r'"[^"]*"', "", pattern).upper()
    if OF_TIMES.search(bare):
        return "TM" in bare
    return bool(re.search(r"TM|[DGL]", re.sub(r"PL|SG", "", bare)))


def locale_bound(text: str) -> list[str]:
    """What in a function's or view's text depends on lc_time, lc_numeric or lc_monetary, or may do so."""
    code = re.sub(r"--[^\n]*", "", text)
    patterns = [match["pattern"] for match in FORMATTED.finditer(code)]
    found = [pattern for pattern in patterns if of_a_locale(pattern)]
    if len(patterns) != len(CALLED.findall(code)):
        found.append("a pattern that is no literal")
    return found + re.findall(r"(?:::\s*|\bas\s+)money\b|\bmoney\s*'", code)


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("to_char(n, '999D99')", ["999D99"]),
        ("to_char(n, 'FM999G999')", ["FM999G999"]),
        ("to_char(n, 'L999')", ["L999"]),
        ("to_char(t, 'TMDay DD')", ["TMDay DD"]),
        ("to_number(s, '9' || x)", ["a pattern that is no literal"]),
        ("12::money + '1'::text", ["::money"]),
        ("to_char(t, 'IYYY\"wD\"IW') || to_char(n, 'FM009.99PL')", []),
    ],
)
def test_what_depends_on_the_locale_is_found(text: str, bound: list[str]) -> None:
    assert locale_bound(text) == bound


def test_no_function_or_view_formats_by_the_callers_locale(db: Db) -> None:
    """On a server that has no locale but C the settings lc_* show nothing."""
    texts = db.execute(
        "select p.oid::regprocedure::text, p.prosrc from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " union all select c.oid::regclass::text, pg_get_viewdef(c.oid) from pg_class c"
        " where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('v', 'm')"
    ).fetchall()
    assert any(CALLED.search(text) for _, text in texts)
    assert {name: found for name, text in texts if (found := locale_bound(re.sub("::text", "", text)))} == {}
    typed = "select attrelid::regclass::text from pg_attribute where atttypid = 'money'::regtype"
    assert column(db, f"{typed} and attrelid::regclass::text like 'howdah.%%'") == []


@pytest.mark.first_case
@pytest.mark.parametrize("zone", ["Europe/Vienna", "America/St_Johns", "Asia/Kolkata"])
def test_the_journals_weeks_begin_on_monday_by_utc_in_every_time_zone(
    db: Db, connect: Connect, clock: Clock, zone: str
) -> None:
    clock.set(datetime(2026, 3, 25, tzinfo=UTC))
    session = connect()
    for name, value in (("TimeZone", zone), ("DateStyle", "SQL, DMY")):
        session.execute("select set_config(%s, %s, false)", (name, value))
    one(session, "select howdah.maintain_journal()")
    db.execute("set timezone to 'UTC'; set datestyle to iso")
    bounds = column(
        db,
        (
            "select pg_get_expr(c.relpartbound, c.oid) from pg_class c where c.relname ~ '^journal_2026w1[3-6]$'"
            " order by c.relname"
        ),
    )
    assert bounds == [
        f"FOR VALUES FROM ('2026-{first} 00:00:00+00') TO ('2026-{last} 00:00:00+00')"
        for first, last in (("03-23", "03-30"), ("03-30", "04-06"), ("04-06", "04-13"), ("04-13", "04-20"))
    ]
