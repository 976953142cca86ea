-- howdah.maintain_deduplications(lock_epoch, max_keys): delete the deduplication keys whose window is over.
--
-- Returns  how many were deleted (bigint), at most max_keys.
-- Raises   HD005 max_keys is not positive; HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- It includes the keys of dropped queues. It also forgets keys of last-value queues that have no message left.
-- lock_epoch NULL: run by hand.
create or replace function howdah.maintain_deduplications(
    lock_epoch bigint default null, max_keys integer default 100000
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if max_keys is null or max_keys <= 0 then
        raise exception using errcode = 'HD005', message = format('max_keys must be positive, not %s',
            coalesce(max_keys::text, 'NULL'));
    end if;
    delete from howdah.deduplications d
    where d.ctid = any (array(select g.ctid from howdah.deduplications g where g.forgotten_at <= howdah.now()
        limit max_keys for update skip locked));
    get diagnostics v_count = row_count;
    perform howdah._forget_values();
    return v_count;
end
$$;
