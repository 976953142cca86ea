-- pgmq._set_vt(p_queue, p_numbers, p_vt): set the time from which messages are visible.
--
-- Returns  the messages as they are now.
-- Raises   as pgmq.set_vt.
-- Role     internal
--
-- A message that another session moved while this one waited for its row is parked now. So the parked ones are looked
-- at again.
create or replace function pgmq._set_vt(p_queue text, p_numbers bigint[], p_vt timestamptz)
returns setof pgmq.message_record
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_queue record;
    v_vt timestamptz := pgmq._readable(p_vt);
    v_ids bigint[];
    v_hidden howdah.parked[];
    v_over bigint[];
    v_again boolean := false;
begin
    select d.id, d.main_rank as rank, d.limited,
        howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers) as allowed
    into v_queue
    from howdah.destinations d where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue';
    if v_queue.allowed is not true then
        perform pgmq._refuse(p_queue, 'receive');
    end if;
    v_ids := pgmq._message_ids(v_queue.id, p_numbers);
    if v_queue.limited then
        -- The permit of a read that ran out may be another's by now (docs/handler-limits.md). Whoever takes it over
        -- keeps its row locked.
        v_over := array(
            select p.message_id from howdah.parked p
            where p.ctid = any (howdah._parked_rows(v_queue.id, v_ids)) and p.lease_id is null
              and p.due_at <= howdah.now()
            order by p.message_id for update);
        delete from howdah.leased_permits d where d.ctid = any (array(
            select l.ctid from howdah.leased_permits l
            where l.destination_id = v_queue.id and l.message_id = any (v_over) for update skip locked));
    end if;
    loop
        with again as (
            delete from howdah.parked p
            where p.ctid = any (howdah._parked_rows(v_queue.id, v_ids)) and p.lease_id is null
            returning p as stored
        ), hidden as (
            insert into howdah.parked as i
            select (howdah._as_ready(a.stored)).*, v_vt, (a.stored).parked_reason, (a.stored).boot, null,
                (a.stored).group_id, (a.stored).reads, (a.stored).last_read_at
            from again a
            returning i.*
        )
        select array_agg(h order by h.seq) into v_hidden from hidden h;
        return query select h.* from pgmq._shown(v_queue.id, v_hidden) h;
        v_ids := array(select i.id from unnest(v_ids) i(id)
            where i.id <> all (array(select h.message_id from unnest(v_hidden) h)));
        exit when v_ids = '{}' or v_again;
        perform howdah._open_lane(v_queue.id, v_queue.rank, 0);
        with ready as (
            delete from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.rank
              and m.seq = any (array(select i.id / 1000000 from unnest(v_ids) i(id))) and m.message_id = any (v_ids)
            returning m.*
        ), elsewhere as (
            delete from howdah.msgs m where m.ctid = any (pgmq._rows_elsewhere(v_queue.id, v_queue.rank, v_ids))
            returning m.*
        ), hidden as (
            insert into howdah.parked as i
            select r.*, v_vt, 'delay' from (select * from ready union all select * from elsewhere) r
            returning i.*
        )
        select array_agg(h order by h.seq) into v_hidden from hidden h;
        return query select h.* from pgmq._shown(v_queue.id, v_hidden) h;
        v_ids := array(select i.id from unnest(v_ids) i(id)
            where i.id <> all (array(select h.message_id from unnest(v_hidden) h)));
        exit when v_ids = '{}';
        v_again := true;
    end loop;
end
$$;
