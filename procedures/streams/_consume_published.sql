-- howdah._consume_published(p_destination, p_message_ids, p_event, p_reason): end topic messages held by
-- howdah.receive_locked, and record them as consumed or discarded.
--
-- Returns  the ids of those that are not there, or no longer; NULL if there are none.
-- Role     internal
create or replace function howdah._consume_published(
    p_destination howdah.destinations, p_message_ids bigint[], p_event text, p_reason text
) returns bigint[]
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
        where a.subscription_id = p_destination.id
          and a.destination_id = any (array(select i.id % 1000000 from unnest(p_message_ids) i(id)))
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
        perform howdah._acknowledge(p_destination, v_ack, v_seqs, v_xids, v_modes, p_reason, p_event);
        perform howdah._advance_cursor(v_subscription, v_ack);
        v_left := array(select i.id from unnest(v_left) i(id)
                        where not (i.id % 1000000 = v_ack.destination_id and i.id / 1000000 = any (v_seqs)));
    end loop;
    return nullif(v_left, '{}');
end
$$;
