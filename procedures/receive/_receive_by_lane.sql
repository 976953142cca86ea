-- howdah._receive_by_lane(p_id, p_name, p_want, p_hold, p_selector, p_consumer, p_taken, p_share): receive from a
-- queue, lane by lane.
--
-- Returns  up to p_want rows of howdah.message.
-- Raises   as howdah._admit.
-- Role     internal
--
-- A lane is what lies in one place with one priority. A plain queue has one lane. Ready messages of a plain lane are
-- found in several ways (howdah._next_positions). Everything is looked at only if nothing was found so far. p_taken:
-- the caller has messages already. p_share: a condition; messages that do not meet it are for others, or for later.
--
-- A disposed message used up a slot, and another message may lie in its lane. So the call looks at that lane again
-- before those of lower priority. The same holds for a message whose group was one too many; howdah._claim_groups
-- always allows 16 groups. A call that delivered something leaves what came back before to the next call. Where
-- consumers are admitted one at a time, it takes that itself. A call with held messages does not go round again, since
-- SKIP LOCKED does not skip the caller's own locks. In strict order one message is held at a time, since consuming some
-- and leaving others would break the order.
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
    v_way text;
    v_now timestamptz := howdah.now();
    v_left integer := p_want;
    v_taken integer;
    v_at record;
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
    select d.failing, d.dispose_at as most, d.journaled, d.main_rank,
        d.message_groups = 'transaction' as grouped, pg_sequence_last_value(d.special) is null as plain,
        d.count_by <> 'message' as together, d.strict_order,
        row(0, d.id, d.main_rank, 2, d.head, d.search)::howdah.lanes as lane
    into v_queue
    from howdah.destinations d where d.id = p_id;
    v_lanes := array[v_queue.lane];
    if not v_queue.plain or num_nonnulls(p_selector, p_consumer) > 0 then
        if (v_queue.grouped or p_selector is not null) and p_consumer is null and not p_hold
           and pg_sequence_last_value(v_queue.failing) is null then
            if p_selector is null then
                return query select * from howdah._receive_of_groups(v_queue.lane, p_name, v_now, p_want,
                    v_queue.journaled);
            else
                return query select * from howdah._receive_selected(v_queue.lane, p_name, p_selector, p_want, v_now,
                    v_queue.journaled);
            end if;
            if found then
                return;
            end if;
        end if;
        v_walk := howdah._admit(p_id, v_queue.main_rank, p_selector, p_consumer, p_hold);
        if not v_walk.admitted then
            return;
        end if;
        v_walk.share := nullif(concat_ws(' and ', v_walk.share, p_share), '');
        p_want := case when p_hold and v_queue.strict_order then 1 else p_want end;
        v_left := p_want;
        v_lanes := howdah._in_order(v_lanes || array(select l from howdah.lanes l where l.destination_id = p_id));
    end if;
    loop
        v_disposed := false;
        foreach v_lane in array v_lanes loop
            continue when v_lane.rank < v_again;
            v_ready := v_lane.place = 2 and v_walk.groups is null;
            v_upto := null;
            v_taken := 0;
            foreach v_way in array case when not v_ready then '{only}' when p_taken or v_lane.rank = v_again
                then '{draw,redraw,redraw,redraw,head}' else '{back,draw,redraw,redraw,redraw,head}' end::text[] loop
                continue when v_way = 'redraw' and v_found is null;  -- there is no backlog to draw from
                select f.* into v_at
                from howdah._find_in_lane(v_lane, v_walk, v_way, v_left, greatest(v_upto,
                    case when p_taken or p_hold and v_left < p_want or v_lane.rank = v_again then 0 end),
                    v_now, v_everywhere) f;
                v_disposed := v_disposed or v_at.parked;
                v_found := coalesce(cardinality(v_at.positions), cardinality(v_at.tids));
                continue when (v_found > 0) is not true;
                v_upto := greatest(v_upto, case when p_hold or not v_at.locked then v_at.positions[v_found] end);
                v_failed := pg_sequence_last_value(v_queue.failing) is not null;
                v_drawn := not (v_at.locked or p_hold
                    or v_failed and (v_queue.together or howdah._any_failed(v_lane, v_at.positions)));
                if not v_at.locked and not v_drawn then
                    v_at.positions := howdah._lock_drawn(v_lane, v_at.positions);
                    v_found := cardinality(v_at.positions);
                    continue when v_found = 0;
                end if;
                v_short := v_lane.place < 2 and not (v_failed or p_hold) and v_walk.groups is null;
                if v_drawn then
                    return query select * from howdah._take_drawn(p_id, v_lane.rank, p_name, v_at.positions, v_now,
                        v_failed, v_queue.journaled);
                elsif v_short and v_lane.place = 1 then
                    return query select * from howdah._take_nonpersistent(p_id, p_name, v_at.tids, v_now,
                        v_queue.journaled);
                elsif v_short and not exists (select from howdah.parked p
                                              where p.ctid = any (v_at.tids) and p.lease_id is not null) then
                    return query select * from howdah._take_parked(p_id, p_name, v_at.tids, v_now, v_queue.journaled);
                elsif p_hold and v_walk.groups <> 'none' then
                    v_held := array(select f from howdah._deliver_found(v_lane, p_name, v_at.positions, v_at.tids,
                        v_at.firsts, v_walk, p_hold, v_queue.most, v_queue.failing, v_queue.journaled, v_now,
                        v_queue.strict_order) f);
                    return query select * from unnest(v_held);
                    v_walk.share := howdah._but_groups_of(v_walk.share, v_held);  -- other lanes have more of them
                else
                    return query select * from howdah._deliver_found(v_lane, p_name, v_at.positions, v_at.tids,
                        v_at.firsts, v_walk, p_hold, v_queue.most, v_queue.failing, v_queue.journaled, v_now,
                        v_queue.strict_order);
                end if;
                get diagnostics v_taken = row_count;
                v_left := v_left - v_taken;
                v_disposed := v_disposed or not v_drawn and v_taken < v_found;
                exit when v_left <= 0;
            end loop;
            exit when v_left <= 0 or v_disposed or v_walk.groups = 'alone' and v_taken >= 16;
        end loop;
        exit when v_left <= 0 or p_hold and v_left < p_want
            or not v_disposed and (v_everywhere or p_taken or v_left < p_want)
            or v_disposed and v_queue.strict_order and howdah._is_held_up(p_id, v_now);
        v_everywhere := v_everywhere or not v_disposed;
        v_again := case when v_disposed and (p_taken or v_left < p_want) and not howdah._is_one_by_one(p_id)
            then v_lane.rank end;
    end loop;
end
$$;
