-- howdah._skip_backlog(p_destination, p_subscription, p_ack, p_reason): move a cursor to the end, over all it has not
-- read, and journal what it skips.
--
-- Returns  the number of messages discarded (bigint).
-- Role     internal
--
-- The caller has locked the subscription. At most 10,000 messages go into one row of the journal.
create or replace function howdah._skip_backlog(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_ack howdah.acks, p_reason text
) returns bigint
language plpgsql volatile
as $$
declare
    v_upto pg_snapshot := howdah._snapshot();
    v_ids bigint[];
    v_nonpersistent boolean;
    v_discarded bigint := 0;
begin
    -- A lease that has ended left its messages unread.
    perform howdah._expire_leases(p_destination.id);
    for v_ids, v_nonpersistent in
        select array_agg(a.message_id), a.nonpersistent
        from (select h.message_id, h.nonpersistent, row_number() over () / 10000 as part
              from howdah._messages_ahead(p_subscription, p_ack, v_upto, null, null) h) a
        group by a.nonpersistent, a.part
    loop
        perform howdah._journal(p_destination, 'discarded', v_ids, v_nonpersistent, null, p_reason);
        v_discarded := v_discarded + cardinality(v_ids);
    end loop;
    perform howdah._move_cursor(howdah._cursor(p_ack.id), '3', -1, 0, v_upto);
    delete from howdah.acked a where a.ack_id = p_ack.id and pg_visible_in_snapshot(a.xid, v_upto);
    return v_discarded;
end
$$;
