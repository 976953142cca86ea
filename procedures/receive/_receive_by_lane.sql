-- howdah._receive_by_lane(p_id, p_name, p_want, p_hold, p_selector, p_consumer, p_taken, p_share): receive from a
-- queue, lane by lane.
--
-- Returns  up to p_want rows of howdah.message.
-- Raises   as howdah._admit.
-- Role     internal
--
-- A lane is what lies in one place with one priority. A plain queue has one lane. Ready messages of a plain lane are
-- found in six ways (howdah._next_positions). Everything is looked at only if nothing was found so far. p_taken: the
-- caller has messages already. p_share: a condition; messages that it does not meet are for others, or for later.
create or replace function howdah._receive_by_lane(
    p_id integer, p_name text, p_want integer, p_hold boolean, p_selector text, p_consumer bigint, p_taken boolean,
    p_share text default null
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_queue record;
    v_lanes howdah.lanes[];
    v_lane howdah.lanes;
    v_walk howdah.walk;
    v_now timestamptz := howdah.now();
    v_left integer := p_want;
    v_taken integer;
    v_positions bigint[];
    v_tids tid[];
    v_firsts bigint[];
    v_locked boolean;
    v_found integer;
    v_upto bigint;
    v_failed boolean;
    v_drawn boolean;
    v_short boolean;
    v_ready boolean;
    v_everywhere boolean := false;
    v_disposed boolean;
    v_again smallint;
    v_held howdah.message[];
begin
    select d.failing, d.dispose_at as most, d.journal_level <> 'off' as journaled, d.main_rank,
        d.message_groups = 'transaction' as grouped, pg_sequence_last_value(d.special) is null as plain,
        d.count_by <> 'message' as together, d.strict_order,
        row(0, d.id, d.main_rank, 2, d.head, d.search)::howdah.lanes as lane
    into v_queue
    from howdah.destinations d where d.id = p_id;
    v_lanes := array[v_queue.lane];
    if not v_queue.plain or p_selector is not null or p_consumer is not null then
        if v_queue.grouped and not p_hold and p_selector is null and p_consumer is null
           and pg_sequence_last_value(v_queue.failing) is null then
            return query select * from howdah._receive_of_groups(v_queue.lane, p_name, v_now, p_want,
                v_queue.journaled);
            if found then
                return;
            end if;
        elsif p_selector is not null and p_consumer is null and not p_hold
              and pg_sequence_last_value(v_queue.failing) is null then
            return query select * from howdah._receive_selected(v_queue.lane, p_name, p_selector, p_want, v_now,
                v_queue.journaled);
            if found then
                return;
            end if;
        end if;
        v_walk := howdah._admit(p_id, v_queue.main_rank, p_selector, p_consumer, p_hold);
        if not v_walk.admitted then
            return;
        end if;
        v_walk.share := case when v_walk.share is null then p_share
            else v_walk.share || coalesce(' and ' || p_share, '') end;
        if p_hold and v_queue.strict_order then
            p_want := 1;  -- consuming some held messages and leaving others would break the order
            v_left := 1;
        end if;
        v_lanes := howdah._in_order(v_lanes || array(select l from howdah.lanes l where l.destination_id = p_id));
    end if;
    loop
        v_disposed := false;
        foreach v_lane in array v_lanes loop
            continue when v_lane.rank < v_again;
            v_ready := v_lane.place = 2 and v_walk.groups is null;
            v_upto := null;
            v_taken := 0;
            -- What came back lies before what was taken, and is for the next call.
            for v_way in case when v_ready and (p_taken or v_lane.rank = v_again) then 2 else 1 end
                      ..case when v_ready then 6 else 1 end loop
                continue when v_way between 3 and 5 and v_positions is null;  -- there is no backlog to draw from
                select f.positions, f.tids, f.locked, f.firsts, v_disposed or f.parked
                into v_positions, v_tids, v_locked, v_firsts, v_disposed
                from howdah._find_in_lane(v_lane, v_walk, v_way, v_left, greatest(v_upto,
                    case when p_taken or p_hold and v_left < p_want or v_lane.rank = v_again then 0 end),
                    v_now, v_everywhere) f;
                v_found := coalesce(cardinality(v_positions), cardinality(v_tids), 0);
                continue when v_found = 0;
                if p_hold or not v_locked then
                    v_upto := greatest(v_upto, v_positions[v_found]);
                end if;
                v_failed := pg_sequence_last_value(v_queue.failing) is not null;
                v_drawn := not (v_locked or p_hold
                    or v_failed and (v_queue.together or howdah._any_failed(v_lane, v_positions)));
                if not v_locked and not v_drawn then
                    v_positions := howdah._lock_drawn(v_lane, v_positions);
                    v_found := cardinality(v_positions);
                    continue when v_found = 0;
                end if;
                v_short := v_lane.place < 2 and not (v_failed or p_hold) and v_walk.groups is null;
                if v_drawn then
                    return query select * from howdah._take_drawn(p_id, v_lane.rank, p_name, v_positions, v_now,
                        v_failed, v_queue.journaled);
                elsif v_short and v_lane.place = 1 then
                    return query select * from howdah._take_nonpersistent(p_id, p_name, v_tids, v_now,
                        v_queue.journaled);
                elsif v_short and not exists (select from howdah.parked p
                                              where p.ctid = any (v_tids) and p.lease_id is not null) then
                    return query select * from howdah._take_parked(p_id, p_name, v_tids, v_now, v_queue.journaled);
                elsif p_hold and v_walk.groups <> 'none' then
                    v_held := array(select f from howdah._deliver_found(v_lane, p_name, v_positions, v_tids, v_firsts,
                        v_walk, p_hold, v_queue.most, v_queue.failing, v_queue.journaled, v_now,
                        v_queue.strict_order) f);
                    return query select * from unnest(v_held);
                    v_walk.share := howdah._but_groups_of(v_walk.share, v_held);  -- other lanes have more of them
                else
                    return query select * from howdah._deliver_found(v_lane, p_name, v_positions, v_tids, v_firsts,
                        v_walk, p_hold, v_queue.most, v_queue.failing, v_queue.journaled, v_now, v_queue.strict_order);
                end if;
                get diagnostics v_taken = row_count;
                v_left := v_left - v_taken;
                v_disposed := v_disposed or not v_drawn and v_taken < v_found;
                exit when v_left <= 0;
            end loop;
            -- A disposed message used up a slot, and another message may lie in this lane; look here again before the
            -- lanes of lower priority. The same holds for a message whose group was one too many; howdah._claim_groups
            -- always allows 16 groups.
            exit when v_left <= 0 or v_disposed or v_walk.groups = 'alone' and v_taken >= 16;
        end loop;
        -- Another round would meet held rows again, because SKIP LOCKED does not skip our own locks.
        if v_left <= 0 or p_hold and v_left < p_want
           or v_disposed and v_queue.strict_order and howdah._is_held_up(p_id, v_now) then
            return;
        elsif v_disposed then
            -- If something was delivered, go on and not back: what came back before that is for the next call.
            v_again := case when (p_taken or v_left < p_want) and not howdah._is_one_by_one(p_id)
                then v_lane.rank end;
        elsif v_everywhere or p_taken or v_left < p_want then
            return;
        else
            v_everywhere := true;
        end if;
    end loop;
end
$$;
