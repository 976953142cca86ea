"""The SQL API: the list of its files, which is the order of installation, and the installer.

A file holds one verb with its overloads and helpers. Above each function stands a header; the installer makes the
function's COMMENT from the header's first sentence and its GRANTs from the ``Role`` line, so neither can drift.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Protocol

FILES = (
    # what the others stand on
    "base/now",
    "base/_lock_key",
    "base/_caller",
    "base/has_role",
    "destinations/_destination",
    "base/_check_name",
    "options/_preset",
    "options/_option_kinds",
    "options/_limit",
    "bodies/_is_large",
    "journal/_journal",
    "journal/_journal_sent",
    "operator/_act",
    "disposal/_exception_destinations",
    "messages/_as_ready",
    "leases/_unleased",
    "messages/_message",
    "claim/_open_lane",
    "messages/_wake",
    "topics/_topic",
    "subscriptions/_check_reader",
    "ring/_generation",
    "ring/_persistent_0",
    "streams/_stream_persistent_0",
    "streams/_run_persistent_0",
    "streams/_find_run",
    "cursors/_topic_page",
    "cursors/_cut",
    "cursors/_cursor",
    "cursors/_ahead",
    "cursors/_fold",
    "ring/_settle_ring",
    "ring/_empty_slot",
    "messages/_put",
    "limits/_ticket_key",
    "limits/_stored",
    "limits/_take",
    "temporary/_check_temporary",
    "limits/_make_room",
    "disposal/_evict",
    "limits/_system_limited",
    "disposal/_tell",
    "send/_stamped",
    "poison/_run_poison_procedure",
    "disposal/_bury",
    "disposal/_expire",
    "disposal/_remove",
    # destinations
    "destinations/create_queue",
    "destinations/alter_queue",
    "destinations/purge_queue",
    "destinations/drop_queue",
    "destinations/pause",
    "destinations/resume",
    "destinations/list_queues",
    "destinations/queue_options",
    "destinations/alter_engine",
    "destinations/set_policy",
    "destinations/grant_queue",
    # some for a connection only
    "temporary/set_connection",
    "temporary/create_temporary_queue",
    "temporary/drop_temporary_queue",
    # selectors,
    "selectors/_invalid_selector",
    "selectors/_selector_form",
    "selectors/_selector_parse",
    "selectors/_selector_operand",
    "selectors/_selector_comparison",
    "selectors/_selector_sql",
    "selectors/_selector_number",
    "selectors/check_selector",
    "selectors/selector_matches",
    # topics,
    "topics/create_topic",
    "topics/drop_topic",
    "topics/list_topics",
    "topics/subscribe",
    "topics/unsubscribe",
    "topics/seek_subscription",
    "topics/_history",
    "topics/_lags",
    "topics/list_subscriptions",
    "topics/bridge",
    "topics/rebase_topics",
    "topics/set_client_id",
    # a message is sent,
    "send/_check_message",
    "send/_deduplicate",
    "publish/_publish_usual",
    "publish/_publish",
    "send/_send",
    "send/_send_batch",
    "send/_is_composite",
    "send/send",
    "send/send_batch",
    "send/_send_copied",
    "send/begin_copy",
    "send/send_copied",
    # by the clock too,
    "schedules/_check_cron",
    "schedules/_own_schedule",
    "schedules/_schedule",
    "schedules/_schedule_by_headers",
    "schedules/schedule",
    "schedules/_fire",
    "schedules/fire_schedules",
    "schedules/list_schedules",
    "schedules/cancel_schedule",
    "schedules/pause_schedule",
    "schedules/wake_due",
    "schedules/delay_until",
    "send/respond",
    # received,
    "claim/_sweep_lost",
    "claim/_search",
    "claim/_next_positions",
    "claim/_look_nonpersistent",
    "claim/_look_parked",
    "claim/_claim",
    "failure/_in_doubt",
    "failure/_failures",
    "attempts/_untouchable",
    "groups/_group",
    "groups/_claim_groups",
    "groups/_claim_one_of_group",
    "groups/_receive_of_groups",
    "groups/_own_groups",
    "walks/_selection",
    "walks/_walk_from",
    "walks/_walk_note",
    "walks/_walk",
    "leases/_note_lease",
    "consumers/_turn",
    "admission/_admit",
    "walks/_take_walked",
    "receive/_receive_any",
    "disposal/_dispose",
    "streams/_receive_set_aside",
    "streams/_find_published",
    "streams/_read_published",
    "streams/_claim_published",
    "streams/_receive_published",
    "streams/_begin_stream",
    "streams/_pass_stream",
    "receive/receive",
    "receive/receive_locked",
    "receive/consume_locked",
    "receive/begin_attempts",
    "receive/receive_attempt",
    "receive/cancel_attempt",
    "receive/wait",
    "consumers/open_consumer",
    "consumers/renew_consumers",
    "consumers/close_consumer",
    "consumers/list_consumers",
    "leases/lease",
    "leases/ack",
    "leases/nack",
    "leases/extend",
    "leases/handed",
    # fails,
    "messages/_find",
    "receive/_look_up",
    "receive/receive_message",
    "receive/receive_correlated",
    "failure/_settle",
    "failure/_note_streak",
    "failure/_fingerprint",
    "failure/_record_failure",
    "leases/lease_ahead",
    "leases/_held",
    "leases/ack_many",
    "leases/ack_interval",
    "leases/renew_leases",
    "leases/end_leases",
    "leases/redeliver",
    "leases/report_slow_consumer",
    "failure/record_failure",
    "failure/record_failures",
    "failure/settle_failures",
    "failure/end_conversation",
    # through a listener, which may stop,
    "listeners/_listener",
    "listeners/create_listener",
    "listeners/ensure_listener",
    "listeners/alter_listener",
    "listeners/drop_listener",
    "listeners/list_listeners",
    "listeners/stop_listener",
    "listeners/resume_listener",
    "listeners/receive_as",
    "listeners/begin_attempts_as",
    "listeners/receive_attempt_as",
    "listeners/handled_as",
    "listeners/record_failures_as",
    # is dealt with by an administrator,
    "operator/_take_back",
    "operator/_dead_messages",
    "operator/_chosen",
    "operator/_move",
    "failure/replay",
    "failure/discard",
    "operator/list_poison",
    "operator/poison_causes",
    "operator/poison_message",
    "operator/list_acts",
    "operator/replay_edited",
    "operator/move_messages",
    "operator/park_messages",
    "operator/retry",
    # and is looked at
    "inspect/_estimate",
    "inspect/_backlog",
    "inspect/_dead",
    "journal/_journal_totals",
    "inspect/browse",
    "inspect/incidents",
    "inspect/queue_stats",
    "inspect/resource_state",
    "views/activemq",
    "views/audit",
    # kept outside the database
    "maintenance/_waits",
    "archive/_archived",
    "views/archive",
    "archive/begin_archive",
    "archive/finish_archive_run",
    "archive/list_archive_runs",
    "archive/check_archive_run",
    "archive/restore_message",
    "journal/journal_offset",
    "journal/next_journal_offset",
    "journal/journal_ranges",
    "audit/hold_audit",
    "audit/record_audit",
    "audit/list_audits",
    # workers and their housekeeping
    "runtime/acquire_lock",
    "runtime/break_lock",
    "runtime/register_worker",
    "runtime/record_worker_figures",
    "runtime/check_server",
    "runtime/list_transactions",
    "runtime/set_storage",
    "maintenance/maintain_workers",
    "maintenance/maintain_consumers",
    "maintenance/maintain_attempts",
    "maintenance/maintain_totals",
    "maintenance/maintain_backlog",
    "maintenance/maintain_journal",
    "maintenance/maintain_incidents",
    "maintenance/maintain_dropped",
    "maintenance/maintain_deduplications",
    "maintenance/maintain_topics",
    "maintenance/maintain_subscriptions",
    "maintenance/maintain_schedules",
    "maintenance/maintain_expired",
    "maintenance/maintain_temporary",
    "runtime/_setup",
)

_HEADER = re.compile(
    r"(?P<header>(?:^--[^\n]*\n)+)\s*(?P<ddl>create or replace (?P<kind>function|view) howdah\.(?P<name>\w+))",
    re.MULTILINE,
)
_VIEW = re.compile(r"^create or replace view howdah\.(\w+)", re.MULTILINE)
_ROLE = re.compile(r"^-- Role +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Roles:
    """Names of the roles that own and use Howdah. All equal: one-role mode."""

    owner: str = "howdah_owner"
    admin: str = "howdah_admin"
    producer: str = "howdah_producer"
    consumer: str = "howdah_consumer"
    browser: str = "howdah_browser"
    auditor: str = "howdah_auditor"

    @classmethod
    def with_prefix(cls, prefix: str) -> Roles:
        """The six roles under another prefix than ``howdah``."""
        return cls(*(f"{prefix}_{kind}" for kind in ("owner", "admin", "producer", "consumer", "browser", "auditor")))

    @classmethod
    def one(cls, name: str) -> Roles:
        """One-role mode: the installing role owns and uses everything, and nobody else may."""
        return cls(name, name, name, name, name, name)

    @property
    def nobody(self) -> str:
        """The role without rights as which poison procedures are called; in one-role mode there is none but the owner."""
        return self.owner if self.is_one else f"{self.owner.removesuffix('_owner')}_nobody"

    @property
    def is_one(self) -> bool:
        """Whether this is one-role mode."""
        return self.owner == self.admin

    def users(self) -> dict[str, str]:
        """The roles other than the owner, by what they are for."""
        return {kind: name for kind, name in asdict(self).items() if kind != "owner"}


@dataclass(frozen=True)
class Header:
    """What stands above a function or view: its name, its first sentence and who may use it."""

    kind: str
    name: str
    summary: str
    roles: tuple[str, ...]
    text: str


class Database(Protocol):
    """What the installer needs of a connection: run SQL text without parameters, and read rows."""

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run one or several statements; return the rows of the last one."""


