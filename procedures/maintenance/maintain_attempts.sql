-- howdah.maintain_attempts(lock_epoch, max_attempts): delete attempts at messages that are gone, and
-- permits of transactions and leases that are over.
--
-- Returns  how many attempts were deleted (bigint), at most max_attempts.
-- Raises   HD005 max_attempts is not positive; HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- An attempt counts against its message while that lies in its queue in the same stage. Recent attempts stay, because
-- their message may be in hand. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_attempts(
    lock_epoch bigint default null, max_attempts integer default 10000
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if max_attempts is null or max_attempts <= 0 then
        raise exception using errcode = 'HD005',
            message = format('max_attempts must be positive, not %s', coalesce(max_attempts::text, 'NULL'));
    end if;
    delete from howdah.attempts a
    where a.ctid = any (array(
        select g.ctid from howdah.attempts g
        where g.begun_at < howdah.now() - interval '1 minute'
          and not exists (select from howdah.msgs m
                          where m.destination_id = g.destination_id and m.rank = g.rank and m.seq = g.seq
                            and m.stage = g.stage)
          and not exists (select from howdah.msgs_nonpersistent n
                          where n.destination_id = g.destination_id and n.rank = g.rank and n.seq = g.seq
                            and n.stage = g.stage)
          and not exists (select from howdah.parked p
                          where p.destination_id = g.destination_id and p.message_id = g.message_id
                            and p.stage = g.stage)
        limit max_attempts));
    get diagnostics v_count = row_count;
    delete from howdah.untaken_attempts u
    where u.ctid = any (array(
        select g.ctid from howdah.untaken_attempts g
        where not exists (select from howdah.attempts a
            where a.attempt_id = g.attempt_id and a.message_id = g.message_id)
        limit max_attempts));
    -- No lease is longer than seven days. If a lease is extended, whoever hands its messages over records that again.
    delete from howdah.handed h where h.handed_at < howdah.now() - interval '192 hours';
    perform howdah._forget_permits(max_attempts);
    return v_count;
end
$$;
