-- howdah._receive_keeping(p_id, p_name, p_want, p_hold, p_selector, p_consumer): receive from a queue that keeps
-- bodies.
--
-- Returns  up to p_want rows of howdah.message, as howdah._receive_by_lane.
-- Raises   as howdah._receive_by_lane.
-- Role     internal
create or replace function howdah._receive_keeping(
    p_id integer, p_name text, p_want integer, p_hold boolean, p_selector text, p_consumer bigint
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_messages howdah.message[] := array(
        select r from howdah._receive_by_lane(p_id, p_name, p_want, p_hold, p_selector, p_consumer, false) r);
begin
    if not p_hold and cardinality(v_messages) > 0 then
        perform howdah._keep(p_id, v_messages, d.keep_bodies_ms) from howdah.destinations d
        where d.id = p_id and d.keep_bodies_ms is not null;
    end if;
    return query select * from unnest(v_messages);
end
$$;
