-- howdah._origin_id(p_name): the number of the queue by which dead messages are chosen.
--
-- Returns  integer; NULL for NULL. If queues were dropped and created again under one name, it is the newest.
-- Raises   HD001 there never was such a queue.
-- Role     internal
create or replace function howdah._origin_id(p_name text) returns integer
language plpgsql stable
as $$
declare
    v_id integer;
begin
    if p_name is not null then
        select d.id into v_id from howdah.destinations d where d.name = p_name order by d.dropped_at desc nulls first
        limit 1;
        if v_id is null then
            raise exception using errcode = 'HD001',
                message = format('there never was a queue %s', quote_literal(left(p_name, 250))),
                hint = 'See howdah.list_queues().';
        end if;
    end if;
    return v_id;
end
$$;
