-- howdah._dead_messages(p_destination_id, p_origin_id, p_error_class, p_fingerprint, p_older_than, p_newer_than,
-- p_selected, p_after, p_max): the dead messages of an exception destination with their last failure.
--
-- Returns  what is known of each except its body, in the order in which they came there. Each filter may be NULL. Class
--          and fingerprint are those of the last failure, the ages those of dead_at; p_selected holds message ids, and
--          p_after is a position.
-- Role     internal
--
-- The greatest incident is that of an expression, incident_id + 0. Without it PostgreSQL would search from the greatest
-- number of all, for each message, until the tables' first ANALYZE. That takes seconds for 10,000 dead messages.
create or replace function howdah._dead_messages(
    p_destination_id integer, p_origin_id integer, p_error_class text, p_fingerprint text, p_older_than timestamptz,
    p_newer_than timestamptz, p_selected bigint[], p_after bigint, p_max bigint
) returns table (
    message_id bigint, seq bigint, rank smallint, stage smallint, origin_id integer, sent_at timestamptz,
    dead_at timestamptz, dead_reason text, content_type text, headers jsonb, nonpersistent boolean, due_at timestamptz,
    failures bigint, incident_id bigint, error_class text, error_text text, sqlstate text, fingerprint text
)
language sql stable
as $$
    select d.message_id, d.seq, d.rank, d.stage, d.origin_id, d.sent_at, d.dead_at, d.dead_reason, d.content_type,
        d.headers, d.nonpersistent, d.due_at, c.failures, i.incident_id, i.error_class, i.error_text, i.sqlstate,
        i.fingerprint
    from (
        select m.message_id, m.seq, m.rank, m.stage, m.origin_id, m.sent_at, m.dead_at, m.dead_reason, m.content_type,
        m.headers,
            false as nonpersistent, null::timestamptz as due_at
        from howdah.msgs m where m.destination_id = p_destination_id
        union all
        select n.message_id, n.seq, n.rank, n.stage, n.origin_id, n.sent_at, n.dead_at, n.dead_reason, n.content_type,
        n.headers,
            true, null
        from howdah.msgs_nonpersistent n where n.destination_id = p_destination_id
        and n.boot = pg_postmaster_start_time()
        union all
        select p.message_id, p.seq, p.rank, p.stage, p.origin_id, p.sent_at, p.dead_at, p.dead_reason, p.content_type,
        p.headers,
            p.boot is not null, p.due_at
        from howdah.parked p where p.destination_id = p_destination_id
        and (p.boot is null or p.boot = pg_postmaster_start_time())
    ) d
    cross join lateral (
        select count(*) as failures, max(f.incident_id + 0) as last from howdah.poison_details f
        where f.message_id = d.message_id
    ) c
    left join howdah.poison_details i on i.incident_id = c.last
    where d.dead_at is not null and (p_origin_id is null or d.origin_id = p_origin_id)
      and (p_after is null or d.seq > p_after)
      and (p_older_than is null or d.dead_at < p_older_than) and (p_newer_than is null or d.dead_at >= p_newer_than)
      and (p_selected is null or d.message_id in (select s.id from unnest(p_selected) s(id)))
      and (p_error_class is null or i.error_class = p_error_class)
      and (p_fingerprint is null or i.fingerprint = p_fingerprint)
    order by d.seq
    limit p_max
$$;
