-- howdah._begin_since(p_subscription, p_since): make a new subscription skip what was sent before a time.
--
-- Role     internal
--
-- The cursor goes to the oldest transaction that sent anything since then. Earlier messages of that transaction and
-- younger ones are recorded as done.
create or replace function howdah._begin_since(p_subscription howdah.subscriptions, p_since timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_ack howdah.acks;
    v_first xid8;
    v_upto pg_snapshot;
    v_ring bigint := howdah._truncations();
begin
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_subscription.destination_id loop
        v_upto := howdah._snapshot();
        select h.xid into v_first from howdah._history(v_ack.destination_id, p_since, v_upto) h order by h.xid limit 1;
        if not found then
            perform howdah._move_cursor(howdah._cursor(v_ack.id), '3', -1, 0, v_upto);
            continue;
        end if;
        perform howdah._move_cursor(howdah._cursor(v_ack.id), '3', -1, 0,
            howdah._cursor_at('3:3:'::pg_snapshot, v_upto, v_first));
        insert into howdah.acked (ack_id, seq, xid)
        select v_ack.id, h.seq, h.xid from howdah._history(v_ack.destination_id, null, v_upto) h
        where h.xid >= v_first and h.sent_at < p_since;
    end loop;
    perform howdah._same_ring(v_ring);
end
$$;
