CREATE SEQUENCE howdah.failing_0;
CREATE SEQUENCE howdah.special_0;
CREATE SEQUENCE howdah.failing_1;
CREATE SEQUENCE howdah.special_1;
CREATE SEQUENCE howdah.failing_2;
CREATE SEQUENCE howdah.special_2;
CREATE SEQUENCE howdah.failing_3;
CREATE SEQUENCE howdah.special_3;
CREATE SEQUENCE howdah.failing_4;
CREATE SEQUENCE howdah.special_4;
CREATE SEQUENCE howdah.failing_5;
CREATE SEQUENCE howdah.special_5;
CREATE SEQUENCE howdah.failing_6;
CREATE SEQUENCE howdah.special_6;
CREATE SEQUENCE howdah.failing_7;
CREATE SEQUENCE howdah.special_7;
CREATE SEQUENCE howdah.failing_8;
CREATE SEQUENCE howdah.special_8;
CREATE SEQUENCE howdah.failing_9;
CREATE SEQUENCE howdah.special_9;
CREATE SEQUENCE howdah.failing_10;
CREATE SEQUENCE howdah.special_10;
CREATE SEQUENCE howdah.failing_11;
CREATE SEQUENCE howdah.special_11;
CREATE SEQUENCE howdah.failing_12;
CREATE SEQUENCE howdah.special_12;
CREATE SEQUENCE howdah.failing_13;
CREATE SEQUENCE howdah.special_13;
CREATE SEQUENCE howdah.failing_14;
CREATE SEQUENCE howdah.special_14;
CREATE SEQUENCE howdah.failing_15;
CREATE SEQUENCE howdah.special_15;
CREATE SEQUENCE howdah.changes_dropped;
CREATE SEQUENCE howdah.lease_numbers;
CREATE SEQUENCE howdah.bodies_apart;
CREATE SEQUENCE howdah.moved_walk START WITH 0 MINVALUE 0;
CREATE SEQUENCE howdah.topic_generation START WITH 0 MINVALUE 0;
CREATE SEQUENCE howdah.topic_truncations START WITH 0 MINVALUE 0;
CREATE SEQUENCE howdah.topic_checked START WITH 0 MINVALUE 0;
CREATE SEQUENCE howdah.system_room START WITH 1 MINVALUE 0;
CREATE SEQUENCE howdah.system_tickets START WITH 1 MINVALUE 0;
CREATE SEQUENCE howdah.system_state START WITH 1 MINVALUE 0;
CREATE SEQUENCE howdah.no_room START WITH 1 MINVALUE 0;
CREATE SEQUENCE howdah.expiry_walk START WITH 0 MINVALUE 0;
CREATE SEQUENCE howdah.lock_secret START WITH 1 MINVALUE 0;
CREATE SEQUENCE howdah.ticket_secret START WITH 1 MINVALUE 0;
CREATE SEQUENCE howdah.senders_noted;

CREATE TABLE howdah.access_rule_sets (
    name TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_access_rule_sets PRIMARY KEY (name)
);
COMMENT ON TABLE howdah.access_rule_sets IS 'Named sets of access rules. The engine, or a service, says which one is in force.';
COMMENT ON COLUMN howdah.access_rule_sets.name IS 'Name of the set of rules.';
COMMENT ON COLUMN howdah.access_rule_sets.created_at IS 'When it was created.';
COMMENT ON COLUMN howdah.access_rule_sets.created_by IS 'The role that created it.';
COMMENT ON COLUMN howdah.access_rule_sets.changed_at IS 'When a rule of it was last changed. Whoever changes one updates this; new destinations share the row.';

CREATE TABLE howdah.journal (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    xid BIGINT DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
    destination_id INTEGER NOT NULL,
    other_destination_id INTEGER,
    nonpersistent BOOLEAN DEFAULT false NOT NULL,
    event TEXT NOT NULL,
    reason TEXT,
    message_ids BIGINT[] NOT NULL,
    oldest_sent_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE[],
    group_ids TEXT[],
    priorities SMALLINT[],
    settled_xid BIGINT,
    last_id BIGINT,
    digests BYTEA[],
    reliability SMALLINT
)
 PARTITION BY RANGE (at);
CREATE INDEX ix_journal_xid ON howdah.journal USING brin (xid) WITH (pages_per_range = 32);
COMMENT ON TABLE howdah.journal IS 'What became of the messages: one row per call. INSERT-only, partitioned by week.';
COMMENT ON COLUMN howdah.journal.at IS 'When it happened. Partitions are ranges of this column.';
COMMENT ON COLUMN howdah.journal.xid IS 'The transaction (xid8 as a number), so that a reader that goes by snapshots misses no late commit.';
COMMENT ON COLUMN howdah.journal.destination_id IS 'The destination that the messages were in (for sent: came into).';
COMMENT ON COLUMN howdah.journal.other_destination_id IS 'Where moved or replayed messages went.';
COMMENT ON COLUMN howdah.journal.nonpersistent IS 'True: the messages were non-persistent.';
COMMENT ON COLUMN howdah.journal.event IS 'sent, consumed, expired, discarded, moved, replayed or lost.';
COMMENT ON COLUMN howdah.journal.reason IS 'For discarded, moved and lost: why. For consumed: held (received before, locked or leased) or selected (by a selector).';
COMMENT ON COLUMN howdah.journal.message_ids IS 'The messages of one call. With a last_id, only the one with the lowest number.';
COMMENT ON COLUMN howdah.journal.oldest_sent_at IS 'For consumed: when the oldest message was sent. For sent: when all of them were sent.';
COMMENT ON COLUMN howdah.journal.expires_at IS 'For sent: when each of message_ids expires. NULL: none of them does.';
COMMENT ON COLUMN howdah.journal.group_ids IS 'For sent without delay into a queue with message_groups: the group of each. NULL: none has one.';
COMMENT ON COLUMN howdah.journal.priorities IS 'For sent: the priority of each message.';
COMMENT ON COLUMN howdah.journal.settled_xid IS 'With group_ids: every transaction with a lower id had ended when they were sent.';
COMMENT ON COLUMN howdah.journal.last_id IS 'For messages read from a topic whose numbers have no gap: the greatest. NULL: message_ids has them all.';
COMMENT ON COLUMN howdah.journal.digests IS 'For sent: 16 bytes for the content of each message (howdah._digest), so that an audit sees changes to it.';
COMMENT ON COLUMN howdah.journal.reliability IS 'For sent, discarded and lost: the level of the messages, as in msgs. NULL: the usual one of their mode, or several levels.';
ALTER TABLE howdah.journal ALTER COLUMN message_ids SET STORAGE EXTERNAL;

CREATE TABLE howdah.journal_default PARTITION OF howdah.journal DEFAULT;
COMMENT ON TABLE howdah.journal_default IS 'Journal rows of weeks that have no partition of their own.';

CREATE TABLE howdah.journal_totals (
    destination_id INTEGER NOT NULL,
    event TEXT NOT NULL,
    messages BIGINT NOT NULL,
    CONSTRAINT pk_journal_totals PRIMARY KEY (destination_id, event)
);
COMMENT ON TABLE howdah.journal_totals IS 'The journal summed up for each destination and event, so that statistics need not read it all.';
COMMENT ON COLUMN howdah.journal_totals.destination_id IS 'The destination.';
COMMENT ON COLUMN howdah.journal_totals.event IS 'As in journal; moved_in and replayed_in count at the receiving destination.';
COMMENT ON COLUMN howdah.journal_totals.messages IS 'Messages counted so far, up to engine.totals_snapshot.';

CREATE TABLE howdah.backlog_counts (
    id SMALLINT NOT NULL,
    counted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    boot TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_backlog_counts PRIMARY KEY (id),
    CONSTRAINT ck_backlog_counts_single_row CHECK (id = 1)
);
COMMENT ON TABLE howdah.backlog_counts IS 'The last count of the backlog: one row, or none before the first count.';
COMMENT ON COLUMN howdah.backlog_counts.id IS 'Always 1.';
COMMENT ON COLUMN howdah.backlog_counts.counted_at IS 'When backlog_figures and dead_figures were counted.';
COMMENT ON COLUMN howdah.backlog_counts.boot IS 'Start of the server at that time; non-persistent messages end with it.';

CREATE TABLE howdah.backlog_figures (
    destination_id INTEGER NOT NULL,
    live BIGINT NOT NULL,
    parked BIGINT NOT NULL,
    oldest_sent_at TIMESTAMP WITH TIME ZONE,
    leased BIGINT DEFAULT 0 NOT NULL,
    waiting BIGINT NOT NULL,
    waiting_sent_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_backlog_figures PRIMARY KEY (destination_id)
);
COMMENT ON TABLE howdah.backlog_figures IS 'Counts of the queues that are not empty, refreshed in the background.';
COMMENT ON COLUMN howdah.backlog_figures.destination_id IS 'The destination.';
COMMENT ON COLUMN howdah.backlog_figures.live IS 'Messages ready for delivery at backlog_counts.counted_at.';
COMMENT ON COLUMN howdah.backlog_figures.parked IS 'Messages waiting for a time at backlog_counts.counted_at.';
COMMENT ON COLUMN howdah.backlog_figures.oldest_sent_at IS 'When the oldest ready message was sent.';
COMMENT ON COLUMN howdah.backlog_figures.leased IS 'Parked messages that are leased.';
COMMENT ON COLUMN howdah.backlog_figures.waiting IS 'Live messages that did not die in another queue.';
COMMENT ON COLUMN howdah.backlog_figures.waiting_sent_at IS 'When the oldest message that counts as waiting was sent.';

CREATE TABLE howdah.dead_figures (
    destination_id INTEGER NOT NULL,
    origin_id INTEGER NOT NULL,
    dead BIGINT NOT NULL,
    CONSTRAINT pk_dead_figures PRIMARY KEY (destination_id, origin_id)
);
COMMENT ON TABLE howdah.dead_figures IS 'Counts of dead messages by exception destination and origin, refreshed in the background.';
COMMENT ON COLUMN howdah.dead_figures.destination_id IS 'The exception destination.';
COMMENT ON COLUMN howdah.dead_figures.origin_id IS 'The destination that its messages came from.';
COMMENT ON COLUMN howdah.dead_figures.dead IS 'The number of messages at backlog_counts.counted_at.';

CREATE TABLE howdah.archive_runs (
    archive_id UUID NOT NULL,
    run INTEGER NOT NULL,
    lock_epoch BIGINT NOT NULL,
    snapshot PG_SNAPSHOT NOT NULL,
    system_identifier BIGINT NOT NULL,
    journal_rows BIGINT NOT NULL,
    journal_checksum NUMERIC NOT NULL,
    incident_rows BIGINT NOT NULL,
    incident_checksum NUMERIC NOT NULL,
    message_rows BIGINT NOT NULL,
    message_checksum NUMERIC NOT NULL,
    journal_kept_from TIMESTAMP WITH TIME ZONE,
    manifest TEXT NOT NULL,
    path TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE NOT NULL,
    verified_at TIMESTAMP WITH TIME ZONE,
    damage TEXT,
    CONSTRAINT pk_archive_runs PRIMARY KEY (archive_id, run),
    CONSTRAINT ck_archive_runs_run CHECK (run > 0)
);
COMMENT ON TABLE howdah.archive_runs IS 'Finished runs of archives. A run''s folder that is not listed here is no part of the archive.';
COMMENT ON COLUMN howdah.archive_runs.archive_id IS 'Identity of the archive, which its folder also bears.';
COMMENT ON COLUMN howdah.archive_runs.run IS 'Number of the run in its archive, from 1.';
COMMENT ON COLUMN howdah.archive_runs.lock_epoch IS 'Fencing epoch of the lease that it was finished under.';
COMMENT ON COLUMN howdah.archive_runs.snapshot IS 'The archive holds the rows visible in this snapshot; this run holds those that the run before does not.';
COMMENT ON COLUMN howdah.archive_runs.system_identifier IS 'The cluster to which the transaction ids in snapshot belong.';
COMMENT ON COLUMN howdah.archive_runs.journal_rows IS 'Rows of the journal written, one per message and event.';
COMMENT ON COLUMN howdah.archive_runs.journal_checksum IS 'Sum of their hashes, computed by the database.';
COMMENT ON COLUMN howdah.archive_runs.incident_rows IS 'Incidents written.';
COMMENT ON COLUMN howdah.archive_runs.incident_checksum IS 'Sum of their hashes.';
COMMENT ON COLUMN howdah.archive_runs.message_rows IS 'Dead messages written.';
COMMENT ON COLUMN howdah.archive_runs.message_checksum IS 'Sum of their hashes.';
COMMENT ON COLUMN howdah.archive_runs.journal_kept_from IS 'The journal''s oldest partition at that time. The first run has nothing of what happened before.';
COMMENT ON COLUMN howdah.archive_runs.manifest IS 'SHA-256 of the run''s manifest, which has the SHA-256 of each file.';
COMMENT ON COLUMN howdah.archive_runs.path IS 'The archive''s folder at that time, as its archiver named it.';
COMMENT ON COLUMN howdah.archive_runs.started_at IS 'When the run began.';
COMMENT ON COLUMN howdah.archive_runs.finished_at IS 'When it was finished, read back and verified.';
COMMENT ON COLUMN howdah.archive_runs.verified_at IS 'When howdah archive verify last checked it. NULL: never.';
COMMENT ON COLUMN howdah.archive_runs.damage IS 'What that check found wrong. NULL: nothing. While there is damage, retention drops nothing.';

CREATE TABLE howdah.archived_messages (
    message_id BIGINT NOT NULL,
    destination_id INTEGER NOT NULL,
    origin_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    CONSTRAINT pk_archived_messages PRIMARY KEY (message_id, destination_id, origin_id, stage)
);
COMMENT ON TABLE howdah.archived_messages IS 'Dead messages that are in the archive and still in their queue, so that none is archived twice.';
COMMENT ON COLUMN howdah.archived_messages.message_id IS 'The dead message.';
COMMENT ON COLUMN howdah.archived_messages.destination_id IS 'The exception destination it lies in.';
COMMENT ON COLUMN howdah.archived_messages.origin_id IS 'The destination it came from. 0: none.';
COMMENT ON COLUMN howdah.archived_messages.stage IS 'Its stage there, which grows with each move.';

CREATE TABLE howdah.archive_restores (
    restored_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    archive_id UUID NOT NULL,
    run INTEGER NOT NULL,
    queue TEXT NOT NULL,
    restored_at TIMESTAMP WITH TIME ZONE NOT NULL,
    restored_by TEXT NOT NULL,
    CONSTRAINT pk_archive_restores PRIMARY KEY (restored_id)
);
CREATE INDEX ix_archive_restores_message ON howdah.archive_restores (message_id);
COMMENT ON TABLE howdah.archive_restores IS 'Messages that were restored from an archive. INSERT-only.';
COMMENT ON COLUMN howdah.archive_restores.restored_id IS 'Id of the new message.';
COMMENT ON COLUMN howdah.archive_restores.message_id IS 'The message of the archive that it is a copy of.';
COMMENT ON COLUMN howdah.archive_restores.archive_id IS 'The archive.';
COMMENT ON COLUMN howdah.archive_restores.run IS 'The run that contains it.';
COMMENT ON COLUMN howdah.archive_restores.queue IS 'Where it was sent to, as its caller named it.';
COMMENT ON COLUMN howdah.archive_restores.restored_at IS 'When it was sent.';
COMMENT ON COLUMN howdah.archive_restores.restored_by IS 'The role that sent it.';

CREATE TABLE howdah.maintenance_waits (
    service TEXT NOT NULL,
    object TEXT NOT NULL,
    reason TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_maintenance_waits PRIMARY KEY (service, object)
);
COMMENT ON TABLE howdah.maintenance_waits IS 'What maintenance could not do in its last pass; howdah.check_server() shows it.';
COMMENT ON COLUMN howdah.maintenance_waits.service IS 'The maintenance service, such as journal.';
COMMENT ON COLUMN howdah.maintenance_waits.object IS 'What it left undone, such as a partition of the journal.';
COMMENT ON COLUMN howdah.maintenance_waits.reason IS 'What it waits for.';
COMMENT ON COLUMN howdah.maintenance_waits.since IS 'When it first left it undone.';

CREATE TABLE howdah.audit_runs (
    run_id BIGINT GENERATED ALWAYS AS IDENTITY,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE NOT NULL,
    taken_at TIMESTAMP WITH TIME ZONE,
    snapshot TEXT,
    system_identifier BIGINT NOT NULL,
    severity TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    errors BIGINT NOT NULL,
    warnings BIGINT NOT NULL,
    rows_read BIGINT NOT NULL,
    queues JSONB NOT NULL,
    rules JSONB NOT NULL,
    reason TEXT,
    version TEXT,
    output TEXT,
    recorded_by TEXT NOT NULL,
    CONSTRAINT pk_audit_runs PRIMARY KEY (run_id),
    CONSTRAINT ck_audit_runs_severity CHECK (severity IN ('none', 'warning', 'error', 'failed'))
);
CREATE INDEX ix_audit_runs_started_at ON howdah.audit_runs (started_at);
COMMENT ON TABLE howdah.audit_runs IS 'Audits, one row each. Kept for engine.journal_retention_days; the last one that was made is always kept.';
COMMENT ON COLUMN howdah.audit_runs.run_id IS 'Number of the run.';
COMMENT ON COLUMN howdah.audit_runs.started_at IS 'When the run began.';
COMMENT ON COLUMN howdah.audit_runs.finished_at IS 'When it was recorded.';
COMMENT ON COLUMN howdah.audit_runs.taken_at IS 'The database''s clock at the snapshot. NULL: there was none.';
COMMENT ON COLUMN howdah.audit_runs.snapshot IS 'The snapshot that was read, in the form of pg_current_snapshot(). The next audit counts from it.';
COMMENT ON COLUMN howdah.audit_runs.system_identifier IS 'The cluster to which the transaction ids in snapshot belong.';
COMMENT ON COLUMN howdah.audit_runs.severity IS 'none, warning (findings that fail no audit), error (not every message is accounted for) or failed (there was no audit).';
COMMENT ON COLUMN howdah.audit_runs.exit_code IS 'Exit code of the command.';
COMMENT ON COLUMN howdah.audit_runs.errors IS 'Messages that break rules of severity error, summed over the rules.';
COMMENT ON COLUMN howdah.audit_runs.warnings IS 'Messages that break rules of severity warning, summed over the rules.';
COMMENT ON COLUMN howdah.audit_runs.rows_read IS 'Rows read in all views.';
COMMENT ON COLUMN howdah.audit_runs.queues IS 'Figures and verdict of each queue, as an array.';
COMMENT ON COLUMN howdah.audit_runs.rules IS 'The rules broken, as an array with count, queues and a few messages of each.';
COMMENT ON COLUMN howdah.audit_runs.reason IS 'Why there was no audit.';
COMMENT ON COLUMN howdah.audit_runs.version IS 'Version of Howdah that made the audit.';
COMMENT ON COLUMN howdah.audit_runs.output IS 'Where the evidence lies. NULL: none was kept.';
COMMENT ON COLUMN howdah.audit_runs.recorded_by IS 'The role that recorded it.';

CREATE TABLE howdah.audit_verdicts (
    destination_id INTEGER NOT NULL,
    run_id BIGINT NOT NULL,
    audited_at TIMESTAMP WITH TIME ZONE NOT NULL,
    verdict TEXT NOT NULL,
    CONSTRAINT pk_audit_verdicts PRIMARY KEY (destination_id)
);
COMMENT ON TABLE howdah.audit_verdicts IS 'The last verdict on each destination, for queue_stats.';
COMMENT ON COLUMN howdah.audit_verdicts.destination_id IS 'The destination.';
COMMENT ON COLUMN howdah.audit_verdicts.run_id IS 'The last audit that judged it.';
COMMENT ON COLUMN howdah.audit_verdicts.audited_at IS 'The database''s clock at that audit''s snapshot.';
COMMENT ON COLUMN howdah.audit_verdicts.verdict IS 'The auditor''s verdict, such as proved.';

CREATE TABLE howdah.destination_policies (
    pattern TEXT COLLATE "C" NOT NULL,
    options JSONB NOT NULL,
    set_at TIMESTAMP WITH TIME ZONE NOT NULL,
    set_by TEXT NOT NULL,
    CONSTRAINT pk_destination_policies PRIMARY KEY (pattern)
);
COMMENT ON TABLE howdah.destination_policies IS 'Options of queues by wildcard. The most specific pattern applies.';
COMMENT ON COLUMN howdah.destination_policies.pattern IS 'The names it applies to: * stands for one part between dots, > at the end for all the rest.';
COMMENT ON COLUMN howdah.destination_policies.options IS 'The options, as in create_queue, as a JSON object.';
COMMENT ON COLUMN howdah.destination_policies.set_at IS 'When it was set.';
COMMENT ON COLUMN howdah.destination_policies.set_by IS 'The role that set it.';

CREATE TABLE howdah.redactions (
    pattern TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    reason TEXT,
    set_at TIMESTAMP WITH TIME ZONE NOT NULL,
    set_by TEXT NOT NULL,
    CONSTRAINT pk_redactions PRIMARY KEY (pattern, path)
);
COMMENT ON TABLE howdah.redactions IS 'What is hidden in bodies that people look at. All rules whose patterns match apply.';
COMMENT ON COLUMN howdah.redactions.pattern IS 'The names of the queues and topics that it applies to, as in destination_policies.';
COMMENT ON COLUMN howdah.redactions.path IS 'What it hides in their bodies: a JSON path; * stands for any name or element, $ for the whole body.';
COMMENT ON COLUMN howdah.redactions.reason IS 'Why, in the administrator''s words.';
COMMENT ON COLUMN howdah.redactions.set_at IS 'When it was set.';
COMMENT ON COLUMN howdah.redactions.set_by IS 'The role that set it.';

