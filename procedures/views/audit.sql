-- audit_destinations, audit_messages, audit_journal, audit_incidents, audit_acts, audit_locks, audit_cursors,
-- audit_workers: what an auditor reads, in types that every JDBC client knows.
--
-- Role     howdah_auditor howdah_admin
--
-- place is where a row lies in its table. Conditions on it (place >= '(1000,0)') let several connections read a view in
-- parts, each block once.
create or replace view howdah.audit_destinations as
select d.id as destination_id, d.name as queue, d.kind, d.is_system, d.journal_level, d.journal_level_at, d.created_at,
    d.dropped_at, case when d.dispose_at < 1000000 and d.backout_count <> 'volatile' then d.dispose_at
        else 0 end as max_failed_deliveries,
    d.exception_mode, b.server_started_at,
    k.journal_kept_from, d.message_groups, d.delivery_policy, d.groups_at, howdah.now() as read_at,
    howdah.now() - least(e.journal_retention_days,
        e.incident_retention_days) * interval '24 hours' as incidents_kept_from,
    d.count_by, d.backout_count,
    -- The transaction that wrote the row last, with the epoch that xmin lacks: the policy has not changed since.
    x.next - (x.next - d.xmin::text::bigint) % 4294967296 as policy_xid,
    current_setting('max_connections')::integer as max_connections
from howdah.destinations d
cross join howdah.engine e
cross join (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next) x
cross join (
    -- When one session's process is killed, the server empties UNLOGGED tables and starts anew within the same life,
    -- with all statistics reset.
    select greatest(pg_postmaster_start_time(), least(b.stats_reset, a.stats_reset, w.stats_reset)) as server_started_at
    from pg_stat_bgwriter b cross join pg_stat_archiver a cross join pg_stat_wal w
) b
cross join (
    select min(to_date(substr(c.relname, 9), 'IYYY"w"IW')::timestamp at time zone 'UTC') as journal_kept_from
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'howdah.journal'::regclass and c.relname ~ '^journal_[0-9]{4}w[0-9]{2}$'
) k;
comment on view howdah.audit_destinations is
    'Every destination that ever existed, including dropped ones. No record is left of what happened before '
    'journal_kept_from; some incidents and acts before incidents_kept_from may be gone.';

create or replace view howdah.audit_messages as
select g.message_id, g.destination_id, d.name as queue, g.state, 9 - g.rank as priority, g.nonpersistent, g.sent_at,
    g.expires_at, g.due_at, g.stage::integer as stage, o.name as origin_queue, g.dead_reason, g.dead_at,
    coalesce(octet_length(g.body), (select octet_length(b.body) from howdah.bodies b
        where b.message_id = g.message_id)) as body_bytes,
    g.content_type, g.correlation_id, g.message_type, g.place,
    case when g.dead_at is not null then g.conversation_id::text end as conversation_id,
    case when g.dead_at is not null then coalesce(left(g.headers ->> 'JMSXGroupID', 500),
        g.conversation_id::text) end as group_key,
    -- its send may be on record with a digest of its content (howdah._digest)
    case when h.journal_level = 'full' or h.journal_level_at > h.created_at then encode(substr(sha256(
        convert_to(row(e.digest_secret, nullif(g.headers - array['originalExpiration', 'originalDeliveryMode',
            'dlqDeliveryFailureCause'], '{}'),
            g.is_text, g.content_type, g.correlation_id, g.reply_to, g.message_type, g.conversation_id)::text, 'UTF8')
        || w.body || int4send(octet_length(w.body))), 1, 16), 'hex') end as digest,
    -- howdah._level_name, which readers of a view may not call
    case coalesce(g.reliability, case when g.nonpersistent then 1 else 4 end)
        when 0 then 'BEST_EFFORT_NONPERSISTENT' when 1 then 'EXPRESS_NONPERSISTENT'
        when 2 then 'RELIABLE_NONPERSISTENT' when 3 then 'RELIABLE_PERSISTENT' else 'ASSURED_PERSISTENT'
    end as reliability