def source(name: str) -> str:
    """The text of one file of FILES."""
    return (files(__name__) / f"{name}.sql").read_text(encoding="utf-8")


def headers(text: str) -> list[Header]:
    """The headers of a file, one for each function or view that has one of its own."""
    found = []
    for match in _HEADER.finditer(text):
        header = match["header"]
        first = header.split("\n", 1)[0].removeprefix("-- ")
        summary = first.split(": ", 1)[1] if ": " in first else first
        role = _ROLE.search(header)
        roles = tuple(role[1].split()) if role else ()
        found.append(Header(match["kind"], match["name"], summary, roles, header))
    return found


def checksum(roles: Roles) -> str:
    """Identifies the texts and the role names together: another value means there is something to install."""
    digest = hashlib.sha256(json.dumps(asdict(roles)).encode())
    for name in FILES:
        digest.update(source(name).encode())
    return digest.hexdigest()


def literal(value: str) -> str:
    """A string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def identifier(value: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def install(database: Database, roles: Roles, engine_name: str) -> None:
    """Install every procedure and view anew, in the caller's transaction, as the owner role.

    Signatures that are no longer listed are dropped, everything is revoked from PUBLIC, and what the headers say is
    granted. PostgreSQL stamps each replaced function with the transaction's id; the others are the stale ones.
    """
    for name in FILES:
        database.run(source(name))
    stale = database.run(
        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and p.xmin::text::bigint <> (pg_current_xact_id()::text::numeric % 4294967296)::bigint"
    )
    for (signature,) in stale:
        database.run(f"drop function {signature}")
    grant(database, roles)
    give_away(database, roles)
    database.run(
        f"select howdah._setup({literal(engine_name)}, {literal(json.dumps(roles.users()))}::jsonb, {literal(checksum(roles))})"
    )


def give_away(database: Database, roles: Roles) -> None:
    """Give the call of poison procedures to the role without rights, which may not create in the schema afterwards."""
    if roles.is_one:
        return
    signature = "howdah._call_poison_procedure(name, text, text, howdah.message, jsonb)"
    nobody = identifier(roles.nobody)
    database.run(
        f"grant create on schema howdah to {nobody}; alter function {signature} owner to {nobody};"
        f" grant execute on function {signature} to {nobody}; revoke all on schema howdah from {nobody}"
    )


def grant(database: Database, roles: Roles) -> None:
    """Comment and grant what the headers say; PUBLIC gets nothing but the clock."""
    users = {f"howdah_{kind}": name for kind, name in roles.users().items()}
    everybody = ", ".join(sorted({identifier(name) for name in users.values()}))
    statements = [
        "revoke all on all functions in schema howdah from public",
        "revoke all on all tables in schema howdah from public",
        "alter default privileges revoke execute on functions from public",
        *([] if roles.is_one else [f"revoke all on all functions in schema howdah from {everybody}"]),
        *([] if roles.is_one else [f"revoke all on all tables in schema howdah from {everybody}"]),
        f"grant usage on schema howdah to {everybody}",
    ]
    signatures: dict[str, list[str]] = {}
    for name, signature in database.run(
        "select p.proname::text, p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
    ):
        signatures.setdefault(str(name), []).append(str(signature))
    for file in FILES:
        text = source(file)
        views = _VIEW.findall(text)
        for header in headers(text):
            allowed = [users[role] for role in header.roles if role in users]
            if header.roles == ("everybody",):
                allowed = list(users.values())
            grantees = ", ".join(sorted({identifier(role) for role in allowed}))
            if header.kind == "view":
                statements += [f"grant select on howdah.{view} to {grantees}" for view in views]
                continue
            for signature in signatures[header.name]:
                statements.append(f"comment on function {signature} is {literal(header.summary)}")
                if grantees:
                    statements.append(f"grant execute on function {signature} to {grantees}")
    database.run(";\n".join(statements))
