-- howdah.audit_digests(first_block, end_block, since, salt, rest): the journal summed up in the server, so that an
-- audit need not read each row.
--
-- Returns  rows of a place, word, event, delivery mode and hour; there may be several of each. place, length: the
--          blocks, in each partition, that were summed up. word: 64 message numbers of one destination. event: sent or
--          consumed, where the message was sent to and without anything special; NULL: all else. messages: their
--          number. numbers: which of the 64 they are, a bit each. moments: hashes of number and time of sending, XORed.
--          unlike: rows whose time does not follow that time of sending. first_at, last_at: the least and greatest.
--          newer: how many the snapshot since does not show. first_expires_at: the earliest expiry.
--          Rows with xids have first_at and last_at of 128 transactions whose numbers follow each other, and no word.
-- Raises   HD005 wrong argument.
-- Role     howdah_auditor howdah_admin
--
-- It looks at blocks from first_block up to before end_block (NULL: the last) of every partition. It reads in the
-- transaction's snapshot, in parts of some 256 blocks, and locks no row. After a part that took a second it rests for
-- as many seconds as rest says, so that its cost to others is bounded. A caller who draws a salt anew each time gets
-- hashes that nobody could prepare for.
--
-- A word is (message_id / 64000000) * 1000000 + message_id % 1000000, as in the view audit_journal. A message that is
-- grouped counts as special, since its rules compare it with others.
create or replace function howdah.audit_digests(
    first_block bigint default 0, end_block bigint default null, since text default null, salt bigint default 0,
    rest double precision default 0
) returns table (
    place bigint, length bigint, word bigint, event text, nonpersistent boolean, hour timestamptz, messages bigint,
    numbers bigint, moments bigint, unlike bigint, first_at timestamptz, last_at timestamptz, newer bigint,
    first_expires_at timestamptz, xids bigint
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set jit = off
as $$
declare
    v_since pg_snapshot := howdah._snapshot_of(since);
    v_seen_below bigint := pg_snapshot_xmin(v_since)::text::bigint;
    v_unseen_from bigint := pg_snapshot_xmax(v_since)::text::bigint;
    v_unseen bigint[] := array(select x.xid::text::bigint from pg_snapshot_xip(v_since) x(xid));
    v_end bigint;
    v_length bigint;
    v_from tid;
    v_to tid;
    v_begun timestamptz;
begin
    if first_block is null or first_block not between 0 and 4294967294
       or end_block not between first_block and 4294967294 then
        raise exception using errcode = 'HD005', message = 'blocks must be 0 to 4,294,967,294, in this order';
    end if;
    if salt is null then
        raise exception using errcode = 'HD005', message = 'salt must not be NULL';
    end if;
    if rest is null or not rest between 0 and 10 then
        raise exception using errcode = 'HD005', message = 'rest must be 0 to 10';
    end if;
    -- about as many rows a part, in however many partitions they lie
    select least(end_block, max(s.blocks)), greatest(256 / greatest(count(*) filter (where s.blocks > 0), 1), 16)
    into v_end, v_length
    from (select pg_relation_size(l.relid) / current_setting('block_size')::bigint as blocks
        from pg_partition_tree('howdah.journal') l where l.isleaf) s;
    place := first_block;
    while place < v_end loop
        length := least(v_length, v_end - place);
        v_from := format('(%s,0)', place)::tid;
        v_to := format('(%s,0)', place + length)::tid;
        v_begun := clock_timestamp();
        return query
        select place, length, g.word, case g.kind when 1 then 'sent' when 2 then 'consumed' end, g.nonpersistent,
            g.hour, g.messages, g.numbers, g.moments, g.unlike, g.first_at, g.last_at, g.newer,
            g.first_expires_at, null::bigint
        from (
            select i.message_id / 64000000 * 1000000 + i.message_id % 1000000 as word,
                case when i.message_id % 1000000 <> i.destination_id or i.special or i.message_id <= 0 then 0
                    when i.event = 'sent' then 1
                    when i.event = 'consumed' and (i.reason is null or i.reason in ('held', 'selected')) then 2
                    else 0 end as kind,
                i.nonpersistent, date_bin('1 hour', i.at, '2000-01-01 00:00+00') as hour, count(*) as messages,
                bit_or(1::bigint << (i.message_id / 1000000 % 64)::integer) as numbers,
                bit_xor(hashfloat8extended(date_part('epoch', i.sent_at),
                    hashint8extended(i.message_id, salt))) as moments,
                count(*) filter (where case i.event
                    when 'sent' then date_part('epoch', i.at) <= date_part('epoch', i.sent_at) + 0.49
                    else date_part('epoch', i.at) >= date_part('epoch', i.sent_at) - 0.49 end is not true) as unlike,
                min(i.at) as first_at, max(i.at) as last_at,
                count(*) filter (where i.xid >= v_seen_below
                    and (i.xid >= v_unseen_from or i.xid = any (v_unseen))) as newer,
                min(i.expires_at) as first_expires_at
            from (
                -- a row of one message, the usual case, is not unfolded
                select j.message_ids[1] as message_id, j.destination_id, j.event, j.reason, j.nonpersistent, j.at,
                    j.xid, j.oldest_sent_at as sent_at, null::timestamptz as expires_at, false as special
                from howdah.journal j
                where j.ctid >= v_from and j.ctid < v_to and howdah._is_single(j) is true
                union all
                select u.message_id, j.destination_id, j.event, j.reason, j.nonpersistent, j.at, j.xid,
                    j.oldest_sent_at, u.expires_at, u.group_id is not null
                from howdah.journal j
                cross join lateral unnest(
                    case when j.last_id is null then j.message_ids
                        else array(select generate_series(j.message_ids[1], j.last_id, 1000000)) end,
                    j.expires_at, j.group_ids, j.priorities, j.digests
                    ) u(message_id, expires_at, group_id, priority, digest)
                where j.ctid >= v_from and j.ctid < v_to and howdah._is_single(j) is not true
            ) i
            group by 1, 2, 3, 4
        ) g;
        return query
        select place, length, null::bigint, null::text, null::boolean, null::timestamptz, null::bigint, null::bigint,
            null::bigint, null::bigint, min(j.at), max(j.at), null::bigint, null::timestamptz, j.xid / 128
        from howdah.journal j
        where j.ctid >= v_from and j.ctid < v_to
        group by j.xid / 128;
        if rest > 0 then
            perform pg_sleep(rest * date_part('epoch', clock_timestamp() - v_begun));
        end if;
        place := place + length;
    end loop;
end
$$;
