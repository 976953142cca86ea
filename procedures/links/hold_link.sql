-- howdah.hold_link(name): let no batch of a link begin until the transaction ends, for an audit of both its engines.
--
-- Raises   HD010 not allowed; HD014 a batch is under way; HD041 there is no such link.
-- Role     howdah_auditor howdah_admin
--
-- It waits up to three seconds for a batch that is under way. Then nothing is in flight. Read both sides, and end the
-- transaction. A session that is idle in it for a minute is ended.
create or replace function howdah.hold_link(name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set lock_timeout = '3s'
as $$
begin
    perform howdah._link(hold_link.name, 'browse');
    perform pg_advisory_xact_lock(howdah._lock_key('link', hold_link.name));
    perform set_config('idle_in_transaction_session_timeout', '60s', true);
exception when lock_not_available then
    raise exception using errcode = 'HD014', message = format('a batch of link %s is under way',
        quote_literal(hold_link.name)),
        hint = 'Try again once it has ended, or pause the link with howdah.pause_link(name).';
end
$$;
