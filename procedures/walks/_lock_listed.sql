-- howdah._lock_listed(p_lane, p_seqs, p_message_ids, p_want): lock the first free ones among messages that a look found
-- ahead.
--
-- Returns  up to p_want positions, ascending.
-- Role     internal
--
-- It takes only the messages that the look saw. So it does not evaluate the selector again: what that reads of a
-- message never changes. It looks each up by its key, because thousands that are not selected lie between two.
create or replace function howdah._lock_listed(
    p_lane howdah.lanes, p_seqs bigint[], p_message_ids bigint[], p_want integer
) returns bigint[]
language plpgsql volatile
as $$
begin
    return array(
        select l.seq from unnest(p_seqs, p_message_ids) u(seq, message_id) cross join lateral (
            select m.seq from howdah.msgs m
            where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq = u.seq
              and m.message_id = u.message_id
            for update skip locked  -- which also keeps this a look by key for each, in the order given
        ) l
        limit p_want);
end
$$;
