-- howdah._fence(p_name, p_epoch): refuse work under a lease that has expired or gone to somebody else.
--
-- Raises   HD014 the lease no longer belongs to the caller.
-- Role     internal
--
-- The row stays locked until the end of the transaction, so that nobody can take over in between.
create or replace function howdah._fence(p_name text, p_epoch bigint) returns void
language plpgsql volatile
as $$
begin
    perform from howdah.lock l
    where l.name = p_name and l.epoch = p_epoch and l.held_as = howdah._caller() and l.expires_at > howdah.now()
    for no key update;
    if not found then
        raise exception using errcode = 'HD014', message = format('lock %s is not held with epoch %s',
            quote_literal(p_name), p_epoch),
            hint = 'It expired or another holder took it; acquire it again.';
    end if;
end
$$;
