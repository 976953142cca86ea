-- howdah._permit_room(p_queue, p_key, p_want): how many messages the limits of a queue, or of a key, leave room
-- for now.
--
-- Returns  integer, at most p_want. Nothing is taken or spent, so a receive that follows may find less.
-- Role     internal
create or replace function howdah._permit_room(p_queue howdah.destinations, p_key text, p_want integer)
returns integer
language plpgsql volatile
as $$
declare
    v_most integer := case when p_key is null then p_queue.max_concurrent else p_queue.max_concurrent_per_key end;
    v_now bigint;
    v_since bigint;
    v_cell howdah.rate_cells;
begin
    if (case when p_key is null then p_queue.rate_limit else p_queue.rate_limit_per_key end) is not null then
        v_now := howdah._microseconds(howdah.now());
        select c.* into v_cell from howdah.rate_cells c where c.destination_id = p_queue.id and c.number = 0;
        v_since := coalesce(pg_sequence_last_value(v_cell.mark), setval(v_cell.mark, v_now));
        if p_key is not null then
            v_cell := howdah._rate_cell(p_queue, p_key, v_now);
        end if;
        -- whether a rate that is too far spent is right, howdah._draw_rate decides under its lock
        select case when r.ahead then p_want else least(p_want, r.room) end into p_want
        from howdah._rate_left(case when p_key is null then p_queue.rate_limit else p_queue.rate_limit_per_key end,
            v_cell, v_since, v_now) r;
    end if;
    if v_most is not null and p_want > 0 then
        begin
            p_want := cardinality(howdah._take_permits(p_queue.id, p_key, v_most, p_want));
            raise exception 'the permits go with this';
        exception when raise_exception then
            null;
        end;
    end if;
    return p_want;
end
$$;
