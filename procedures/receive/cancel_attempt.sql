-- howdah.cancel_attempt(queue, attempt_id): withdraw an attempt that ended through no fault of its message.
--
-- Returns  true if there was such an attempt without a recorded failure (boolean).
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Call it after a rollback for a serialization failure, a deadlock, or a consumer that was told to stop. An attempt
-- that is not withdrawn counts.
create or replace function howdah.cancel_attempt(queue text, attempt_id uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'receive')).id;
begin
    perform howdah._commit_needs(4);
    delete from howdah.attempts a
    where a.attempt_id = cancel_attempt.attempt_id and a.destination_id = v_id
      and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id);
    return found;
end
$$;
