-- howdah._receive_of_groups(p_lane, p_name, p_now, p_want, p_journaled): the fast path for several messages of a queue
-- with transaction groups.
--
-- Returns  rows of howdah.message. It returns no row where howdah._take_one_of_group gives none. Nor does it if it
--          finds fewer messages than are wanted and a transaction may have. Nothing has ever failed in the queue.
-- Role     internal
--
-- It locks a few messages, but chooses many without a lock. The statement that locks is shorter and starts faster.
create or replace function howdah._receive_of_groups(
    p_lane howdah.lanes, p_name text, p_now timestamptz, p_want integer, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_from bigint;
    v_back boolean := random() >= 0.97;
    v_seqs bigint[];
    v_chosen record;
    v_failing regclass := (select d.failing from howdah.destinations d where d.id = p_lane.destination_id);
begin
    if not howdah._is_plain(p_lane.destination_id, 'transaction') then
        return;
    end if;
    v_from := howdah._walk_from(p_lane, null, false);
    if p_want <= 32 then
        v_seqs := howdah._claim_of_groups(p_lane, null, v_from, p_want, v_back);
        -- the first failure may have been recorded before these were locked
        if v_seqs is not null and pg_sequence_last_value(v_failing) is null then
            return query select * from howdah._deliver_locked(p_lane, p_name, v_seqs, p_now, null, p_journaled);
        end if;
        return;
    elsif v_back then
        perform howdah._note_first(p_lane, null, v_from);
    end if;
    v_chosen := howdah._choose_of_groups(p_lane, v_from, p_want, v_back);
    if v_chosen.seqs is not null and pg_sequence_last_value(v_failing) is null then
        return query select * from howdah._deliver_chosen(p_lane, p_name, v_chosen.seqs, v_chosen.groups, v_chosen.mine,
            v_from, v_chosen.locked, p_now, p_journaled);
    end if;
end
$$;
