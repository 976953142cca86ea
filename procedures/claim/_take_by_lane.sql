-- howdah._take_by_lane(p_id): the fast path for one message of a queue with several lanes.
--
-- Returns  one row: the message, deleted, and whether it is non-persistent. message is NULL if the slow path must look.
--          Then there is more to look at than lanes, something came back behind a head, or no message can be taken.
-- Role     internal
--
-- The first lane that has a message gives it. This function takes from a lane of msgs as howdah.receive does from the
-- main lane of a plain queue. It draws the next position if the first message behind the head can be there, and
-- otherwise locks that message. It does not ask the lanes behind that one, because dead rows may make that slow.
-- Positions are numbered through all lanes, so a lane has gaps where the others have messages. Nothing is drawn there.
-- Of two rows for one lane only the one with hints counts.
create or replace function howdah._take_by_lane(p_id integer, out message howdah.msgs, out nonpersistent boolean)
returns record
language plpgsql volatile
as $$
declare
    v_lane record;
    v_seen integer;
    v_before integer;
    v_first bigint;
    v_seq bigint;
    v_tids tid[];
    v_row howdah.msgs_nonpersistent;
    v_aside howdah.lanes;
    v_due howdah.parked;
begin
    nonpersistent := false;
    if not exists (select from howdah.destinations d
                   where d.id = p_id and not d.strict_order and not d.limited and d.backout_count <> 'hardened'
                     and d.message_groups = 'none' and d.delivery_policy = 'shared')
       or exists (select from howdah.consumers c where c.destination_id = p_id and c.exclusive) then
        return;
    end if;
    for v_lane in
        select l.rank, l.place, l.head, l.search, h.headed, h.hint,
            coalesce(pg_sequence_last_value(d.positions), 0) - 64 as upto,
            howdah._is_due(h.hint, howdah._pace(clock_timestamp())) as due
        from howdah.destinations d
        cross join lateral (
            select d.main_rank as rank, 2 as place, d.head, d.search
            union all
            select o.rank, o.place, o.head, o.search from howdah.lanes o where o.destination_id = p_id
        ) l
        cross join lateral (
            select coalesce(pg_sequence_last_value(l.head), 0) as headed,
                coalesce(pg_sequence_last_value(l.search), 0) as hint
        ) h
        where d.id = p_id
        order by l.rank, l.place, l.head is null
    loop
        continue when v_lane.rank * 3 + v_lane.place = v_seen;
        v_seen := v_lane.rank * 3 + v_lane.place;
        exit when v_lane.head is null;
        if v_lane.place < 2 then
            v_aside := row(0, p_id, v_lane.rank, v_lane.place, v_lane.head, v_lane.search)::howdah.lanes;
            continue when v_lane.place = 0 and not howdah._may_be_due(v_aside, howdah.now());
            exit when pg_sequence_last_value('howdah.senders_noted'::regclass) is not null;
            perform howdah._sweep_lost();
            v_tids := case v_lane.place when 1 then howdah._look_nonpersistent(v_aside, 1, false)
                else howdah._look_parked(v_aside, 1, howdah.now(), false) end;
            continue when v_tids[1] is null;
            if v_lane.place = 1 then
                delete from howdah.msgs_nonpersistent n where n.ctid = v_tids[1] returning n.* into v_row;
                message := howdah._as_ready(v_row);
            else
                delete from howdah.parked p where p.ctid = v_tids[1] returning p.* into v_due;
                if v_due.lease_id is not null then
                    perform howdah._blame_leases(p_id, array[v_due]);
                end if;
                message := howdah._as_ready(v_due);
            end if;
            nonpersistent := v_lane.place = 1 or v_due.boot is not null;
            return;
        end if;
        exit when v_lane.headed > v_lane.upto + 64
            or v_lane.due and not howdah._nothing_came_back(p_id, v_lane.rank, v_lane.headed,
                v_lane.upto > v_lane.headed, v_lane.search, v_lane.hint);
        v_seq := null;
        v_before := 16;
        v_first := (select m.seq from howdah.msgs m
            where m.destination_id = p_id and m.rank = v_lane.rank and m.seq > v_lane.headed - 16
            order by m.seq limit 1);
        if v_lane.upto > v_lane.headed and v_first - 1 <= v_lane.headed then
            if not v_lane.due then
                perform from howdah.msgs m
                where m.destination_id = p_id and m.rank = v_lane.rank and m.seq = v_lane.headed and m.xmax <> 0
                for update skip locked;
                exit when found;
            end if;
            delete from howdah.msgs m
            where m.destination_id = p_id and m.rank = v_lane.rank and m.seq = (select nextval(v_lane.head))
              and m.xmax = 0
            returning m.* into message;
            exit when message.seq is not null;
            v_lane.headed := pg_sequence_last_value(v_lane.head);
            v_before := 0;
        end if;
        if v_first is not null then
            select m.seq into v_seq from howdah.msgs m
            where m.destination_id = p_id and m.rank = v_lane.rank and m.seq > v_lane.headed - v_before
            order by m.seq limit 1 for update skip locked;
        end if;
        if v_seq > v_lane.headed and howdah._advance(v_lane.head, v_seq) then
            delete from howdah.msgs m
            where m.destination_id = p_id and m.rank = v_lane.rank and m.seq = v_seq
            returning m.* into message;
        end if;
        exit when v_seq is not null;
        -- Others have what is there, or it is gone: the next receive is not to walk over it.
        perform howdah._advance(v_lane.head, v_lane.upto) where v_lane.upto > v_lane.headed + 2000;
    end loop;
end
$$;