from (
    select m.message_id, m.destination_id, m.rank, m.sent_at, m.expires_at, m.stage, m.origin_id, m.dead_reason,
    m.dead_at,
        m.body, m.content_type, m.correlation_id, m.message_type, m.is_text, m.reply_to, false as nonpersistent,
        null::timestamptz as due_at, case when m.dead_at is null then 'live' else 'dead' end as state, m.ctid as place,
        m.headers, m.conversation_id, m.reliability
    from howdah.msgs m
    union all
    select m.message_id, m.destination_id, m.rank, m.sent_at, m.expires_at, m.stage, m.origin_id, m.dead_reason,
    m.dead_at,
        m.body, m.content_type, m.correlation_id, m.message_type, m.is_text, m.reply_to, false, l.until, 'parked',
        m.ctid, m.headers, m.conversation_id, m.reliability
    from howdah.leased m left join howdah.leases l on l.lease_id = m.seq >> 20
    union all
    select n.message_id, n.destination_id, n.rank, n.sent_at, n.expires_at, n.stage, n.origin_id, n.dead_reason,
    n.dead_at,
        n.body, n.content_type, n.correlation_id, n.message_type, n.is_text, n.reply_to, true, null,
        case when n.dead_at is null then 'live' else 'dead' end, n.ctid, n.headers, n.conversation_id, n.reliability
    from howdah.msgs_nonpersistent n where n.boot = pg_postmaster_start_time()
    union all
    select p.message_id, p.destination_id, p.rank, p.sent_at, p.expires_at, p.stage, p.origin_id, p.dead_reason,
    p.dead_at,
        p.body, p.content_type, p.correlation_id, p.message_type, p.is_text, p.reply_to, p.boot is not null, p.due_at,
        'parked', p.ctid, p.headers, p.conversation_id, p.reliability
    from howdah.parked p where p.boot is null or p.boot = pg_postmaster_start_time()
) g
join howdah.destinations d on d.id = g.destination_id
left join howdah.destinations o on o.id = g.origin_id
left join howdah.destinations h on h.id = g.message_id % 1000000
cross join howdah.engine e
cross join lateral (select coalesce(g.body, (select b.body from howdah.bodies b
    where b.message_id = g.message_id)) as body) w;
comment on view howdah.audit_messages is
    'Every message present, by state (live, parked or dead); dead ones with their conversation and group.';

create or replace view howdah.audit_journal as
select j.at, j.destination_id, d.name as queue, j.event, i.message_id, j.nonpersistent, j.other_destination_id,
    o.name as other_queue, j.reason, j.xid, j.oldest_sent_at, i.expires_at, i.group_id, i.priority::integer as priority,
    j.settled_xid, encode(i.digest, 'hex') as digest, j.ctid as place,
    -- as audit_digests has it
    i.message_id / 64000000 * 1000000 + i.message_id % 1000000 as word,
    -- howdah._level_name, which readers of a view may not call
    case when j.event in ('sent', 'discarded', 'lost') then
        case coalesce(j.reliability, case when j.nonpersistent then 1 else 4 end)
            when 0 then 'BEST_EFFORT_NONPERSISTENT' when 1 then 'EXPRESS_NONPERSISTENT'
            when 2 then 'RELIABLE_NONPERSISTENT' when 3 then 'RELIABLE_PERSISTENT' else 'ASSURED_PERSISTENT' end
        end as reliability
from howdah.journal j
cross join lateral unnest(
    case when j.last_id is null then j.message_ids
        else array(select generate_series(j.message_ids[1], j.last_id, 1000000)) end,
    j.expires_at, j.group_ids, j.priorities, j.digests) i(message_id, expires_at, group_id, priority, digest)
join howdah.destinations d on d.id = j.destination_id
left join howdah.destinations o on o.id = j.other_destination_id;
comment on view howdah.audit_journal is 'The journal unfolded to one row for each message and event.';

create or replace view howdah.audit_journal_calls as
select j.at, j.destination_id, d.name as queue, j.event,
    case when j.last_id is null then j.message_ids
        else array(select generate_series(j.message_ids[1], j.last_id, 1000000)) end as message_ids, j.nonpersistent,
            j.other_destination_id,
    o.name as other_queue, j.reason, j.xid,
    -- howdah._level_name, which readers of a view may not call
    case when j.event in ('sent', 'discarded', 'lost') then
        case coalesce(j.reliability, case when j.nonpersistent then 1 else 4 end)
            when 0 then 'BEST_EFFORT_NONPERSISTENT' when 1 then 'EXPRESS_NONPERSISTENT'
            when 2 then 'RELIABLE_NONPERSISTENT' when 3 then 'RELIABLE_PERSISTENT' else 'ASSURED_PERSISTENT' end
        end as reliability