CREATE TABLE howdah.destinations (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT DEFAULT 'queue' NOT NULL,
    usual_send BOOLEAN NOT NULL,
    usual_batch BOOLEAN NOT NULL,
    usual_publish BOOLEAN NOT NULL,
    usual_receive BOOLEAN NOT NULL,
    is_queue BOOLEAN NOT NULL,
    assured BOOLEAN NOT NULL,
    journaled BOOLEAN NOT NULL,
    grouped BOOLEAN NOT NULL,
    default_time_to_live INTERVAL,
    main_rank SMALLINT NOT NULL,
    dispose_at INTEGER DEFAULT 5 NOT NULL,
    limited BOOLEAN DEFAULT false NOT NULL,
    positions REGCLASS NOT NULL,
    head REGCLASS NOT NULL,
    search REGCLASS NOT NULL,
    waiting REGCLASS NOT NULL,
    special REGCLASS NOT NULL,
    failing REGCLASS NOT NULL,
    max_message_bytes BIGINT DEFAULT '73400320' NOT NULL,
    senders TEXT[] NOT NULL,
    receivers TEXT[] NOT NULL,
    room REGCLASS,
    tickets REGCLASS,
    is_system BOOLEAN DEFAULT false NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT NOT NULL,
    dropped_at TIMESTAMP WITH TIME ZONE,
    sending_paused BOOLEAN DEFAULT false NOT NULL,
    receiving_paused BOOLEAN DEFAULT false NOT NULL,
    own_sending_paused BOOLEAN DEFAULT false NOT NULL,
    own_receiving_paused BOOLEAN DEFAULT false NOT NULL,
    max_failed_deliveries INTEGER DEFAULT '5' NOT NULL,
    exception_mode TEXT DEFAULT 'system' NOT NULL,
    exception_queue TEXT,
    redelivery_delay_ms BIGINT DEFAULT '0' NOT NULL,
    blocked_retry_ms BIGINT DEFAULT -1 NOT NULL,
    own_max_message_bytes BIGINT DEFAULT '73400320' NOT NULL,
    default_priority INTEGER DEFAULT '4' NOT NULL,
    default_time_to_live_ms BIGINT,
    journal_level TEXT DEFAULT 'exits' NOT NULL,
    journal_level_at TIMESTAMP WITH TIME ZONE NOT NULL,
    preset TEXT DEFAULT 'howdah' NOT NULL,
    limit_comparison TEXT DEFAULT 'reached' NOT NULL,
    count_by TEXT DEFAULT 'message' NOT NULL,
    decided_at TEXT DEFAULT 'failure' NOT NULL,
    backout_count TEXT DEFAULT 'recorded' NOT NULL,
    initial_redelivery_delay_ms BIGINT,
    use_exponential_backoff BOOLEAN DEFAULT false NOT NULL,
    backoff_multiplier DOUBLE PRECISION DEFAULT 5 NOT NULL,
    max_redelivery_delay_ms BIGINT DEFAULT -1 NOT NULL,
    use_collision_avoidance BOOLEAN DEFAULT false NOT NULL,
    collision_avoidance_factor DOUBLE PRECISION DEFAULT 0.15 NOT NULL,
    override_blocked_retry BOOLEAN DEFAULT false NOT NULL,
    strict_order BOOLEAN DEFAULT false NOT NULL,
    at_limit TEXT DEFAULT 'move' NOT NULL,
    exception_fallback TEXT DEFAULT 'system' NOT NULL,
    exception_prefix TEXT DEFAULT 'ActiveMQ.DLQ.Queue.' NOT NULL,
    check_rights BOOLEAN DEFAULT false NOT NULL,
    process_non_persistent BOOLEAN DEFAULT true NOT NULL,
    log_table BOOLEAN DEFAULT false NOT NULL,
    log_queue TEXT,
    quarantine_ms BIGINT DEFAULT 3600000 NOT NULL,
    quarantine_times INTEGER DEFAULT 1 NOT NULL,
    error_reply BOOLEAN DEFAULT false NOT NULL,
    notify_admin BOOLEAN DEFAULT false NOT NULL,
    clean_incidents BOOLEAN DEFAULT false NOT NULL,
    poison_handling BOOLEAN DEFAULT true NOT NULL,
    disable_after INTEGER DEFAULT 0 NOT NULL,
    disabled_at TIMESTAMP WITH TIME ZONE,
    message_limit BIGINT,
    byte_limit BIGINT,
    streak_from BIGINT DEFAULT 0 NOT NULL,
    poison_procedure TEXT,
    poison_procedure_owner TEXT,
    persistent BOOLEAN DEFAULT true NOT NULL,
    own_persistent BOOLEAN DEFAULT true NOT NULL,
    default_reliability TEXT DEFAULT 'ASSURED_PERSISTENT' NOT NULL,
    max_reliability TEXT DEFAULT 'ASSURED_PERSISTENT' NOT NULL,
    producer_may_override BOOLEAN DEFAULT true NOT NULL,
    exception_discard_reliability TEXT DEFAULT 'BEST_EFFORT_NONPERSISTENT',
    discard_with_sender BOOLEAN DEFAULT false NOT NULL,
    limit_behaviour TEXT DEFAULT 'reject' NOT NULL,
    send_timeout_ms BIGINT DEFAULT 30000 NOT NULL,
    deduplication_window_ms BIGINT DEFAULT 300000 NOT NULL,
    keep_results_ms BIGINT,
    process_expired BOOLEAN DEFAULT false NOT NULL,
    keep_bodies_ms BIGINT,
    last_value_key TEXT,
    contract JSONB,
    message_groups TEXT DEFAULT 'none' NOT NULL,
    delivery_policy TEXT DEFAULT 'shared' NOT NULL,
    groups_at TIMESTAMP WITH TIME ZONE,
    notify_events BOOLEAN DEFAULT false NOT NULL,
    stamp_user BOOLEAN DEFAULT false NOT NULL,
    auto_created BOOLEAN DEFAULT false NOT NULL,
    max_concurrent INTEGER,
    rate_limit TEXT,
    limit_key TEXT,
    max_concurrent_per_key INTEGER,
    rate_limit_per_key TEXT,
    rate_keys INTEGER DEFAULT 100 NOT NULL,
    CONSTRAINT pk_destinations PRIMARY KEY (id),
    CONSTRAINT ck_destinations_message_groups CHECK (message_groups IN ('none', 'transaction', 'sticky')),
    CONSTRAINT ck_destinations_delivery_policy CHECK (delivery_policy IN ('shared', 'single', 'failover', 'round_robin')),
    CONSTRAINT ck_destinations_kind CHECK (kind IN ('queue', 'topic', 'subscription')),
    CONSTRAINT ck_destinations_max_failed_deliveries CHECK (max_failed_deliveries >= -1),
    CONSTRAINT ck_destinations_exception_mode CHECK (exception_mode IN ('system', 'named', 'none', 'dead_letter', 'shared', 'individual')),
    CONSTRAINT ck_destinations_exception_queue CHECK ((exception_mode = 'named') = (exception_queue IS NOT NULL)),
    CONSTRAINT ck_destinations_delays CHECK (redelivery_delay_ms >= 0 AND initial_redelivery_delay_ms >= 0 AND blocked_retry_ms >= -1),
    CONSTRAINT ck_destinations_max_message_bytes CHECK (max_message_bytes > 0),
    CONSTRAINT ck_destinations_own_max_message_bytes CHECK (own_max_message_bytes > 0),
    CONSTRAINT ck_destinations_default_priority CHECK (default_priority BETWEEN 0 AND 9),
    CONSTRAINT ck_destinations_default_time_to_live_ms CHECK (default_time_to_live_ms > 0),
    CONSTRAINT ck_destinations_keep_bodies_ms CHECK (keep_bodies_ms > 0),
    CONSTRAINT ck_destinations_reliability CHECK (array_position(ARRAY['BEST_EFFORT_NONPERSISTENT', 'EXPRESS_NONPERSISTENT', 'RELIABLE_NONPERSISTENT', 'RELIABLE_PERSISTENT', 'ASSURED_PERSISTENT'], default_reliability) <= array_position(ARRAY['BEST_EFFORT_NONPERSISTENT', 'EXPRESS_NONPERSISTENT', 'RELIABLE_NONPERSISTENT', 'RELIABLE_PERSISTENT', 'ASSURED_PERSISTENT'], max_reliability)),
    CONSTRAINT ck_destinations_journal_level CHECK (journal_level IN ('off', 'exits', 'full')),
    CONSTRAINT ck_destinations_preset CHECK (preset IN ('howdah', 'websphere', 'websphere_mq', 'service_broker', 'activemq', 'sun_mq')),
    CONSTRAINT ck_destinations_comparison CHECK (limit_comparison IN ('reached', 'exceeded')),
    CONSTRAINT ck_destinations_counting CHECK (count_by IN ('message', 'conversation', 'group') AND backout_count IN ('volatile', 'recorded', 'hardened')),
    CONSTRAINT ck_destinations_decided_at CHECK (decided_at IN ('failure', 'receive')),
    CONSTRAINT ck_destinations_at_limit CHECK (at_limit IN ('move', 'discard', 'quarantine', 'end_conversation')),
    CONSTRAINT ck_destinations_exception_fallback CHECK (exception_fallback IN ('system', 'dead_letter')),
    CONSTRAINT ck_destinations_backoff CHECK (backoff_multiplier >= 1 AND collision_avoidance_factor BETWEEN 0 AND 1 AND max_redelivery_delay_ms >= -1),
    CONSTRAINT ck_destinations_quarantine CHECK (quarantine_ms >= 0 AND quarantine_times >= 0 AND disable_after >= 0),
    CONSTRAINT ck_destinations_room CHECK (message_limit > 0 AND byte_limit > 0),
    CONSTRAINT ck_destinations_limit_behaviour CHECK (limit_behaviour IN ('reject', 'remove_oldest', 'remove_lowest_priority', 'block') AND send_timeout_ms >= 0),
    CONSTRAINT ck_destinations_deduplication_window_ms CHECK (deduplication_window_ms > 0),
    CONSTRAINT ck_destinations_keep_results_ms CHECK (keep_results_ms > 0),
    CONSTRAINT ck_destinations_permits CHECK (max_concurrent BETWEEN 1 AND 1000 AND max_concurrent_per_key BETWEEN 1 AND 1000 AND rate_keys BETWEEN 1 AND 10000)
);
CREATE UNIQUE INDEX uq_destinations_name ON howdah.destinations (name) WHERE dropped_at IS NULL;
CREATE INDEX ix_destinations_exception_mode ON howdah.destinations (exception_mode) WHERE exception_mode IN ('named', 'individual');
CREATE INDEX ix_destinations_former ON howdah.destinations (name) WHERE dropped_at IS NOT NULL;
COMMENT ON TABLE howdah.destinations IS 'Queues and topics, with the policies that govern their messages.';
COMMENT ON COLUMN howdah.destinations.id IS 'Number of the destination, used in every other table.';
COMMENT ON COLUMN howdah.destinations.name IS 'Name: 1 to 242 letters, digits, dots, underscores, hyphens, slashes.';
COMMENT ON COLUMN howdah.destinations.kind IS 'queue (one consumer per message), topic (every subscriber) or subscription (one subscriber''s view of topics).';
COMMENT ON COLUMN howdah.destinations.usual_send IS 'A send with the default priority may take the fast path: it is stored in the main lane, is not journaled and not paused.';
COMMENT ON COLUMN howdah.destinations.usual_batch IS 'A batch of bodies may take the fast path: as usual_send, whether the queue journals sends or not.';
COMMENT ON COLUMN howdah.destinations.usual_publish IS 'A topic to which a publish may take the fast path: persistent, without limits, as usual_send.';
COMMENT ON COLUMN howdah.destinations.usual_receive IS 'A receive may take the fast path: receiving is not paused, and no bodies are kept.';
COMMENT ON COLUMN howdah.destinations.is_queue IS 'kind is queue.';
COMMENT ON COLUMN howdah.destinations.assured IS 'default_reliability is ASSURED_PERSISTENT.';
COMMENT ON COLUMN howdah.destinations.journaled IS 'journal_level is not off.';
COMMENT ON COLUMN howdah.destinations.grouped IS 'message_groups is transaction, and no limit of permits applies (limited).';
COMMENT ON COLUMN howdah.destinations.default_time_to_live IS 'default_time_to_live_ms as an interval.';
COMMENT ON COLUMN howdah.destinations.main_rank IS 'Rank of the main lane.';
COMMENT ON COLUMN howdah.destinations.dispose_at IS 'Failures at which a receive disposes of a message; derived from the other columns. 1000000: never.';
COMMENT ON COLUMN howdah.destinations.limited IS 'True: a receive needs permits or draws on a rate; derived from max_concurrent and the like.';
COMMENT ON COLUMN howdah.destinations.positions IS 'The sequence that gives the destination''s messages their positions.';
COMMENT ON COLUMN howdah.destinations.head IS 'Hint of the main lane (ready messages of the priority it was created with): as lanes.head.';
COMMENT ON COLUMN howdah.destinations.search IS 'Hint of the main lane: as lanes.search.';
COMMENT ON COLUMN howdah.destinations.waiting IS 'A sequence, a hint: whether somebody waits and asked to be woken. howdah._wake describes it.';
COMMENT ON COLUMN howdah.destinations.special IS 'A sequence, shared with other destinations. It has a value once a lane was opened; receives then read lanes.';
COMMENT ON COLUMN howdah.destinations.failing IS 'A sequence, shared with other destinations. It has a value once a failure was recorded; receives then count failures.';
COMMENT ON COLUMN howdah.destinations.max_message_bytes IS 'Largest body that a send accepts, in bytes: the lesser of own_max_message_bytes and the engine''s max_message_bytes.';
COMMENT ON COLUMN howdah.destinations.senders IS 'Copy of destination_grants for the verb send, by trigger.';
COMMENT ON COLUMN howdah.destinations.receivers IS 'Copy of destination_grants for the verb receive, by trigger.';
COMMENT ON COLUMN howdah.destinations.room IS 'A sequence: the last ticket that sends may use without counting. howdah._reserve_and_wake describes it. NULL: no limit applies.';
COMMENT ON COLUMN howdah.destinations.tickets IS 'A sequence: the tickets that sends draw under a limit. NULL: no limit applies.';
COMMENT ON COLUMN howdah.destinations.is_system IS 'Made by Howdah: can be neither altered nor dropped.';
COMMENT ON COLUMN howdah.destinations.created_at IS 'When it was created.';
COMMENT ON COLUMN howdah.destinations.created_by IS 'The role that created it.';
COMMENT ON COLUMN howdah.destinations.dropped_at IS 'When it was dropped. The row stays, so that the journal keeps its name.';
COMMENT ON COLUMN howdah.destinations.sending_paused IS 'True: nobody sends here, because own_sending_paused is true (HD008) or the engine does not run (HD040).';
COMMENT ON COLUMN howdah.destinations.receiving_paused IS 'True: nobody receives here, because own_receiving_paused is true (HD009) or the engine does not run (HD040).';
COMMENT ON COLUMN howdah.destinations.own_sending_paused IS 'True: an administrator paused sending to this destination alone.';
COMMENT ON COLUMN howdah.destinations.own_receiving_paused IS 'True: an administrator paused receiving from this destination alone, or failures disabled it.';
COMMENT ON COLUMN howdah.destinations.max_failed_deliveries IS 'A message with this many failures is disposed of. 0: never. WebSphere''s default is 5.';
COMMENT ON COLUMN howdah.destinations.exception_mode IS 'Where a message goes at the limit: system, named (exception_queue), dead_letter, shared, individual or none (it stays).';
COMMENT ON COLUMN howdah.destinations.exception_queue IS 'Name of the exception destination when exception_mode is named.';
COMMENT ON COLUMN howdah.destinations.redelivery_delay_ms IS 'Milliseconds that a failed message waits before its next delivery.';
COMMENT ON COLUMN howdah.destinations.blocked_retry_ms IS 'Milliseconds between retries past the limit, if exception_mode is none and override_blocked_retry is set. -1: no retry until howdah.retry.';
COMMENT ON COLUMN howdah.destinations.own_max_message_bytes IS 'The option max_message_bytes as given. The default of 70 MiB is Sun ONE MQ''s.';
COMMENT ON COLUMN howdah.destinations.default_priority IS 'Priority of a message sent without one, 0 to 9.';
COMMENT ON COLUMN howdah.destinations.default_time_to_live_ms IS 'Milliseconds that a message lives if it is sent without time_to_live. NULL: forever.';
COMMENT ON COLUMN howdah.destinations.journal_level IS 'off, exits (what became of each message) or full (also each send).';
COMMENT ON COLUMN howdah.destinations.journal_level_at IS 'When journal_level was last set. An audit trusts records from then on.';
COMMENT ON COLUMN howdah.destinations.preset IS 'Preset last applied: howdah, websphere, websphere_mq, service_broker, activemq or sun_mq.';
COMMENT ON COLUMN howdah.destinations.limit_comparison IS 'When a message is at its limit: reached (failures >= max_failed_deliveries) or exceeded (>).';
COMMENT ON COLUMN howdah.destinations.count_by IS 'What failures are counted for: message, or conversation or group (failures of all its messages add up).';
COMMENT ON COLUMN howdah.destinations.decided_at IS 'When a message at its limit is disposed of: failure (at once, if it is free) or receive (when a receive next finds it).';
COMMENT ON COLUMN howdah.destinations.backout_count IS 'Which failures count: volatile (since the server''s start), recorded (all incidents) or hardened (every attempt, committed before it begins).';
COMMENT ON COLUMN howdah.destinations.initial_redelivery_delay_ms IS 'Milliseconds before the first redelivery. NULL: as redelivery_delay_ms.';
COMMENT ON COLUMN howdah.destinations.use_exponential_backoff IS 'True: each delay is backoff_multiplier times the one before.';
COMMENT ON COLUMN howdah.destinations.backoff_multiplier IS 'Factor between one delay and the next; ActiveMQ''s default is 5.';
COMMENT ON COLUMN howdah.destinations.max_redelivery_delay_ms IS 'Milliseconds that no delay exceeds. -1: no bound.';
COMMENT ON COLUMN howdah.destinations.use_collision_avoidance IS 'True: delays are spread by collision_avoidance_factor.';
COMMENT ON COLUMN howdah.destinations.collision_avoidance_factor IS 'The largest share by which a delay is lengthened or shortened at random.';
COMMENT ON COLUMN howdah.destinations.override_blocked_retry IS 'True: blocked_retry_ms applies to this queue. False: engine.default_blocked_retry_ms does.';
COMMENT ON COLUMN howdah.destinations.strict_order IS 'True: one consumer at a time, and no message before one that waits for its redelivery.';
COMMENT ON COLUMN howdah.destinations.at_limit IS 'What becomes of a message at its limit: move (exception_mode says where), discard, quarantine or end_conversation.';
COMMENT ON COLUMN howdah.destinations.exception_fallback IS 'Where it goes if its exception destination is missing, full or not permitted: system or dead_letter.';
COMMENT ON COLUMN howdah.destinations.exception_prefix IS 'The prefix of the queue''s name in the name of its individual dead-letter queue.';
COMMENT ON COLUMN howdah.destinations.check_rights IS 'True: a message is moved only if the consumer''s role may receive, browse, send, pass_all and set_all there.';
COMMENT ON COLUMN howdah.destinations.process_non_persistent IS 'False: non-persistent messages at their limit are discarded, not moved.';
COMMENT ON COLUMN howdah.destinations.log_table IS 'True: a message at its limit is copied to the table poison_log.';
COMMENT ON COLUMN howdah.destinations.log_queue IS 'Name of a queue that gets a copy of each message at its limit. NULL: none.';
COMMENT ON COLUMN howdah.destinations.quarantine_ms IS 'Milliseconds in quarantine. Afterwards the message returns, and its failures count from zero.';
COMMENT ON COLUMN howdah.destinations.quarantine_times IS 'How often a message is quarantined before exception_mode says where it goes.';
COMMENT ON COLUMN howdah.destinations.error_reply IS 'True: an error message goes to reply_to of each message at its limit.';
COMMENT ON COLUMN howdah.destinations.notify_admin IS 'True: a message at its limit is reported to the queue _SYSTEM.Advisory.';
COMMENT ON COLUMN howdah.destinations.clean_incidents IS 'True: the incidents of a message (or conversation) at its limit are deleted when it is disposed of.';
COMMENT ON COLUMN howdah.destinations.poison_handling IS 'False: the queue is never disabled, whatever disable_after says. This is Service Broker''s POISON_MESSAGE_HANDLING.';
COMMENT ON COLUMN howdah.destinations.disable_after IS 'Failures in a row after which the queue is disabled; 0: never. Service Broker''s is 5.';
COMMENT ON COLUMN howdah.destinations.disabled_at IS 'When failures in a row disabled the queue. Receives raise HD016 until howdah.resume. NULL: it is not disabled.';
COMMENT ON COLUMN howdah.destinations.message_limit IS 'The most messages that the queue may hold. NULL: any number.';
COMMENT ON COLUMN howdah.destinations.byte_limit IS 'The most bytes of bodies that the queue may hold. NULL: any number.';
COMMENT ON COLUMN howdah.destinations.streak_from IS 'Incidents up to this number no longer count as failures in a row.';
COMMENT ON COLUMN howdah.destinations.poison_procedure IS 'Function (SCHEMA.FUNCTION) that a receive calls with each message at its limit. NULL: none.';
COMMENT ON COLUMN howdah.destinations.poison_procedure_owner IS 'The role that owned the function when it was set. The function is not called if its owner changes.';
COMMENT ON COLUMN howdah.destinations.persistent IS 'False: memory mode, in which every message sent here is non-persistent.';
COMMENT ON COLUMN howdah.destinations.own_persistent IS 'The option persistent as given; the column persistent is what applies, including the engine''s false.';
COMMENT ON COLUMN howdah.destinations.default_reliability IS 'Level of reliability of a message that is sent without a level or delivery mode.';
COMMENT ON COLUMN howdah.destinations.max_reliability IS 'Highest level of reliability that is taken here.';
COMMENT ON COLUMN howdah.destinations.producer_may_override IS 'False: every message gets default_reliability, whatever its sender asks for.';
COMMENT ON COLUMN howdah.destinations.exception_discard_reliability IS 'Messages up to this level are discarded in place of going to an exception destination. NULL: none are.';
COMMENT ON COLUMN howdah.destinations.discard_with_sender IS 'True: best-effort and express messages are discarded when the connection that sent them ends.';
COMMENT ON COLUMN howdah.destinations.limit_behaviour IS 'What a send to a full queue does: reject, remove_oldest, remove_lowest_priority or block (up to send_timeout_ms).';
COMMENT ON COLUMN howdah.destinations.send_timeout_ms IS 'Milliseconds that a send waits for room if limit_behaviour is block.';
COMMENT ON COLUMN howdah.destinations.deduplication_window_ms IS 'Milliseconds for which a deduplication key is remembered. Amazon SQS has five minutes.';
COMMENT ON COLUMN howdah.destinations.keep_results_ms IS 'Milliseconds for which the results of its messages are kept. NULL: they are not kept.';
COMMENT ON COLUMN howdah.destinations.process_expired IS 'True: expired messages go to the exception destination. False: they are discarded.';
COMMENT ON COLUMN howdah.destinations.keep_bodies_ms IS 'Milliseconds that a consumed message stays readable, in kept_messages. NULL: it is gone at once.';
COMMENT ON COLUMN howdah.destinations.last_value_key IS 'The header by whose value a message replaces the unread ones sent before it. NULL: none is replaced.';
COMMENT ON COLUMN howdah.destinations.contract IS 'The JSON Schema that bodies sent there must keep to. NULL: any body.';
COMMENT ON COLUMN howdah.destinations.message_groups IS 'Order within groups (header JMSXGroupID, or else the conversation): none, transaction or sticky. transaction: a group belongs to one transaction at a time. sticky: to one consumer until that goes.';
COMMENT ON COLUMN howdah.destinations.delivery_policy IS 'Who gets messages: shared (whoever asks), single (one open consumer, no second one), failover (the first open consumer) or round_robin (open consumers in turn).';
COMMENT ON COLUMN howdah.destinations.groups_at IS 'When message_groups or delivery_policy last changed. An audit expects order for what was sent since. NULL: never.';
COMMENT ON COLUMN howdah.destinations.notify_events IS 'True: dead messages and stopped listeners are announced by NOTIFY, on the channel howdah_events.';
COMMENT ON COLUMN howdah.destinations.stamp_user IS 'True: each message sent here gets the role of its sender in the header JMSXUserID.';
COMMENT ON COLUMN howdah.destinations.auto_created IS 'True: its first use created it, and it ends when nobody uses it. False: it stays.';
COMMENT ON COLUMN howdah.destinations.max_concurrent IS 'Most messages in hand at a time, received or leased. NULL: any.';
COMMENT ON COLUMN howdah.destinations.rate_limit IS 'Most messages given out in a period, such as 100/1s or 100/1m burst 10. NULL: any number.';
COMMENT ON COLUMN howdah.destinations.limit_key IS 'The header whose value is a message''s key. NULL: no limit by key.';
COMMENT ON COLUMN howdah.destinations.max_concurrent_per_key IS 'As max_concurrent, for each key. NULL: any.';
COMMENT ON COLUMN howdah.destinations.rate_limit_per_key IS 'As rate_limit, for each key. NULL: any number.';
COMMENT ON COLUMN howdah.destinations.rate_keys IS 'For how many keys at a time rate_limit_per_key is kept; messages of further keys wait.';

