-- howdah.maintain_autocreated(lock_epoch): drop queues and topics that created themselves and that nobody uses.
--
-- Returns  the number of them dropped (bigint).
-- Raises   HD002 all numbers are taken; HD005 the transaction is not READ COMMITTED; HD010 called from a maintenance
--          command; HD014 the maintenance lock is not held with this epoch; HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- One is dropped when it holds no message, no consumer, listener or subscription is open, and it was not used for the
-- option autocreate_reap_seconds. After a restart of the server, it is dropped at the first pass. docs/auto-creation.md
-- says what counts as use. A pass looks at 500 of them. It also makes
-- sequences for the next 100 destinations, 25 a pass: their first use then is faster. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_autocreated(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_count bigint;
begin
    perform howdah._refuse_maintenance();
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.maintain_autocreated needs READ COMMITTED',
            hint = 'With an older snapshot it would not see what others use.';
    end if;
    perform howdah._sweep_lost();
    v_count := howdah._end_unused(howdah._look_at_use(500));
    perform howdah._make_spares(100, 25);
    return v_count;
end
$$;
