-- howdah._keep_link(p_name, p_holder): whether the caller is the one forwarder of a link, after an attempt to become
-- it.
--
-- Returns  boolean.
-- Raises   HD005 bad holder; HD010 called from a maintenance command.
-- Role     internal
--
-- The lock holds until the transaction ends: while a batch is under way, nobody takes the next one. The lease lasts 30
-- seconds and keeps others away between batches; it is renewed only once half of it is over.
create or replace function howdah._keep_link(p_name text, p_holder text) returns boolean
language plpgsql volatile
as $$
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('link', p_name)) then
        return false;
    end if;
    return exists (select from howdah.lock l
        where l.name = 'link:' || p_name and l.holder = p_holder and l.held_as = howdah._caller()
          and l.expires_at > howdah.now() + interval '15 seconds')
        or howdah._acquire_lock('link:' || p_name, p_holder, 30) is not null;
end
$$;
