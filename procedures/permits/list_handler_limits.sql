-- howdah.list_handler_limits(queue): the limits of concurrency and rates of a queue, or of all that the caller may
-- browse, and how far they are used.
--
-- Returns  one row per queue that has such limits, by name. in_hand: messages that transactions have received and not
--          yet committed, under max_concurrent; leased: messages under leases that count there. limited_for: for so
--          long a rate leaves no room, as howdah.wait says.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- The permits in use by key are not listed. docs/handler-limits.md explains the limits.
create or replace function howdah.list_handler_limits(queue text default null) returns table (
    queue_name text, max_concurrent integer, in_hand bigint, leased bigint, rate_limit text, limited_for interval,
    limit_key text, max_concurrent_per_key integer, rate_limit_per_key text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := case when queue is not null then (howdah._destination(queue, 'browse')).id end;
begin
    return query
    select d.name, d.max_concurrent, u.in_hand, u.leased, d.rate_limit, howdah._rate_opens_in(d), d.limit_key,
        d.max_concurrent_per_key, d.rate_limit_per_key
    from howdah.destinations d cross join lateral howdah._permits_used(d) u
    where d.limited and d.dropped_at is null and (v_id is null or d.id = v_id)
      and (v_id is not null or howdah._has_right(d.id, 'browse'))
    order by d.name;
end
$$;
