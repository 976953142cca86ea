-- howdah._lock_published(p_subscription, p_ack, p_xid, p_seq): lock a free topic message for a subscription; of an
-- unshared subscription, lock the whole.
--
-- Returns  true if the caller has it now (boolean); false also if somebody finished with it meanwhile.
-- Role     internal
create or replace function howdah._lock_published(
    p_subscription howdah.subscriptions, p_ack howdah.acks, p_xid xid8, p_seq bigint
)
returns boolean
language plpgsql volatile
as $$
begin
    if not (case when p_subscription.shared then pg_try_advisory_xact_lock(hashint8extended(p_seq,
        howdah._lock_key('published', p_ack.id::text)))
        else pg_try_advisory_xact_lock(howdah._lock_key('subscription', p_subscription.destination_id::text)) end) then
        return false;
    end if;
    -- This is a statement of its own, with a snapshot taken after the lock: whoever held it before has committed by
    -- then.
    return not exists (select from howdah.acked a where a.ack_id = p_ack.id and a.seq = p_seq)
        and not howdah._is_passed(howdah._cursor(p_ack.id), p_xid, p_seq);
end
$$;
