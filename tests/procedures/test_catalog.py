"""What the catalog says about the SQL API, and whether the headers of its files tell the truth."""

import re
from functools import cache

import pytest
from support import Db, column, one

from howdah.procedures import FILES, headers, source
from howdah.procedures.reference import TITLES

FUNCTION = re.compile(
    r"create or replace function howdah\.(?P<name>\w+)\s*\((?P<arguments>.*?)\)\s*returns.*?as \$\$(?P<body>.*?)\$\$;?",
    re.DOTALL,
)
HEADERS = {header.name: header for name in FILES for header in headers(source(name)) if header.kind == "function"}
BODIES: dict[str, str] = {}
for _name in FILES:
    for _match in FUNCTION.finditer(source(_name)):
        BODIES[_match["name"]] = BODIES.get(_match["name"], "") + _match["body"]
PUBLIC = sorted(name for name in BODIES if not name.startswith("_"))


# A text does not tell which arguments a call passes: acknowledge, whose lease may be lost, is never passed here.
NOT_ASKED_FOR = {
    ("lease_ahead", "lease"): {"HD026"},
    # The names and selectors in options were checked when the options were set.
    ("_autocreate", "_with_options"): {"HD003"},
    ("_autocreate", "_store_topic"): {"HD023"},
    # the cluster's own settings, and what is no configuration, need no master of changes
    ("set_cluster", "_record_change"): {"HD045"},
    ("quiesce_instance", "_record_change"): {"HD045"},
    ("resume_instance", "_record_change"): {"HD045"},
    ("end_instance", "_record_change"): {"HD045"},
    ("break_lock", "_record_change"): {"HD045"},
    ("new_engine_id", "_record_change"): {"HD045"},
    ("rebase_topics", "_record_change"): {"HD045"},
    ("_new_temporary", "_add_destination"): {"HD045"},
    ("_await_turn", "_acquire_lock"): {"HD005"},
}
"""By caller and called: codes that only an argument brings which this caller does not pass."""


@cache
def read(name: str) -> tuple[set[str], set[str]]:
    """The codes that a function raises itself, and the functions of ours that it calls."""
    body = re.sub(r"--[^\n]*", "", BODIES[name])
    codes = set(re.findall(r"errcode = '(HD\d{3})'", body))
    body = re.sub(r"'(?:[^']|'')*'", "''", body)
    return codes, set(re.findall(r"(?<!into )howdah\.(\w+)\s*\(", body)) & BODIES.keys()


