-- howdah._consume_published(p_destination, p_message_ids, p_event, p_reason): end topic messages held by
-- howdah.receive_locked, and record them as consumed or discarded.
--
-- Returns  the ids of those that are not there, or no longer; NULL if there are none.
-- Role     internal
--
-- A message may have expired since it was received. The call does not evaluate the subscription's selector again then.
-- A shared subscription's cursor stays where it is, so the record of the message remains. A second call must not find
-- it again.
create or replace function howdah._consume_published(
    p_destination howdah.destinations, p_message_ids bigint[], p_event text, p_reason text
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_row record;
    v_now timestamptz := howdah.now();
    v_wanted bigint[];
    v_expired boolean;
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
        where a.subscription_id = p_destination.id
          and a.destination_id = any (array(select i.id % 1000000 from unnest(p_message_ids) i(id)))
    loop
        v_wanted := array(
            select i.id / 1000000 from unnest(v_left) i(id) where i.id % 1000000 = v_ack.destination_id);
        v_seqs := '{}';
        v_xids := '{}';
        v_modes := '{}';
        v_expired := false;
        for v_row in
            select l.xid, l.seq, l.nonpersistent, l.expires_at <= v_now as expired
            from howdah._locate(v_subscription, v_ack, v_wanted) l
            where not l.done
              and (l.wanted or l.expires_at <= v_now
                  and (not v_subscription.prioritized or l.rank = 9 - v_ack.priority))
        loop
            if howdah._lock_published(v_subscription, v_ack, v_row.xid, v_row.seq) then
                v_seqs := v_seqs || v_row.seq;
                v_xids := v_xids || v_row.xid;
                v_modes := v_modes || v_row.nonpersistent;
                v_expired := v_expired or v_row.expired is true;
            end if;
        end loop;
        if v_subscription.shared and cardinality(v_seqs) < cardinality(v_wanted) then
            for v_row in
                select e.xid, e.seq, e.nonpersistent
                from howdah._expired_in_hand(v_ack,
                    array(select w.seq from unnest(v_wanted) w(seq) where w.seq <> all (v_seqs))) e
            loop
                v_seqs := v_seqs || v_row.seq;
                v_xids := v_xids || v_row.xid;
                v_modes := v_modes || v_row.nonpersistent;
                v_expired := true;
            end loop;
        end if;
        continue when v_seqs = '{}';
        perform howdah._acknowledge(p_destination, v_ack, v_seqs, v_xids, v_modes, p_reason, p_event);
        if not (v_subscription.shared and v_expired) then
            perform howdah._advance_cursor(v_subscription, v_ack);
        end if;
        v_left := array(select i.id from unnest(v_left) i(id)
                        where not (i.id % 1000000 = v_ack.destination_id and i.id / 1000000 = any (v_seqs)));
    end loop;
    return nullif(v_left, '{}');
end
$$;
