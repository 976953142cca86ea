"""A healthy database that uses every feature there is has no finding."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import databases
import psycopg
import pytest
from every_feature import use_every_feature
from psycopg.conninfo import make_conninfo
from support import Connect, Db, Server, column, identifier

from howdah.audit.headline import Headline, headline

from .conftest import Audit

NO_EFFECT = {
    *("archive_identity", "check_archive_run", "check_selector", "check_server", "selector_matches", "now"),
    *("default_options", "engine_options", "presets", "queue_options", "topic_options", "set_storage", "grant_queue"),
    *("revoke_queue", "may_browse", "my_rights"),
    *("list_acts", "list_archive_runs", "list_audits", "list_bridges", "list_consumers", "list_delayed", "list_grants"),
    *("list_handler_limits",),
    *("list_leases", "list_listeners", "list_poison", "list_policies", "list_queues", "list_schedules", "list_storage"),
    *("list_subscriptions", "list_topics", "list_transactions", "list_workers", "incidents", "last_acked_id"),
    *("poison_causes", "poison_message", "queue_stats", "resource_state", "topic_history", "metrics"),
    *("check_journal_offset", "journal_offset", "journal_ranges", "next_journal_offset"),
    *("record_audit", "record_worker_figures"),
    *("list_aliases", "to_mq_persistence", "from_mq_persistence", "engine_state"),
    *("list_links", "list_arrivals", "link_engine", "link_names", "link_sent", "link_arrived", "hold_link"),
    # administrators' and instances' verbs, and what is logged
    *("alter_object", "alter_service", "backup_changes", "change_master", "cluster_settings", "config_changes"),
    *("connect_service", "create_object", "create_rule_set", "drop_object", "drop_rule", "drop_rule_set"),
    *("end_instance", "explain_access", "export_objects", "export_rules", "hold_instance", "import_objects"),
    *("import_rules", "instance_heartbeat", "list_changes", "list_instances", "list_log", "list_metrics"),
    *("list_objects", "list_rule_sets", "list_rules", "list_services", "list_xa_transactions", "log", "log_since"),
    *("lookup", "maintain_log", "quiesce_instance", "read_changes", "read_log", "register_instance"),
    *("restore_changes", "resume_instance", "set_cluster", "set_rule", "stamp_all_headers", "stamp_headers"),
    *("undo_change", "unregister_instance", "wait_many", "xa_begin", "xa_decide", "xa_forget"),
    *("list_poison_queues", "parse_rule", "record_user", "user_state"),
    *("count_matching", "drop_redaction", "find_messages", "health", "list_redactions", "message_history"),
    *("set_redaction", "show_message", "flow_history", "queue_figures", "queue_names"),
    *("keeps_results", "result", "wait_result"),
    *("exception_figures", "list_open_transactions", "list_groups", "list_selectors", "queue_times", "find_names"),
    *("find_trace", "list_transformations", "browse_kept"),
    "reset_metrics",
    "new_engine_id",  # after a copy of a whole cluster only
    "rebase_topics",  # after a restore into another cluster only
}
"""Verbs that look, set up rights, or record what is no message's fate."""


@dataclass
class Used:
    """A database in which every feature was used, and the verbs that were called."""

    db: Db
    called: set[str]


@pytest.fixture(scope="module")
def used(server: Server, template: str) -> Iterator[Used]:
    """One for all tests that only look."""
    name = databases.new_name()
    with ExitStack() as opened:
        admin = opened.enter_context(psycopg.connect(server.dsn, autocommit=True))
        databases.create(admin, name, template)
        opened.callback(databases.drop, admin, name)

        def connect(role: str | None = None) -> Db:
            dsn = make_conninfo(server.dsn, dbname=name)
            session: Db = opened.enter_context(psycopg.connect(dsn, autocommit=True))
            if role is not None:
                session.execute(psycopg.sql.SQL("set role {}").format(identifier(role)))
            return session

        db = connect()
        yield Used(db, use_every_feature(db, connect))


def test_the_database_of_every_feature_calls_every_verb_that_has_an_effect_on_messages(used: Used) -> None:
    verbs = set(
        column(
            used.db,
            "select distinct p.proname::text from pg_proc p, lateral aclexplode(p.proacl) a"
            " where p.pronamespace = 'howdah'::regnamespace and p.proname !~ '^_' and a.grantee <> p.proowner",
        )
    )
    assert verbs - used.called == NO_EFFECT & verbs


def test_each_message_of_a_queue_with_a_full_journal_or_of_the_engine_has_its_send_on_record_whoever_put_it_there(
    used: Used,
) -> None:
    """The engine's own reports, replies and copies too."""
    assert column(used.db, "select queue from howdah.audit_messages where queue = '_SYSTEM.Advisory'")
    assert (
        column(
            used.db,
            "select distinct d.name from (select message_id from howdah.audit_messages union select message_id"
            " from howdah.audit_journal) m"
            " join howdah.destinations d on d.id = m.message_id % 1000000"
            " where (d.journal_level = 'full' or d.is_system)"
            " and not exists (select from howdah.audit_journal j"
            " where j.message_id = m.message_id and j.event = 'sent')",
        )
        == []
    )


def test_an_audit_of_a_database_that_uses_every_feature_is_clean(audit: Audit, db: Db, connect: Connect) -> None:
    use_every_feature(db, connect)
    result = audit()

    assert result.ok, [rule for rule in result.rules if rule.count]
    assert [rule for rule in result.rules if rule.count] == []
    mere = {"ActiveMQ.DLQ", "ActiveMQ.DLQ.Queue.at_move_individual"}  # made by a policy, with the default level
    held = [queue for queue in result.queues if not queue.queue.startswith("_TEMP.")]
    assert {queue.queue for queue in held if ":" not in queue.queue and queue.verdict != "proved"} == mere
    subscriptions = {queue.queue: queue.verdict for queue in held if ":" in queue.queue}
    assert {name for name, verdict in subscriptions.items() if verdict == "proved by its topic's sends"} >= {
        "news:client:durable",
        "news:client:shared",
    }
    assert subscriptions["news:client:picky"] == "no record says what it should have got"  # it has a selector
    assert set(subscriptions.values()) == {"proved by its topic's sends", "no record says what it should have got"}
    full = replace(result, queues=tuple(queue for queue in held if queue.queue not in mere))
    assert headline(full) == Headline("Every message is accounted for.", "good")
