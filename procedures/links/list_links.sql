-- howdah.list_links(after, max_rows): list the links from here whose source the caller may receive from, browse or
-- administer.
--
-- Returns  one row per link, by name. state: running, idle (no forwarder has it), paused or away. holder: the forwarder
--          that has it. waiting: messages that lie in its source, with those under way and those that a selector leaves
--          there. away_since: since when nothing can be forwarded.
-- Raises   HD005 max_rows is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_consumer howdah_admin howdah_browser howdah_auditor
--
-- max_rows NULL: all. For the next page, pass the last name as after.
create or replace function howdah.list_links(after text default null, max_rows integer default null) returns table (
    name text, source text, target_queue text, service text, dsn_env text, selector text, state text, holder
    text, waiting bigint, forwarded bigint, cut bigint, dropped bigint, forwarded_at timestamptz, away_since
    timestamptz, last_error text, error_at timestamptz, batch_size integer, retry_ms_max integer, link_id uuid,
    target_engine_id uuid, loops boolean, batch bigint, created_at timestamptz, created_by text,
    transformation text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    return query
    select l.name::text, d.name, l.target_queue, l.service, l.dsn_env, l.selector,
        case when l.paused then 'paused' when l.away_since is not null then 'away' when k.holder is not null
            then 'running' else 'idle' end, k.holder,
        case when d.kind = 'queue' then (select b.live + b.parked from howdah._backlog(d.id) b)
            else (select coalesce(sum(t.behind), 0)::bigint from howdah._lags(null) t
                where t.subscription_id = d.id) end,
        l.forwarded, l.cut, l.dropped, l.forwarded_at, l.away_since, l.last_error, l.error_at, l.batch_size,
        l.retry_ms_max, l.link_id, l.target_engine_id, l.loops, l.batch, l.created_at, l.created_by, l.transformation
    from howdah.links l
    join howdah.destinations d on d.id = l.source_id
    left join howdah.lock k on k.name = 'link:' || l.name and k.expires_at > howdah.now()
    where (after is null or l.name > after) and (howdah._has_right(l.source_id, 'receive')
        or howdah._has_right(l.source_id, 'browse') or howdah._has_right(l.source_id, 'admin'))
    order by l.name limit howdah._most_rows(max_rows);
end
$$;
