-- howdah._nothing_came_back(p_id, p_rank, p_head, p_backlog, p_search, p_hint): make the step of the search that is due
-- in a queue's main lane, where it finds nothing.
--
-- Returns  true if the step is done. False if something came back, or the search follows a large batch;
--          howdah._search must then make the step.
-- Role     internal
--
-- Nearly all steps find nothing. This function makes them with few expressions, because a session prepares each of
-- them. It looks where howdah._search looks, and in the same portions.
--
-- It unlocks what it finds. If another session's step has found nothing meanwhile, the caller makes no step.
--
-- Under a backlog (p_backlog) the last 256 positions belong to tickets. It looks at their messages only if a
-- transaction held and released them (xmax is set), or if receives are rare.
create or replace function howdah._nothing_came_back(
    p_id integer, p_rank smallint, p_head bigint, p_backlog boolean, p_search regclass, p_hint bigint
) returns boolean
language plpgsql volatile
as $$
declare
    v_begun bigint := howdah._pace(clock_timestamp());
    v_low bigint := p_head - 2000;
    v_from bigint := p_hint >> 21;
    v_back bigint := v_from;
    v_wrapped boolean := false;
    v_met boolean := false;
begin
    if p_hint & 1048576 > 0 then
        return false;
    end if;
    begin
        perform from howdah.msgs m
        where m.destination_id = p_id and m.rank = p_rank and m.seq > v_low and m.seq <= p_head
          and (m.xmax <> 0 or m.seq <= p_head - 256 or not p_backlog
               or howdah._is_overdue(p_hint, v_begun))
        order by m.seq limit 1 for update skip locked;
        if found then
            raise exception 'the lock goes with this';
        end if;
        while v_low > 0 loop
            if v_back >= v_low then
                exit when v_wrapped;
                v_wrapped := true;
                v_back := 0;
            end if;
            perform from howdah.msgs m
            where m.destination_id = p_id and m.rank = p_rank and m.seq > v_back and m.seq <= v_back + 4096
              and m.seq <= v_low
            order by m.seq limit 1 for update skip locked;
            if found then
                raise exception 'the lock goes with this';
            end if;
            v_back := case when v_back + 4096 < v_low then v_back + 4096 else v_low end;
            exit when v_wrapped and v_back >= v_from or howdah._pace(clock_timestamp()) > v_begun;
        end loop;
    exception when raise_exception then
        v_met := true;
    end;
    perform howdah._remember(p_search, v_back * 2, v_begun, v_met);
    return not v_met;
end
$$;
