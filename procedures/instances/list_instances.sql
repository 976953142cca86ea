-- howdah.list_instances(after, max_rows): list the live instances, by name.
--
-- Returns  one row per instance. waits_for: master or exclusive. master: it is the master of changes; holder: it has
--          the exclusive lease. workers and consumers: how many it registered. last_change, unread and missed: where it
--          stands in the record of changes. silent_for: the time since its last heartbeat.
-- Raises   HD005 max_rows is not 1 to 10000.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- max_rows NULL: all. For the next page, pass the last name as after.
create or replace function howdah.list_instances(after text default null, max_rows integer default null) returns table (
    instance_id uuid, name text, state text, waits_for text, master boolean, holder boolean, workers bigint,
    consumers bigint, last_change bigint, unread bigint, missed bigint, host text, pid integer, version text,
    settings jsonb, registered_as text, quiesced_by text, started_at timestamptz, silent_for interval
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select i.instance_id, i.name, i.state, i.waits_for,
        exists (select from howdah.lock l where l.name = 'changes' and l.holder = i.instance_id::text
            and l.expires_at > howdah.now()),
        exists (select from howdah.lock l where l.name = 'exclusive' and l.holder = i.instance_id::text
            and l.expires_at > howdah.now()),
        (select count(*) from howdah.workers w where w.instance_id = i.instance_id),
        (select count(*) from howdah.consumers c where c.instance_id = i.instance_id),
        p.last_change, howdah._changes_unread(p), p.missed, i.host, i.pid, i.version, i.settings, i.registered_as,
        i.quiesced_by, i.started_at, howdah.now() - i.heartbeat_at
    from howdah.instances i left join howdah.instance_positions p on p.name = i.name
    where after is null or i.name > after
    order by i.name limit howdah._most_rows(max_rows)
$$;