CREATE TABLE howdah.aliases (
    name TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    default_reliability TEXT,
    max_reliability TEXT,
    producer_may_override BOOLEAN,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT NOT NULL,
    CONSTRAINT pk_aliases PRIMARY KEY (name)
);
COMMENT ON TABLE howdah.aliases IS 'Other names of queues and topics, with levels of reliability of their own.';
COMMENT ON COLUMN howdah.aliases.name IS 'The other name; no destination has it.';
COMMENT ON COLUMN howdah.aliases.target IS 'Name of the queue or topic that it stands for.';
COMMENT ON COLUMN howdah.aliases.default_reliability IS 'As in destinations. NULL: the target''s.';
COMMENT ON COLUMN howdah.aliases.max_reliability IS 'As in destinations. NULL: the target''s.';
COMMENT ON COLUMN howdah.aliases.producer_may_override IS 'As in destinations. NULL: the target''s.';
COMMENT ON COLUMN howdah.aliases.created_at IS 'When it was created.';
COMMENT ON COLUMN howdah.aliases.created_by IS 'The role that created it.';

CREATE TABLE howdah.spare_numbers (
    id INTEGER NOT NULL,
    CONSTRAINT pk_spare_numbers PRIMARY KEY (id)
);
COMMENT ON TABLE howdah.spare_numbers IS 'Numbers for the next destinations, made ready by maintenance while destinations create themselves.';
COMMENT ON COLUMN howdah.spare_numbers.id IS 'The number. Its sequences have its name already.';

CREATE TABLE howdah.config_changes (
    change_id BIGINT GENERATED ALWAYS AS IDENTITY,
    transaction BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    act TEXT NOT NULL,
    before JSONB,
    after JSONB,
    reason TEXT,
    undoes BIGINT,
    CONSTRAINT pk_config_changes PRIMARY KEY (change_id)
);
CREATE INDEX ix_config_changes_transaction ON howdah.config_changes (transaction, change_id);
COMMENT ON TABLE howdah.config_changes IS 'What administrators changed: each thing made, altered or dropped, with who and when. INSERT-only.';
COMMENT ON COLUMN howdah.config_changes.change_id IS 'Number of the change.';
COMMENT ON COLUMN howdah.config_changes.transaction IS 'The transaction (xid8 as a number). Readers in the order of commits stop before the oldest that is open.';
COMMENT ON COLUMN howdah.config_changes.at IS 'When it was made.';
COMMENT ON COLUMN howdah.config_changes.actor IS 'The role that made it.';
COMMENT ON COLUMN howdah.config_changes.kind IS 'What it is: queue, topic, subscription, alias, policy, engine, rule, service, object and so on.';
COMMENT ON COLUMN howdah.config_changes.name IS 'Name of the thing.';
COMMENT ON COLUMN howdah.config_changes.act IS 'What was done: created, altered or dropped.';
COMMENT ON COLUMN howdah.config_changes.before IS 'Its properties before. NULL: there was none.';
COMMENT ON COLUMN howdah.config_changes.after IS 'Its properties after. NULL: it was dropped.';
COMMENT ON COLUMN howdah.config_changes.reason IS 'Why, in the words of the setting howdah.reason.';
COMMENT ON COLUMN howdah.config_changes.undoes IS 'The change that this one took back.';

CREATE TABLE howdah.consumers (
    id INTEGER GENERATED ALWAYS AS IDENTITY (CYCLE),
    destination_id INTEGER NOT NULL,
    exclusive BOOLEAN NOT NULL,
    priority INTEGER NOT NULL,
    own_session BOOLEAN NOT NULL,
    timeout_ms BIGINT NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    opened_by TEXT NOT NULL,
    opened_position BIGINT NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    instance_id UUID,
    CONSTRAINT pk_consumers PRIMARY KEY (id)
);
CREATE INDEX ix_consumers_destination_id ON howdah.consumers (destination_id);
COMMENT ON TABLE howdah.consumers IS 'Open consumers of unshared subscriptions, and of queues that tell their consumers apart. Such a queue has exclusive consumers, single, failover or round-robin delivery, or sticky message groups.';
COMMENT ON COLUMN howdah.consumers.id IS 'Number of the consumer, which also gives their order: first come, first served.';
COMMENT ON COLUMN howdah.consumers.destination_id IS 'The queue or subscription that it receives from.';
COMMENT ON COLUMN howdah.consumers.exclusive IS 'True: while it lives, no other consumer of the queue gets messages.';
COMMENT ON COLUMN howdah.consumers.priority IS 'Of several exclusive consumers, the one with the highest priority is active; of equal ones, the first.';
COMMENT ON COLUMN howdah.consumers.own_session IS 'True: it lives as long as the database session that opened it.';
COMMENT ON COLUMN howdah.consumers.timeout_ms IS 'Milliseconds of silence after which it counts as gone, unless it has an own session or an open transaction.';
COMMENT ON COLUMN howdah.consumers.opened_at IS 'When it was opened.';
COMMENT ON COLUMN howdah.consumers.opened_by IS 'The role that opened it.';
COMMENT ON COLUMN howdah.consumers.opened_position IS 'The queue''s last position at that time, where round-robin starts to count.';
COMMENT ON COLUMN howdah.consumers.seen_at IS 'When it last received, to within a quarter of timeout_ms.';
COMMENT ON COLUMN howdah.consumers.instance_id IS 'Its home instance, with which it ends. NULL: none.';

CREATE TABLE howdah.consumer_leases (
    lease_id BIGINT NOT NULL,
    consumer_id INTEGER NOT NULL,
    CONSTRAINT pk_consumer_leases PRIMARY KEY (lease_id)
);
CREATE INDEX ix_consumer_leases_consumer_id ON howdah.consumer_leases (consumer_id);
COMMENT ON TABLE howdah.consumer_leases IS 'Leases that end when the session of their consumer is found to have ended.';
COMMENT ON COLUMN howdah.consumer_leases.lease_id IS 'Number of the lease: its fencing token.';
COMMENT ON COLUMN howdah.consumer_leases.consumer_id IS 'The consumer, which lives as long as its session. There is no foreign key, because each lease would lock its row.';

CREATE TABLE howdah.selections (
    destination_id INTEGER NOT NULL,
    digest UUID NOT NULL,
    rank SMALLINT NOT NULL,
    selector TEXT NOT NULL,
    condition TEXT NOT NULL,
    head REGCLASS,
    search REGCLASS,
    used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_selections PRIMARY KEY (destination_id, digest, rank)
);
COMMENT ON TABLE howdah.selections IS 'Selectors that receives use: the compiled condition, and where each looks next.';
COMMENT ON COLUMN howdah.selections.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.selections.digest IS 'MD5 of the selector.';
COMMENT ON COLUMN howdah.selections.rank IS 'The lane, as lanes.rank.';
COMMENT ON COLUMN howdah.selections.selector IS 'The selector.';
COMMENT ON COLUMN howdah.selections.condition IS 'The selector compiled to SQL.';
COMMENT ON COLUMN howdah.selections.head IS 'A sequence, a hint: no message that the selector selects lies before this position. NULL: not needed yet.';
COMMENT ON COLUMN howdah.selections.search IS 'A sequence, a hint: as lanes.search.';
COMMENT ON COLUMN howdah.selections.used_at IS 'When it was last used, to within an hour.';

CREATE UNLOGGED TABLE howdah.candidates (
    destination_id INTEGER NOT NULL,
    digest UUID NOT NULL,
    rank SMALLINT NOT NULL,
    upto BIGINT NOT NULL,
    after BIGINT NOT NULL,
    selector TEXT NOT NULL,
    seqs BIGINT[] NOT NULL,
    message_ids BIGINT[] NOT NULL,
    took_ms INTEGER NOT NULL,
    CONSTRAINT pk_candidates PRIMARY KEY (destination_id, digest, rank, upto)
);
COMMENT ON TABLE howdah.candidates IS 'The next messages that selectors select, found ahead by one look of a receive. Any may be lost.';
COMMENT ON COLUMN howdah.candidates.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.candidates.digest IS 'MD5 of the selector.';
COMMENT ON COLUMN howdah.candidates.rank IS 'The lane, as lanes.rank.';
COMMENT ON COLUMN howdah.candidates.upto IS 'The look came up to this position.';
COMMENT ON COLUMN howdah.candidates.after IS 'The look began behind this position.';
COMMENT ON COLUMN howdah.candidates.selector IS 'The selector.';
COMMENT ON COLUMN howdah.candidates.seqs IS 'Positions there that it selects, ascending.';
COMMENT ON COLUMN howdah.candidates.message_ids IS 'The messages that lay there. Only these are taken: what a selector sees of them never changes.';
COMMENT ON COLUMN howdah.candidates.took_ms IS 'Milliseconds that the look took; the next one may take twice that.';

