-- howdah._receive_set_aside(p_destination, p_name, p_want, p_hold): receive what was set aside for a subscription and is due again.
--
-- Returns  up to p_want rows of howdah.message: failed messages after their delay, replayed ones, those back from quarantine.
-- Role     internal
--
-- Such messages are few and lie where a queue's would; other transactions' are passed by.
create or replace function howdah._receive_set_aside(p_destination howdah.destinations, p_name text, p_want integer, p_hold boolean)
returns setof howdah.message
language plpgsql volatile
    set enable_seqscan = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_row record;
    v_failures integer;
    v_weight integer;
begin
    for v_row in
        select m as message, 'msgs' as place, false as nonpersistent, null::bigint as lease_id from howdah.msgs m
        where m.ctid = any (array(select c.ctid from howdah.msgs c where c.destination_id = p_destination.id
                                  order by c.rank, c.seq limit p_want for update skip locked))
        union all
        select howdah._as_ready(n), 'msgs_nonpersistent', true, null from howdah.msgs_nonpersistent n
        where n.ctid = any (array(select c.ctid from howdah.msgs_nonpersistent c where c.destination_id = p_destination.id
                                    and c.boot = pg_postmaster_start_time()
                                  order by c.rank, c.seq limit p_want for update skip locked))
        union all
        select howdah._as_ready(p), 'parked', p.boot is not null, p.lease_id from howdah.parked p
        where p.ctid = any (array(select c.ctid from howdah.parked c
                                  where c.destination_id = p_destination.id and c.due_at <= v_now
                                    and (c.boot is null or c.boot = pg_postmaster_start_time())
                                  order by c.due_at limit p_want for update skip locked))
        limit p_want
    loop
        if v_row.lease_id is not null then
            perform howdah._record_expiry(p_destination.id, (v_row.message).message_id, (v_row.message).stage, (v_row.message).conversation_id,
                v_row.lease_id);
        end if;
        select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
        from howdah._count_failures(p_destination.id, array[(v_row.message).message_id], array[(v_row.message).stage],
            array[(v_row.message).conversation_id]) f
        where f.stage = (v_row.message).stage;
        if (v_row.message).expires_at <= v_now or v_weight >= p_destination.dispose_at then
            perform howdah._dispose(p_destination.id, v_row.message, v_row.nonpersistent, v_row.place, v_now);
            continue;
        end if;
        if not p_hold then
            perform howdah._remove(v_row.message, v_row.place);
            perform howdah._journal(p_destination, 'consumed', array[(v_row.message).message_id], v_row.nonpersistent);
        end if;
        return query select (howdah._message(v_row.message, p_name, v_row.nonpersistent, v_failures)).*;
    end loop;
end
$$;

-- howdah._bury_published(p_destination, …): dispose of a topic message that reached its limit, for one subscription.
--
-- Returns  false, so that a WHERE leaves the message out.
-- Role     internal
--
-- The cursor passes it, or the caller notes it as done. It becomes a message of the subscription's own, which the policy then moves,
-- parks or discards as it would a queue's.
create or replace function howdah._bury_published(
    p_destination howdah.destinations, p_message_id bigint, p_sent_at timestamptz, p_expires_at timestamptz, p_rank smallint,
    p_is_text boolean, p_content_type text, p_body bytea, p_headers jsonb, p_correlation_id text, p_reply_to text, p_message_type text,
    p_conversation_id uuid, p_nonpersistent boolean
) returns boolean
language plpgsql volatile
as $$
begin
    perform howdah._bury(p_destination, howdah._own_copy(p_destination, p_message_id, p_sent_at, p_expires_at, p_rank, p_is_text, p_content_type,
        p_body, p_headers, p_correlation_id, p_reply_to, p_message_type, p_conversation_id), p_nonpersistent,
        howdah._why((select s.weight from howdah._standing(p_destination.id, p_message_id, 0::smallint, p_conversation_id) s)));
    return false;
end
$$;

-- howdah._own_copy(p_destination, …): a topic message as one of a subscription's own.
--
-- Returns  howdah.msgs; the number stays, the position is the subscription's.
-- Role     internal
create or replace function howdah._own_copy(
    p_destination howdah.destinations, p_message_id bigint, p_sent_at timestamptz, p_expires_at timestamptz, p_rank smallint,
    p_is_text boolean, p_content_type text, p_body bytea, p_headers jsonb, p_correlation_id text, p_reply_to text, p_message_type text,
    p_conversation_id uuid
) returns howdah.msgs
language plpgsql volatile
as $$
declare
    v_message howdah.msgs;
