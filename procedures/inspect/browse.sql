-- howdah.browse(queue, max_messages, after_priority, after_position, only_id): look at ready messages without disturbing anyone.
--
-- Returns  up to max_messages rows of howdah.message by priority and position; parked and expired ones are not shown.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- For the next page give the priority and position of the last message shown. only_id: just the message of that number.
create or replace function howdah.browse(
    queue text, max_messages integer default 100, after_priority integer default null, after_position bigint default null,
    only_id bigint default null
) returns setof howdah.message
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_sort = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'browse');
    v_now timestamptz := howdah.now();
    v_rank smallint;
    v_seq bigint := coalesce(after_position, -1);
begin
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    if after_priority not between 0 and 9 or (after_priority is null) <> (after_position is null) then
        raise exception using errcode = 'HD005', message = 'after_priority is 0 to 9 and comes together with after_position';
    end if;
    v_rank := 9 - coalesce(after_priority, 9);
    return query
    select shown.* from (
        (select m as message, false as nonpersistent from howdah.msgs m
         where m.destination_id = v_destination.id and (m.rank, m.seq) > (v_rank, v_seq)
           and (m.expires_at is null or m.expires_at > v_now) and (only_id is null or m.message_id = only_id)
         order by m.rank, m.seq limit max_messages)
        union all
        (select howdah._as_ready(n), true from howdah.msgs_nonpersistent n
         where n.destination_id = v_destination.id and (n.rank, n.seq) > (v_rank, v_seq)
           and n.boot = pg_postmaster_start_time() and (n.expires_at is null or n.expires_at > v_now)
           and (only_id is null or n.message_id = only_id)
         order by n.rank, n.seq limit max_messages)
    ) b
    cross join lateral howdah._message(b.message, queue, b.nonpersistent,
        howdah._failures(v_destination.id, (b.message).message_id, (b.message).stage, (b.message).conversation_id)) shown
    order by (b.message).rank, (b.message).seq
    limit max_messages;
end
$$;