CREATE TABLE howdah.poison_details (
    incident_id BIGINT GENERATED ALWAYS AS IDENTITY,
    message_id BIGINT NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    duration_ms INTEGER,
    stage SMALLINT NOT NULL,
    outcome TEXT NOT NULL,
    conversation_id UUID,
    failure_key UUID,
    error_class TEXT,
    error_text TEXT,
    sqlstate TEXT,
    traceback TEXT,
    worker TEXT,
    recorded_by TEXT NOT NULL,
    details JSONB,
    boot TIMESTAMP WITH TIME ZONE DEFAULT pg_postmaster_start_time() NOT NULL,
    fingerprint TEXT,
    rejected BOOLEAN DEFAULT false NOT NULL,
    delay_ms BIGINT,
    uncounted BOOLEAN DEFAULT false NOT NULL,
    xid BIGINT DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
    message_group TEXT,
    dispose_at INTEGER,
    due_at TIMESTAMP WITH TIME ZONE,
    digest BYTEA,
    CONSTRAINT pk_poison_details PRIMARY KEY (incident_id),
    CONSTRAINT ck_poison_details_outcome CHECK (outcome IN ('returned', 'delayed', 'blocked', 'moved', 'held', 'gone', 'discarded', 'quarantined', 'ended'))
);
CREATE UNIQUE INDEX uq_poison_details_failure_key ON howdah.poison_details (failure_key);
CREATE INDEX ix_poison_details_conversation ON howdah.poison_details (conversation_id);
CREATE INDEX ix_poison_details_due ON howdah.poison_details (destination_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_poison_details_group ON howdah.poison_details USING hash (message_group);
CREATE INDEX ix_poison_details_message ON howdah.poison_details (message_id, stage, destination_id);
CREATE INDEX ix_poison_details_queue ON howdah.poison_details (destination_id, incident_id);
CREATE INDEX ix_poison_details_recorded ON howdah.poison_details USING brin (recorded_at);
CREATE INDEX ix_poison_details_xid ON howdah.poison_details USING brin (xid) WITH (pages_per_range = 32);
COMMENT ON TABLE howdah.poison_details IS 'One row per failed delivery. INSERT-only; written in a transaction of its own, so that no rollback erases it.';
COMMENT ON COLUMN howdah.poison_details.incident_id IS 'Number of the incident.';
COMMENT ON COLUMN howdah.poison_details.message_id IS 'The message whose delivery failed.';
COMMENT ON COLUMN howdah.poison_details.recorded_at IS 'When the failure was recorded.';
COMMENT ON COLUMN howdah.poison_details.destination_id IS 'The destination it was received from.';
COMMENT ON COLUMN howdah.poison_details.attempt IS 'Which failed delivery of this stage it was, from 1.';
COMMENT ON COLUMN howdah.poison_details.duration_ms IS 'How long the handler ran, in milliseconds.';
COMMENT ON COLUMN howdah.poison_details.stage IS 'The message''s stage at that time; failures count within a stage.';
COMMENT ON COLUMN howdah.poison_details.outcome IS 'What followed: returned, delayed, blocked, moved, discarded, quarantined, ended, held (another session has it) or gone.';
COMMENT ON COLUMN howdah.poison_details.conversation_id IS 'The conversation of the message.';
COMMENT ON COLUMN howdah.poison_details.failure_key IS 'Chosen by the recorder, so that recording the same failure twice counts once.';
COMMENT ON COLUMN howdah.poison_details.error_class IS 'Class of the error, such as ValueError.';
COMMENT ON COLUMN howdah.poison_details.error_text IS 'The error''s message.';
COMMENT ON COLUMN howdah.poison_details.sqlstate IS 'SQLSTATE, where the error came from PostgreSQL.';
COMMENT ON COLUMN howdah.poison_details.traceback IS 'Where the error was raised.';
COMMENT ON COLUMN howdah.poison_details.worker IS 'Name of the worker that failed.';
COMMENT ON COLUMN howdah.poison_details.recorded_by IS 'The role that recorded the failure.';
COMMENT ON COLUMN howdah.poison_details.details IS 'Anything else that the recorder wants to keep, as a JSON object.';
COMMENT ON COLUMN howdah.poison_details.boot IS 'Start of the server that recorded it. A volatile count ignores incidents of other starts.';
COMMENT ON COLUMN howdah.poison_details.fingerprint IS 'Hash of class, SQLSTATE and the error''s text without its values; equal for errors of one cause.';
COMMENT ON COLUMN howdah.poison_details.rejected IS 'The handler asked for no more tries: the message counts as having reached any limit.';
COMMENT ON COLUMN howdah.poison_details.delay_ms IS 'The delay asked for in place of the queue''s, in milliseconds.';
COMMENT ON COLUMN howdah.poison_details.uncounted IS 'The limit does not count it: a session that died held the message ahead, and probably did not have it in hand.';
COMMENT ON COLUMN howdah.poison_details.xid IS 'The transaction (xid8 as a number), so that a reader that goes by snapshots misses no late commit.';
COMMENT ON COLUMN howdah.poison_details.message_group IS 'The group of the message: its header JMSXGroupID, or else its conversation.';
COMMENT ON COLUMN howdah.poison_details.dispose_at IS 'The number of failures at which the queue disposed of messages, which decided the outcome. NULL: something else decided, or it was not recorded.';
COMMENT ON COLUMN howdah.poison_details.due_at IS 'No receive delivers the message before this time, unless an operator retries it. NULL: the failure asked for no delay.';
COMMENT ON COLUMN howdah.poison_details.digest IS '16 bytes for the message, the time and the error (howdah._seal), so that an audit sees changes to them.';

CREATE TABLE howdah.attempts (
    attempt_id UUID NOT NULL,
    message_id BIGINT NOT NULL,
    begun_at TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER NOT NULL,
    backend INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    stage SMALLINT NOT NULL,
    seq BIGINT NOT NULL,
    conversation_id UUID,
    CONSTRAINT pk_attempts PRIMARY KEY (attempt_id, message_id)
);
CREATE INDEX ix_attempts_begun ON howdah.attempts (destination_id, begun_at);
CREATE INDEX ix_attempts_message ON howdah.attempts (message_id, stage, destination_id);
COMMENT ON TABLE howdah.attempts IS 'Attempts at delivery from hardened queues. They are committed before the handler starts, so that no death goes uncounted. A row is never updated; the transaction that takes the message deletes it.';
COMMENT ON COLUMN howdah.attempts.attempt_id IS 'Identity of the attempt; its incident has it as failure_key.';
COMMENT ON COLUMN howdah.attempts.message_id IS 'The message to be delivered.';
COMMENT ON COLUMN howdah.attempts.begun_at IS 'When the attempt was begun; it is committed before its handler begins.';
COMMENT ON COLUMN howdah.attempts.destination_id IS 'The destination it lies in.';
COMMENT ON COLUMN howdah.attempts.backend IS 'Process id of the session that will receive it.';
COMMENT ON COLUMN howdah.attempts.rank IS '9 minus the message''s priority.';
COMMENT ON COLUMN howdah.attempts.stage IS 'The message''s stage; attempts count within a stage.';
COMMENT ON COLUMN howdah.attempts.seq IS 'The message''s position.';
COMMENT ON COLUMN howdah.attempts.conversation_id IS 'The message''s conversation.';

CREATE UNLOGGED TABLE howdah.untaken_attempts (
    attempt_id UUID NOT NULL,
    message_id BIGINT NOT NULL,
    begun_in BIGINT DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
    boot TIMESTAMP WITH TIME ZONE DEFAULT pg_postmaster_start_time() NOT NULL,
    CONSTRAINT pk_untaken_attempts PRIMARY KEY (attempt_id, message_id)
);
COMMENT ON TABLE howdah.untaken_attempts IS 'Attempts that can be taken. Taking one deletes its row, and the xmax left behind shows it even after a rollback. UNLOGGED: a crash of the server ends all of them, and only VACUUM FREEZE or FULL removes an xmax.';
COMMENT ON COLUMN howdah.untaken_attempts.attempt_id IS 'The attempt.';
COMMENT ON COLUMN howdah.untaken_attempts.message_id IS 'Its message.';
COMMENT ON COLUMN howdah.untaken_attempts.begun_in IS 'The transaction that began it (xid8 as a number), which cannot take it.';
COMMENT ON COLUMN howdah.untaken_attempts.boot IS 'Start of the server in which it was begun. After the next start the attempt cannot be taken.';

CREATE TABLE howdah.poison_log (
    log_id BIGINT GENERATED ALWAYS AS IDENTITY,
    logged_at TIMESTAMP WITH TIME ZONE NOT NULL,
    outcome TEXT NOT NULL,
    seq BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    dead_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    origin_id INTEGER,
    rank SMALLINT NOT NULL,
    stage SMALLINT DEFAULT '0' NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    dead_reason TEXT,
    reliability SMALLINT,
    CONSTRAINT pk_poison_log PRIMARY KEY (log_id)
);
COMMENT ON TABLE howdah.poison_log IS 'Copies of messages that reached their limit, of queues with log_table.';
COMMENT ON COLUMN howdah.poison_log.log_id IS 'Number of the entry.';
COMMENT ON COLUMN howdah.poison_log.logged_at IS 'When the message reached its limit.';
COMMENT ON COLUMN howdah.poison_log.outcome IS 'What became of the message.';
COMMENT ON COLUMN howdah.poison_log.seq IS 'Position in the queue, from the destination''s sequence.';
COMMENT ON COLUMN howdah.poison_log.message_id IS 'Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.';
COMMENT ON COLUMN howdah.poison_log.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.poison_log.expires_at IS 'Never delivered at or after this time (JMSExpiration). NULL: never expires.';
COMMENT ON COLUMN howdah.poison_log.dead_at IS 'When the message was moved to an exception destination. NULL: it was not.';
COMMENT ON COLUMN howdah.poison_log.destination_id IS 'The destination that holds the message now.';
COMMENT ON COLUMN howdah.poison_log.origin_id IS 'The destination from which it was moved to an exception destination. NULL: never moved.';
COMMENT ON COLUMN howdah.poison_log.rank IS '9 minus the priority, so that ascending order is delivery order.';
COMMENT ON COLUMN howdah.poison_log.stage IS 'How often the message was moved or replayed. Failures count within a stage.';
COMMENT ON COLUMN howdah.poison_log.is_text IS 'True: body is UTF-8 text or JSON and is returned as text. False: bytes.';
COMMENT ON COLUMN howdah.poison_log.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.poison_log.body IS 'The exact bytes of the body; text is stored as UTF-8.';
COMMENT ON COLUMN howdah.poison_log.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.poison_log.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.poison_log.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.poison_log.message_type IS 'JMSType; workers choose the handler by it.';
COMMENT ON COLUMN howdah.poison_log.conversation_id IS 'The conversation (dialog) that the message belongs to.';
COMMENT ON COLUMN howdah.poison_log.dead_reason IS 'Why the message was moved to an exception destination.';
COMMENT ON COLUMN howdah.poison_log.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';

CREATE TABLE howdah.ended_conversations (
    conversation_id UUID NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_by TEXT NOT NULL,
    error INTEGER,
    error_text TEXT,
    CONSTRAINT pk_ended_conversations PRIMARY KEY (conversation_id)
);
COMMENT ON TABLE howdah.ended_conversations IS 'Conversations that were ended.';
COMMENT ON COLUMN howdah.ended_conversations.conversation_id IS 'The conversation, in which no more messages are sent.';
COMMENT ON COLUMN howdah.ended_conversations.ended_at IS 'When it was ended.';
COMMENT ON COLUMN howdah.ended_conversations.ended_by IS 'The role that ended it.';
COMMENT ON COLUMN howdah.ended_conversations.error IS 'Number of the error with which it was ended, positive. NULL: none.';
COMMENT ON COLUMN howdah.ended_conversations.error_text IS 'What the other side was told.';

CREATE TABLE howdah.operator_acts (
    act_id BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER,
    other_destination_id INTEGER,
    actor TEXT NOT NULL,
    act TEXT NOT NULL,
    reason TEXT,
    message_ids BIGINT[] NOT NULL,
    incident_id BIGINT,
    CONSTRAINT pk_operator_acts PRIMARY KEY (act_id),
    CONSTRAINT ck_operator_acts_act CHECK (CASE WHEN destination_id IS NULL THEN act IN ('paused', 'quiesced', 'stopped', 'resumed') ELSE act IN ('sent', 'replayed', 'edited', 'resent', 'moved', 'parked', 'retried', 'discarded', 'purged', 'paused', 'resumed', 'cancelled', 'fired', 'sought', 'ended') END)
);
COMMENT ON TABLE howdah.operator_acts IS 'What operators did with messages, queues, schedules and so on, and who they were. INSERT-only; kept for engine.journal_retention_days.';
COMMENT ON COLUMN howdah.operator_acts.act_id IS 'Number of the act.';
COMMENT ON COLUMN howdah.operator_acts.at IS 'When it was done.';
COMMENT ON COLUMN howdah.operator_acts.destination_id IS 'The destination the messages were in. NULL: it was done to the engine.';
COMMENT ON COLUMN howdah.operator_acts.other_destination_id IS 'Where replayed, edited or moved messages went.';
COMMENT ON COLUMN howdah.operator_acts.actor IS 'The role that did it.';
COMMENT ON COLUMN howdah.operator_acts.act IS 'Messages: sent (by hand), replayed, edited, resent (kept), moved, parked, retried, discarded, purged. Queues, schedules and links: paused, resumed. Schedules: cancelled, fired (by hand). Subscriptions: sought. Somebody else''s consumer: ended. The engine: paused, quiesced, stopped, resumed.';
COMMENT ON COLUMN howdah.operator_acts.reason IS 'Why, in the operator''s words.';
COMMENT ON COLUMN howdah.operator_acts.message_ids IS 'The messages of one call. For edited and resent, originals and their copies.';
COMMENT ON COLUMN howdah.operator_acts.incident_id IS 'The last incident of any message before the act. NULL: there was none.';

CREATE TABLE howdah.quarantines (
    message_id BIGINT NOT NULL,
    destination_id INTEGER NOT NULL,
    stage SMALLINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_quarantines PRIMARY KEY (message_id, destination_id, stage)
);
COMMENT ON TABLE howdah.quarantines IS 'Quarantines of messages that have not been moved since.';
COMMENT ON COLUMN howdah.quarantines.message_id IS 'The message that was put into quarantine.';
COMMENT ON COLUMN howdah.quarantines.destination_id IS 'The destination that it is in.';
COMMENT ON COLUMN howdah.quarantines.stage IS 'The message''s stage before.';
COMMENT ON COLUMN howdah.quarantines.at IS 'When it was put there.';

CREATE TABLE howdah.imports (
    import_id INTEGER GENERATED ALWAYS AS IDENTITY,
    stored BIGINT DEFAULT 0 NOT NULL,
    withdrawn BIGINT DEFAULT 0 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    source TEXT COLLATE "C" NOT NULL,
    created_by TEXT NOT NULL,
    CONSTRAINT pk_imports PRIMARY KEY (import_id)
);
CREATE UNIQUE INDEX uq_imports_source ON howdah.imports (source);
COMMENT ON TABLE howdah.imports IS 'Stores of other systems that messages are or were copied from.';
COMMENT ON COLUMN howdah.imports.import_id IS 'Number of the import.';
COMMENT ON COLUMN howdah.imports.stored IS 'Messages that came over.';
COMMENT ON COLUMN howdah.imports.withdrawn IS 'Messages that were taken back, because they had been consumed at the source.';
COMMENT ON COLUMN howdah.imports.created_at IS 'When it began.';
COMMENT ON COLUMN howdah.imports.finished_at IS 'When the final pass ended. NULL: the source may still be in use.';
COMMENT ON COLUMN howdah.imports.source IS 'Identity of the store that it copies from.';
COMMENT ON COLUMN howdah.imports.created_by IS 'The role that began it.';

CREATE TABLE howdah.imported (
    message_id BIGINT NOT NULL,
    store_id BIGINT NOT NULL,
    import_id INTEGER NOT NULL,
    destination_id INTEGER NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_imported PRIMARY KEY (import_id, destination_id, key)
);
CREATE INDEX ix_imported_store_id ON howdah.imported (import_id, destination_id, store_id);
COMMENT ON TABLE howdah.imported IS 'Messages that came over, each once however often the copy is repeated.';
COMMENT ON COLUMN howdah.imported.message_id IS 'The message here.';
COMMENT ON COLUMN howdah.imported.store_id IS 'Number of the message in the store, in order.';
COMMENT ON COLUMN howdah.imported.import_id IS 'The import.';
COMMENT ON COLUMN howdah.imported.destination_id IS 'The queue or topic here.';
COMMENT ON COLUMN howdah.imported.key IS 'Identity of the message at the source.';

CREATE TABLE howdah.import_holds (
    import_id INTEGER NOT NULL,
    destination_id INTEGER NOT NULL,
    paused BOOLEAN NOT NULL,
    CONSTRAINT pk_import_holds PRIMARY KEY (import_id, destination_id)
);
COMMENT ON TABLE howdah.import_holds IS 'Queues and subscriptions that wait for the final pass of an import.';
COMMENT ON COLUMN howdah.import_holds.import_id IS 'The import.';
COMMENT ON COLUMN howdah.import_holds.destination_id IS 'The queue or subscription.';
COMMENT ON COLUMN howdah.import_holds.paused IS 'Whether the import paused receiving, and must resume it.';

CREATE TABLE howdah.instances (
    instance_id UUID NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    waits_for TEXT,
    quiesced_by TEXT,
    ending BOOLEAN DEFAULT false NOT NULL,
    registered_as TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    version TEXT,
    settings JSONB NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    heartbeat_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_instances PRIMARY KEY (instance_id),
    CONSTRAINT ck_instances_state CHECK (state IN ('INITIALIZING', 'RECOVERING', 'RUNNING', 'QUIESCED')),
    CONSTRAINT ck_instances_waits_for CHECK (waits_for IN ('master', 'exclusive')),
    CONSTRAINT uq_instances_name UNIQUE (name)
);
COMMENT ON TABLE howdah.instances IS 'Live instances, by heartbeat.';
COMMENT ON COLUMN howdah.instances.instance_id IS 'Identity of one life of an instance.';
COMMENT ON COLUMN howdah.instances.name IS 'Its name, which it has again in its next life.';
COMMENT ON COLUMN howdah.instances.state IS 'INITIALIZING (it waits to begin), RECOVERING (its sweeps run), RUNNING, or QUIESCED (it receives nothing new).';
COMMENT ON COLUMN howdah.instances.waits_for IS 'What it waits for while INITIALIZING: master or exclusive. NULL: nothing.';
COMMENT ON COLUMN howdah.instances.quiesced_by IS 'The role that quiesced it. NULL: nobody.';
COMMENT ON COLUMN howdah.instances.ending IS 'True: an administrator told it to end.';
COMMENT ON COLUMN howdah.instances.registered_as IS 'The role that registered it. Only it and administrators end it.';
COMMENT ON COLUMN howdah.instances.host IS 'Host it runs on.';
COMMENT ON COLUMN howdah.instances.pid IS 'Process id of its supervisor there.';
COMMENT ON COLUMN howdah.instances.version IS 'Version of its programs.';
COMMENT ON COLUMN howdah.instances.settings IS 'Settings of the cluster that it was started with.';
COMMENT ON COLUMN howdah.instances.started_at IS 'When it registered.';
COMMENT ON COLUMN howdah.instances.heartbeat_at IS 'When it was last heard of.';

CREATE TABLE howdah.instance_positions (
    name TEXT NOT NULL,
    record_id UUID NOT NULL,
    read PG_SNAPSHOT NOT NULL,
    upto PG_SNAPSHOT,
    last_change BIGINT,
    missed BIGINT DEFAULT '0' NOT NULL,
    read_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_instance_positions PRIMARY KEY (name)
);
COMMENT ON TABLE howdah.instance_positions IS 'Where each instance stands in the record of changes. It outlives the instance.';
COMMENT ON COLUMN howdah.instance_positions.name IS 'Name of the instance.';
COMMENT ON COLUMN howdah.instance_positions.record_id IS 'The record that the position is in: engine.record_id.';
COMMENT ON COLUMN howdah.instance_positions.read IS 'It has read all changes that are visible in this snapshot.';
COMMENT ON COLUMN howdah.instance_positions.upto IS 'It is reading the changes that are visible in this one. NULL: in none.';
COMMENT ON COLUMN howdah.instance_positions.last_change IS 'The last change that it read. NULL: none.';
COMMENT ON COLUMN howdah.instance_positions.missed IS 'Changes that it missed while it was away.';
COMMENT ON COLUMN howdah.instance_positions.read_at IS 'When it last read.';

CREATE TABLE howdah.kept_messages (
    message_id BIGINT NOT NULL,
    kept_at TIMESTAMP WITH TIME ZONE NOT NULL,
    kept_until TIMESTAMP WITH TIME ZONE NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    dead_at TIMESTAMP WITH TIME ZONE,
    visible_at TIMESTAMP WITH TIME ZONE,
    last_read_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    delivery_count INTEGER NOT NULL,
    stage SMALLINT NOT NULL,
    priority SMALLINT NOT NULL,
    reliability SMALLINT NOT NULL,
    nonpersistent BOOLEAN NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    origin_queue TEXT,
    dead_reason TEXT
)
 PARTITION BY RANGE (kept_at);
CREATE INDEX ix_kept_messages_message ON howdah.kept_messages (destination_id, message_id);
CREATE INDEX ix_kept_messages_time ON howdah.kept_messages (destination_id, kept_at, message_id);
CREATE INDEX ix_kept_messages_until ON howdah.kept_messages USING brin (kept_until);
COMMENT ON TABLE howdah.kept_messages IS 'Consumed messages of queues with keep_bodies_ms. What consumes the message inserts the row; partitioned by week.';
COMMENT ON COLUMN howdah.kept_messages.message_id IS 'The message.';
COMMENT ON COLUMN howdah.kept_messages.kept_at IS 'When it was consumed. Partitions are ranges of this.';
COMMENT ON COLUMN howdah.kept_messages.kept_until IS 'From this time on nobody is shown it. infinity: it stays until somebody deletes it.';
COMMENT ON COLUMN howdah.kept_messages.sent_at IS 'When send was called.';
COMMENT ON COLUMN howdah.kept_messages.expires_at IS 'When it would have expired. NULL: never.';
COMMENT ON COLUMN howdah.kept_messages.dead_at IS 'When it was moved to an exception destination. NULL: it was not.';
COMMENT ON COLUMN howdah.kept_messages.visible_at IS 'Of a facade: until when its last reader had it. NULL: not known.';
COMMENT ON COLUMN howdah.kept_messages.last_read_at IS 'Of a facade: when it was last read. NULL: not known.';
COMMENT ON COLUMN howdah.kept_messages.destination_id IS 'The queue that it was consumed from.';
COMMENT ON COLUMN howdah.kept_messages.delivery_count IS 'How often it was delivered; a facade''s count of reads.';
COMMENT ON COLUMN howdah.kept_messages.stage IS 'How often the message was moved or replayed.';
COMMENT ON COLUMN howdah.kept_messages.priority IS 'Its priority.';
COMMENT ON COLUMN howdah.kept_messages.reliability IS 'Its level of reliability, 0 to 4.';
COMMENT ON COLUMN howdah.kept_messages.nonpersistent IS 'True: it was a non-persistent message.';
COMMENT ON COLUMN howdah.kept_messages.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.kept_messages.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.kept_messages.body IS 'The exact bytes of the whole body.';
COMMENT ON COLUMN howdah.kept_messages.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.kept_messages.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.kept_messages.reply_to IS 'JMSReplyTo.';
COMMENT ON COLUMN howdah.kept_messages.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.kept_messages.conversation_id IS 'The conversation that it belonged to.';
COMMENT ON COLUMN howdah.kept_messages.origin_queue IS 'The queue from which it was moved to an exception destination.';
COMMENT ON COLUMN howdah.kept_messages.dead_reason IS 'Why it was moved to an exception destination.';

CREATE TABLE howdah.kept_messages_default PARTITION OF howdah.kept_messages DEFAULT;
COMMENT ON TABLE howdah.kept_messages_default IS 'Kept messages of weeks that have no partition of their own.';

CREATE TABLE howdah.lanes (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    place SMALLINT NOT NULL,
    head REGCLASS,
    search REGCLASS,
    CONSTRAINT pk_lanes PRIMARY KEY (id)
);
CREATE INDEX ix_lanes_destination ON howdah.lanes (destination_id, rank, place, head);
COMMENT ON TABLE howdah.lanes IS 'Where receives look for messages besides the main lane: one row for each other priority and place in use. Senders only insert, in the transaction of the first such message. Several rows for one lane do no harm.';
COMMENT ON COLUMN howdah.lanes.id IS 'Number of the lane, part of its sequences'' names.';
COMMENT ON COLUMN howdah.lanes.destination_id IS 'The destination.';
COMMENT ON COLUMN howdah.lanes.rank IS '9 minus the priority of its messages.';
COMMENT ON COLUMN howdah.lanes.place IS 'Where its messages lie: 0 parked, 1 msgs_nonpersistent, 2 msgs.';
COMMENT ON COLUMN howdah.lanes.head IS 'A sequence, a hint: the position behind which claims look. NULL: none; claims start at the beginning.';
COMMENT ON COLUMN howdah.lanes.search IS 'A sequence, a hint: how far the search behind the head is, times 2^20, and when its next step is due, in ms.';

CREATE TABLE howdah.transformations (
    registered_at TIMESTAMP WITH TIME ZONE NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    function_owner TEXT NOT NULL,
    registered_by TEXT NOT NULL,
    CONSTRAINT pk_transformations PRIMARY KEY (name)
);
COMMENT ON TABLE howdah.transformations IS 'Functions that bridges, links and subscriptions may apply to messages. Administrators register them.';
COMMENT ON COLUMN howdah.transformations.registered_at IS 'When it was registered.';
COMMENT ON COLUMN howdah.transformations.name IS 'Name of the transformation.';
COMMENT ON COLUMN howdah.transformations.function IS 'Its function, SCHEMA.FUNCTION, which takes a howdah.message and returns one.';
COMMENT ON COLUMN howdah.transformations.function_owner IS 'The role that owned the function when it was registered.';
COMMENT ON COLUMN howdah.transformations.registered_by IS 'The role that registered it.';

CREATE TABLE howdah.link_arrivals (
    arrival_id INTEGER GENERATED ALWAYS AS IDENTITY,
    link_id UUID NOT NULL,
    engine_id UUID NOT NULL,
    batch BIGINT NOT NULL,
    arrived BIGINT DEFAULT 0 NOT NULL,
    repeated BIGINT DEFAULT 0 NOT NULL,
    lost BIGINT DEFAULT 0 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    arrived_at TIMESTAMP WITH TIME ZONE NOT NULL,
    link_name TEXT NOT NULL,
    engine_name TEXT NOT NULL,
    source_queue TEXT NOT NULL,
    arrived_as TEXT NOT NULL,
    CONSTRAINT pk_link_arrivals PRIMARY KEY (arrival_id)
);
CREATE UNIQUE INDEX uq_link_arrivals_link_id ON howdah.link_arrivals (link_id);
COMMENT ON TABLE howdah.link_arrivals IS 'Links that lead here: one row for each, which every batch locks.';
COMMENT ON COLUMN howdah.link_arrivals.arrival_id IS 'Number of the link here.';
COMMENT ON COLUMN howdah.link_arrivals.link_id IS 'Identity of the link, in the sending engine''s table links.';
COMMENT ON COLUMN howdah.link_arrivals.engine_id IS 'The sending engine.';
COMMENT ON COLUMN howdah.link_arrivals.batch IS 'Number of the last batch that arrived. It may be forwarded again, until the next one comes.';
COMMENT ON COLUMN howdah.link_arrivals.arrived IS 'Messages stored here.';
COMMENT ON COLUMN howdah.link_arrivals.repeated IS 'Messages that came again and were not stored again.';
COMMENT ON COLUMN howdah.link_arrivals.lost IS 'Non-persistent messages that arrived, but that a restart took from the sender before it knew.';
COMMENT ON COLUMN howdah.link_arrivals.created_at IS 'When the first batch arrived.';
COMMENT ON COLUMN howdah.link_arrivals.arrived_at IS 'When the last batch arrived.';
COMMENT ON COLUMN howdah.link_arrivals.link_name IS 'Name of the link there.';
COMMENT ON COLUMN howdah.link_arrivals.engine_name IS 'Name of the sending engine.';
COMMENT ON COLUMN howdah.link_arrivals.source_queue IS 'Name of the queue or subscription there.';
COMMENT ON COLUMN howdah.link_arrivals.arrived_as IS 'The role that forwards; no other role may continue.';

CREATE TABLE howdah.link_receipts (
    receipt_id BIGINT GENERATED ALWAYS AS IDENTITY,
    arrived_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sender_boot TIMESTAMP WITH TIME ZONE,
    arrival_id INTEGER NOT NULL,
    nonpersistent BOOLEAN NOT NULL,
    attempts UUID[] NOT NULL,
    message_ids BIGINT[] NOT NULL,
    sent_ats TIMESTAMP WITH TIME ZONE[] NOT NULL,
    local_ids BIGINT[] NOT NULL,
    CONSTRAINT pk_link_receipts PRIMARY KEY (arrival_id, receipt_id)
);
COMMENT ON TABLE howdah.link_receipts IS 'Messages that arrived and whose sender is not known to have consumed them: one row for those of a level that the same attempts brought. A message that comes again is found here. The next batch prunes those of the attempt that its sender committed.';
COMMENT ON COLUMN howdah.link_receipts.receipt_id IS 'Number of the row.';
COMMENT ON COLUMN howdah.link_receipts.arrived_at IS 'When they arrived.';
COMMENT ON COLUMN howdah.link_receipts.sender_boot IS 'When the sending server had started, if they are non-persistent there: once it has started anew, they do not come again. NULL: they are persistent there.';
COMMENT ON COLUMN howdah.link_receipts.arrival_id IS 'The link by which they came.';
COMMENT ON COLUMN howdah.link_receipts.nonpersistent IS 'True: they are stored as non-persistent here, so a restart of this server may lose them.';
COMMENT ON COLUMN howdah.link_receipts.attempts IS 'Marks of the attempts that brought the messages.';
COMMENT ON COLUMN howdah.link_receipts.message_ids IS 'Their identities in the sending engine.';
COMMENT ON COLUMN howdah.link_receipts.sent_ats IS 'When they were sent there. A restored engine uses identities again, but not with the same time.';
COMMENT ON COLUMN howdah.link_receipts.local_ids IS 'Their identities here.';

CREATE TABLE howdah.listener_marks (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    listener_id INTEGER NOT NULL,
    total_failures BIGINT NOT NULL,
    CONSTRAINT pk_listener_marks PRIMARY KEY (id)
);
CREATE INDEX ix_listener_marks_listener ON howdah.listener_marks (listener_id);
COMMENT ON TABLE howdah.listener_marks IS 'How many of a listener''s failures came before a message that it handled. Handling transactions only insert, and so lock nothing; the next failure deletes the rows.';
COMMENT ON COLUMN howdah.listener_marks.id IS 'Number of the mark.';
COMMENT ON COLUMN howdah.listener_marks.listener_id IS 'The listener.';
COMMENT ON COLUMN howdah.listener_marks.total_failures IS 'Its total_failures when the message was handled.';

CREATE TABLE howdah.log_events (
    event_id BIGINT GENERATED ALWAYS AS IDENTITY,
    transaction BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    level TEXT NOT NULL,
    event TEXT NOT NULL,
    destination TEXT,
    actor TEXT NOT NULL,
    text TEXT NOT NULL,
    details JSONB NOT NULL,
    CONSTRAINT pk_log_events PRIMARY KEY (event_id),
    CONSTRAINT ck_log_events_level CHECK (level IN ('ERROR', 'WARNING', 'INFO'))
);
CREATE INDEX ix_log_events_at ON howdah.log_events (at);
CREATE INDEX ix_log_events_state ON howdah.log_events (destination, event_id) WHERE event IN ('LIMIT_REACHED', 'LIMIT_LEFT', 'RESOURCE_STATE');
CREATE INDEX ix_log_events_transaction ON howdah.log_events (transaction);
COMMENT ON TABLE howdah.log_events IS 'Events of the SQL side for the log. INSERT-only; kept for engine.log_retention_days.';
COMMENT ON COLUMN howdah.log_events.event_id IS 'Number of the event.';
COMMENT ON COLUMN howdah.log_events.transaction IS 'The transaction (xid8 as a number). A reader takes what its last snapshot did not show and this one does.';
COMMENT ON COLUMN howdah.log_events.at IS 'When it happened.';
COMMENT ON COLUMN howdah.log_events.level IS 'ERROR, WARNING or INFO.';
COMMENT ON COLUMN howdah.log_events.event IS 'What happened, such as QUEUE_DISABLED. LOG: an application said it.';
COMMENT ON COLUMN howdah.log_events.destination IS 'The queue, topic or subscription. NULL: it concerns the whole engine.';
COMMENT ON COLUMN howdah.log_events.actor IS 'The role in whose call it happened.';
COMMENT ON COLUMN howdah.log_events.text IS 'The same for people, in a few words.';
COMMENT ON COLUMN howdah.log_events.details IS 'What else is known, as a JSON object.';

CREATE TABLE howdah.log_readers (
    reader TEXT NOT NULL,
    read_as TEXT NOT NULL,
    position JSONB NOT NULL,
    read_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_log_readers PRIMARY KEY (reader, read_as)
);
COMMENT ON TABLE howdah.log_readers IS 'How far each set of workers has written events to its log. Kept for engine.log_retention_days.';
COMMENT ON COLUMN howdah.log_readers.reader IS 'Name of the reader: that of a set of workers.';
COMMENT ON COLUMN howdah.log_readers.read_as IS 'The role that reads. Each role has readers of its own.';
COMMENT ON COLUMN howdah.log_readers.position IS 'Where it goes on, as howdah.log_since returns it.';
COMMENT ON COLUMN howdah.log_readers.read_at IS 'When it last got events.';

CREATE TABLE howdah.msgs (
    seq BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    dead_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    origin_id INTEGER,
    rank SMALLINT NOT NULL,
    stage SMALLINT DEFAULT '0' NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    dead_reason TEXT,
    reliability SMALLINT,
    CONSTRAINT pk_msgs PRIMARY KEY (destination_id, rank, seq)
);
CREATE INDEX ix_msgs_correlation ON howdah.msgs (hashtextextended(correlation_id, 0)) WHERE correlation_id IS NOT NULL;
COMMENT ON TABLE howdah.msgs IS 'Messages ready for delivery. A receive deletes the row in the consumer''s transaction; no row is ever updated.';
COMMENT ON COLUMN howdah.msgs.seq IS 'Position in the queue, from the destination''s sequence.';
COMMENT ON COLUMN howdah.msgs.message_id IS 'Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.';
COMMENT ON COLUMN howdah.msgs.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.msgs.expires_at IS 'Never delivered at or after this time (JMSExpiration). NULL: never expires.';
COMMENT ON COLUMN howdah.msgs.dead_at IS 'When the message was moved to an exception destination. NULL: it was not.';
COMMENT ON COLUMN howdah.msgs.destination_id IS 'The destination that holds the message now.';
COMMENT ON COLUMN howdah.msgs.origin_id IS 'The destination from which it was moved to an exception destination. NULL: never moved.';
COMMENT ON COLUMN howdah.msgs.rank IS '9 minus the priority, so that ascending order is delivery order.';
COMMENT ON COLUMN howdah.msgs.stage IS 'How often the message was moved or replayed. Failures count within a stage.';
COMMENT ON COLUMN howdah.msgs.is_text IS 'True: body is UTF-8 text or JSON and is returned as text. False: bytes.';
COMMENT ON COLUMN howdah.msgs.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.msgs.body IS 'The exact bytes of the body; text is stored as UTF-8. NULL: a large one, which lies in bodies.';
COMMENT ON COLUMN howdah.msgs.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.msgs.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.msgs.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.msgs.message_type IS 'JMSType; workers choose the handler by it.';
COMMENT ON COLUMN howdah.msgs.conversation_id IS 'The conversation (dialog) that the message belongs to.';
COMMENT ON COLUMN howdah.msgs.dead_reason IS 'Why the message was moved to an exception destination.';
COMMENT ON COLUMN howdah.msgs.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';

CREATE TABLE howdah.bodies (
    message_id BIGINT NOT NULL,
    body BYTEA NOT NULL,
    CONSTRAINT pk_bodies PRIMARY KEY (message_id)
)
 WITH (toast_tuple_target = 8160);
COMMENT ON TABLE howdah.bodies IS 'Large bodies of persistent messages of queues. A body stays here wherever its message moves. Sends insert it; what ends the message deletes it.';
COMMENT ON COLUMN howdah.bodies.message_id IS 'The message.';
COMMENT ON COLUMN howdah.bodies.body IS 'The exact bytes of its body. Up to 8 KB are stored in the row itself, uncompressed.';

CREATE TABLE howdah.moved (
    message_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    CONSTRAINT pk_moved PRIMARY KEY (message_id, destination_id, seq)
);
COMMENT ON TABLE howdah.moved IS 'Where messages lie whose id does not give their position, for lookups by id. What moves a message inserts a row, which may be out of date.';
COMMENT ON COLUMN howdah.moved.message_id IS 'The message.';
COMMENT ON COLUMN howdah.moved.seq IS 'Its position there.';
COMMENT ON COLUMN howdah.moved.destination_id IS 'The destination it was moved to.';
COMMENT ON COLUMN howdah.moved.rank IS '9 minus its priority.';

CREATE TABLE howdah.leased (
    seq BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    dead_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    origin_id INTEGER,
    rank SMALLINT NOT NULL,
    stage SMALLINT DEFAULT '0' NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    dead_reason TEXT,
    reliability SMALLINT,
    CONSTRAINT pk_leased PRIMARY KEY (destination_id, rank, seq)
);
COMMENT ON TABLE howdah.leased IS 'Leased messages of the main lanes. A lease inserts the rows, and what ends it deletes them; no row is ever updated.';
COMMENT ON COLUMN howdah.leased.seq IS 'The lease times 2^20, plus a number within the lease.';
COMMENT ON COLUMN howdah.leased.message_id IS 'Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.';
COMMENT ON COLUMN howdah.leased.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.leased.expires_at IS 'Never delivered at or after this time (JMSExpiration). NULL: never expires.';
COMMENT ON COLUMN howdah.leased.dead_at IS 'When the message was moved to an exception destination. NULL: it was not.';
COMMENT ON COLUMN howdah.leased.destination_id IS 'The destination that holds the message now.';
COMMENT ON COLUMN howdah.leased.origin_id IS 'The destination from which it was moved to an exception destination. NULL: never moved.';
COMMENT ON COLUMN howdah.leased.rank IS '9 minus the priority, so that ascending order is delivery order.';
COMMENT ON COLUMN howdah.leased.stage IS 'How often the message was moved or replayed. Failures count within a stage.';
COMMENT ON COLUMN howdah.leased.is_text IS 'True: body is UTF-8 text or JSON and is returned as text. False: bytes.';
COMMENT ON COLUMN howdah.leased.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.leased.body IS 'The exact bytes of the body; text is stored as UTF-8. NULL: a large one, which lies in bodies.';
COMMENT ON COLUMN howdah.leased.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.leased.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.leased.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.leased.message_type IS 'JMSType; workers choose the handler by it.';
COMMENT ON COLUMN howdah.leased.conversation_id IS 'The conversation (dialog) that the message belongs to.';
COMMENT ON COLUMN howdah.leased.dead_reason IS 'Why the message was moved to an exception destination.';
COMMENT ON COLUMN howdah.leased.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';

CREATE TABLE howdah.leases (
    lease_id BIGINT NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    CONSTRAINT pk_leases PRIMARY KEY (lease_id)
);
CREATE INDEX ix_leases_destination_id ON howdah.leases (destination_id, rank, until);
COMMENT ON TABLE howdah.leases IS 'Leases with messages in the table leased. extend replaces the row, so no row is ever updated.';
COMMENT ON COLUMN howdah.leases.lease_id IS 'Number of the lease: its fencing token.';
COMMENT ON COLUMN howdah.leases.until IS 'From this time on its messages may be received again.';
COMMENT ON COLUMN howdah.leases.destination_id IS 'The queue whose messages it has.';
COMMENT ON COLUMN howdah.leases.rank IS '9 minus the priority of its messages, which is the rank of the queue''s main lane.';

CREATE UNLOGGED TABLE howdah.msgs_nonpersistent (
    seq BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    dead_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    origin_id INTEGER,
    rank SMALLINT NOT NULL,
    stage SMALLINT DEFAULT '0' NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    dead_reason TEXT,
    reliability SMALLINT,
    boot TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_msgs_nonpersistent PRIMARY KEY (destination_id, rank, seq)
);
CREATE INDEX ix_msgs_nonpersistent_best_effort ON howdah.msgs_nonpersistent (destination_id, seq) WHERE reliability = 0;
CREATE INDEX ix_msgs_nonpersistent_correlation ON howdah.msgs_nonpersistent (hashtextextended(correlation_id, 0)) WHERE correlation_id IS NOT NULL;
COMMENT ON TABLE howdah.msgs_nonpersistent IS 'Non-persistent messages ready for delivery: no WAL, lost at every restart of the server.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.seq IS 'Position in the queue, from the destination''s sequence.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.message_id IS 'Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.msgs_nonpersistent.expires_at IS 'Never delivered at or after this time (JMSExpiration). NULL: never expires.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.dead_at IS 'When the message was moved to an exception destination. NULL: it was not.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.destination_id IS 'The destination that holds the message now.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.origin_id IS 'The destination from which it was moved to an exception destination. NULL: never moved.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.rank IS '9 minus the priority, so that ascending order is delivery order.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.stage IS 'How often the message was moved or replayed. Failures count within a stage.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.is_text IS 'True: body is UTF-8 text or JSON and is returned as text. False: bytes.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.body IS 'The exact bytes of the body; text is stored as UTF-8.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.message_type IS 'JMSType; workers choose the handler by it.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.conversation_id IS 'The conversation (dialog) that the message belongs to.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.dead_reason IS 'Why the message was moved to an exception destination.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';
COMMENT ON COLUMN howdah.msgs_nonpersistent.boot IS 'Start of the server that took the message. After any other start it is lost.';

CREATE TABLE howdah.ahead_leases (
    lease_id BIGINT NOT NULL,
    destination_id INTEGER NOT NULL,
    suspects INTEGER NOT NULL,
    CONSTRAINT pk_ahead_leases PRIMARY KEY (lease_id)
);
COMMENT ON TABLE howdah.ahead_leases IS 'Leases of sessions that hold messages ahead of delivery. A row is written when a lease is given out; correctness never depends on it.';
COMMENT ON COLUMN howdah.ahead_leases.lease_id IS 'The lease.';
COMMENT ON COLUMN howdah.ahead_leases.destination_id IS 'The destination of its messages.';
COMMENT ON COLUMN howdah.ahead_leases.suspects IS 'How many of its messages, the first ones left, count as failed when it runs out. The others come again uncounted.';

CREATE TABLE howdah.parked (
    seq BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    dead_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    origin_id INTEGER,
    rank SMALLINT NOT NULL,
    stage SMALLINT DEFAULT '0' NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    dead_reason TEXT,
    reliability SMALLINT,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    parked_reason TEXT NOT NULL,
    boot TIMESTAMP WITH TIME ZONE,
    lease_id BIGINT,
    group_id TEXT,
    reads INTEGER,
    last_read_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_parked PRIMARY KEY (destination_id, message_id),
    CONSTRAINT ck_parked_reason CHECK (parked_reason IN ('delay', 'redelivery', 'blocked', 'quarantine', 'operator', 'lease'))
);
CREATE INDEX ix_parked_best_effort ON howdah.parked (destination_id, seq) WHERE reliability = 0;
CREATE INDEX ix_parked_correlation ON howdah.parked (hashtextextended(correlation_id, 0)) WHERE correlation_id IS NOT NULL;
CREATE INDEX ix_parked_due ON howdah.parked (destination_id, rank, due_at, seq);
CREATE INDEX ix_parked_group ON howdah.parked (destination_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX ix_parked_lease ON howdah.parked (destination_id, lease_id) WHERE lease_id IS NOT NULL;
COMMENT ON TABLE howdah.parked IS 'Messages that wait for a time, kept out of the way of claims. A receive takes due ones from here.';
COMMENT ON COLUMN howdah.parked.seq IS 'Position in the queue, from the destination''s sequence.';
COMMENT ON COLUMN howdah.parked.message_id IS 'Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.';
COMMENT ON COLUMN howdah.parked.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.parked.expires_at IS 'Never delivered at or after this time (JMSExpiration). NULL: never expires.';
COMMENT ON COLUMN howdah.parked.dead_at IS 'When the message was moved to an exception destination. NULL: it was not.';
COMMENT ON COLUMN howdah.parked.destination_id IS 'The destination that holds the message now.';
COMMENT ON COLUMN howdah.parked.origin_id IS 'The destination from which it was moved to an exception destination. NULL: never moved.';
COMMENT ON COLUMN howdah.parked.rank IS '9 minus the priority, so that ascending order is delivery order.';
COMMENT ON COLUMN howdah.parked.stage IS 'How often the message was moved or replayed. Failures count within a stage.';
COMMENT ON COLUMN howdah.parked.is_text IS 'True: body is UTF-8 text or JSON and is returned as text. False: bytes.';
COMMENT ON COLUMN howdah.parked.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.parked.body IS 'The exact bytes of the body; text is stored as UTF-8. NULL: a large one, which lies in bodies.';
COMMENT ON COLUMN howdah.parked.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.parked.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.parked.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.parked.message_type IS 'JMSType; workers choose the handler by it.';
COMMENT ON COLUMN howdah.parked.conversation_id IS 'The conversation (dialog) that the message belongs to.';
COMMENT ON COLUMN howdah.parked.dead_reason IS 'Why the message was moved to an exception destination.';
COMMENT ON COLUMN howdah.parked.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';
COMMENT ON COLUMN howdah.parked.due_at IS 'From this time on a receive may claim the message.';
COMMENT ON COLUMN howdah.parked.parked_reason IS 'delay (sent with one), redelivery (after a failure), blocked (past its limit), quarantine, operator (park_messages) or lease. A lease of the facade pgmq has no lease_id.';
COMMENT ON COLUMN howdah.parked.boot IS 'For a non-persistent message, the start of the server that took it. NULL: persistent.';
COMMENT ON COLUMN howdah.parked.lease_id IS 'The lease that has the message until due_at. NULL: none.';
COMMENT ON COLUMN howdah.parked.group_id IS 'The message group that the message holds up while it waits (after a failure, under a lease). NULL: none.';
COMMENT ON COLUMN howdah.parked.reads IS 'How often the facade pgmq has read the message. NULL: never.';
COMMENT ON COLUMN howdah.parked.last_read_at IS 'When the facade pgmq last read the message. NULL: never.';

CREATE TABLE howdah.last_values (
    destination_id INTEGER NOT NULL,
    key BYTEA NOT NULL,
    message_id BIGINT NOT NULL,
    held BIGINT[],
    looked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_last_values PRIMARY KEY (destination_id, key, message_id)
);
CREATE INDEX ix_last_values_looked_at ON howdah.last_values (looked_at) WHERE message_id = 0;
COMMENT ON TABLE howdah.last_values IS 'Which messages the next one of a key replaces: a row that stays, and one that each send replaces.';
COMMENT ON COLUMN howdah.last_values.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.last_values.key IS 'SHA-256 of the header last_value_key, name and value.';
COMMENT ON COLUMN howdah.last_values.message_id IS 'The last message of the key. 0: senders lock this row.';
COMMENT ON COLUMN howdah.last_values.held IS 'Earlier messages of the key that somebody held then. NULL: none.';
COMMENT ON COLUMN howdah.last_values.looked_at IS 'Of row 0: when maintenance last looked at the key. NULL elsewhere.';

CREATE TABLE howdah.deduplications (
    destination_id INTEGER NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    message_id BIGINT NOT NULL,
    forgotten_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_deduplications PRIMARY KEY (destination_id, key)
);
COMMENT ON TABLE howdah.deduplications IS 'The deduplication keys of the last minutes. The first send inserts a key; maintenance deletes it.';
COMMENT ON COLUMN howdah.deduplications.destination_id IS 'The queue or topic that it was sent to.';
COMMENT ON COLUMN howdah.deduplications.key IS 'The key that the sender gave.';
COMMENT ON COLUMN howdah.deduplications.message_id IS 'The first message that was sent with it.';
COMMENT ON COLUMN howdah.deduplications.forgotten_at IS 'From this time on the key may be used again.';

CREATE TABLE howdah.handed (
    lease_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    handed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_handed PRIMARY KEY (lease_id, message_id)
);
COMMENT ON TABLE howdah.handed IS 'Records that leased messages were handed to the application, for engines without redelivered_optimization.';
COMMENT ON COLUMN howdah.handed.lease_id IS 'The lease.';
COMMENT ON COLUMN howdah.handed.message_id IS 'The message.';
COMMENT ON COLUMN howdah.handed.handed_at IS 'When it was recorded.';

CREATE TABLE howdah.metric_epoch (
    id SMALLINT NOT NULL,
    home TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    snapshot PG_SNAPSHOT,
    folded_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_metric_epoch PRIMARY KEY (id),
    CONSTRAINT ck_metric_epoch_single_row CHECK (id = 1)
);
COMMENT ON TABLE howdah.metric_epoch IS 'The beginning and the state of the totals for monitoring: one row, or none before the first count.';
COMMENT ON COLUMN howdah.metric_epoch.id IS 'Always 1.';
COMMENT ON COLUMN howdah.metric_epoch.home IS 'The cluster and database that the totals belong to.';
COMMENT ON COLUMN howdah.metric_epoch.created_at IS 'When the totals began at zero.';
COMMENT ON COLUMN howdah.metric_epoch.since IS 'Earlier records are not counted: a restore brought them.';
COMMENT ON COLUMN howdah.metric_epoch.snapshot IS 'The totals hold the records visible in it. NULL: none yet.';
COMMENT ON COLUMN howdah.metric_epoch.folded_at IS 'When records were last added up. NULL: not yet.';

CREATE TABLE howdah.metric_totals (
    destination_id INTEGER NOT NULL,
    metric TEXT NOT NULL,
    label TEXT NOT NULL,
    total BIGINT NOT NULL,
    level BIGINT,
    gained BIGINT,
    changed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_metric_totals PRIMARY KEY (destination_id, metric, label)
);
CREATE INDEX ix_metric_totals_failures ON howdah.metric_totals (destination_id) WHERE metric = 'failures';
COMMENT ON TABLE howdah.metric_totals IS 'Totals for monitoring by destination. They only grow, until a restore.';
COMMENT ON COLUMN howdah.metric_totals.destination_id IS 'The destination. 0: all temporary queues and unknown.';
COMMENT ON COLUMN howdah.metric_totals.metric IS 'enqueued, dequeued or failures.';
COMMENT ON COLUMN howdah.metric_totals.label IS 'For dequeued: the event. For failures: the error''s class.';
COMMENT ON COLUMN howdah.metric_totals.total IS 'How many since metric_epoch.created_at.';
COMMENT ON COLUMN howdah.metric_totals.level IS 'For enqueued: what lay there and what had left at the last count.';
COMMENT ON COLUMN howdah.metric_totals.gained IS 'For enqueued: by how much the total grew when it last changed.';
COMMENT ON COLUMN howdah.metric_totals.changed_at IS 'For enqueued: when it last changed.';

CREATE TABLE howdah.metric_histograms (
    destination_id INTEGER NOT NULL,
    metric TEXT NOT NULL,
    counts BIGINT[] NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    CONSTRAINT pk_metric_histograms PRIMARY KEY (destination_id, metric)
);
COMMENT ON TABLE howdah.metric_histograms IS 'Distributions of times for monitoring by destination. They only grow, until a restore.';
COMMENT ON COLUMN howdah.metric_histograms.destination_id IS 'The destination. 0: all temporary queues and unknown.';
COMMENT ON COLUMN howdah.metric_histograms.metric IS 'wait: from send to receive. handler: calls of handlers.';
COMMENT ON COLUMN howdah.metric_histograms.counts IS 'How many in each bucket; the last has no bound.';
COMMENT ON COLUMN howdah.metric_histograms.seconds IS 'The sum of all, in seconds.';

CREATE TABLE howdah.flow_samples (
    step SMALLINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER NOT NULL,
    enqueued BIGINT NOT NULL,
    dequeued BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    live BIGINT NOT NULL,
    oldest_sent_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_flow_samples PRIMARY KEY (step, at, destination_id),
    CONSTRAINT ck_flow_samples_step CHECK (step IN (1, 15))
);
CREATE INDEX ix_flow_samples_destination_id ON howdah.flow_samples (destination_id, step, at);
COMMENT ON TABLE howdah.flow_samples IS 'Totals at points in time, for curves: of all queues, and of those that changed. Minutes stay three hours, quarters of an hour eight days.';
COMMENT ON COLUMN howdah.flow_samples.step IS 'Minutes from one sample to the next: 1 or 15.';
COMMENT ON COLUMN howdah.flow_samples.at IS 'When it was taken.';
COMMENT ON COLUMN howdah.flow_samples.destination_id IS 'The queue. 0: all queues.';
COMMENT ON COLUMN howdah.flow_samples.enqueued IS 'What had come in by then, as metric_totals.';
COMMENT ON COLUMN howdah.flow_samples.dequeued IS 'What had left by then, as metric_totals.';
COMMENT ON COLUMN howdah.flow_samples.failed IS 'How many deliveries had failed by then, as metric_totals.';
COMMENT ON COLUMN howdah.flow_samples.live IS 'Ready messages, as backlog_figures. Of all queues: no dead ones.';
COMMENT ON COLUMN howdah.flow_samples.oldest_sent_at IS 'When the oldest of them was sent. NULL: there is none.';

CREATE TABLE howdah.objects (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    attributes JSONB NOT NULL,
    read_only BOOLEAN DEFAULT false NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_objects PRIMARY KEY (name),
    CONSTRAINT ck_objects_kind CHECK (kind IN ('connection_factory', 'xa_connection_factory', 'queue', 'topic'))
);
COMMENT ON TABLE howdah.objects IS 'What administrators define for clients to look up by name. No object holds a password.';
COMMENT ON COLUMN howdah.objects.name IS 'The name by which clients look it up, such as cf/orders.';
COMMENT ON COLUMN howdah.objects.kind IS 'What it is: connection_factory, xa_connection_factory, queue or topic.';
COMMENT ON COLUMN howdah.objects.attributes IS 'Its attributes. Those that are left out have their defaults.';
COMMENT ON COLUMN howdah.objects.read_only IS 'True: nobody sets its attributes, and overrides at the start of a client are ignored.';
COMMENT ON COLUMN howdah.objects.created_at IS 'When it was created.';
COMMENT ON COLUMN howdah.objects.created_by IS 'The role that created it.';
COMMENT ON COLUMN howdah.objects.changed_at IS 'When it was last changed.';

CREATE TABLE howdah.xa_transactions (
    transaction_id TEXT NOT NULL,
    factory TEXT NOT NULL,
    outcome TEXT,
    begun_at TIMESTAMP WITH TIME ZONE NOT NULL,
    begun_by TEXT NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_xa_transactions PRIMARY KEY (transaction_id),
    CONSTRAINT ck_xa_transactions_outcome CHECK (outcome IN ('commit', 'rollback'))
);
COMMENT ON TABLE howdah.xa_transactions IS 'The log of transactions over several databases, until every branch has ended. No row means rollback.';
COMMENT ON COLUMN howdah.xa_transactions.transaction_id IS 'The transaction over several databases: howdah:xa:, the engine that keeps this log, and a UUID.';
COMMENT ON COLUMN howdah.xa_transactions.factory IS 'The connection factory whose databases it is about.';
COMMENT ON COLUMN howdah.xa_transactions.outcome IS 'What was decided for all its branches: commit or rollback. NULL: nothing yet.';
COMMENT ON COLUMN howdah.xa_transactions.begun_at IS 'When it began.';
COMMENT ON COLUMN howdah.xa_transactions.begun_by IS 'The role that began it. Only it and administrators decide.';
COMMENT ON COLUMN howdah.xa_transactions.decided_at IS 'When it was decided. NULL: nothing is decided.';

CREATE TABLE howdah.topic_msgs_0 (
    xid XID8 DEFAULT pg_current_xact_id() NOT NULL,
    seq BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    client_id TEXT,
    reliability SMALLINT,
    CONSTRAINT pk_topic_msgs_0 PRIMARY KEY (destination_id, xid, seq)
);
COMMENT ON TABLE howdah.topic_msgs_0 IS 'Topic messages, one stored copy each. INSERT-only, emptied by TRUNCATE once nobody needs them.';
COMMENT ON COLUMN howdah.topic_msgs_0.xid IS 'The publisher''s transaction, by which cursors know what they have passed.';
COMMENT ON COLUMN howdah.topic_msgs_0.seq IS 'Position in the topic, from the destination''s sequence.';
COMMENT ON COLUMN howdah.topic_msgs_0.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.topic_msgs_0.expires_at IS 'Never delivered at or after this time. NULL: never expires.';
COMMENT ON COLUMN howdah.topic_msgs_0.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topic_msgs_0.rank IS '9 minus the priority.';
COMMENT ON COLUMN howdah.topic_msgs_0.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.topic_msgs_0.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.topic_msgs_0.body IS 'The exact bytes of the body.';
COMMENT ON COLUMN howdah.topic_msgs_0.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.topic_msgs_0.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.topic_msgs_0.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.topic_msgs_0.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.topic_msgs_0.conversation_id IS 'The conversation (dialog) the message belongs to.';
COMMENT ON COLUMN howdah.topic_msgs_0.client_id IS 'Client id of the publisher''s session (howdah.set_client_id), for no_local.';
COMMENT ON COLUMN howdah.topic_msgs_0.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';

CREATE TABLE howdah.topic_msgs_1 (
    xid XID8 DEFAULT pg_current_xact_id() NOT NULL,
    seq BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    client_id TEXT,
    reliability SMALLINT,
    CONSTRAINT pk_topic_msgs_1 PRIMARY KEY (destination_id, xid, seq)
);
COMMENT ON TABLE howdah.topic_msgs_1 IS 'Topic messages, one stored copy each. INSERT-only, emptied by TRUNCATE once nobody needs them.';
COMMENT ON COLUMN howdah.topic_msgs_1.xid IS 'The publisher''s transaction, by which cursors know what they have passed.';
COMMENT ON COLUMN howdah.topic_msgs_1.seq IS 'Position in the topic, from the destination''s sequence.';
COMMENT ON COLUMN howdah.topic_msgs_1.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.topic_msgs_1.expires_at IS 'Never delivered at or after this time. NULL: never expires.';
COMMENT ON COLUMN howdah.topic_msgs_1.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topic_msgs_1.rank IS '9 minus the priority.';
COMMENT ON COLUMN howdah.topic_msgs_1.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.topic_msgs_1.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.topic_msgs_1.body IS 'The exact bytes of the body.';
COMMENT ON COLUMN howdah.topic_msgs_1.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.topic_msgs_1.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.topic_msgs_1.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.topic_msgs_1.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.topic_msgs_1.conversation_id IS 'The conversation (dialog) the message belongs to.';
COMMENT ON COLUMN howdah.topic_msgs_1.client_id IS 'Client id of the publisher''s session (howdah.set_client_id), for no_local.';
COMMENT ON COLUMN howdah.topic_msgs_1.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';

CREATE TABLE howdah.topic_msgs_2 (
    xid XID8 DEFAULT pg_current_xact_id() NOT NULL,
    seq BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    client_id TEXT,
    reliability SMALLINT,
    CONSTRAINT pk_topic_msgs_2 PRIMARY KEY (destination_id, xid, seq)
);
COMMENT ON TABLE howdah.topic_msgs_2 IS 'Topic messages, one stored copy each. INSERT-only, emptied by TRUNCATE once nobody needs them.';
COMMENT ON COLUMN howdah.topic_msgs_2.xid IS 'The publisher''s transaction, by which cursors know what they have passed.';
COMMENT ON COLUMN howdah.topic_msgs_2.seq IS 'Position in the topic, from the destination''s sequence.';
COMMENT ON COLUMN howdah.topic_msgs_2.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.topic_msgs_2.expires_at IS 'Never delivered at or after this time. NULL: never expires.';
COMMENT ON COLUMN howdah.topic_msgs_2.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topic_msgs_2.rank IS '9 minus the priority.';
COMMENT ON COLUMN howdah.topic_msgs_2.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.topic_msgs_2.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.topic_msgs_2.body IS 'The exact bytes of the body.';
COMMENT ON COLUMN howdah.topic_msgs_2.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.topic_msgs_2.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.topic_msgs_2.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.topic_msgs_2.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.topic_msgs_2.conversation_id IS 'The conversation (dialog) the message belongs to.';
COMMENT ON COLUMN howdah.topic_msgs_2.client_id IS 'Client id of the publisher''s session (howdah.set_client_id), for no_local.';
COMMENT ON COLUMN howdah.topic_msgs_2.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';

CREATE UNLOGGED TABLE howdah.topic_nonpersistent_0 (
    xid XID8 DEFAULT pg_current_xact_id() NOT NULL,
    seq BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    client_id TEXT,
    reliability SMALLINT,
    boot TIMESTAMP WITH TIME ZONE DEFAULT pg_postmaster_start_time() NOT NULL,
    CONSTRAINT pk_topic_nonpersistent_0 PRIMARY KEY (destination_id, xid, seq)
);
COMMENT ON TABLE howdah.topic_nonpersistent_0 IS 'Non-persistent topic messages: no WAL, lost at every restart of the server.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.xid IS 'The publisher''s transaction, by which cursors know what they have passed.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.seq IS 'Position in the topic, from the destination''s sequence.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.expires_at IS 'Never delivered at or after this time. NULL: never expires.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.rank IS '9 minus the priority.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.body IS 'The exact bytes of the body.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.conversation_id IS 'The conversation (dialog) the message belongs to.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.client_id IS 'Client id of the publisher''s session (howdah.set_client_id), for no_local.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';
COMMENT ON COLUMN howdah.topic_nonpersistent_0.boot IS 'Start of the server that took the message. After any other start it is lost.';

CREATE UNLOGGED TABLE howdah.topic_nonpersistent_1 (
    xid XID8 DEFAULT pg_current_xact_id() NOT NULL,
    seq BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    client_id TEXT,
    reliability SMALLINT,
    boot TIMESTAMP WITH TIME ZONE DEFAULT pg_postmaster_start_time() NOT NULL,
    CONSTRAINT pk_topic_nonpersistent_1 PRIMARY KEY (destination_id, xid, seq)
);
COMMENT ON TABLE howdah.topic_nonpersistent_1 IS 'Non-persistent topic messages: no WAL, lost at every restart of the server.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.xid IS 'The publisher''s transaction, by which cursors know what they have passed.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.seq IS 'Position in the topic, from the destination''s sequence.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.expires_at IS 'Never delivered at or after this time. NULL: never expires.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.rank IS '9 minus the priority.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.body IS 'The exact bytes of the body.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.conversation_id IS 'The conversation (dialog) the message belongs to.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.client_id IS 'Client id of the publisher''s session (howdah.set_client_id), for no_local.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';
COMMENT ON COLUMN howdah.topic_nonpersistent_1.boot IS 'Start of the server that took the message. After any other start it is lost.';

CREATE UNLOGGED TABLE howdah.topic_nonpersistent_2 (
    xid XID8 DEFAULT pg_current_xact_id() NOT NULL,
    seq BIGINT NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    destination_id INTEGER NOT NULL,
    rank SMALLINT NOT NULL,
    is_text BOOLEAN NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    client_id TEXT,
    reliability SMALLINT,
    boot TIMESTAMP WITH TIME ZONE DEFAULT pg_postmaster_start_time() NOT NULL,
    CONSTRAINT pk_topic_nonpersistent_2 PRIMARY KEY (destination_id, xid, seq)
);
COMMENT ON TABLE howdah.topic_nonpersistent_2 IS 'Non-persistent topic messages: no WAL, lost at every restart of the server.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.xid IS 'The publisher''s transaction, by which cursors know what they have passed.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.seq IS 'Position in the topic, from the destination''s sequence.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.sent_at IS 'When send was called (JMSTimestamp).';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.expires_at IS 'Never delivered at or after this time. NULL: never expires.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.rank IS '9 minus the priority.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.body IS 'The exact bytes of the body.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.headers IS 'Application properties, a JSON object. NULL: none.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.correlation_id IS 'JMSCorrelationID.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.reply_to IS 'JMSReplyTo: name of the destination for answers.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.message_type IS 'JMSType.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.conversation_id IS 'The conversation (dialog) the message belongs to.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.client_id IS 'Client id of the publisher''s session (howdah.set_client_id), for no_local.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.reliability IS 'Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, 4 assured. NULL: assured, or express in a table of non-persistent messages.';
COMMENT ON COLUMN howdah.topic_nonpersistent_2.boot IS 'Start of the server that took the message. After any other start it is lost.';

CREATE TABLE howdah.topic_ring (
    slot INTEGER NOT NULL,
    generation BIGINT NOT NULL,
    state TEXT NOT NULL,
    closed_xid XID8,
    opened_at TIMESTAMP WITH TIME ZONE,
    closed_at TIMESTAMP WITH TIME ZONE,
    truncations BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT pk_topic_ring PRIMARY KEY (slot),
    CONSTRAINT ck_topic_ring_state CHECK (state IN ('open', 'closing', 'closed', 'empty'))
);
COMMENT ON TABLE howdah.topic_ring IS 'The state of the tables in the ring of topic messages, one row per slot.';
COMMENT ON COLUMN howdah.topic_ring.slot IS 'Number of the tables, 0 to 2.';
COMMENT ON COLUMN howdah.topic_ring.generation IS 'How often the ring had been turned when it was opened.';
COMMENT ON COLUMN howdah.topic_ring.state IS 'open, closing (writers may still be at work), closed or empty.';
COMMENT ON COLUMN howdah.topic_ring.closed_xid IS 'When it was closed: all transactions with rows in it are older, and have ended.';
COMMENT ON COLUMN howdah.topic_ring.opened_at IS 'When it was opened. NULL: never.';
COMMENT ON COLUMN howdah.topic_ring.closed_at IS 'When it was closed. NULL: it is not.';
COMMENT ON COLUMN howdah.topic_ring.truncations IS 'Value of topic_truncations when it was last emptied.';

CREATE TABLE howdah.acks (
    id INTEGER GENERATED ALWAYS AS IDENTITY (CYCLE),
    destination_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    priority SMALLINT DEFAULT '0' NOT NULL,
    client_id TEXT NOT NULL,
    subscription_name TEXT NOT NULL,
    selector TEXT,
    CONSTRAINT pk_acks PRIMARY KEY (destination_id, client_id, subscription_name, priority)
);
CREATE UNIQUE INDEX uq_acks_id ON howdah.acks (id);
CREATE INDEX ix_acks_subscription ON howdah.acks (subscription_id);
COMMENT ON TABLE howdah.acks IS 'Which subscription reads which topic: one row per topic, and per priority if it is prioritized.';
COMMENT ON COLUMN howdah.acks.id IS 'Number of the cursor.';
COMMENT ON COLUMN howdah.acks.destination_id IS 'The topic subscribed to.';
COMMENT ON COLUMN howdah.acks.subscription_id IS 'The subscription (destinations.id).';
COMMENT ON COLUMN howdah.acks.priority IS 'Priority of the cursor, in prioritized subscriptions; otherwise 0.';
COMMENT ON COLUMN howdah.acks.client_id IS 'Client id of the subscriber.';
COMMENT ON COLUMN howdah.acks.subscription_name IS 'Name of the durable subscription; a non-durable one''s has ~ before it.';
COMMENT ON COLUMN howdah.acks.selector IS 'Message selector. NULL: all messages.';

CREATE TABLE howdah.ack_cursors (
    ack_id INTEGER NOT NULL,
    n BIGINT NOT NULL,
    xid XID8 NOT NULL,
    seq BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    snapshot PG_SNAPSHOT NOT NULL,
    CONSTRAINT pk_ack_cursors PRIMARY KEY (ack_id, n)
);
COMMENT ON TABLE howdah.ack_cursors IS 'Where each cursor stands. Consumers only insert, so that no old snapshot makes it slow; old steps are deleted later.';
COMMENT ON COLUMN howdah.ack_cursors.ack_id IS 'The cursor (acks.id).';
COMMENT ON COLUMN howdah.ack_cursors.n IS 'Number of the step, from 0. The highest one applies.';
COMMENT ON COLUMN howdah.ack_cursors.xid IS 'A transaction that is passed in part: its messages up to seq.';
COMMENT ON COLUMN howdah.ack_cursors.seq IS 'Position in the topic up to which xid is passed. -1: nothing of it.';
COMMENT ON COLUMN howdah.ack_cursors.delivered IS 'Messages delivered since the subscription was created.';
COMMENT ON COLUMN howdah.ack_cursors.at IS 'When the step was made.';
COMMENT ON COLUMN howdah.ack_cursors.snapshot IS 'Messages of all transactions visible in it are passed.';

CREATE TABLE howdah.acked (
    ack_id INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    xid XID8 NOT NULL,
    lease_id BIGINT,
    leased_until TIMESTAMP WITH TIME ZONE,
    nonpersistent BOOLEAN DEFAULT 'false' NOT NULL,
    CONSTRAINT pk_acked PRIMARY KEY (ack_id, seq)
);
CREATE INDEX ix_acked_leased ON howdah.acked (ack_id, leased_until) WHERE lease_id IS NOT NULL;
COMMENT ON TABLE howdah.acked IS 'Messages that a cursor has not passed, but that are done: acknowledged out of order, or set aside.';
COMMENT ON COLUMN howdah.acked.ack_id IS 'The cursor (acks.id).';
COMMENT ON COLUMN howdah.acked.seq IS 'Position in the topic.';
COMMENT ON COLUMN howdah.acked.xid IS 'The publisher''s transaction.';
COMMENT ON COLUMN howdah.acked.lease_id IS 'The lease that has the message until leased_until. NULL: the message is done.';
COMMENT ON COLUMN howdah.acked.leased_until IS 'When the lease ends. NULL: there is no lease.';
COMMENT ON COLUMN howdah.acked.nonpersistent IS 'For a leased message: whether it is non-persistent, for the journal when it is acknowledged.';

CREATE UNLOGGED TABLE howdah.permits_in_hand (
    xid XID8 NOT NULL,
    destination_id INTEGER NOT NULL,
    key UUID NOT NULL,
    permit INTEGER NOT NULL,
    CONSTRAINT pk_permits_in_hand PRIMARY KEY (xid, destination_id, key, permit)
);
COMMENT ON TABLE howdah.permits_in_hand IS 'Which permits a transaction has already, so that it takes none twice: its own advisory locks never refuse it. Only that transaction reads its rows.';
COMMENT ON COLUMN howdah.permits_in_hand.xid IS 'The transaction that has it.';
COMMENT ON COLUMN howdah.permits_in_hand.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.permits_in_hand.key IS 'MD5 of the key; all zeros: the limit of the queue itself.';
COMMENT ON COLUMN howdah.permits_in_hand.permit IS 'Number of the permit, from 1 to the limit.';

CREATE TABLE howdah.leased_permits (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    destination_id INTEGER NOT NULL,
    key UUID NOT NULL,
    permit INTEGER NOT NULL,
    message_id BIGINT NOT NULL,
    CONSTRAINT pk_leased_permits PRIMARY KEY (destination_id, key, permit, id)
);
CREATE INDEX ix_leased_permits_message ON howdah.leased_permits (destination_id, message_id);
COMMENT ON TABLE howdah.leased_permits IS 'Permits of messages that were held, and may have been put under a lease since. Rows are never updated.';
COMMENT ON COLUMN howdah.leased_permits.id IS 'The newest row of a message counts.';
COMMENT ON COLUMN howdah.leased_permits.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.leased_permits.key IS 'MD5 of the key; all zeros: the limit of the queue itself.';
COMMENT ON COLUMN howdah.leased_permits.permit IS 'Number of the permit, from 1 to the limit.';
COMMENT ON COLUMN howdah.leased_permits.message_id IS 'The message; the permit is in use while it is leased.';

CREATE TABLE howdah.rate_cells (
    destination_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    spent REGCLASS NOT NULL,
    mark REGCLASS NOT NULL,
    CONSTRAINT pk_rate_cells PRIMARY KEY (destination_id, number)
);
COMMENT ON TABLE howdah.rate_cells IS 'Sequences that remember how far a rate is spent, outside transactions.';
COMMENT ON COLUMN howdah.rate_cells.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.rate_cells.number IS '0: the queue itself. From 1: a place for a key.';
COMMENT ON COLUMN howdah.rate_cells.spent IS 'A sequence: up to when the rate is spent, in microseconds.';
COMMENT ON COLUMN howdah.rate_cells.mark IS 'A sequence. Cell 0: since when the cells are known; a crash of the server resets it. Other cells: the fingerprint of the key.';

CREATE TABLE howdah.results (
    message_id BIGINT NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER NOT NULL,
    stage SMALLINT,
    state TEXT NOT NULL,
    value JSONB,
    body TEXT,
    CONSTRAINT pk_results PRIMARY KEY (destination_id, message_id),
    CONSTRAINT ck_results_state CHECK (state IN ('done', 'failed', 'expired'))
);
CREATE INDEX ix_results_until ON howdah.results (until);
COMMENT ON TABLE howdah.results IS 'Results of messages of queues with keep_results_ms. The handler''s transaction inserts them; maintenance deletes them.';
COMMENT ON COLUMN howdah.results.message_id IS 'The message.';
COMMENT ON COLUMN howdah.results.finished_at IS 'When it was handled, died or expired.';
COMMENT ON COLUMN howdah.results.until IS 'From this time on nobody is shown the result.';
COMMENT ON COLUMN howdah.results.destination_id IS 'The queue that it was received from.';
COMMENT ON COLUMN howdah.results.stage IS 'The stage in which its incidents are to be found. NULL: none are shown.';
COMMENT ON COLUMN howdah.results.state IS 'done (handled), failed (at its limit) or expired.';
COMMENT ON COLUMN howdah.results.value IS 'What its handler returned. NULL: nothing, or it was not handled.';
COMMENT ON COLUMN howdah.results.body IS 'The text of a message that failed or expired. NULL: it is bytes, or was handled.';

CREATE UNLOGGED TABLE howdah.result_waiters (
    message_id BIGINT NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    destination_id INTEGER NOT NULL,
    CONSTRAINT pk_result_waiters PRIMARY KEY (destination_id, message_id)
);
COMMENT ON TABLE howdah.result_waiters IS 'Requests to be notified of a result (howdah.wait_result). Only speed depends on them.';
COMMENT ON COLUMN howdah.result_waiters.message_id IS 'The message whose result somebody waits for.';
COMMENT ON COLUMN howdah.result_waiters.until IS 'From this time on the request no longer counts.';
COMMENT ON COLUMN howdah.result_waiters.destination_id IS 'Its queue.';

CREATE TABLE howdah.latches (
    name TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_latches PRIMARY KEY (name)
);
COMMENT ON TABLE howdah.latches IS 'The engine''s own locks: a holder locks the row. No row is ever changed.';
COMMENT ON COLUMN howdah.latches.name IS 'Name of the lock.';

CREATE TABLE howdah.engine (
    id SMALLINT NOT NULL,
    name TEXT NOT NULL,
    procedures_checksum TEXT NOT NULL,
    system_identifier BIGINT,
    boot TIMESTAMP WITH TIME ZONE NOT NULL,
    state TEXT DEFAULT 'running' NOT NULL,
    state_at TIMESTAMP WITH TIME ZONE,
    state_by TEXT,
    state_xid BIGINT,
    stopped_boot TIMESTAMP WITH TIME ZONE,
    attempting_secret UUID DEFAULT gen_random_uuid() NOT NULL,
    digest_secret UUID DEFAULT gen_random_uuid() NOT NULL,
    admin_role TEXT NOT NULL,
    producer_role TEXT NOT NULL,
    consumer_role TEXT NOT NULL,
    browser_role TEXT NOT NULL,
    auditor_role TEXT NOT NULL,
    access_enabled BOOLEAN DEFAULT true NOT NULL,
    rule_set TEXT DEFAULT 'default' NOT NULL,
    persistent BOOLEAN DEFAULT true NOT NULL,
    journal_retention_days INTEGER DEFAULT '90' NOT NULL,
    incident_retention_days INTEGER DEFAULT '90' NOT NULL,
    log_level TEXT DEFAULT 'INFO' NOT NULL,
    log_retention_days INTEGER DEFAULT '30' NOT NULL,
    default_blocked_retry_ms BIGINT DEFAULT 5000 NOT NULL,
    topic_rotation_seconds INTEGER DEFAULT '600' NOT NULL,
    max_count BIGINT,
    max_bytes BIGINT,
    max_message_bytes BIGINT,
    yellow_threshold INTEGER DEFAULT 60 NOT NULL,
    orange_threshold INTEGER DEFAULT 75 NOT NULL,
    red_threshold INTEGER DEFAULT 90 NOT NULL,
    orange_delay_ms INTEGER DEFAULT 10 NOT NULL,
    expiration_interval_seconds INTEGER DEFAULT '60' NOT NULL,
    expired_at TIMESTAMP WITH TIME ZONE,
    autorollback BOOLEAN DEFAULT false NOT NULL,
    redelivered_optimization BOOLEAN DEFAULT true NOT NULL,
    archive BOOLEAN DEFAULT false NOT NULL,
    autocreate_queue BOOLEAN DEFAULT false NOT NULL,
    autocreate_topic BOOLEAN DEFAULT false NOT NULL,
    autocreate_options JSONB DEFAULT '{"preset": "sun_mq"}' NOT NULL,
    autocreate_reap_seconds INTEGER DEFAULT '120' NOT NULL,
    identity_salt UUID,
    archive_id UUID,
    totals_snapshot PG_SNAPSHOT,
    totals_at TIMESTAMP WITH TIME ZONE,
    journal_dropped_xid BIGINT DEFAULT 0 NOT NULL,
    cluster_mode TEXT DEFAULT 'none' NOT NULL,
    cluster_master TEXT,
    exclusive BOOLEAN DEFAULT false NOT NULL,
    instance_timeout_seconds INTEGER DEFAULT '10' NOT NULL,
    record_id UUID DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT pk_engine PRIMARY KEY (id),
    CONSTRAINT ck_engine_cluster_mode CHECK (cluster_mode IN ('none', 'master')),
    CONSTRAINT ck_engine_cluster_master CHECK (cluster_mode = 'none' OR cluster_master IS NOT NULL),
    CONSTRAINT ck_engine_instance_timeout_seconds CHECK (instance_timeout_seconds >= 2),
    CONSTRAINT ck_engine_single_row CHECK (id = 1),
    CONSTRAINT ck_engine_state CHECK (state IN ('running', 'paused', 'quiesced', 'stopped')),
    CONSTRAINT ck_engine_stopped_boot CHECK ((state = 'stopped') = (stopped_boot IS NOT NULL)),
    CONSTRAINT ck_engine_journal_retention_days CHECK (journal_retention_days > 0),
    CONSTRAINT ck_engine_default_blocked_retry_ms CHECK (default_blocked_retry_ms >= 0),
    CONSTRAINT ck_engine_incident_retention_days CHECK (incident_retention_days > 0),
    CONSTRAINT ck_engine_log_level CHECK (log_level IN ('ERROR', 'WARNING', 'INFO')),
    CONSTRAINT ck_engine_log_retention_days CHECK (log_retention_days > 0),
    CONSTRAINT ck_engine_topic_rotation_seconds CHECK (topic_rotation_seconds > 0),
    CONSTRAINT ck_engine_limits CHECK (max_count > 0 AND max_bytes > 0 AND orange_delay_ms >= 0),
    CONSTRAINT ck_engine_thresholds CHECK (yellow_threshold > 0 AND yellow_threshold <= orange_threshold AND orange_threshold <= red_threshold AND red_threshold <= 100),
    CONSTRAINT ck_engine_expiration_interval_seconds CHECK (expiration_interval_seconds >= 0),
    CONSTRAINT ck_engine_max_message_bytes CHECK (max_message_bytes > 0),
    CONSTRAINT ck_engine_autocreate_reap_seconds CHECK (autocreate_reap_seconds > 0)
);
COMMENT ON TABLE howdah.engine IS 'The engine''s settings, one row.';
COMMENT ON COLUMN howdah.engine.id IS 'Always 1: there is one engine in a database.';
COMMENT ON COLUMN howdah.engine.name IS 'The messaging engine''s name, part of its exception destination''s name.';
COMMENT ON COLUMN howdah.engine.procedures_checksum IS 'Checksum of the installed procedures and role names.';
COMMENT ON COLUMN howdah.engine.system_identifier IS 'The cluster to which the transaction ids in topics and cursors belong. After a restore into another, call howdah.rebase_topics().';
COMMENT ON COLUMN howdah.engine.boot IS 'Start of the server at which non-persistent messages were last swept.';
COMMENT ON COLUMN howdah.engine.state IS 'running, paused (nobody sends or receives), quiesced (no new work, and what began may end) or stopped (nothing is under way).';
COMMENT ON COLUMN howdah.engine.state_at IS 'When the engine got into this state. NULL: it has always run.';
COMMENT ON COLUMN howdah.engine.state_by IS 'The role that put it there. NULL: nobody; a restart of the server ended a stop.';
COMMENT ON COLUMN howdah.engine.state_xid IS 'The transaction that changed the state (xid8 as a number). While quiesced, older ones still send.';
COMMENT ON COLUMN howdah.engine.stopped_boot IS 'Start of the server that the stop was made on: any other has ended it. NULL: not stopped.';
COMMENT ON COLUMN howdah.engine.attempting_secret IS 'It tells howdah.receive that howdah.begin_attempts calls it for a hardened queue. Only the owner can read it.';
COMMENT ON COLUMN howdah.engine.digest_secret IS 'It is part of every digest in the journal, so that nobody finds a short body by trying. Only the owner can read it.';
COMMENT ON COLUMN howdah.engine.admin_role IS 'Role that administers destinations.';
COMMENT ON COLUMN howdah.engine.producer_role IS 'Role that sends.';
COMMENT ON COLUMN howdah.engine.consumer_role IS 'Role that receives and records failures.';
COMMENT ON COLUMN howdah.engine.browser_role IS 'Role that browses without taking.';
COMMENT ON COLUMN howdah.engine.auditor_role IS 'Role that reads the audit views.';
COMMENT ON COLUMN howdah.engine.access_enabled IS 'Whether access rules hold. False: whoever may execute a function may use it on everything.';
COMMENT ON COLUMN howdah.engine.rule_set IS 'The set of access rules in force, where a service does not name another.';
COMMENT ON COLUMN howdah.engine.persistent IS 'False: every message sent is non-persistent, whatever its sender, queue or topic says.';
COMMENT ON COLUMN howdah.engine.journal_retention_days IS 'Days for which journal rows are kept at least.';
COMMENT ON COLUMN howdah.engine.incident_retention_days IS 'Days for which incidents of messages that are gone are kept at least.';
COMMENT ON COLUMN howdah.engine.log_level IS 'Which events go into the log: those of this level and more severe ones.';
COMMENT ON COLUMN howdah.engine.log_retention_days IS 'Days for which events of the log are kept at least.';
COMMENT ON COLUMN howdah.engine.default_blocked_retry_ms IS 'Milliseconds between retries of a blocked message, unless its queue says otherwise. This is WebSphere''s default.';
COMMENT ON COLUMN howdah.engine.topic_rotation_seconds IS 'Seconds after which, at the earliest, topic messages go to the next table.';
COMMENT ON COLUMN howdah.engine.max_count IS 'The most messages in all queues and subscriptions. NULL: any number.';
COMMENT ON COLUMN howdah.engine.max_bytes IS 'The most bytes of bodies in all queues and subscriptions. NULL: any number.';
COMMENT ON COLUMN howdah.engine.max_message_bytes IS 'Largest body that any queue or topic takes, in bytes, whatever its own option says. NULL: each one''s own option applies.';
COMMENT ON COLUMN howdah.engine.yellow_threshold IS 'Percentage of max_count or max_bytes from which expired messages are reclaimed at once. This is Sun ONE MQ''s default.';
COMMENT ON COLUMN howdah.engine.orange_threshold IS 'Percentage from which sends are slowed. This is Sun ONE MQ''s default.';
COMMENT ON COLUMN howdah.engine.red_threshold IS 'Percentage from which nothing is sent and no queue or topic is created. This is Sun ONE MQ''s default.';
COMMENT ON COLUMN howdah.engine.orange_delay_ms IS 'Milliseconds that a send waits for each 50 messages in the state orange.';
COMMENT ON COLUMN howdah.engine.expiration_interval_seconds IS 'Seconds between two searches for expired messages. 0: none. This is OpenMQ''s default.';
COMMENT ON COLUMN howdah.engine.expired_at IS 'When the last search for expired messages began.';
COMMENT ON COLUMN howdah.engine.autorollback IS 'True: maintenance rolls back Howdah''s transactions that were prepared before the server''s start. OpenMQ''s default is false.';
COMMENT ON COLUMN howdah.engine.redelivered_optimization IS 'True: all messages of a lease that ran out come again as redelivered. False: only those that howdah.handed recorded. OpenMQ''s default is true.';
COMMENT ON COLUMN howdah.engine.archive IS 'True: maintenance drops no journal rows and incidents that are not in the archive.';
COMMENT ON COLUMN howdah.engine.autocreate_queue IS 'True: the first use of a missing queue creates it. OpenMQ''s default is true.';
COMMENT ON COLUMN howdah.engine.autocreate_topic IS 'True: the first use of a missing topic creates it. OpenMQ''s default is true.';
COMMENT ON COLUMN howdah.engine.autocreate_options IS 'Options of queues that create themselves, and of topics as far as they have them. Policies override.';
COMMENT ON COLUMN howdah.engine.autocreate_reap_seconds IS 'Seconds without use after which an empty destination that created itself ends. OpenMQ''s default.';
COMMENT ON COLUMN howdah.engine.identity_salt IS 'Part of the identity by which links know the engine: howdah.new_engine_id(). NULL: it never changed.';
COMMENT ON COLUMN howdah.engine.archive_id IS 'The archive that is written now. NULL: none was begun.';
COMMENT ON COLUMN howdah.engine.totals_snapshot IS 'journal_totals holds the journal rows visible in this snapshot.';
COMMENT ON COLUMN howdah.engine.totals_at IS 'When journal_totals was last updated.';
COMMENT ON COLUMN howdah.engine.journal_dropped_xid IS 'The greatest transaction id of which retention has dropped rows of the journal. 0: none.';
COMMENT ON COLUMN howdah.engine.cluster_mode IS 'none: administrators change the configuration at any time. master: only while the instance cluster_master runs.';
COMMENT ON COLUMN howdah.engine.cluster_master IS 'Name of the master of changes. NULL: none was named.';
COMMENT ON COLUMN howdah.engine.exclusive IS 'True: of all instances, one receives at a time, and the others stand by.';
COMMENT ON COLUMN howdah.engine.instance_timeout_seconds IS 'Seconds after which a silent instance counts as dead, and its leases are over.';
COMMENT ON COLUMN howdah.engine.record_id IS 'Identity of the record of changes. A restore gives it a new one.';

CREATE TABLE howdah.lock (
    id INTEGER GENERATED ALWAYS AS IDENTITY (CYCLE),
    name TEXT NOT NULL,
    holder TEXT,
    held_as TEXT,
    epoch BIGINT DEFAULT '0' NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_lock PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uq_lock_name ON howdah.lock (name);
COMMENT ON TABLE howdah.lock IS 'Named leases with fencing epochs.';
COMMENT ON COLUMN howdah.lock.id IS 'Number of the lease; 1 is the maintenance leader''s.';
COMMENT ON COLUMN howdah.lock.name IS 'What the lease is for.';
COMMENT ON COLUMN howdah.lock.holder IS 'Who holds it. NULL: nobody.';
COMMENT ON COLUMN howdah.lock.held_as IS 'The role that acquired it; no other role keeps or releases it. NULL: nobody holds it.';
COMMENT ON COLUMN howdah.lock.epoch IS 'Fencing token: grows by one at each change of holder.';
COMMENT ON COLUMN howdah.lock.expires_at IS 'The lease is void from this time on, by the database''s clock.';

CREATE TABLE howdah.lock_epochs (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    acquired_at TIMESTAMP WITH TIME ZONE NOT NULL,
    epoch BIGINT NOT NULL,
    xid BIGINT DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
    name TEXT NOT NULL,
    holder TEXT,
    CONSTRAINT pk_lock_epochs PRIMARY KEY (id)
);
CREATE INDEX ix_lock_epochs_name ON howdah.lock_epochs (name, id);
COMMENT ON TABLE howdah.lock_epochs IS 'Who held each named lease, one row per change of holder. INSERT-only; kept for engine.journal_retention_days. The last row of a name always stays.';
COMMENT ON COLUMN howdah.lock_epochs.id IS 'Number of the change of holder.';
COMMENT ON COLUMN howdah.lock_epochs.acquired_at IS 'When the holder got the lease.';
COMMENT ON COLUMN howdah.lock_epochs.epoch IS 'The fencing token that it got.';
COMMENT ON COLUMN howdah.lock_epochs.xid IS 'The transaction (xid8 as a number).';
COMMENT ON COLUMN howdah.lock_epochs.name IS 'Name of the lease.';
COMMENT ON COLUMN howdah.lock_epochs.holder IS 'Who got it.';

CREATE TABLE howdah.workers (
    worker_id UUID NOT NULL,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    queues TEXT[] NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    heartbeat_at TIMESTAMP WITH TIME ZONE NOT NULL,
    in_hand JSONB NOT NULL,
    instance_id UUID,
    CONSTRAINT pk_workers PRIMARY KEY (worker_id)
);
COMMENT ON TABLE howdah.workers IS 'Live worker processes, by heartbeat.';
COMMENT ON COLUMN howdah.workers.worker_id IS 'Identity of one worker process''s life.';
COMMENT ON COLUMN howdah.workers.name IS 'Name for people: host, application and process id.';
COMMENT ON COLUMN howdah.workers.host IS 'Host it runs on.';
COMMENT ON COLUMN howdah.workers.pid IS 'Process id there.';
COMMENT ON COLUMN howdah.workers.sessions IS 'Sessions (threads) it runs.';
COMMENT ON COLUMN howdah.workers.queues IS 'Names of the queues it receives from.';
COMMENT ON COLUMN howdah.workers.started_at IS 'When it registered.';
COMMENT ON COLUMN howdah.workers.heartbeat_at IS 'When it was last heard of.';
COMMENT ON COLUMN howdah.workers.in_hand IS 'Messages in its hands at the last heartbeat: an object of queue name to count.';
COMMENT ON COLUMN howdah.workers.instance_id IS 'The instance that it belongs to. NULL: none.';

CREATE TABLE howdah.worker_figures (
    figure_id BIGINT GENERATED ALWAYS AS IDENTITY,
    worker TEXT NOT NULL,
    queue TEXT NOT NULL,
    listener TEXT,
    from_at TIMESTAMP WITH TIME ZONE NOT NULL,
    until_at TIMESTAMP WITH TIME ZONE NOT NULL,
    handled BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    busy_seconds DOUBLE PRECISION NOT NULL,
    handling_counts BIGINT[] NOT NULL,
    xid BIGINT DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
    CONSTRAINT pk_worker_figures PRIMARY KEY (figure_id),
    CONSTRAINT ck_worker_figures_handling_counts CHECK (cardinality(handling_counts) = 32)
);
CREATE INDEX ix_worker_figures_until_at ON howdah.worker_figures (until_at);
CREATE INDEX ix_worker_figures_xid ON howdah.worker_figures USING brin (xid) WITH (pages_per_range = 32);
COMMENT ON TABLE howdah.worker_figures IS 'What each worker process did with each queue, at most one row per minute. INSERT-only; kept as long as incidents.';
COMMENT ON COLUMN howdah.worker_figures.figure_id IS 'Number of the row.';
COMMENT ON COLUMN howdah.worker_figures.worker IS 'Name of the worker process, as in workers.';
COMMENT ON COLUMN howdah.worker_figures.queue IS 'What it received from, under the name that it uses.';
COMMENT ON COLUMN howdah.worker_figures.listener IS 'The listener through which it received. NULL: none.';
COMMENT ON COLUMN howdah.worker_figures.from_at IS 'The figures cover the time since then.';
COMMENT ON COLUMN howdah.worker_figures.until_at IS 'When they were recorded.';
COMMENT ON COLUMN howdah.worker_figures.handled IS 'Messages handled and consumed.';
COMMENT ON COLUMN howdah.worker_figures.failed IS 'Failed deliveries.';
COMMENT ON COLUMN howdah.worker_figures.busy_seconds IS 'Seconds spent in handlers, by all its sessions together.';
COMMENT ON COLUMN howdah.worker_figures.handling_counts IS 'Handler calls by duration. Element n counts those under 2^(n-1) microseconds that no element before it counts; the 32nd counts all longer ones.';
COMMENT ON COLUMN howdah.worker_figures.xid IS 'The transaction (xid8 as a number), so that a reader that goes by snapshots misses no late commit.';

CREATE TABLE howdah.schedules (
    id BIGINT NOT NULL,
    parent_id BIGINT,
    next_at TIMESTAMP WITH TIME ZONE,
    due_at TIMESTAMP WITH TIME ZONE,
    starts_at TIMESTAMP WITH TIME ZONE,
    ends_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_fired_at TIMESTAMP WITH TIME ZONE,
    period_ms BIGINT,
    delay_ms BIGINT,
    misfire_grace_ms BIGINT,
    time_to_live_ms BIGINT,
    fired BIGINT DEFAULT 0 NOT NULL,
    missed BIGINT DEFAULT 0 NOT NULL,
    destination_id INTEGER NOT NULL,
    remaining INTEGER,
    repeats INTEGER,
    priority SMALLINT,
    catch_up BOOLEAN NOT NULL,
    is_text BOOLEAN NOT NULL,
    reliability TEXT,
    state TEXT DEFAULT 'active' NOT NULL,
    name TEXT,
    alias TEXT,
    cron TEXT,
    time_zone TEXT DEFAULT 'UTC' NOT NULL,
    content_type TEXT NOT NULL,
    body BYTEA NOT NULL,
    headers JSONB,
    correlation_id TEXT,
    reply_to TEXT,
    message_type TEXT,
    conversation_id UUID,
    created_by TEXT NOT NULL,
    last_error TEXT,
    CONSTRAINT pk_schedules PRIMARY KEY (id),
    CONSTRAINT ck_schedules_state CHECK (state IN ('active', 'paused', 'ended', 'cancelled', 'failed')),
    CONSTRAINT ck_schedules_lengths CHECK (period_ms > 0 AND delay_ms >= 0 AND misfire_grace_ms > 0 AND time_to_live_ms > 0),
    CONSTRAINT ck_schedules_remaining CHECK (remaining >= 0)
);
CREATE UNIQUE INDEX uq_schedules_name ON howdah.schedules (name) WHERE name IS NOT NULL AND state <> 'cancelled';
CREATE INDEX ix_schedules_destination ON howdah.schedules (destination_id);
CREATE INDEX ix_schedules_due ON howdah.schedules (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_schedules_parent ON howdah.schedules (parent_id) WHERE parent_id IS NOT NULL;
COMMENT ON TABLE howdah.schedules IS 'What is sent by the clock: by a cron expression, or several times with a period between.';
COMMENT ON COLUMN howdah.schedules.id IS 'Number of the schedule, taken from the numbers of its destination''s messages; the header scheduledJobId of its messages.';
COMMENT ON COLUMN howdah.schedules.parent_id IS 'The cron schedule whose firing began this series. NULL: none.';
COMMENT ON COLUMN howdah.schedules.next_at IS 'The time of the next firing. NULL: there is none, or it is not computed yet.';
COMMENT ON COLUMN howdah.schedules.due_at IS 'When a scheduler looks at it: at next_at, or later after a firing that failed. NULL: never.';
COMMENT ON COLUMN howdah.schedules.starts_at IS 'No firing before this time. NULL: from the beginning.';
COMMENT ON COLUMN howdah.schedules.ends_at IS 'No firing after this time. NULL: forever.';
COMMENT ON COLUMN howdah.schedules.created_at IS 'When it was created or last replaced.';
COMMENT ON COLUMN howdah.schedules.changed_at IS 'When it last changed its state.';
COMMENT ON COLUMN howdah.schedules.last_fired_at IS 'When it last sent a message. NULL: never.';
COMMENT ON COLUMN howdah.schedules.period_ms IS 'Milliseconds between two firings. NULL: no period.';
COMMENT ON COLUMN howdah.schedules.delay_ms IS 'Milliseconds before the first firing of a series. NULL: one period.';
COMMENT ON COLUMN howdah.schedules.misfire_grace_ms IS 'A firing later than this is left out. NULL: however late, it takes place.';
COMMENT ON COLUMN howdah.schedules.time_to_live_ms IS 'Milliseconds that each message lives from its firing. NULL: the default.';
COMMENT ON COLUMN howdah.schedules.fired IS 'Messages it has sent.';
COMMENT ON COLUMN howdah.schedules.missed IS 'Firings that were left out.';
COMMENT ON COLUMN howdah.schedules.destination_id IS 'The queue or topic that it sends to.';
COMMENT ON COLUMN howdah.schedules.remaining IS 'Firings still to come; with a cron expression, those of each series. NULL: no end.';
COMMENT ON COLUMN howdah.schedules.repeats IS 'Firings after the first one, as given. NULL: no end.';
COMMENT ON COLUMN howdah.schedules.priority IS 'Priority of its messages. NULL: the destination''s default.';
COMMENT ON COLUMN howdah.schedules.catch_up IS 'True: each missed firing takes place late. False: one firing stands for all.';
COMMENT ON COLUMN howdah.schedules.is_text IS 'True: body is UTF-8 text or JSON. False: bytes.';
COMMENT ON COLUMN howdah.schedules.reliability IS 'The level or delivery mode that its messages ask for. NULL: the default of the queue or topic.';
COMMENT ON COLUMN howdah.schedules.state IS 'active, paused, ended, cancelled or failed.';
COMMENT ON COLUMN howdah.schedules.name IS 'Name, by which it can be replaced. NULL: none.';
COMMENT ON COLUMN howdah.schedules.alias IS 'The alias that was named in place of the destination. Its levels hold at each firing, while it stands for the destination. NULL: none.';
COMMENT ON COLUMN howdah.schedules.cron IS 'Cron expression of five fields. NULL: none.';
COMMENT ON COLUMN howdah.schedules.time_zone IS 'Time zone that cron is read in.';
COMMENT ON COLUMN howdah.schedules.content_type IS 'MIME type of the body.';
COMMENT ON COLUMN howdah.schedules.body IS 'Body of each message.';
COMMENT ON COLUMN howdah.schedules.headers IS 'Headers of each message, besides its own. NULL: none.';
COMMENT ON COLUMN howdah.schedules.correlation_id IS 'JMSCorrelationID of each message.';
COMMENT ON COLUMN howdah.schedules.reply_to IS 'JMSReplyTo of each message.';
COMMENT ON COLUMN howdah.schedules.message_type IS 'JMSType of each message.';
COMMENT ON COLUMN howdah.schedules.conversation_id IS 'The conversation that its messages belong to.';
COMMENT ON COLUMN howdah.schedules.created_by IS 'The role that created it. Its right to send is checked at each firing.';
COMMENT ON COLUMN howdah.schedules.last_error IS 'Why its last firing failed. NULL: it did not.';

CREATE UNLOGGED TABLE howdah.sent_by (
    destination_id INTEGER NOT NULL,
    sender BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    own_session BOOLEAN NOT NULL,
    rank SMALLINT NOT NULL,
    xid XID8 NOT NULL,
    reliability SMALLINT,
    sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_sent_by PRIMARY KEY (destination_id, sender, message_id)
);
COMMENT ON TABLE howdah.sent_by IS 'Who sent the messages that go with their sender. A send inserts the rows; maintenance deletes those of messages that are gone.';
COMMENT ON COLUMN howdah.sent_by.destination_id IS 'The destination, which has discard_with_sender.';
COMMENT ON COLUMN howdah.sent_by.sender IS 'Who sent it: the key of the sender''s lock.';
COMMENT ON COLUMN howdah.sent_by.message_id IS 'The message, best effort or express.';
COMMENT ON COLUMN howdah.sent_by.own_session IS 'The sender is a database session. False: a connection.';
COMMENT ON COLUMN howdah.sent_by.rank IS '9 minus its priority.';
COMMENT ON COLUMN howdah.sent_by.xid IS 'The transaction that sent it.';
COMMENT ON COLUMN howdah.sent_by.reliability IS 'Its level, as the message has it.';
COMMENT ON COLUMN howdah.sent_by.sent_at IS 'When it was sent.';

CREATE UNLOGGED TABLE howdah.sender_signs (
    sender BIGINT NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL
);
CREATE INDEX ix_sender_signs_sender ON howdah.sender_signs (sender);
COMMENT ON TABLE howdah.sender_signs IS 'When connections that send gave their last signs of life. A connection can have several rows: its sessions do not wait for each other.';
COMMENT ON COLUMN howdah.sender_signs.sender IS 'A connection named by set_connection: the key of its lock.';
COMMENT ON COLUMN howdah.sender_signs.seen_at IS 'When keep_connection was called last.';

CREATE TABLE howdah.services (
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    active BOOLEAN DEFAULT false NOT NULL,
    access_enabled BOOLEAN,
    rule_set TEXT,
    roles TEXT[],
    require_tls BOOLEAN DEFAULT false NOT NULL,
    min_connections INTEGER DEFAULT 0 NOT NULL,
    max_connections INTEGER DEFAULT 10 NOT NULL,
    idle_seconds INTEGER DEFAULT 600 NOT NULL,
    model TEXT DEFAULT 'shared' NOT NULL,
    monitor_limit INTEGER DEFAULT 512 NOT NULL,
    comment TEXT,
    CONSTRAINT pk_services PRIMARY KEY (name),
    CONSTRAINT ck_services_services_kind CHECK (kind IN ('NORMAL', 'ADMIN')),
    CONSTRAINT ck_services_services_model CHECK (model IN ('dedicated', 'shared')),
    CONSTRAINT ck_services_services_connections CHECK (min_connections >= 0 AND max_connections > min_connections),
    CONSTRAINT ck_services_services_limits CHECK (idle_seconds > 0 AND monitor_limit >= 0)
);
COMMENT ON TABLE howdah.services IS 'Services: how sessions connect, and what a client''s pool of connections is like.';
COMMENT ON COLUMN howdah.services.name IS 'Name: jms, ssljms, admin or ssladmin.';
COMMENT ON COLUMN howdah.services.kind IS 'NORMAL serves messages. ADMIN also serves the functions of administrators.';
COMMENT ON COLUMN howdah.services.active IS 'Whether it accepts sessions.';
COMMENT ON COLUMN howdah.services.access_enabled IS 'Whether access rules hold for its sessions. NULL: as for the engine.';
COMMENT ON COLUMN howdah.services.rule_set IS 'The set of access rules that hold for its sessions. NULL: as for the engine.';
COMMENT ON COLUMN howdah.services.roles IS 'Members of these roles belong to this service. NULL: anybody may connect with it.';
COMMENT ON COLUMN howdah.services.require_tls IS 'Whether it refuses a session without TLS.';
COMMENT ON COLUMN howdah.services.min_connections IS 'Database connections that a client''s pool keeps.';
COMMENT ON COLUMN howdah.services.max_connections IS 'Database connections that a client''s pool has at most.';
COMMENT ON COLUMN howdah.services.idle_seconds IS 'Seconds after which a client''s pool closes an idle connection above the minimum.';
COMMENT ON COLUMN howdah.services.model IS 'dedicated: each session has two database connections, and one of them waits. shared: sessions share those that wait.';
COMMENT ON COLUMN howdah.services.monitor_limit IS 'Consumers that one waiting connection serves at most. 0: any number.';
COMMENT ON COLUMN howdah.services.comment IS 'What it is for, in the words of an administrator.';

CREATE TABLE howdah.access_rules (
    rule_set TEXT COLLATE "C" NOT NULL,
    resource TEXT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    operation TEXT NOT NULL,
    allow BOOLEAN NOT NULL,
    kind TEXT NOT NULL,
    principals TEXT[] NOT NULL,
    CONSTRAINT pk_access_rules PRIMARY KEY (rule_set, resource, name, operation, allow, kind),
    CONSTRAINT ck_access_rules_resource CHECK (resource IN ('connection', 'queue', 'topic')),
    CONSTRAINT ck_access_rules_kind CHECK (kind IN ('user', 'group')),
    CONSTRAINT ck_access_rules_principals CHECK (cardinality(principals) > 0),
    CONSTRAINT fk_access_rules_rule_set FOREIGN KEY(rule_set) REFERENCES howdah.access_rule_sets (name) ON DELETE CASCADE
);
CREATE INDEX ix_access_rules_name ON howdah.access_rules (resource, name);
CREATE INDEX ix_access_rules_wildcard ON howdah.access_rules (resource) WHERE name ~ '[*>]';
COMMENT ON TABLE howdah.access_rules IS 'Access rules: who may do what with which connections, queues and topics.';
COMMENT ON COLUMN howdah.access_rules.rule_set IS 'The set that it belongs to.';
COMMENT ON COLUMN howdah.access_rules.resource IS 'connection, queue or topic.';
COMMENT ON COLUMN howdah.access_rules.name IS 'NORMAL or ADMIN for a connection; else a destination''s name, * for all, or a wildcard.';
COMMENT ON COLUMN howdah.access_rules.operation IS 'connect, produce, consume, browse, create, admin, pass_all or set_all.';
COMMENT ON COLUMN howdah.access_rules.allow IS 'Whether it allows or denies.';
COMMENT ON COLUMN howdah.access_rules.kind IS 'user: the principals themselves. group: members of them, too.';
COMMENT ON COLUMN howdah.access_rules.principals IS 'Roles. One that is * stands for everybody.';

CREATE TABLE howdah.destination_grants (
    destination_id INTEGER NOT NULL,
    rule_set TEXT COLLATE "C" DEFAULT '' NOT NULL,
    verb TEXT NOT NULL,
    kind TEXT DEFAULT 'group' NOT NULL,
    role_name TEXT NOT NULL,
    allow BOOLEAN DEFAULT true NOT NULL,
    tier SMALLINT DEFAULT 32000 NOT NULL,
    CONSTRAINT pk_destination_grants PRIMARY KEY (destination_id, rule_set, verb, kind, role_name),
    CONSTRAINT ck_destination_grants_verb CHECK (verb IN ('send', 'receive', 'browse', 'admin', 'pass_all', 'set_all')),
    CONSTRAINT ck_destination_grants_kind CHECK (kind IN ('user', 'group')),
    CONSTRAINT fk_destination_grants_destination FOREIGN KEY(destination_id) REFERENCES howdah.destinations (id)
);
CREATE INDEX ix_destination_grants_tier ON howdah.destination_grants (destination_id, verb, tier, allow);
COMMENT ON TABLE howdah.destination_grants IS 'Who may do what with a destination: the access rules, compiled.';
COMMENT ON COLUMN howdah.destination_grants.destination_id IS 'The destination.';
COMMENT ON COLUMN howdah.destination_grants.rule_set IS 'The set of access rules that it comes from. Empty: it was copied at the creation, and is in all sets.';
COMMENT ON COLUMN howdah.destination_grants.verb IS 'What it is about: send, receive, browse, admin, pass_all, set_all.';
COMMENT ON COLUMN howdah.destination_grants.kind IS 'user: the role itself. group: its members, too.';
COMMENT ON COLUMN howdah.destination_grants.role_name IS 'The role. *: everybody.';
COMMENT ON COLUMN howdah.destination_grants.allow IS 'Whether it allows or denies.';
COMMENT ON COLUMN howdah.destination_grants.tier IS 'Its place: the lowest tier that matches the caller decides. In one tier, a denial precedes.';

CREATE TABLE howdah.auto_destinations (
    destination_id INTEGER NOT NULL,
    options JSONB NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    looked_at TIMESTAMP WITH TIME ZONE,
    boot TIMESTAMP WITH TIME ZONE NOT NULL,
    seen BIGINT[],
    last_position BIGINT,
    CONSTRAINT pk_auto_destinations PRIMARY KEY (destination_id),
    CONSTRAINT fk_auto_destinations_destination FOREIGN KEY(destination_id) REFERENCES howdah.destinations (id)
);
CREATE INDEX ix_auto_destinations_looked_at ON howdah.auto_destinations (looked_at NULLS FIRST);
COMMENT ON TABLE howdah.auto_destinations IS 'Queues and topics that their first use created, including those that ended.';
COMMENT ON COLUMN howdah.auto_destinations.destination_id IS 'The destination. It stays here after its end, so that its name gets the same number again.';
COMMENT ON COLUMN howdah.auto_destinations.options IS 'What it was created with: the engine''s options, and those of the policy that matched its name.';
COMMENT ON COLUMN howdah.auto_destinations.seen_at IS 'When maintenance last found it used, or it was created.';
COMMENT ON COLUMN howdah.auto_destinations.looked_at IS 'When maintenance last looked at it. NULL: not yet. infinity: it ended.';
COMMENT ON COLUMN howdah.auto_destinations.boot IS 'Start of the server at that time.';
COMMENT ON COLUMN howdah.auto_destinations.seen IS 'Its last position, and its last search by a receiver, at that time. Another value is a use.';
COMMENT ON COLUMN howdah.auto_destinations.last_position IS 'Its last position, once it ended and its sequences were dropped. NULL: they are there, or unused.';

CREATE TABLE howdah.group_owners (
    destination_id INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    consumer_id INTEGER NOT NULL,
    owned_since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_group_owners PRIMARY KEY (destination_id, group_id),
    CONSTRAINT fk_group_owners_consumer FOREIGN KEY(consumer_id) REFERENCES howdah.consumers (id) ON DELETE CASCADE
);
CREATE INDEX ix_group_owners_consumer_id ON howdah.group_owners (consumer_id);
COMMENT ON TABLE howdah.group_owners IS 'Sticky message groups and the consumer that each belongs to. One row per group, none per message.';
COMMENT ON COLUMN howdah.group_owners.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.group_owners.group_id IS 'The group: header JMSXGroupID, or the conversation.';
COMMENT ON COLUMN howdah.group_owners.consumer_id IS 'The consumer that gets the group''s messages until it goes.';
COMMENT ON COLUMN howdah.group_owners.owned_since IS 'When it got the group.';

CREATE TABLE howdah.links (
    link_id UUID NOT NULL,
    engine_id UUID NOT NULL,
    target_engine_id UUID,
    attempt UUID,
    batch BIGINT DEFAULT 0 NOT NULL,
    forwarded BIGINT DEFAULT 0 NOT NULL,
    cut BIGINT DEFAULT 0 NOT NULL,
    dropped BIGINT DEFAULT 0 NOT NULL,
    forwarded_at TIMESTAMP WITH TIME ZONE,
    away_since TIMESTAMP WITH TIME ZONE,
    error_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    source_id INTEGER NOT NULL,
    batch_size INTEGER DEFAULT 1000 NOT NULL,
    retry_ms_max INTEGER DEFAULT 30000 NOT NULL,
    paused BOOLEAN DEFAULT false NOT NULL,
    loops BOOLEAN DEFAULT false NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    target_queue TEXT NOT NULL,
    selector TEXT,
    service TEXT,
    dsn_env TEXT,
    last_error TEXT,
    created_by TEXT NOT NULL,
    transformation TEXT COLLATE "C",
    CONSTRAINT pk_links PRIMARY KEY (link_id),
    CONSTRAINT ck_links_lengths CHECK (batch_size BETWEEN 1 AND 10000 AND retry_ms_max > 0),
    CONSTRAINT ck_links_target CHECK ((service IS NULL) <> (dsn_env IS NULL)),
    FOREIGN KEY(transformation) REFERENCES howdah.transformations (name)
);
CREATE UNIQUE INDEX uq_links_name ON howdah.links (name);
CREATE INDEX ix_links_source_id ON howdah.links (source_id);
COMMENT ON TABLE howdah.links IS 'What is forwarded to other engines. No credentials are stored: a service or a variable leads there.';
COMMENT ON COLUMN howdah.links.link_id IS 'Identity of the link. The receiving engine knows it by this.';
COMMENT ON COLUMN howdah.links.engine_id IS 'The engine that the link belongs to. In a copy of the database it does not fit, and the link stops.';
COMMENT ON COLUMN howdah.links.target_engine_id IS 'The engine that it leads to. NULL: not reached yet.';
COMMENT ON COLUMN howdah.links.attempt IS 'The last batch that was forwarded: the random mark of its attempt, committed with the consumption. Its receipts are pruned with the next batch. NULL: none.';
COMMENT ON COLUMN howdah.links.batch IS 'Number of the last batch that was forwarded. A gap or a step back shows a restored database.';
COMMENT ON COLUMN howdah.links.forwarded IS 'Messages forwarded.';
COMMENT ON COLUMN howdah.links.cut IS 'Messages of a subscription that were not forwarded because they had passed the target already.';
COMMENT ON COLUMN howdah.links.dropped IS 'Messages of the level best effort that were dropped because the target was away.';
COMMENT ON COLUMN howdah.links.forwarded_at IS 'When the last batch was forwarded. NULL: never.';
COMMENT ON COLUMN howdah.links.away_since IS 'Since when nothing can be forwarded. NULL: it can.';
COMMENT ON COLUMN howdah.links.error_at IS 'When last_error happened. NULL: never.';
COMMENT ON COLUMN howdah.links.created_at IS 'When it was created.';
COMMENT ON COLUMN howdah.links.source_id IS 'The queue or subscription that it takes from.';
COMMENT ON COLUMN howdah.links.batch_size IS 'The most messages that are forwarded at a time.';
COMMENT ON COLUMN howdah.links.retry_ms_max IS 'The longest pause between two attempts while the target is away, in milliseconds.';
COMMENT ON COLUMN howdah.links.paused IS 'True: nothing is forwarded for now.';
COMMENT ON COLUMN howdah.links.loops IS 'True: the queue holds messages that came from the target, so each take selects the others.';
COMMENT ON COLUMN howdah.links.name IS 'Name of the link.';
COMMENT ON COLUMN howdah.links.target_queue IS 'Name of the queue or topic there.';
COMMENT ON COLUMN howdah.links.selector IS 'Which messages are forwarded. NULL: all.';
COMMENT ON COLUMN howdah.links.service IS 'The service of pg_service.conf that leads to the target. NULL: see dsn_env.';
COMMENT ON COLUMN howdah.links.dsn_env IS 'The environment variable with the target''s DSN. NULL: see service.';
COMMENT ON COLUMN howdah.links.last_error IS 'Why it last failed to forward. NULL: never.';
COMMENT ON COLUMN howdah.links.created_by IS 'The role that created it.';
COMMENT ON COLUMN howdah.links.transformation IS 'The transformation that makes what is forwarded. NULL: none.';

CREATE TABLE howdah.listeners (
    id INTEGER GENERATED ALWAYS AS IDENTITY (CYCLE),
    name TEXT COLLATE "C" NOT NULL,
    destination_id INTEGER NOT NULL,
    kind TEXT DEFAULT 'activation_specification' NOT NULL,
    max_sessions INTEGER DEFAULT '10' NOT NULL,
    stop_on_failure BOOLEAN DEFAULT true NOT NULL,
    sequential_failures INTEGER DEFAULT '0' NOT NULL,
    failures INTEGER DEFAULT '0' NOT NULL,
    total_failures BIGINT DEFAULT '0' NOT NULL,
    status TEXT DEFAULT 'running' NOT NULL,
    stopped_at TIMESTAMP WITH TIME ZONE,
    stopped_by TEXT,
    stopped_message_id BIGINT,
    stop_reason TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT NOT NULL,
    CONSTRAINT pk_listeners PRIMARY KEY (id),
    CONSTRAINT ck_listeners_kind CHECK (kind IN ('activation_specification', 'listener_port')),
    CONSTRAINT ck_listeners_max_sessions CHECK (max_sessions BETWEEN 1 AND 1000),
    CONSTRAINT ck_listeners_failures CHECK (sequential_failures >= 0 AND failures >= 0 AND total_failures >= failures),
    CONSTRAINT ck_listeners_status CHECK (status IN ('running', 'stopped')),
    CONSTRAINT ck_listeners_stopped_at CHECK ((status = 'stopped') = (stopped_at IS NOT NULL)),
    CONSTRAINT fk_listeners_destination FOREIGN KEY(destination_id) REFERENCES howdah.destinations (id)
);
CREATE UNIQUE INDEX uq_listeners_name ON howdah.listeners (name);
CREATE INDEX ix_listeners_destination ON howdah.listeners (destination_id);
COMMENT ON TABLE howdah.listeners IS 'Endpoints that receive from a queue in a limited number of sessions, and stop when deliveries fail.';
COMMENT ON COLUMN howdah.listeners.id IS 'Number of the listener.';
COMMENT ON COLUMN howdah.listeners.name IS 'Name, made of the same characters as a queue''s.';
COMMENT ON COLUMN howdah.listeners.destination_id IS 'The queue it receives from.';
COMMENT ON COLUMN howdah.listeners.kind IS 'activation_specification, or listener_port, its older name with the same behaviour.';
COMMENT ON COLUMN howdah.listeners.max_sessions IS 'How many transactions may receive at once, in all processes together.';
COMMENT ON COLUMN howdah.listeners.stop_on_failure IS 'Whether failed deliveries stop it.';
COMMENT ON COLUMN howdah.listeners.sequential_failures IS 'This many failures in a row stop it. 0 is like 1: the first failure stops it.';
COMMENT ON COLUMN howdah.listeners.failures IS 'Failed deliveries of all sessions since the last handled message, as of the last failure. listener_marks may say less.';
COMMENT ON COLUMN howdah.listeners.total_failures IS 'Failed deliveries since it was created.';
COMMENT ON COLUMN howdah.listeners.status IS 'running or stopped.';
COMMENT ON COLUMN howdah.listeners.stopped_at IS 'When it stopped. NULL: it runs.';
COMMENT ON COLUMN howdah.listeners.stopped_by IS 'The role that stopped it, or that recorded the failure which stopped it. NULL: it runs.';
COMMENT ON COLUMN howdah.listeners.stopped_message_id IS 'The message whose failure stopped it. NULL: it runs, or was stopped by hand.';
COMMENT ON COLUMN howdah.listeners.stop_reason IS 'Why it stopped.';
COMMENT ON COLUMN howdah.listeners.created_at IS 'When it was created.';
COMMENT ON COLUMN howdah.listeners.created_by IS 'The role that created it.';

CREATE TABLE howdah.topics (
    destination_id INTEGER NOT NULL,
    stored BOOLEAN DEFAULT false NOT NULL,
    bridged BOOLEAN DEFAULT false NOT NULL,
    retain_ms BIGINT,
    retain_bytes BIGINT,
    recovery TEXT DEFAULT 'none' NOT NULL,
    recovery_amount BIGINT,
    recovery_selector TEXT,
    backlog_limit BIGINT,
    backlog_age_ms BIGINT,
    backlog_action TEXT DEFAULT 'drop_backlog' NOT NULL,
    refused_for TEXT,
    CONSTRAINT pk_topics PRIMARY KEY (destination_id),
    CONSTRAINT ck_topics_recovery CHECK (recovery IN ('none', 'last_image', 'retained', 'fixed_count', 'fixed_size', 'timed', 'query')),
    CONSTRAINT ck_topics_backlog_action CHECK (backlog_action IN ('drop_backlog', 'drop_subscription', 'refuse')),
    CONSTRAINT ck_topics_retain CHECK (retain_ms > 0 AND retain_bytes > 0),
    CONSTRAINT ck_topics_amounts CHECK (recovery_amount > 0 AND backlog_limit > 0 AND backlog_age_ms > 0),
    CONSTRAINT fk_topics_destination FOREIGN KEY(destination_id) REFERENCES howdah.destinations (id)
);
COMMENT ON TABLE howdah.topics IS 'What only topics have, for those destinations that are topics.';
COMMENT ON COLUMN howdah.topics.destination_id IS 'The topic.';
COMMENT ON COLUMN howdah.topics.stored IS 'Whether messages are stored: there is a subscription, or they are kept for late subscribers.';
COMMENT ON COLUMN howdah.topics.bridged IS 'Whether messages are sent on to queues (bridges).';
COMMENT ON COLUMN howdah.topics.retain_ms IS 'Milliseconds for which messages are kept for replay. NULL: only while subscribers need them.';
COMMENT ON COLUMN howdah.topics.retain_bytes IS 'The youngest messages up to this many bytes of bodies are kept for replay. NULL: only while subscribers need them.';
COMMENT ON COLUMN howdah.topics.recovery IS 'What a late non-durable subscriber gets first: none, last_image, retained, fixed_count, fixed_size, timed or query.';
COMMENT ON COLUMN howdah.topics.recovery_amount IS 'How much: messages (fixed_count), bytes of bodies (fixed_size) or milliseconds (timed).';
COMMENT ON COLUMN howdah.topics.recovery_selector IS 'Which messages, for query.';
COMMENT ON COLUMN howdah.topics.backlog_limit IS 'Messages that a durable subscription may be behind before backlog_action. NULL: any number.';
COMMENT ON COLUMN howdah.topics.backlog_age_ms IS 'Milliseconds that it may be behind before backlog_action. NULL: forever.';
COMMENT ON COLUMN howdah.topics.backlog_action IS 'What happens then: drop_backlog, drop_subscription or refuse (publishers get HD018).';
COMMENT ON COLUMN howdah.topics.refused_for IS 'The subscription because of which publishers are refused. NULL: they are not.';

CREATE TABLE howdah.subscriptions (
    destination_id INTEGER NOT NULL,
    topic TEXT COLLATE "C" NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    durable BOOLEAN NOT NULL,
    shared BOOLEAN NOT NULL,
    no_local BOOLEAN NOT NULL,
    prioritized BOOLEAN NOT NULL,
    transformation TEXT COLLATE "C",
    selector TEXT,
    selector_sql TEXT,
    alive REGCLASS NOT NULL,
    warned_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_subscriptions PRIMARY KEY (destination_id),
    CONSTRAINT fk_subscriptions_destination FOREIGN KEY(destination_id) REFERENCES howdah.destinations (id),
    FOREIGN KEY(transformation) REFERENCES howdah.transformations (name)
);
COMMENT ON TABLE howdah.subscriptions IS 'Subscriptions, durable and not. Each is also a destination of kind subscription.';
COMMENT ON COLUMN howdah.subscriptions.destination_id IS 'The destination that holds its poison policy, its rights and the messages set aside.';
COMMENT ON COLUMN howdah.subscriptions.topic IS 'Name of the topic, or a wildcard such as STOCKS.>.';
COMMENT ON COLUMN howdah.subscriptions.client_id IS 'Client id of the subscriber; empty: none.';
COMMENT ON COLUMN howdah.subscriptions.name IS 'Name; generated for a non-durable subscription without one.';
COMMENT ON COLUMN howdah.subscriptions.durable IS 'False: it ends when no consumer has been heard of for a minute.';
COMMENT ON COLUMN howdah.subscriptions.shared IS 'True: several consumers at once, each message to one of them.';
COMMENT ON COLUMN howdah.subscriptions.no_local IS 'True: messages of the same client id are left out.';
COMMENT ON COLUMN howdah.subscriptions.prioritized IS 'True: one cursor per priority, higher priorities first.';
COMMENT ON COLUMN howdah.subscriptions.transformation IS 'The transformation that makes what its consumers get. NULL: none.';
COMMENT ON COLUMN howdah.subscriptions.selector IS 'JMS selector. NULL: all messages.';
COMMENT ON COLUMN howdah.subscriptions.selector_sql IS 'The compiled selector.';
COMMENT ON COLUMN howdah.subscriptions.alive IS 'A sequence, a hint: when a consumer was last heard of, in ms.';
COMMENT ON COLUMN howdah.subscriptions.warned_at IS 'When administrators were told that it is behind. NULL: not since.';

CREATE TABLE howdah.bridges (
    topic_id INTEGER NOT NULL,
    queue_id INTEGER NOT NULL,
    selector TEXT,
    selector_sql TEXT,
    transformation TEXT COLLATE "C",
    CONSTRAINT pk_bridges PRIMARY KEY (topic_id, queue_id),
    FOREIGN KEY(transformation) REFERENCES howdah.transformations (name)
);
COMMENT ON TABLE howdah.bridges IS 'Topics whose messages are sent on to queues, including virtual topics.';
COMMENT ON COLUMN howdah.bridges.topic_id IS 'The topic.';
COMMENT ON COLUMN howdah.bridges.queue_id IS 'The queue that gets a copy of each message.';
COMMENT ON COLUMN howdah.bridges.selector IS 'JMS selector. NULL: all messages.';
COMMENT ON COLUMN howdah.bridges.selector_sql IS 'The compiled selector.';
COMMENT ON COLUMN howdah.bridges.transformation IS 'The transformation that makes the queue''s message out of the topic''s. NULL: none.';

CREATE TABLE howdah.schedule_runs (
    schedule_id BIGINT NOT NULL,
    planned_at TIMESTAMP WITH TIME ZONE NOT NULL,
    fired_at TIMESTAMP WITH TIME ZONE NOT NULL,
    message_id BIGINT,
    series_id BIGINT,
    CONSTRAINT pk_schedule_runs PRIMARY KEY (schedule_id, planned_at),
    CONSTRAINT fk_schedule_runs_schedule FOREIGN KEY(schedule_id) REFERENCES howdah.schedules (id) ON DELETE CASCADE
);
CREATE INDEX ix_schedule_runs_fired ON howdah.schedule_runs USING brin (fired_at);
COMMENT ON TABLE howdah.schedule_runs IS 'One row for each firing; the key forbids a second one for the same time.';
COMMENT ON COLUMN howdah.schedule_runs.schedule_id IS 'The schedule.';
COMMENT ON COLUMN howdah.schedule_runs.planned_at IS 'The time for which the firing was planned.';
COMMENT ON COLUMN howdah.schedule_runs.fired_at IS 'When it took place.';
COMMENT ON COLUMN howdah.schedule_runs.message_id IS 'The message sent. NULL: it began a series.';
COMMENT ON COLUMN howdah.schedule_runs.series_id IS 'The series that it began, a schedule of its own. NULL: it sent a message.';

CREATE TABLE howdah.temporary_queues (
    destination_id INTEGER NOT NULL,
    connection TEXT,
    boot TIMESTAMP WITH TIME ZONE,
    alive REGCLASS NOT NULL,
    lives REGCLASS NOT NULL,
    life BIGINT,
    CONSTRAINT pk_temporary_queues PRIMARY KEY (destination_id),
    CONSTRAINT fk_temporary_queues_destination FOREIGN KEY(destination_id) REFERENCES howdah.destinations (id)
);
CREATE INDEX ix_temporary_queues_connection ON howdah.temporary_queues (connection, destination_id);
COMMENT ON TABLE howdah.temporary_queues IS 'Temporary queues, those in use and those that wait for their next use. A queue''s number and sequences are used again and again.';
COMMENT ON COLUMN howdah.temporary_queues.destination_id IS 'The queue.';
COMMENT ON COLUMN howdah.temporary_queues.connection IS 'Token of the connection that it belongs to, a secret. A database session''s begins with s-. NULL: the queue is free, to be used again.';
COMMENT ON COLUMN howdah.temporary_queues.boot IS 'Start of the server on which it was created. Any other start has ended it.';
COMMENT ON COLUMN howdah.temporary_queues.alive IS 'A sequence: when the connection was last heard of, in milliseconds since 1970.';
COMMENT ON COLUMN howdah.temporary_queues.lives IS 'A sequence: counts the uses of the number, visible to all at once.';
COMMENT ON COLUMN howdah.temporary_queues.life IS 'Value of lives when it was created for its connection.';

CREATE TYPE howdah.message AS (
    message_id bigint,
    queue text,
    body text,
    bytes bytea,
    content_type text,
    headers jsonb,
    priority integer,
    correlation_id text,
    reply_to text,
    message_type text,
    conversation_id uuid,
    delivery_mode text,
    sent_at timestamptz,
    expires_at timestamptz,
    delivery_count integer,
    redelivered boolean,
    "position" bigint,
    stage integer,
    origin_queue text,
    dead_reason text,
    dead_at timestamptz,
    reliability text
);
COMMENT ON TYPE howdah.message IS
    'A message as receive and browse return it. body holds text and JSON, bytes any other body; the other one is NULL.';

CREATE TYPE howdah.claimed AS (
    seq bigint, message_id bigint, sent_at timestamptz, expires_at timestamptz, dead_at timestamptz,
    destination_id integer, origin_id integer, rank smallint, stage smallint, is_text boolean, content_type text,
    body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    dead_reason text, reliability smallint, place text, nonpersistent boolean
);
COMMENT ON TYPE howdah.claimed IS
    'A row of msgs with the place it was taken from: msgs, msgs_nonpersistent or parked. Internal.';

CREATE TYPE howdah.walk AS (
    admitted boolean, groups text, consumer integer, selector text, condition text, share text, hold boolean
);
COMMENT ON TYPE howdah.walk IS
    'How a receive walks through a queue from which it cannot simply take in order: '
    'by message groups, a selector, a consumer. Internal.';

DO $$
BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE howdah.msgs ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.msgs_nonpersistent ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.parked ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.bodies ALTER COLUMN body SET COMPRESSION lz4;
    END IF;
END
$$;
