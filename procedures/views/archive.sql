-- archive_incidents, archive_messages: what howdah archive run writes in addition to audit_journal.
--
-- Role     howdah_admin
create or replace view howdah.archive_incidents as
select p.traceback, p.details::text as details, p.failure_key::text as failure_key, p.fingerprint as cause, p.boot,
    p.rejected, p.delay_ms, p.uncounted, p.message_group, a.incident_id, a.message_id, a.destination_id, a.queue,
    a.stage, a.attempt, a.outcome, a.error_class, a.error_text, a.sqlstate, a.worker, a.duration_ms, a.recorded_at,
    a.recorded_by, a.conversation_id, a.fingerprint, a.xid, a.place,
    a.dispose_at, a.group_key, a.due_at, a.unchanged
from howdah.audit_incidents a
join howdah.poison_details p on p.incident_id = a.incident_id;
comment on view howdah.archive_incidents is 'Every failed delivery with all that was recorded of it.';

create or replace view howdah.archive_messages as
select g.message_id, g.destination_id, d.name as queue, g.stage::integer as stage, g.origin_id, o.name as origin_queue,
    9 - g.rank as priority, g.nonpersistent, g.sent_at, g.expires_at, g.dead_at, g.dead_reason, g.is_text,
    g.content_type, g.headers::text as headers, g.correlation_id, g.reply_to, g.message_type,
    g.conversation_id::text as conversation_id, coalesce(g.body,
        (select b.body from howdah.bodies b where b.message_id = g.message_id)) as body,
    exists (
        select from howdah.archived_messages a
        where a.message_id = g.message_id and a.destination_id = g.destination_id
          and a.origin_id = coalesce(g.origin_id, 0)
          and a.stage = g.stage
    ) as archived,
    -- howdah._level_name, which readers of a view may not call
    case coalesce(g.reliability, case when g.nonpersistent then 1 else 4 end)
        when 0 then 'BEST_EFFORT_NONPERSISTENT' when 1 then 'EXPRESS_NONPERSISTENT'
        when 2 then 'RELIABLE_NONPERSISTENT' when 3 then 'RELIABLE_PERSISTENT' else 'ASSURED_PERSISTENT'
    end as reliability
from (
    select m.message_id, m.destination_id, m.stage, m.origin_id, m.rank, false as nonpersistent, m.sent_at,
    m.expires_at, m.dead_at,
        m.dead_reason, m.is_text, m.content_type, m.headers, m.correlation_id, m.reply_to, m.message_type,
        m.conversation_id, m.body, m.reliability
    from howdah.msgs m where m.dead_at is not null
    union all
    select l.message_id, l.destination_id, l.stage, l.origin_id, l.rank, false, l.sent_at, l.expires_at, l.dead_at,
        l.dead_reason, l.is_text, l.content_type, l.headers, l.correlation_id, l.reply_to, l.message_type,
        l.conversation_id, l.body, l.reliability
    from howdah.leased l where l.dead_at is not null
    union all
    select n.message_id, n.destination_id, n.stage, n.origin_id, n.rank, true, n.sent_at, n.expires_at, n.dead_at,
        n.dead_reason, n.is_text, n.content_type, n.headers, n.correlation_id, n.reply_to, n.message_type,
        n.conversation_id, n.body, n.reliability
    from howdah.msgs_nonpersistent n where n.dead_at is not null and n.boot = pg_postmaster_start_time()
    union all
    select p.message_id, p.destination_id, p.stage, p.origin_id, p.rank, p.boot is not null, p.sent_at, p.expires_at,
    p.dead_at,
        p.dead_reason, p.is_text, p.content_type, p.headers, p.correlation_id, p.reply_to, p.message_type,
        p.conversation_id, p.body, p.reliability
    from howdah.parked p where p.dead_at is not null and (p.boot is null or p.boot = pg_postmaster_start_time())
) g
join howdah.destinations d on d.id = g.destination_id
left join howdah.destinations o on o.id = g.origin_id;
comment on view howdah.archive_messages is 'Every dead message with its body, and whether the archive has it.';
