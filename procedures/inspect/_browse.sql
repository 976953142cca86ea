-- howdah._browse(queue, max_messages, after_priority, after_position, only_id, selector, correlation_id): look at ready
-- messages with their whole bodies.
--
-- Returns  as howdah.browse.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD023 the selector is invalid; HD037 on a
--          standby.
-- Role     internal
create or replace function howdah._browse(
    queue text, max_messages integer, after_priority integer,
    after_position bigint, only_id bigint, selector text,
    correlation_id text
) returns setof howdah.message
language plpgsql volatile set enable_seqscan = off set enable_sort = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'browse');
    v_selector text := howdah._compile_selector(selector);
    v_now timestamptz := howdah.now();
    v_rank smallint;
    v_seq bigint := coalesce(after_position, -1);
    v_shown integer;
    v_wild boolean := howdah._reads_wildcard(v_destination);
begin
    perform howdah._check_all_here();
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    elsif after_priority not between 0 and 9 or (after_priority is null) <> (after_position is null) then
        raise exception using errcode = 'HD005',
            message = 'after_priority is 0 to 9 and comes together with after_position';
    elsif num_nonnulls(only_id, v_selector, _browse.correlation_id) > 1 then
        raise exception using errcode = 'HD005', message = 'only_id, selector and correlation_id do not go together',
            hint = 'A selector knows JMSMessageID and JMSCorrelationID.';
    elsif v_destination.kind = 'subscription' and (after_position is not null
        or num_nonnulls(v_selector, _browse.correlation_id) > 0) then
        raise exception using errcode = 'HD005', message = 'a subscription is browsed from its cursor on',
            hint = 'Ask for more messages, or see howdah.topic_history.';
    end if;
    v_rank := 9 - coalesce(after_priority, 9);
    if v_selector is not null then
        return query select * from howdah._browse_selected(v_destination, v_selector, v_rank, v_seq, v_now,
            max_messages);
        return;
    elsif num_nonnulls(only_id, _browse.correlation_id) > 0 then
        return query
        select shown.* from howdah._look_up(v_destination.id, only_id, _browse.correlation_id) b
        cross join lateral howdah._message(b.message, queue, b.nonpersistent,
            b.leased::integer + howdah._failures(v_destination.id, (b.message).message_id, (b.message).stage,
                (b.message).conversation_id, howdah._group((b.message).headers, (b.message).conversation_id))) shown
        where (b.due_at is null or b.due_at <= v_now) and ((b.message).rank, (b.message).seq) > (v_rank, v_seq)
          and ((b.message).expires_at is null or (b.message).expires_at > v_now)
          and (not v_wild or howdah._may_read_copy((b.message).message_id, 'browse'))
        order by (b.message).rank, (b.message).seq
        limit max_messages;
    else
        return query
        select shown.* from (
            (select m as message, false as nonpersistent, 0 as lapsed from howdah.msgs m
             where m.destination_id = v_destination.id and (m.rank, m.seq) > (v_rank, v_seq)
               and (m.expires_at is null or m.expires_at > v_now)
               and (not v_wild or howdah._may_read_copy(m.message_id, 'browse'))
             order by m.rank, m.seq limit max_messages)
            union all
            (select howdah._as_ready(n), true, 0 from howdah.msgs_nonpersistent n
             where n.destination_id = v_destination.id and (n.rank, n.seq) > (v_rank, v_seq)
               and n.boot = pg_postmaster_start_time() and (n.expires_at is null or n.expires_at > v_now)
               and (not v_wild or howdah._may_read_copy(n.message_id, 'browse'))
             order by n.rank, n.seq limit max_messages)
            union all
            (select howdah._as_ready(p), p.boot is not null, num_nonnulls(p.lease_id)
             from generate_series(0, 9) r(rank) join howdah.parked p on p.rank = r.rank
             where p.destination_id = v_destination.id and p.due_at <= v_now and (p.rank, p.seq) > (v_rank, v_seq)
               and (p.boot is null or p.boot = pg_postmaster_start_time())
               and (p.expires_at is null or p.expires_at > v_now)
               and (not v_wild or howdah._may_read_copy(p.message_id, 'browse'))
             order by p.rank, p.seq limit max_messages)
            union all
            (select u, false, 1
             from howdah.leases l cross join lateral howdah._in_lease(l.destination_id, l.lease_id) o
             cross join lateral howdah._unleased(o) u
             where l.destination_id = v_destination.id and l.until <= v_now and (u.rank, u.seq) > (v_rank, v_seq)
               and (u.expires_at is null or u.expires_at > v_now)
               and (not v_wild or howdah._may_read_copy(u.message_id, 'browse'))
             order by u.rank, u.seq limit max_messages)
        ) b
        cross join lateral howdah._message(b.message, queue, b.nonpersistent,
            b.lapsed + howdah._failures(v_destination.id, (b.message).message_id, (b.message).stage,
                (b.message).conversation_id, howdah._group((b.message).headers, (b.message).conversation_id))) shown
        order by (b.message).rank, (b.message).seq
        limit max_messages;
    end if;
    if v_destination.kind = 'subscription' then
        get diagnostics v_shown = row_count;
        return query
        select h.message_id, queue,
            CONTENT_OF h,
            case when h.nonpersistent then 'non-persistent' else 'persistent' end, h.sent_at, h.expires_at,
            f.failures + 1, f.failures > 0, h.seq, 0, howdah._destination_name(h.destination_id), null::text,
            null::timestamptz, howdah._level_name(h.reliability, h.nonpersistent)
        from howdah.subscriptions s
        join howdah.acks a on a.subscription_id = s.destination_id
        cross join lateral howdah._messages_ahead(s, a, pg_current_snapshot(),
            case when only_id is null then max_messages - v_shown end, null) with ordinality h
        cross join lateral (select howdah._failures(v_destination.id, h.message_id, 0::smallint, h.conversation_id,
            howdah._group(h.headers, h.conversation_id)) as failures) f
        where s.destination_id = v_destination.id and (not howdah._is_wildcard(s.topic)
            or howdah._has_right(a.destination_id, 'browse'))
          and (only_id is null or h.message_id = only_id)
        order by a.priority desc, a.destination_id, h.ordinality
        limit max_messages - v_shown;
    end if;
end
$$;
