-- pgmq.read(queue_name, vt, qty, conditional): read visible messages, and hide them for vt seconds.
--
-- Returns  the messages, those with the lowest numbers first.
-- Raises   42P01 no such queue; 2201W qty is negative; 23502 vt is NULL; 0A000 a condition for a queue with an order of
--          its own; HD009 receiving is paused; HD010 not allowed; HD016, HD019, HD023, HD024, HD032, HD040 as
--          howdah.receive.
-- Role     howdah_consumer howdah_admin
--
-- Each read counts in read_ct. conditional: only messages that contain this JSON.
--
-- Two statements serve the usual call: the next messages of a backlog, in a queue with nothing else to give. Their way
-- and conditions are those of pgmq._read, which serves all other calls. Sessions prepare each expression anew in every
-- transaction, so each that is saved counts.
create or replace function pgmq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}')
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_id integer;
    v_rank smallint;
    v_now timestamptz;
    v_seqs bigint[];
    v_taken integer := 0;
begin
    -- where dead rows make the looks slow, howdah._may_be_due must note from where they go on
    select d.id, d.main_rank, d.now, case when clock_timestamp() - d.begun < interval '1 ms'
        then array(select nextval(d.head) from (select generate_series(1, qty)) g) end
    into v_id, v_rank, v_now, v_seqs
    from (
        select c.id, c.main_rank, c.head, c.positions, c.search, howdah.now() as now, clock_timestamp() as begun,
            coalesce(pg_sequence_last_value(c.head), 0) as headed
        from howdah.destinations c
        where c.name = lower(queue_name) and c.dropped_at is null and c.kind = 'queue' and not c.receiving_paused
          and c.main_rank >= 0 and c.max_failed_deliveries = 0 and not c.strict_order
          and c.backout_count <> 'hardened' and c.message_groups = 'none' and c.delivery_policy = 'shared'
          and not c.limited
          -- by a column of c, without which there would be a node above the scan, whose rows then had all columns
          and case when c.id > 0 then qty > 0 and (conditional <> '{}') is not true
              and (current_setting('howdah.commit_by_reliability', true) <> '') is not true end
          and (howdah._has_role(c.receivers[1]) or howdah._has_right(c.id, 'receive', c.receivers))
        offset 0
    ) d
    where pg_sequence_last_value(d.positions) - 64 - d.headed >= qty
      and (select bool_or(l.head is not null) and bool_and(l.place = 0 and l.rank = d.main_rank
                and (pg_sequence_last_value(l.head) > 1) is not true)
           from howdah.lanes l where l.destination_id = d.id)
      and (select true from howdah.consumers o where o.destination_id = d.id and o.exclusive limit 1) is null
      and (select true from howdah.parked p
           where p.destination_id = d.id and p.rank = d.main_rank and p.due_at <= d.now
           order by p.due_at, p.seq limit 1) is null
      and (select true from howdah.leases o
           where o.destination_id = d.id and o.rank = d.main_rank and o.until <= d.now
           order by o.until limit 1) is null
      and case when howdah._is_due(pg_sequence_last_value(d.search), howdah._pace(clock_timestamp()))
          then howdah._nothing_came_back(d.id, d.main_rank, d.headed, true, d.search,
              coalesce(pg_sequence_last_value(d.search), 0))
          else (select true from howdah.msgs m
                where m.destination_id = d.id and m.rank = d.main_rank and m.seq = d.headed and m.xmax <> 0
                for update skip locked) is null end;
    if v_seqs is not null then
        return query  -- in order: the settings leave no other way than along the key
        with gone as (
            delete from howdah.msgs m
            where m.destination_id = v_id and m.rank = v_rank and m.seq = any (v_seqs)
              and m.seq between v_seqs[1] and v_seqs[cardinality(v_seqs)]
              and m.xmax = 0 and (m.expires_at > v_now) is not false
            returning m.*
        )
        insert into howdah.parked as i
        select g.*, v_now + make_interval(secs => vt), 'lease', null, null, null, 1, v_now from gone g
        returning pgmq._number(i.destination_id, i.message_id), 1, i.sent_at, i.last_read_at, i.due_at,
            pgmq._json(i.content_type, coalesce(i.body, howdah._body(i.message_id))), pgmq._shown_headers(i.headers);
        get diagnostics v_taken = row_count;
    end if;
    if v_taken = 0 or v_taken < qty then
        return query
        select * from pgmq._read(queue_name, make_interval(secs => vt), qty, nullif(conditional, '{}'), false, v_taken);
    end if;
end
$$;
