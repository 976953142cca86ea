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
                howdah._group((v_row.message).headers, (v_row.message).conversation_id), v_row.lease_id);
        end if;
        select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
        from howdah._count_failures(p_destination.id, array[(v_row.message).message_id], array[(v_row.message).stage],
            array[(v_row.message).conversation_id], array[howdah._group((v_row.message).headers, (v_row.message).conversation_id)]) f
        where f.stage = (v_row.message).stage;
        if (v_row.message).expires_at <= v_now or v_weight >= p_destination.dispose_at then
            perform howdah._dispose(p_destination.id, v_row.message, v_row.nonpersistent, v_row.place, v_now);
            continue;
        end if;
        return query select (howdah._message(v_row.message, p_name, v_row.nonpersistent, v_failures)).*;
        if not p_hold then
            perform howdah._remove(v_row.message, v_row.place);
            perform howdah._journal(p_destination, 'consumed', array[(v_row.message).message_id], v_row.nonpersistent, null, null,
                (v_row.message).sent_at);
        end if;
    end loop;
end
$$;

-- howdah._bury_published(p_destination, …): dispose of a topic message that reached its limit, for one subscription.
--
-- Returns  false, so that a WHERE leaves the message out.
-- Role     internal
--
-- The cursor passes it, or the caller notes it as done. It becomes a message of the subscription's own, which the policy then moves,
-- parks or discards as it would a queue's. One that only waits for the delay of its last failure is parked so.
create or replace function howdah._bury_published(
    p_destination howdah.destinations, p_message_id bigint, p_sent_at timestamptz, p_expires_at timestamptz, p_rank smallint,
    p_is_text boolean, p_content_type text, p_body bytea, p_headers jsonb, p_correlation_id text, p_reply_to text, p_message_type text,
    p_conversation_id uuid, p_nonpersistent boolean, p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_copy howdah.msgs := howdah._own_copy(p_destination, p_message_id, p_sent_at, p_expires_at, p_rank, p_is_text, p_content_type,
        p_body, p_headers, p_correlation_id, p_reply_to, p_message_type, p_conversation_id);
    v_weight integer := (select s.weight from howdah._standing(p_destination.id, p_message_id, 0::smallint, p_conversation_id,
        howdah._group(p_headers, p_conversation_id), null) s);
begin
    if not howdah._park_waiting(p_destination, v_copy, p_nonpersistent, v_weight, p_now) then
        perform howdah._bury(p_destination, v_copy, p_nonpersistent, howdah._why(v_weight));
    end if;
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
