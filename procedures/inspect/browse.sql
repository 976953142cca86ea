-- howdah.browse(queue, max_messages, after_priority, after_position, only_id, selector, correlation_id): look at ready
-- messages without disturbing anyone.
--
-- Returns  up to max_messages rows of howdah.message, by priority and position. Messages that wait for their time are
--          not shown, nor leased and expired ones. For a subscription, what it would receive next, in that order.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD023 the selector is invalid; HD037 on a
--          standby.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- For the next page, pass the priority and position of the last message shown (not for a subscription). only_id: only
-- the message with that id. correlation_id: only messages with that correlation id. selector: only messages that it
-- selects (docs/selectors.md).
--
-- A page costs the rows that are looked at. By id and correlation id these are a few; by selector, all rows up to the
-- last one shown.
--
-- Where a redaction rule matches, bodies come redacted to callers who may neither receive nor administer the messages
-- (docs/search.md).
create or replace function howdah.browse(
    queue text, max_messages integer default 100, after_priority integer default null,
    after_position bigint default null, only_id bigint default null, selector text default null,
    correlation_id text default null
) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if howdah._sees_bodies(queue) then
        return query select * from howdah._browse(queue, max_messages, after_priority, after_position, only_id,
            selector, correlation_id);
    else
        return query
        select r.* from howdah._browse(queue, max_messages, after_priority, after_position, only_id, selector,
            correlation_id) b
        cross join lateral howdah._redacted(b) r;
    end if;
end
$$;