begin
    v_message.seq := nextval(p_destination.positions);
    v_message.message_id := p_message_id;
    v_message.destination_id := p_destination.id;
    v_message.rank := p_rank;
    v_message.stage := 0;
    v_message.sent_at := p_sent_at;
    v_message.expires_at := p_expires_at;
    v_message.is_text := p_is_text;
    v_message.content_type := p_content_type;
    v_message.body := p_body;
    v_message.headers := p_headers;
    v_message.correlation_id := p_correlation_id;
    v_message.reply_to := p_reply_to;
    v_message.message_type := p_message_type;
    v_message.conversation_id := p_conversation_id;
    return v_message;
end
$$;

-- howdah._find_published(p_destination_id, p_message_id): a topic message that a subscription has not passed, and lock it if it is free.
--
-- Returns  as howdah._find, with the place topic.
-- Role     internal
create or replace function howdah._find_published(p_destination_id integer, p_message_id bigint)
returns table (message howdah.msgs, place text, nonpersistent boolean, free boolean)
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_row record;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination_id;
    if not found then
        return;
    end if;
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id;
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_destination_id and a.destination_id = p_message_id % 1000000 loop
        select l.* into v_row from howdah._locate(v_subscription, v_ack, array[p_message_id / 1000000]) l where l.wanted and not l.done;
        continue when not found;
        message := howdah._own_copy(v_destination, p_message_id, v_row.sent_at, v_row.expires_at, v_row.rank, v_row.is_text, v_row.content_type,
            v_row.body, v_row.headers, v_row.correlation_id, v_row.reply_to, v_row.message_type, v_row.conversation_id);
        place := 'topic';
        nonpersistent := v_row.nonpersistent;
        free := howdah._lock_published(v_subscription, v_ack, v_row.xid, v_row.seq);
        return next;
        return;
    end loop;
end
$$;

-- howdah._lock_published(p_subscription, p_ack, p_xid, p_seq): lock a topic message for a subscription, or all of an unshared one, if it is free.
--
-- Returns  whether the caller has it now (boolean); false too if it was finished with meanwhile.
-- Role     internal
create or replace function howdah._lock_published(p_subscription howdah.subscriptions, p_ack howdah.acks, p_xid xid8, p_seq bigint)
returns boolean
language plpgsql volatile
as $$
begin
    if not (case when p_subscription.shared then pg_try_advisory_xact_lock(1213154376,
            hashint8((p_seq * 1000000 + p_ack.destination_id) * 1000003 # p_ack.id))
        else pg_try_advisory_xact_lock(1213154375, p_subscription.destination_id) end) then
        return false;
    end if;
    -- A statement of its own, whose snapshot is taken with the lock: whoever had it before has committed by then.
    return not exists (select from howdah.acked a where a.ack_id = p_ack.id and a.seq = p_seq)
        and not howdah._is_passed(howdah._cursor(p_ack.id), p_xid, p_seq);
end
$$;

-- howdah._set_aside(p_destination_id, p_message_id): note a topic message as done with for a subscription.
--
-- Role     internal
create or replace function howdah._set_aside(p_destination_id integer, p_message_id bigint) returns void
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination_id;
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_destination_id and a.destination_id = p_message_id % 1000000 loop
        perform howdah._note_done(v_ack.id, array[l.seq], array[l.xid])
        from howdah._locate(v_subscription, v_ack, array[p_message_id / 1000000]) l;
    end loop;
end
$$;

-- howdah._consume_published(p_destination, p_message_ids): take topic messages held by howdah.receive_locked.
--
-- Returns  the numbers of those that are not there (any more); NULL: none.
-- Role     internal
create or replace function howdah._consume_published(p_destination howdah.destinations, p_message_ids bigint[]) returns bigint[]
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_row record;
    v_seqs bigint[];
    v_xids xid8[];
    v_modes boolean[];
    v_left bigint[] := p_message_ids;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination.id;
    if not found then
        return p_message_ids;
    end if;
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = p_destination.id and a.destination_id = any (array(select i.id % 1000000 from unnest(p_message_ids) i(id)))
    loop
        v_seqs := '{}';
        v_xids := '{}';
        v_modes := '{}';
        for v_row in
            select l.xid, l.seq, l.nonpersistent
            from howdah._locate(v_subscription, v_ack,
                array(select i.id / 1000000 from unnest(v_left) i(id) where i.id % 1000000 = v_ack.destination_id)) l
            where l.wanted and not l.done
        loop
            if howdah._lock_published(v_subscription, v_ack, v_row.xid, v_row.seq) then
                v_seqs := v_seqs || v_row.seq;
                v_xids := v_xids || v_row.xid;
                v_modes := v_modes || v_row.nonpersistent;
            end if;
        end loop;
        continue when v_seqs = '{}';
        perform howdah._acknowledge(p_destination, v_ack, v_seqs, v_xids, v_modes);
        perform howdah._fold(v_subscription, v_ack);
        v_left := array(select i.id from unnest(v_left) i(id)
                        where not (i.id % 1000000 = v_ack.destination_id and i.id / 1000000 = any (v_seqs)));
    end loop;
    return nullif(v_left, '{}');
end
$$;
