-- howdah._receive_published(p_destination, p_subscription, p_name, p_want, p_hold): receive from a subscription of any
-- kind.
--
-- Returns  up to p_want rows of howdah.message: first what was set aside and is due again, then messages of its topics.
--          A shared subscription gives at most four times max_locks_per_transaction (256 by default). Each message
--          takes a place in the server's lock table, which all sessions share.
-- Role     internal
--
-- The caller has locked the subscription.
create or replace function howdah._receive_published(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_name text, p_want integer, p_hold boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_ack howdah.acks;
    v_taken integer;
    v_wild boolean := howdah._is_wildcard(p_subscription.topic);
    v_now timestamptz := howdah.now();
begin
    if p_subscription.shared then
        p_want := least(p_want, 4 * current_setting('max_locks_per_transaction')::integer);
    end if;
    perform howdah._expire_leases(p_destination.id)
    where exists (select from howdah.acks a join howdah.acked d on d.ack_id = a.id
                  where a.subscription_id = p_destination.id and d.lease_id is not null and d.leased_until <= v_now);
    if exists (select from howdah.msgs o where o.destination_id = p_destination.id)
       or exists (select from howdah.msgs_nonpersistent o where o.destination_id = p_destination.id)
       or exists (select from howdah.parked o where o.destination_id = p_destination.id)
          and howdah._has_due(p_destination.id, v_now) then
        return query select * from howdah._receive_set_aside(p_destination, v_wild, p_name, p_want, p_hold);
        get diagnostics v_taken = row_count;
        p_want := p_want - v_taken;
    end if;
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = p_destination.id and (not v_wild or howdah._has_right(a.destination_id, 'receive'))
        order by a.priority desc, a.destination_id
    loop
        exit when p_want <= 0;
        -- Messages are also taken one by one with an old snapshot, which meets what was set aside or consumed since
        -- (howdah._note_done). So they are beside leased messages, which the cursor must not pass.
        if p_subscription.shared or p_hold or howdah._has_old_snapshot()
           or exists (select from howdah.acked d where d.ack_id = v_ack.id and d.lease_id is not null) then
            return query select * from howdah._claim_published(p_destination, p_subscription, v_ack, p_name, p_want,
                p_hold);
        else
            return query select * from howdah._read_published(p_destination, p_subscription, v_ack, p_name, p_want);
        end if;
        get diagnostics v_taken = row_count;
        p_want := p_want - v_taken;
    end loop;
end
$$;
