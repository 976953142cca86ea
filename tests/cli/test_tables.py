"""Every list at a terminal of 80 columns: no line is longer, and no name is broken."""

from collections.abc import Iterator
from typing import Any

import pytest
from command import howdah
from support import SYSTEM, Db, one

from howdah.cli import tables
from howdah.cli.importing.outcome import COLUMNS, DRY_COLUMNS, Outcome
from howdah.cli.main import _command
from howdah.cli.user import COLUMNS as USERS

QUEUE = "orders.incoming.germany1"
DYING = "orders.incoming.austria1"
GRAVE = "orders.that.nobody.eats1"
TOPIC = "prices.of.stocks.europe1"
SUBSCRIPTION = f"{TOPIC}:billing-europe:invoices-of-the-week"
LISTENER = "listener.incoming.orders"
SCHEDULE = "reminder-of-every-monday"
OBJECT = "cf/of.the.shop.europe"
WORKER = "worker-host-17.eu:shop:1"
PATH = "/srv/archives/of/the/whole/company"
ERROR = "an error whose text is long enough to be cut, for it says 'no such order' again and again and again"

#: Words of each command that prints a table, and what it must show whole.
LISTS: dict[tuple[str, ...], list[str]] = {
    ("queue", "list"): [QUEUE, GRAVE],
    ("queue", "stats"): [QUEUE, GRAVE],
    ("queue", "find", QUEUE): ["an error whose"],
    ("queue", "delayed", GRAVE): ["redelivery"],
    ("queue", "limits"): [GRAVE],
    ("queue", "browse", QUEUE): ["an error whose"],
    ("browse", QUEUE): ["an error whose"],
    ("kept", "list", QUEUE): [],
    ("import", "list"): [],
    ("topic", "list"): [TOPIC],
    ("topic", "history", TOPIC): ["an error whose"],
    ("subscription", "list"): [SUBSCRIPTION],
    ("listener", "list"): [LISTENER, QUEUE, "stopped"],
    ("schedule", "list"): [QUEUE, SCHEDULE],
    ("poison", "list"): [DYING, "KeyError: an er"],
    ("poison", "causes"): ["KeyError: an er"],
    ("poison", "acts"): ["parked"],
    ("workers",): [WORKER, QUEUE, GRAVE],
    ("transactions", "list"): [],
    ("alias", "list"): [],
    ("object", "list"): [OBJECT, "connection_factory"],
    ("link", "list"): [],
    ("link", "arrivals"): [],
    ("transformation", "list"): [],
    ("archive", "list"): [],
    ("check",): [],
    ("health",): ["server", "schema"],
    ("access", "sets"): ["default"],
    ("access", "show"): ["howdah_consumer,"],
    ("user", "list"): [],
    ("service", "list"): ["httpsjms"],
    ("instance", "list"): [],
    ("changes", "list"): ["queue"],
    ("redaction", "list"): [],
    ("log", "show"): [],
}


