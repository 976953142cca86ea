-- howdah._found_sql(p_place, p_selector_sql): the statement that walks over one of the tables of messages.
--
-- Returns  text. Places: 1 ready, 2 non-persistent, 3 parked, 4 leased. It returns the rows that match, and the last
--          one that is looked at, each with its key, its state and its number. howdah._found gives the parameters.
-- Role     internal
--
-- Each is one range of the table's primary key, in its order and with a limit. Nothing is locked.
create or replace function howdah._found_sql(p_place integer, p_selector_sql text) returns text
language sql immutable
as $sql$
    select format($walk$
        select f.* from (
        select m.*, row_number() over w as number, lead(m.key) over w is null as last,
            m.state = coalesce($6, m.state) and m.rank <= $5 and (%s) is true
            and ($7 is null or m.message_group = $7) and ($8 is null or m.sent_at >= $8)
            and ($9 is null or m.sent_at < $9) and ($10 is null or m.origin_id = $10)
            and ($11 is null or not exists (select from jsonb_each_text($11) h
                where (m.headers ->> h.key) is distinct from h.value))
            and ($15 is null or substr(m.headers ->> 'traceparent', 4, 32) = $15)
            and (coalesce($12, $13) is null or exists (
                select from (
                    select i.fingerprint, i.error_class from (
                        select p.* from howdah.poison_details p where p.message_id = m.message_id offset 0) i
                    order by i.incident_id desc limit 1) i
                where ($12 is null or i.fingerprint = $12) and ($13 is null or i.error_class = $13))) as hit
        from (
            select r.*, howdah._group(r.headers, r.conversation_id) as message_group,
                howdah._message_state(r.leased, r.due_at, r.parked_reason, r.dead_at, r.expires_at, $14) as state
            from (select c.rank, %s as key, c.message_id, c.stage, c.sent_at, c.expires_at, c.dead_at, c.origin_id,
                c.is_text, c.content_type, c.body, c.headers, c.correlation_id, c.message_type, c.conversation_id,
                c.reliability, %s
                order by %s limit $4) r) m
        window w as (order by %s)) f
        where f.hit or f.last $walk$,
        coalesce(p_selector_sql, 'true'), case p_place when 3 then 'c.message_id' else 'c.seq' end,
        case p_place
            when 1 then $arm$false as nonpersistent, null::timestamptz as due_at, null::text as parked_reason,
                false as leased
                from howdah.msgs c
                where c.destination_id = $1 and (c.rank, c.seq) > ($2, $3) and c.rank <= $5 $arm$
            when 2 then $arm$true as nonpersistent, null::timestamptz as due_at, null::text as parked_reason,
                false as leased
                from howdah.msgs_nonpersistent c
                where c.destination_id = $1 and (c.rank, c.seq) > ($2, $3) and c.rank <= $5
                  and c.boot = pg_postmaster_start_time() $arm$
            when 3 then $arm$c.boot is not null as nonpersistent, c.due_at, c.parked_reason,
                c.parked_reason = 'lease' as leased
                from howdah.parked c
                where c.destination_id = $1 and c.message_id > $3
                  and (c.boot is null or c.boot = pg_postmaster_start_time()) $arm$
            else $arm$false as nonpersistent,
                (select l.until from howdah.leases l where l.lease_id = c.seq >> 20) as due_at,
                'lease' as parked_reason, true as leased
                from howdah.leased c
                where c.destination_id = $1 and (c.rank, c.seq) > ($2, $3) and c.rank <= $5 $arm$
            end,
        case p_place when 3 then 'c.message_id' else 'c.rank, c.seq' end,
        case p_place when 3 then 'm.key' else 'm.rank, m.key' end)
$sql$;
