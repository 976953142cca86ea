-- howdah.list_selectors(queue, max_selectors): list the selectors that choose among a queue's messages, or let messages
-- into it.
--
-- Returns  up to max_selectors rows. used_by: receive (of consumers, listeners and browsers of the last day) or link
--          (it forwards those messages). Or bridge (a topic sends them into the queue), or subscription (it has those
--          of its topic). name: the link, topic or subscription. last_used_at: of receive, to within an hour.
--          priorities: in how many priorities a receive remembers where to look next. found_ahead: how many messages
--          the last looks found that nobody has taken yet; hints, so any may be gone.
-- Raises   HD001 no such queue; HD005 max_selectors is not 1 to 1000; HD010 not allowed.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
create or replace function howdah.list_selectors(queue text, max_selectors integer default 100) returns table (
    used_by text, name text, selector text, last_used_at timestamptz, priorities integer, found_ahead bigint
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id constant integer := (howdah._destination(queue, 'browse')).id;
begin
    if max_selectors is null or max_selectors not between 1 and 1000 then
        raise exception using errcode = 'HD005',
            message = format('max_selectors must be 1 to 1000, not %s', coalesce(max_selectors::text, 'NULL'));
    end if;
    return query
    select f.used_by, f.name, f.selector, f.last_used_at, f.priorities, f.found_ahead
    from (
        select 'receive' as used_by, null::text as name, s.selector, max(s.used_at) as last_used_at,
            count(s.head)::integer as priorities, coalesce(sum(c.found), 0)::bigint as found_ahead
        from howdah.selections s
        left join lateral (select sum(cardinality(x.seqs)) as found from howdah.candidates x
            where x.destination_id = s.destination_id and x.digest = s.digest and x.rank = s.rank) c on true
        where s.destination_id = v_id
        group by s.selector
        union all
        select 'link', l.name::text, l.selector, null, null, null
        from howdah.links l where l.source_id = v_id and l.selector is not null
        union all
        select 'bridge', d.name, b.selector, null, null, null
        from howdah.bridges b join howdah.destinations d on d.id = b.topic_id
        where b.queue_id = v_id and b.selector is not null and howdah._has_right(d.id, 'browse')
        union all
        select distinct 'subscription', d.name, a.selector, null::timestamptz, null::integer, null::bigint
        from howdah.acks a join howdah.destinations d on d.id = a.subscription_id
        where a.subscription_id = v_id and a.selector is not null
    ) f
    order by f.last_used_at desc nulls last, f.used_by, f.name, f.selector
    limit max_selectors;
end
$$;
