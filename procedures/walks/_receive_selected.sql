-- howdah._receive_selected(p_lane, p_name, p_selector, p_want, p_now, p_journaled): the fast path of a receive by a
-- selector, from what its looks have found ahead.
--
-- Returns  p_want rows of howdah.message, less those that have expired. It returns no row if the slow path must look.
--          Then fewer were found ahead, a step of the search is due, or the queue has more to look at.
-- Role     internal
--
-- Nothing has ever failed in the queue. The slow path locks again what was locked here in vain.
create or replace function howdah._receive_selected(
    p_lane howdah.lanes, p_name text, p_selector text, p_want integer, p_now timestamptz, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_walk howdah.walk;
    v_keys bigint[];
begin
    v_walk.selector := btrim(p_selector);
    select s.head, s.search into p_lane.head, p_lane.search
    from howdah.selections s
    where s.destination_id = p_lane.destination_id and s.digest = md5(v_walk.selector)::uuid and s.rank = p_lane.rank
      and s.selector = v_walk.selector and s.head is not null and s.used_at > p_now - interval '1 hour';
    if not found or howdah._is_due(howdah._hint(p_lane.search), howdah._pace(clock_timestamp()))
       or current_setting('transaction_isolation') not like 'read %' or not howdah._is_plain(p_lane.destination_id) then
        return;
    end if;
    v_keys := (select t.keys from howdah._take_listed(p_lane, v_walk, p_want, howdah._hides_nothing()) t);
    -- The first failure may have been recorded before these were locked.
    if cardinality(v_keys) = p_want and (select pg_sequence_last_value(d.failing) is null from howdah.destinations d
        where d.id = p_lane.destination_id) then
        return query select * from howdah._deliver_locked(p_lane, p_name, v_keys, p_now, 'selected', p_journaled);
    end if;
end
$$;
