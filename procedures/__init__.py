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
    "internal/now",
    "internal/lock_key",
    "internal/caller",
    "internal/has_role",
    "internal/destination",
    "internal/check_name",
    "internal/preset",
    "internal/options",
    "internal/policy",
    "internal/bodies",
    "internal/journal",
    "internal/journal_sent",
    "internal/act",
    "internal/exception_destinations",
    "internal/as_ready",
    "internal/leased",
    "internal/message",
    "internal/lane",
    "internal/wake",
    "internal/topic",
    "internal/reader",
    "internal/topic_ring",
    "internal/topic_rows",
    "internal/topic_stream",
    "internal/topic_run",
    "internal/find_run",
    "internal/topic_page",
    "internal/cut",
    "internal/cursor",
    "internal/ahead",
    "internal/fold",
    "internal/settle_ring",
    "internal/empty_slot",
    "internal/put",
    "internal/tickets",
    "internal/stored",
    "internal/take",
    "internal/temporary",
    "internal/room",
    "internal/evict",
    "internal/system",
    "internal/tell",
    "internal/stamp",
    "internal/poison_procedure",
    "internal/bury",
    "internal/expire",
    "internal/remove",
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
    "destinations/policies",
    "destinations/grants",
    # some for a connection only
    "temporary/set_connection",
    "temporary/create_temporary_queue",
    "temporary/drop_temporary_queue",
    # selectors,
    "selectors/tokens",
    "selectors/form",
    "selectors/parse",
    "selectors/operand",
    "selectors/comparison",
    "selectors/sql",
    "selectors/values",
    "selectors/check_selector",
    "selectors/selector_matches",
    # topics,
    "topics/create_topic",
    "topics/drop_topic",
    "topics/list_topics",
    "topics/subscribe",
    "topics/unsubscribe",
    "topics/seek_subscription",
    "topics/recovery",
    "internal/lags",
    "topics/list_subscriptions",
    "topics/bridge",
    "topics/rebase_topics",
    "topics/client_id",
    # a message is sent,
    "internal/check_message",
    "internal/deduplicate",
    "internal/publish",
    "internal/publish_batch",
    "internal/send",
    "internal/send_batch",
    "internal/composite",
    "send/send",
    "send/send_batch",
    "internal/send_copied",
    "send/begin_copy",
    "send/send_copied",
    # by the clock too,
    "schedules/cron",
    "internal/own_schedule",
    "internal/schedule",
    "internal/schedule_by_headers",
    "schedules/schedule",
    "internal/fire",
    "schedules/fire_schedules",
    "schedules/list_schedules",
    "schedules/cancel_schedule",
    "schedules/pause_schedule",
    "schedules/wake_due",
    "schedules/delayed",
    "send/respond",
    # received,
    "internal/sweep_lost",
    "internal/search",
    "internal/next_positions",
    "internal/look_nonpersistent",
    "internal/look_parked",
    "internal/claim",
    "internal/in_doubt",
    "internal/failures",
    "internal/attempts",
    "internal/group",
    "internal/claim_groups",
    "internal/claim_one_of_group",
    "internal/receive_of_groups",
    "internal/own_groups",
    "internal/selection",
    "internal/walk_from",
    "internal/walk_note",
    "internal/walk",
    "internal/consumer_leases",
    "internal/turn",
    "internal/admit",
    "internal/take_walked",
    "internal/receive_any",
    "internal/deliver",
    "internal/set_aside",
    "internal/find_published",
    "internal/read_published",
    "internal/claim_published",
    "internal/receive_published",
    "internal/begin_stream",
    "internal/pass_stream",
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
    "internal/find",
    "internal/look_up",
    "receive/receive_message",
    "receive/receive_correlated",
    "internal/settle",
    "internal/streak",
    "internal/fingerprint",
    "internal/record_failure",
    "leases/lease_ahead",
    "leases/held",
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
    "internal/listener",
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
    "internal/take_back",
    "internal/dead_messages",
    "internal/chosen",
    "internal/move",
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
    "internal/estimate",
    "internal/backlog",
    "internal/dead",
    "internal/journal_totals",
    "inspect/browse",
    "inspect/incidents",
    "inspect/queue_stats",
    "inspect/resource_state",
    "views/activemq",
    "views/audit",
    # kept outside the database
    "internal/waits",
    "internal/archived",
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
    "runtime/lock",
    "runtime/break_lock",
    "runtime/worker",
    "runtime/record_worker_figures",
    "runtime/check_server",
    "runtime/transactions",
    "runtime/storage",
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
    "internal/setup",
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
