-- howdah._walk_back(p_destination, p_rank, p_position): make receives look again from a position on, at which this
-- transaction puts a message back.
--
-- Role     internal
--
-- Where messages come in order, walks begin before that position again. No walk passes it until this transaction has
-- ended, because the transaction counts as one that has drawn it (howdah._set_mark). A step of a search is not enough:
-- it may run before the commit. Then a later message of the group would come first.
--
-- Heads and mark are sequences, which others set at the same time. So the call checks them after setting, and sets them
-- again if needed. A mark that still waits, at an earlier position, stays there.
create or replace function howdah._walk_back(
    p_destination howdah.destinations, p_rank integer, p_position bigint
) returns void
language plpgsql volatile
as $$
declare
    v_mark regclass := to_regclass('howdah.mark_' || p_destination.id);
    v_before bigint;
    v_back bigint;
begin
    perform pg_current_xact_id();
    perform howdah._hint(p_destination.positions);  -- howdah._are_over waits for those who read it
    if v_mark is not null and howdah._is_walked(p_destination) then
        for tries in 1..10 loop
            v_before := howdah._hint(v_mark);
            v_back := p_position - 1;
            if v_before >> 32 > 0 and not howdah._are_over(p_destination.positions, v_before, false) then
                v_back := least(v_back, howdah._mark_position(v_before, p_destination.positions));
            end if;
            if v_before >> 32 > 0 then
                perform howdah._set_mark(p_destination.id, v_back, null, false, true);
            end if;
            v_before := howdah._hint(v_mark);
            perform setval(w.head, v_back)
            from (select d.head from howdah.destinations d where d.id = p_destination.id and d.main_rank = p_rank
                  union all
                  select l.head from howdah.lanes l
                  where l.destination_id = p_destination.id and l.rank = p_rank and l.place = 2
                  union all
                  select s.head from howdah.selections s
                  where s.destination_id = p_destination.id and s.rank = p_rank) w
            where howdah._hint(w.head) > v_back;
            exit when howdah._hint(v_mark) = v_before
                and (v_before >> 32 = 0 or v_before >> 32 <= (v_back & 2147483647));
        end loop;
    end if;
    perform howdah._search_from(p_destination.id, p_rank, p_position);
end
$$;
