-- howdah._in_doubt(p_destination_id, p_seconds): attempts of which nobody can say whether they are over.
--
-- Returns  those of so many seconds, of sessions that live, and without a recorded failure.
-- Role     internal
create or replace function howdah._in_doubt(p_destination_id integer, p_seconds integer)
returns table (attempt_id uuid, message_id bigint, stage smallint, begun_at timestamptz, backend integer)
language sql volatile
as $$
    select a.attempt_id, a.message_id, a.stage, a.begun_at, a.backend from howdah.attempts a
    where a.destination_id = p_destination_id and a.begun_at > howdah.now() - p_seconds * interval '1 second'
      and exists (select from pg_stat_get_activity(a.backend))
      and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id)
$$;

-- howdah._is_attempting(): whether howdah.begin_attempts is at work.
--
-- Returns  boolean.
-- Role     internal
--
-- Anybody can set the setting that it sets, but not to what only the owner can read; it is set for no longer than the call.
create or replace function howdah._is_attempting() returns boolean
language sql stable
as $$
    select coalesce(current_setting('howdah.attempting', true), '') <> ''
        and current_setting('howdah.attempting', true) = (select e.attempting_secret::text from howdah.engine e)
$$;

-- howdah._check_untaken(p_queue, p_attempt_id, p_message_id): see that an attempt was begun in another transaction and never taken.
--
-- Raises   HD022 it was taken, even by a transaction that was rolled back; or begun in this transaction, or before the server was started.
-- Role     internal
--
-- What a transaction deletes bears its number as xmax even after it was rolled back. The number of who began it is that of ON CONFLICT DO UPDATE.
create or replace function howdah._check_untaken(p_queue text, p_attempt_id uuid, p_message_id bigint) returns void
language plpgsql volatile
as $$
declare
    v_begun_in bigint;
begin
    select u.begun_in into v_begun_in from howdah.untaken_attempts u
    where u.attempt_id = p_attempt_id and u.message_id = p_message_id and u.boot = pg_postmaster_start_time()
      and u.xmax::text::bigint in (0, u.begun_in & 4294967295);
    if not found then
        raise exception using errcode = 'HD022',
            message = format('attempt %s at queue %s was taken before, or begun before the server was started', p_attempt_id, quote_literal(p_queue)),
            hint = 'An attempt is for one howdah.receive_attempt. After a ROLLBACK call howdah.begin_attempts(queue) again, COMMIT, and then that.';
    elsif v_begun_in = pg_current_xact_id()::text::bigint then
        raise exception using errcode = 'HD022', message = format('attempt %s at queue %s was begun in this transaction', p_attempt_id, quote_literal(p_queue)),
            hint = 'Call howdah.begin_attempts(queue), COMMIT, and then this.';
    end if;
end
$$;
