-- howdah._walk_back(p_destination, p_rank, p_position): make receives look again from a position on, at which this
-- transaction puts a message back.
--
-- Role     internal
--
-- Where messages come in order, walks begin before it once more. Until this transaction has ended, none goes past it:
-- the transaction counts as one that has drawn that position (howdah._set_mark). A step of a search would not do,
-- because it can be used up before the commit. Then a later message of the group would come first.
create or replace function howdah._walk_back(
    p_destination howdah.destinations, p_rank integer, p_position bigint
) returns void
language plpgsql volatile
as $$
declare
    v_mark regclass := to_regclass('howdah.mark_' || p_destination.id);
begin
    if v_mark is not null and howdah._is_walked(p_destination) then
        perform pg_current_xact_id();
        perform howdah._hint(p_destination.positions);  -- howdah._are_over waits for those who read it
        if howdah._hint(v_mark) >> 32 > 0 then
            perform howdah._set_mark(p_destination.id, p_position - 1, null, false, true);
        end if;
        perform setval(w.head, p_position - 1)
        from (select d.head from howdah.destinations d where d.id = p_destination.id and d.main_rank = p_rank
              union all
              select l.head from howdah.lanes l
              where l.destination_id = p_destination.id and l.rank = p_rank and l.place = 2
              union all
              select s.head from howdah.selections s where s.destination_id = p_destination.id and s.rank = p_rank) w
        where howdah._hint(w.head) >= p_position;
    end if;
    perform howdah._search_from(p_destination.id, p_rank, p_position);
end
$$;
