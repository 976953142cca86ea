-- howdah.cancel_attempt(queue, attempt_id): take an attempt back that ended for no fault of its message.
--
-- Returns  whether there was one that no failure was recorded for.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- After the rollback: a serialization failure, a deadlock, a consumer that was told to stop. An attempt that is not
-- taken back counts.
create or replace function howdah.cancel_attempt(queue text, attempt_id uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'receive')).id;
begin
    delete from howdah.attempts a
    where a.attempt_id = cancel_attempt.attempt_id and a.destination_id = v_id
      and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id);
    return found;
end
$$;
