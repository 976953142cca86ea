-- howdah._seen_up_to(p_destination_id, p_ask): the position of a queue up to which every message ever sent is visible,
-- unless it was consumed.
--
-- Returns  bigint; 0 if it is not known; NULL for a queue in which a selector promises no order.
-- Role     internal
--
-- The queue's mark (howdah._set_mark) is a position and a transaction id that was drawn after that position was read as
-- the last one. Once all transactions with lower ids have ended, nobody can commit a message up to it. p_ask: as in
-- howdah._are_over.
create or replace function howdah._seen_up_to(p_destination_id integer, p_ask boolean) returns bigint
language plpgsql volatile
as $$
declare
    v_walked boolean;
    v_positions regclass;
    v_mark bigint;
begin
    select howdah._is_walked(d), d.positions into v_walked, v_positions
    from howdah.destinations d where d.id = p_destination_id;
    if not v_walked then
        return null;
    end if;
    v_mark := howdah._hint(to_regclass('howdah.mark_' || p_destination_id));
    if v_mark >> 32 = 0 or not howdah._are_over(v_positions, v_mark, p_ask) then
        return 0;
    end if;
    return howdah._mark_position(v_mark, v_positions);
end
$$;