def raises(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The codes that a function raises itself or through the internal functions it calls."""
    if name in seen:
        return set()
    own, called = read(name)
    return own.union(*(raises(one, seen | {name}) - NOT_ASKED_FOR.get((name, one), set()) for one in called))


def said_raises(header: str) -> set[str]:
    """The codes on the `Raises` lines of a header."""
    lines = re.search(r"^-- Raises(.*\n(?:-- {10,}.*\n)*)", header, re.MULTILINE)
    return set(re.findall(r"HD\d{3}", lines[1])) if lines else set()


def test_every_room_of_public_functions_has_a_section_on_the_sql_page() -> None:
    own = {name.split("/")[0] for name in FILES if name.split("/")[1] in PUBLIC or name.startswith("views/")}
    assert own - {"base"} == set(TITLES)


def test_what_runs_with_the_owners_rights_has_its_search_path_pinned_with_pg_temp_last(db: Db) -> None:
    rows = db.execute(
        "select p.oid::regprocedure::text, p.proname::text, p.prosecdef, p.proconfig from pg_proc p"
        " where p.pronamespace = 'howdah'::regnamespace"
    ).fetchall()
    assert rows
    for signature, name, definer, config in rows:
        if definer:
            assert "search_path=pg_catalog, howdah, pg_temp" in config, signature
        if name in ("_call_poison_procedure", "_call_transformation"):  # with the rights of nobody
            assert definer
        else:
            assert definer == (not name.startswith("_") and name != "now"), signature


def test_what_switches_ways_of_planning_off_compiles_no_plan(db: Db) -> None:
    # Until PostgreSQL 18 a plan that cannot do without such a way costs 1e10, and JIT compiles it at each call.
    functions = db.execute(
        "select p.oid::regprocedure::text, array_to_string(p.proconfig, ' ') from pg_proc p"
        " where p.pronamespace = 'howdah'::regnamespace and array_to_string(p.proconfig, ' ') ~ 'enable_[a-z]+=off'"
    ).fetchall()
    assert len(functions) > 50
    assert [signature for signature, config in functions if "jit=off" not in config] == []


def test_every_public_function_table_view_type_and_column_has_a_comment(db: Db) -> None:
    assert column(
        db,
        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and p.proname not like '\\_%' and coalesce(obj_description(p.oid, 'pg_proc'), '') = ''",
    ) == []  # fmt: skip
    assert column(
        db,
        "select c.relname::text from pg_class c where c.relnamespace = 'howdah'::regnamespace"
        " and c.relkind in ('r', 'p', 'v') and c.relname <> 'alembic_version'"
        " and coalesce(obj_description(c.oid, 'pg_class'), '') = ''",
    ) == []  # fmt: skip
    assert column(
        db,
        "select c.relname || '.' || a.attname from pg_class c join pg_attribute a"
        " on a.attrelid = c.oid and a.attnum > 0"
        " where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"
        " and c.relname <> 'alembic_version' and not a.attisdropped"
        " and coalesce(col_description(c.oid, a.attnum), '') = ''",
    ) == []  # fmt: skip
    assert one(db, "select obj_description('howdah.message'::regtype, 'pg_type')")


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_function_has_a_header_with_a_summary_and_a_role(name: str) -> None:
    header = HEADERS[name]
    assert header.summary
    assert (header.roles == ("internal",)) == name.startswith("_")


@pytest.mark.parametrize("name", PUBLIC)
def test_the_errors_in_a_header_are_those_the_function_can_raise(name: str) -> None:
    assert said_raises(HEADERS[name].text) == raises(name)


@pytest.mark.parametrize("name", sorted(set(BODIES) - set(PUBLIC)))
def test_an_internal_functions_header_names_the_errors_it_raises_itself(name: str) -> None:
    own = set(re.findall(r"errcode = '(HD\d{3})'", BODIES[name]))
    assert own <= said_raises(HEADERS[name].text) <= raises(name)


def reached(name: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """The internal functions that a function calls, and those that they call."""
    if name in seen:
        return seen
    body = re.sub(r"'(?:[^']|'')*'", "''", re.sub(r"--[^\n]*", "", BODIES[name]))
    seen |= {name}
    for called in set(re.findall(r"(?<!into )howdah\.(\w+)\s*\(", body)) & BODIES.keys():
        seen = reached(called, seen)
    return seen


@pytest.mark.parametrize("name", PUBLIC)
def test_who_acts_under_the_callers_name_is_refused_out_of_a_maintenance_command(name: str) -> None:
    """A lock's epoch that is only compared with its holder's name, by _fence, gives nothing away."""
    named = {other for other in reached(name) - {"_fence"} if "howdah._caller()" in BODIES[other]}
    assert not named or "_refuse_maintenance" in reached(name), named


def test_the_role_line_is_what_is_granted(db: Db) -> None:
    rows = db.execute(
        "select p.proname::text, array_agg(distinct a.grantee::regrole::text) filter (where a.grantee <> p.proowner)"
        " from pg_proc p left join aclexplode(p.proacl) a on true where p.pronamespace = 'howdah'::regnamespace"
        " group by 1"
    ).fetchall()
    if one(db, "select admin_role = producer_role from howdah.engine"):
        pytest.skip("installed in one-role mode")
    everybody = {f"howdah_{kind}" for kind in ("admin", "producer", "consumer", "browser", "auditor")}
    for name, granted in rows:
        said = set(HEADERS[name].roles) - {"internal"}
        assert set(granted or []) == (everybody if said == {"everybody"} else said), name


def test_the_header_names_the_function_and_its_arguments_in_order(db: Db) -> None:
    for name, arguments in db.execute(
        "select p.proname::text, p.proargnames[1:p.pronargs] from pg_proc p"
        " where p.pronamespace = 'howdah'::regnamespace"
    ).fetchall():
        first = HEADERS[name].title
        match = re.match(r"howdah\.(\w+)\((.*?)\): ", first)
        assert match is not None, first
        said = [argument for argument in match[2].split(", ") if argument]
        assert match[1] == name
        if said and said[-1] == "…":
            said.pop()
            assert (arguments or [])[: len(said)] in (said, [*said[:-1], "bodies"]), name
        else:
            assert said == (arguments or []), name


def test_dynamic_sql_is_run_for_partitions_sequences_storage_selectors_and_poison_procedures_alone() -> None:
    dynamic = {name for name, body in BODIES.items() if re.search(r"\bexecute\b", re.sub(r"--[^\n]*", "", body))}
    assert dynamic == {
        "maintain_journal", "_has_invisible_rows", "_greatest_xid", "_new_hint", "_new_positions", "_drop_sequences",
        "selector_matches", "_page", "_forward_to_bridges", "_select_history", "_selected_messages",
        "maintain_topics", "_still_needed", "_give_back_space", "rebase_topics", "_walk_rows", "_forget_selections",
        "_look_ahead", "set_storage", "_browse_selected", "_call_poison_procedure", "_drop_prepared",
        "_call_transformation",
        "_lose_unread", "_found", "_maintain_kept", "_drop_kept"
    }  # fmt: skip


def test_no_function_reads_another_clock_but_to_pace_searching_waiting_and_reclaiming() -> None:
    clocks = re.compile(r"(?<!howdah\.)\bnow\(\)|clock_timestamp|current_timestamp|localtime|statement_timestamp")
    assert {name for name, body in BODIES.items() if clocks.search(re.sub(r"--[^\n]*", "", body))} == {
        "now", "receive", "_nothing_came_back", "_search", "_search_around", "_may_be_due", "_look_nonpersistent",
        "_look_from_head", "_take_by_lane", "_is_plain",
        "_look_parked", "_remember", "_search_from", "_wake", "_ask_for_notices", "_note_alive", "_silent_ms",
        "_walk", "_walk_from", "_note_first", "_reserve_after_count", "_recount", "_make_room", "_check_system",
        "maintain_expired", "maintain_senders", "_draw_next", "_next_positions", "_look_ahead", "_search_unlisted",
        "_walk_listed", "_receive_selected", "audit_digests", "stop_engine", "wait_many", "_check_contract",
        "_contract_fault",
    }  # fmt: skip