@pytest.fixture
def full(dsn: str, db: Db) -> dict[str, str]:
    """A database with long names in every list, and the identifiers that the server made."""
    one(db, "select howdah.create_queue(%s)", (GRAVE,))
    one(
        db,
        "select howdah.create_queue(%s, jsonb_build_object('max_failed_deliveries', 1, 'exception_queue', %s::text))",
        (QUEUE, GRAVE),
    )
    one(db, "select howdah.create_queue(%s, '{\"max_failed_deliveries\": 1}')", (DYING,))
    delayed: int = one(db, "select howdah.send(%s, 'x')", (GRAVE,))
    one(db, "select howdah.alter_queue(%s, '{\"redelivery_delay_ms\": 600000}')", (GRAVE,))
    db.execute("select howdah.record_failure(%s, %s, error_text => 'later')", (GRAVE, delayed))
    db.execute("select howdah.pause(%s)", (GRAVE,))
    one(db, 'select howdah.alter_queue(%s, \'{"max_concurrent": 2, "rate_limit": "600/1h burst 10"}\')', (GRAVE,))
    sent: int = one(db, "select howdah.send(%s, %s)", (QUEUE, ERROR))
    dead: int = one(db, "select howdah.send(%s, 'x')", (DYING,))
    db.execute(
        "select howdah.record_failure(%s, %s, error_text => %s, error_class => 'KeyError')", (DYING, dead, ERROR)
    )
    one(db, f"select howdah.park_messages('{SYSTEM}', array[%s]::bigint[], reason => %s)", (dead, ERROR))
    one(db, "select howdah.create_topic(%s)", (TOPIC,))
    attributes = '{"description": "of all shops in the whole of Europe", "hosts": ["one.example", "other.example"]}'
    one(db, "select howdah.create_object(%s, 'connection_factory', %s)", (OBJECT, attributes))
    topic, client, name = SUBSCRIPTION.split(":")
    one(db, "select howdah.subscribe(%s, %s, client_id => %s)", (topic, name, client))
    one(db, "select howdah.send(%s, %s)", (TOPIC, ERROR))
    one(db, "select howdah.create_listener(%s, %s)", (LISTENER, QUEUE))
    one(db, "select howdah.stop_listener(%s, %s)", (LISTENER, ERROR))
    howdah(dsn, "schedule", "add", QUEUE, "x", "--cron", "30 8 * * mon-fri", "--name", SCHEDULE)
    one(db, "select howdah.register_worker(%s, 'worker-host-17', 4711, 8, array[%s, %s])", (WORKER, QUEUE, GRAVE))
    db.execute(
        "insert into howdah.archive_runs (archive_id, run, lock_epoch, snapshot, system_identifier, journal_rows,"
        " journal_checksum, incident_rows, incident_checksum, message_rows, message_checksum,"
        " manifest, path, started_at,"
        " finished_at, verified_at, damage) values (gen_random_uuid(), 17, 1, '3:3:', 1, 123456789,"
        " 0, 1234567, 0, 12345, 0,"
        " 'm', %s, now(), now(), now(), %s)",
        (PATH, ERROR),
    )
    cause = one(db, "select fingerprint from howdah.poison_causes(%s)", (DYING,))
    return {"message": str(sent), "dead": str(dead), "delayed": str(delayed), "cause": cause}


@pytest.mark.slow
def test_every_list_fits_in_80_columns_and_breaks_no_name(dsn: str, full: dict[str, str]) -> None:
    made = {
        ("poison", "list"): [full["dead"], full["cause"]],
        ("poison", "causes"): [full["cause"]],
        ("browse", QUEUE): [full["message"]],
        ("queue", "find", QUEUE): [full["message"]],
        ("queue", "delayed", GRAVE): [full["delayed"]],
    }
    for words, whole in LISTS.items():
        shown = howdah(dsn, *words, columns=80)
        assert shown.code in (0, 1), shown
        for line in shown.out.splitlines():
            assert tables.cell_len(line) <= 80, (words, line)
        for name in whole + made.get(words, []):
            assert name in shown.out, (words, name, shown.out)


def test_wide_and_a_pipe_cut_nothing(dsn: str, full: dict[str, str]) -> None:
    for columns in (80, None):
        shown = howdah(dsn, "poison", "list", "--wide", columns=columns).out
        assert f"KeyError: {ERROR}" in shown
        assert "reason" in shown.splitlines()[0]
        assert len(shown.splitlines()) == 3
    assert f"KeyError: {ERROR}" in howdah(dsn, "poison", "list").out
    assert PATH in howdah(dsn, "archive", "list", "-w", columns=80).out


def test_every_command_with_a_table_is_tested_here() -> None:
    def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from commands(inner, (*words, name))
        if any("--wide" in getattr(option, "opts", ()) for option in command.params):
            yield words

    # Their tables need a store of ActiveMQ, and an archive.
    assert set(commands(_command())) - {("import", "activemq"), ("archive", "verify")} == {
        tuple(word for word in words if word not in (QUEUE, GRAVE, TOPIC)) for words in LISTS
    }


LONGEST = "q" * 242
WIDE = "漢字" * 35
TEXT = "a reason that somebody wrote down at length, so that those who come later need not ask"


