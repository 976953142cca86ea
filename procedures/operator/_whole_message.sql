-- howdah._whole_message(message_id, queue): find one message anywhere, with its whole body.
--
-- Returns  as howdah.poison_message.
-- Raises   HD001 no such queue; HD010 not allowed; HD037 on a standby.
-- Role     internal
--
-- Without a queue, only a temporary queue's own connection finds its messages.
create or replace function howdah._whole_message(message_id bigint, queue text)
returns table (message howdah.message, state text, due_at timestamptz, parked_reason text)
language plpgsql stable set plan_cache_mode = force_custom_plan
    set enable_seqscan = off set jit = off
as $$
declare
    v_number bigint := message_id;
    v_id integer := case when queue is not null then (howdah._destination(queue, 'browse')).id end;
    v_places integer[];
    v_seqs bigint[] := array(select v_number / 1000000 union select o.seq from howdah.moved o
        where o.message_id = v_number);
begin
    perform howdah._check_all_here();
    v_places := array(
        select d.id from howdah.destinations d
        where d.dropped_at is null and d.kind <> 'topic'
          and case when v_id is not null then d.id = v_id
                   else d.id = v_number % 1000000 or d.id in (select x.x from howdah._exception_destinations() x(x))
                       or d.id in (select p.destination_id from howdah.poison_details p where p.message_id = v_number)
                       or d.id in (select o.destination_id from howdah.moved o where o.message_id = v_number)
                       or exists (select from howdah.parked w
                           where w.destination_id = d.id and w.message_id = v_number) end
          and (v_id is not null or not d.name ^@ '_TEMP.' or exists (select from howdah.temporary_queues t
              where t.destination_id = d.id and t.connection = current_setting('howdah.connection', true)))
          and howdah._has_right(d.id, 'browse'));
    -- Look first where it was sent to, by key: a message that never moved is found without a search.
    return query
    select howdah._message(m, howdah._destination_name(m.destination_id), false,
        howdah._failures(m.destination_id, m.message_id, m.stage, m.conversation_id,
        howdah._group(m.headers, m.conversation_id))),
        case when m.dead_at is null then 'live' else 'dead' end, null::timestamptz, null::text
    from howdah.msgs m
    where m.destination_id = any (v_places) and m.destination_id = v_number % 1000000
      and m.rank = any (array[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) and m.seq = v_number / 1000000 and m.message_id = v_number;
    if found then
        return;
    end if;
    return query
    select howdah._message(f.message, howdah._destination_name((f.message).destination_id), f.nonpersistent,
            howdah._failures((f.message).destination_id, v_number, (f.message).stage, (f.message).conversation_id,
                howdah._group((f.message).headers, (f.message).conversation_id))),
        case when f.parked_reason is not null then 'parked' when (f.message).dead_at is null then 'live'
            else 'dead' end,
        f.due_at, f.parked_reason
    from (
        select howdah._as_ready(p) as message, p.boot is not null as nonpersistent, p.due_at, p.parked_reason
        from howdah.parked p
        where p.destination_id = any (v_places) and p.message_id = v_number
          and (p.boot is null or p.boot = pg_postmaster_start_time())
        union all
        select howdah._unleased(m), false, l.until, 'lease'
        from howdah.leased m left join howdah.leases l on l.lease_id = m.seq >> 20
        where m.destination_id = any (v_places) and m.message_id = v_number
        union all
        select k.* from unnest(v_places) d(id) cross join generate_series(0, 9) r(rank) cross join unnest(v_seqs) s(seq)
        cross join lateral (
            select m, false, null::timestamptz, null::text from howdah.msgs m
            where m.destination_id = d.id and m.rank = r.rank and m.seq = s.seq and m.message_id = v_number
            union all
            select howdah._as_ready(n), true, null, null from howdah.msgs_nonpersistent n
            where n.destination_id = d.id and n.rank = r.rank and n.seq = s.seq and n.message_id = v_number
              and n.boot = pg_postmaster_start_time()
            offset 0  -- one look for each, as in howdah._find
        ) k
    ) f;
end
$$;
