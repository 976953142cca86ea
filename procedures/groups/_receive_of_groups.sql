-- howdah._receive_of_groups(p_lane, p_name, p_now, p_want, p_journaled): receive several messages of a queue with
-- transaction groups in the short way.
--
-- Returns  p_want rows of howdah.message; no row where howdah._take_one_of_group gives none, or if fewer can be taken
--          so. Nothing has ever failed in the queue.
-- Role     internal
create or replace function howdah._receive_of_groups(
    p_lane howdah.lanes, p_name text, p_now timestamptz, p_want integer, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
begin
    if not howdah._is_plain(p_lane.destination_id, 'transaction') then
        return;
    end if;
    v_seqs := howdah._claim_of_groups(p_lane, null, howdah._walk_from(p_lane, null, false), p_want, random() >= 0.97);
    if v_seqs is null then
        return;
    end if;
    return query select * from howdah._deliver_locked(p_lane, p_name, v_seqs, p_now, null, p_journaled);
end
$$;