def test_lists_with_rows_of_the_longest_and_the_widest_names_keep_what_matters(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue(%s)", (LONGEST,))
    one(db, "select howdah.create_topic(%s)", (LONGEST[:100],))
    one(db, "select howdah.subscribe(%s, %s)", (LONGEST[:100], LONGEST[:100]))
    one(db, "select howdah.set_redaction(%s, '$.card.number', %s)", (LONGEST, WIDE))
    one(db, "select howdah.set_redaction('cards', '$.card.number', %s)", (WIDE,))
    one(db, "select howdah.begin_import(%s)", (f"postgresql://{LONGEST}",))
    one(db, "select howdah.begin_import(%s)", (f"postgresql://{WIDE}",))
    one(db, "select howdah.create_link(%s, %s, 'remote', 'elsewhere')", (LONGEST[:40], LONGEST))
    for words in (("subscription", "list"), ("redaction", "list"), ("import", "list"), ("link", "list")):
        shown = howdah(dsn, *words, columns=80)
        assert shown.code == 0, shown
        assert LONGEST[:40] in shown.out, words
        # Only a name that is longer than the terminal makes a line longer, and then it stands alone.
        assert all(tables.cell_len(line) <= 80 or "  " not in line for line in shown.out.splitlines()), (words, shown)
        assert "--wide shows all" in shown.err
        assert howdah(dsn, *words, "--wide", columns=80).err == ""
    assert WIDE in howdah(dsn, "import", "list", columns=80).out


def test_the_body_of_a_message_that_was_found_is_cut_rather_than_left_out(dsn: str, full: dict[str, str]) -> None:
    shown = howdah(dsn, "queue", "find", QUEUE, columns=80)
    assert "an error whose" in shown.out
    assert "too narrow" not in shown.err
    assert ERROR in howdah(dsn, "queue", "find", QUEUE).out


def test_a_reason_is_cut_rather_than_left_out(dsn: str, db: Db) -> None:
    howdah(dsn, "redaction", "set", "cards.of.customers", "$.card.number", "--reason", TEXT)
    shown = howdah(dsn, "redaction", "list", columns=80)
    assert (TEXT[:30] in shown.out, "…" in shown.out, shown.err) == (True, True, "")


def test_the_roles_of_a_rule_and_the_groups_of_a_user_are_folded_and_wide_shows_all(dsn: str, db: Db) -> None:
    roles = [f"role_of_the_team_{number}" for number in range(9)]
    howdah(dsn, "access", "set", "queue.orders.consume.allow.user", *roles)
    shown = howdah(dsn, "access", "show", columns=80)
    assert all(role in shown.out for role in roles), shown
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    for words in (("access", "show"), ("user", "list")):
        narrow, wide = howdah(dsn, *words, columns=20), howdah(dsn, *words, "--wide", columns=20)
        assert (narrow.code, wide.code) == (0, 0), (narrow, wide)
        assert "--wide" not in wide.err
    rows = [{"name": "tom", "kind": "user", "groups": ", ".join(roles)}]
    text, left_out = tables.picture(rows, USERS, 80)
    assert left_out == []
    assert all(role in text for role in roles)


def test_the_tables_of_an_import_keep_their_figures_beside_long_names() -> None:
    outcome = Outcome(lambda text: None)
    line = outcome["topic://orders.incoming.germany desk7:invoices"]
    line.here, line.found, line.comes = "orders.incoming.germany:desk7:invoices", 12345, 12340
    outcome.stays(line.there, "unreadable: its length is 249, not 96", 30)
    for columns, kept in ((COLUMNS, ["found", "stays"]), (DRY_COLUMNS, ["found", "stays"])):
        text, left_out = tables.picture(outcome.rows(), columns, 80)
        head, _, row = text.splitlines()
        assert all(title in head for title in kept)
        assert "12345" in row
        assert "here" in left_out


def test_what_a_narrow_terminal_has_no_room_for_is_named(dsn: str, full: dict[str, str]) -> None:
    shown = howdah(dsn, "queue", "list", columns=40)
    assert shown.out.splitlines()[0] == "queue"
    assert shown.err == (
        "howdah: note: the terminal is too narrow for: dead messages go to, failures, journal, paused;"
        " --wide shows all\n"
    )


@pytest.mark.parametrize("text", ["漢字" * 40, "e\u0301" * 200, "\t\n" * 50])
def test_texts_are_cut_by_the_columns_they_take(text: str) -> None:
    columns = tables.Columns({"id": "id", "text": "text"}, cut=frozenset({"text"}))
    titles = dict(columns.short)
    cells = {"id": ["1"], "text": [text]}
    assert all(tables.cell_len(line) <= 80 for line in tables._lines(titles, cells, {"id"}, columns, 80))
