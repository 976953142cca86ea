-- howdah._message_state(p_leased, p_due_at, p_parked_reason, p_dead_at, p_expires_at, p_now): where a message is.
--
-- Returns  text: ready, delayed, leased, parked, dead or expired.
-- Role     internal
create or replace function howdah._message_state(
    p_leased boolean, p_due_at timestamptz, p_parked_reason text, p_dead_at timestamptz, p_expires_at timestamptz,
    p_now timestamptz
) returns text
language sql immutable
as $$
    select case when p_leased and p_due_at > p_now then 'leased' when p_dead_at is not null then 'dead'
        when p_expires_at <= p_now then 'expired' when p_due_at is null or p_due_at <= p_now then 'ready'
        when p_parked_reason = 'delay' then 'delayed' else 'parked' end
$$;
