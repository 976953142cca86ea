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
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = p_destination_id and a.destination_id = p_message_id % 1000000
          and (not howdah._is_wildcard(v_subscription.topic) or howdah._may(a.destination_id, 'receive'))
    loop
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
    if not (case when p_subscription.shared then pg_try_advisory_xact_lock(hashint8extended(p_seq, howdah._lock_key('published', p_ack.id::text)))
        else pg_try_advisory_xact_lock(howdah._lock_key('subscription', p_subscription.destination_id::text)) end) then
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
        perform howdah._acknowledge(p_destination, v_ack, v_seqs, v_xids, v_modes, 'held');
        perform howdah._fold(v_subscription, v_ack);
        v_left := array(select i.id from unnest(v_left) i(id)
                        where not (i.id % 1000000 = v_ack.destination_id and i.id / 1000000 = any (v_seqs)));
    end loop;
    return nullif(v_left, '{}');
end
$$;
