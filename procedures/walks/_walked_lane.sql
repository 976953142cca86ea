-- howdah._walked_lane(p_lane, p_walk): a lane with the hints that a walk uses: its own, or the selector's.
--
-- Returns  howdah.lanes; head and search are NULL while a selector has none.
-- Role     internal
create or replace function howdah._walked_lane(p_lane howdah.lanes, p_walk howdah.walk) returns howdah.lanes
language plpgsql volatile
as $$
begin
    if p_walk.selector is not null then
        p_lane.search := null;
        p_lane.head := null;
        select s.head, s.search into p_lane.head, p_lane.search from howdah.selections s
        where s.destination_id = p_lane.destination_id and s.digest = md5(p_walk.selector)::uuid
          and s.rank = p_lane.rank and p_lane.place = 2;
    end if;
    return p_lane;
end
$$;
