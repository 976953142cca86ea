-- howdah._keep_lock(p_name, p_holder, p_now, p_seconds): extend a named lease for its holder.
--
-- Returns  its epoch (bigint); NULL if it is not the holder's, or has expired.
-- Role     internal
create or replace function howdah._keep_lock(
    p_name text, p_holder text, p_now timestamptz, p_seconds numeric
) returns bigint
language sql volatile
as $$
    update howdah.lock l set expires_at = p_now + p_seconds * interval '1 second'
    where l.name = p_name and l.holder = p_holder and l.held_as = howdah._caller() and l.expires_at > p_now
    returning l.epoch
$$;
