-- howdah._begin_since(p_subscription, p_since, p_upto): make a subscription skip what was sent before a time, of all
-- messages up to a snapshot.
--
-- Role     internal
--
-- The cursor goes to the oldest transaction that sent anything since then. Earlier messages of that transaction and
-- younger ones are recorded as done.
create or replace function howdah._begin_since(
    p_subscription howdah.subscriptions, p_since timestamptz, p_upto pg_snapshot
) returns void
language plpgsql volatile
as $$
declare
    v_ack howdah.acks;
    v_first xid8;
    v_ring bigint := howdah._truncations();
begin
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_subscription.destination_id loop
        select h.xid into v_first from howdah._history(v_ack.destination_id, p_since, p_upto) h order by h.xid limit 1;
        if not found then
            perform howdah._move_cursor(howdah._cursor(v_ack.id), '3', -1, 0, p_upto);
            continue;
        end if;
        perform howdah._move_cursor(howdah._cursor(v_ack.id), '3', -1, 0,
            howdah._cursor_at('3:3:'::pg_snapshot, p_upto, v_first));
        insert into howdah.acked (ack_id, seq, xid)
        select v_ack.id, h.seq, h.xid from howdah._history(v_ack.destination_id, null, p_upto) h
        where h.xid >= v_first and h.sent_at < p_since;
    end loop;
    perform howdah._same_ring(v_ring);
end
$$;
