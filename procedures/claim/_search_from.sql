-- howdah._search_from(p_destination_id, p_rank, p_position): make the next receive search from a position on.
--
-- Role     internal
create or replace function howdah._search_from(p_destination_id integer, p_rank integer, p_position bigint) returns void
language plpgsql volatile
as $$
begin
    perform howdah._remember(l.search, 2 * greatest(p_position - 1, 0), howdah._pace(clock_timestamp()), true)
    from (select d.search from howdah.destinations d where d.id = p_destination_id and d.main_rank = p_rank
          union all
          select o.search from howdah.lanes o
          where o.destination_id = p_destination_id and o.rank = p_rank and o.place = 2 and o.search is not null) l;
end
$$;
