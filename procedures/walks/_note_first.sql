-- howdah._note_first(p_lane, p_walk, p_from): record, as far as howdah._walk_note allows, that a walk need not look
-- before the first visible message of a lane.
--
-- Role     internal
create or replace function howdah._note_first(p_lane howdah.lanes, p_walk howdah.walk, p_from bigint) returns void
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_first bigint := howdah._first_between(p_lane, p_from, 9223372036854775807);
begin
    perform howdah._walk_note(p_lane, p_walk, p_from, v_first, null, clock_timestamp() - v_begun);
end
$$;
