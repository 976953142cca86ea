-- howdah.maintain_results(lock_epoch, max_results): delete the results that are no longer kept.
--
-- Returns  how many were deleted (bigint), at most max_results.
-- Raises   HD005 max_results is not positive; HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- It includes the results of dropped queues, and requests by howdah.wait_result whose time is over. lock_epoch NULL:
-- run by hand.
create or replace function howdah.maintain_results(
    lock_epoch bigint default null, max_results integer default 100000
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if max_results is null or max_results <= 0 then
        raise exception using errcode = 'HD005', message = format('max_results must be positive, not %s',
            coalesce(max_results::text, 'NULL'));
    end if;
    delete from howdah.result_waiters w
    where w.ctid = any (array(select g.ctid from howdah.result_waiters g where g.until <= howdah.now()
        limit max_results for update skip locked));
    delete from howdah.results r
    where r.ctid = any (array(select g.ctid from howdah.results g where g.until <= howdah.now()
        order by g.until limit max_results for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end
$$;