from howdah.journal j
join howdah.destinations d on d.id = j.destination_id
left join howdah.destinations o on o.id = j.other_destination_id;
comment on view howdah.audit_journal_calls is 'The journal with one row for each call and the numbers of its messages.';

create or replace view howdah.audit_incidents as
select p.incident_id, p.message_id, p.destination_id, d.name as queue, p.stage::integer as stage, p.attempt, p.outcome,
    p.error_class, p.error_text, p.sqlstate, p.worker, p.duration_ms, p.recorded_at, p.recorded_by,
    p.conversation_id::text as conversation_id, p.fingerprint, p.xid, p.ctid as place, p.dispose_at,
    p.message_group as group_key, p.uncounted, p.due_at,
    -- as howdah._seal
    p.digest = substr(sha256(convert_to(
        row(e.digest_secret, p.message_id, extract(epoch from p.recorded_at), p.error_class, p.error_text,
            p.sqlstate)::text, 'UTF8')), 1, 16) as unchanged
from howdah.poison_details p
join howdah.destinations d on d.id = p.destination_id
cross join howdah.engine e;
comment on view howdah.audit_incidents is 'Every failed delivery.';

create or replace view howdah.audit_acts as
select a.act_id, a.at, a.actor, a.act, a.destination_id, d.name as queue, a.other_destination_id, o.name as other_queue,
    a.reason, i.message_id
from howdah.operator_acts a
cross join lateral unnest(a.message_ids) i(message_id)
join howdah.destinations d on d.id = a.destination_id
left join howdah.destinations o on o.id = a.other_destination_id
-- A schedule that was fired sent a message as any other, and excuses nothing.
where a.act <> 'fired';
comment on view howdah.audit_acts is 'What operators did with messages, unfolded to one row for each act and message.';

create or replace view howdah.audit_locks as
select l.name, e.id, e.epoch, e.holder, e.acquired_at, e.xid, l.epoch as present_epoch, l.holder as present_holder,
    l.expires_at
from howdah.lock l
full join howdah.lock_epochs e on e.name = l.name;
comment on view howdah.audit_locks is
    'Each change of holder of each named lease (epoch NULL: none is recorded), with its present state.';

create or replace view howdah.audit_cursors as
select d.id as destination_id, d.name as queue, a.destination_id as topic_id, a.priority::integer as priority,
    d.created_at, s.selector is null and not s.no_local as gets_all, c.xid::text::bigint as xid, c.seq,
    pg_snapshot_xmax(c.snapshot)::text::bigint as passed_before,
    (select string_agg(x.x::text, ',') from pg_snapshot_xip(c.snapshot) x(x)) as passed_not
from howdah.acks a
join howdah.subscriptions s on s.destination_id = a.subscription_id
join howdah.destinations d on d.id = s.destination_id and d.dropped_at is null
cross join lateral (select k.* from howdah.ack_cursors k where k.ack_id = a.id order by k.n desc limit 1) c;
comment on view howdah.audit_cursors is
    'What each subscription has passed in each topic, and in each priority if it is prioritized: messages of '
    'transactions before passed_before except those in passed_not, and messages of xid up to seq.';

create or replace view howdah.audit_poison_log as
select l.log_id, l.logged_at, l.outcome, l.message_id, l.destination_id, d.name as queue, l.dead_reason as reason,
    9 - l.rank as priority, l.sent_at, l.content_type,
    case when l.is_text then convert_from(l.body, 'UTF8') end as body_text, l.body,
    l.headers::text as headers, l.correlation_id, l.message_type, l.conversation_id::text as conversation_id
from howdah.poison_log l
join howdah.destinations d on d.id = l.destination_id;
comment on view howdah.audit_poison_log is 'Copies of messages that reached their limit, of queues with log_table.';

create or replace view howdah.audit_workers as
select f.figure_id, f.worker, f.queue, f.listener, f.from_at, f.until_at, f.handled, f.failed, f.busy_seconds,
    array_to_string(f.handling_counts, ',') as handling_counts
from howdah.worker_figures f;
comment on view howdah.audit_workers is
    'What workers recorded of their own work, at most one row per worker, queue and minute. Consumers in plain SQL '
    'are not included.';
