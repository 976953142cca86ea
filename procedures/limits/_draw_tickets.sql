-- howdah._draw_tickets(p_id, p_tickets, p_shift, p_needed): draw tickets under the lock of howdah._reserve_after_count,
-- and hold them.
--
-- Returns  the last ticket (bigint).
-- Role     internal
create or replace function howdah._draw_tickets(
    p_id integer, p_tickets regclass, p_shift integer, p_needed bigint
) returns bigint
language plpgsql volatile
as $$
declare
    v_first bigint;
    v_last bigint;
begin
    select min(t.ticket), max(t.ticket) into v_first, v_last
    from (select nextval(p_tickets) as ticket from generate_series(1, p_needed)) t;
    perform howdah._hold_tickets(p_id, p_shift, v_first, v_last);
    return coalesce(v_last, 0);
end
$$;
