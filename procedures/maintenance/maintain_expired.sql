-- howdah.maintain_expired(lock_epoch, max_messages): reclaim expired messages that no receive has found.
--
-- Returns  how many were reclaimed (bigint). Call it again until it returns 0.
-- Raises   HD005 max_messages is not 1 to 1000000; HD010 called from a maintenance command; HD014 the maintenance lock
--          is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- With lock_epoch, a round begins every engine.expiration_interval_seconds; without, at once. No index serves it,
-- because each send would pay for that. It walks the tables block by block from where a sequence says that it stopped
-- last time. It ends after a second or max_messages. So it costs reading the tables once per interval.
--
-- Leased messages and messages in somebody's hands stay. Each queue's policy (process_expired) decides whether the
-- message goes to the exception destination.
create or replace function howdah.maintain_expired(
    lock_epoch bigint default null, max_messages integer default 10000
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_tables constant regclass[] := array['howdah.msgs', 'howdah.msgs_nonpersistent', 'howdah.parked'];
    v_span constant bigint := 512;
    v_begun constant timestamptz := clock_timestamp();
    v_now timestamptz := howdah.now();
    v_at bigint;
    v_place integer;
    v_block bigint;
    v_found bigint;
    v_count bigint := 0;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if (max_messages between 1 and 1000000) is not true then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 1000000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    if not howdah._try_latch('expired') then
        return 0;
    end if;
    v_at := howdah._hint('howdah.expiry_walk');
    if v_at = 0 then
        update howdah.engine e set expired_at = v_now
        where lock_epoch is null or e.expiration_interval_seconds > 0
            and (e.expired_at > v_now - e.expiration_interval_seconds * interval '0.9 second') is not true;
        if not found then
            return 0;
        end if;
        perform howdah._return_leases(l.id, max_messages, v_now)
        from (select distinct e.destination_id as id from howdah.leases e where e.until <= v_now) l;
    end if;
    v_place := v_at >> 40;
    v_block := v_at & ((1::bigint << 40) - 1);
    while v_place < 3 loop
        if v_block * current_setting('block_size')::bigint >= pg_relation_size(v_tables[v_place + 1]) then
            v_place := v_place + 1;
            v_block := 0;
            continue;
        end if;
        exit when v_count >= max_messages or clock_timestamp() - v_begun > interval '1 second';
        v_found := howdah._reclaim(v_place, format('(%s,0)', v_block)::tid, format('(%s,0)', v_block + v_span)::tid,
            v_now, max_messages - v_count);
        v_count := v_count + v_found;
        if v_count < max_messages then
            v_block := v_block + v_span;
        end if;
    end loop;
    perform setval('howdah.expiry_walk', case when v_place < 3 then (v_place::bigint << 40) + v_block else 0 end);
    return v_count;
end
$$;
