-- howdah._check_untaken(p_queue, p_attempt_id, p_message_id): check that an attempt was begun in another transaction
-- and never taken.
--
-- Raises   HD022 it was taken, even by a transaction that rolled back; or it was begun in this transaction, or before
--          the server started.
-- Role     internal
--
-- A row that a transaction deletes keeps its id as xmax even after a rollback. The transaction that began the attempt
-- also leaves its id there, through ON CONFLICT DO UPDATE.
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
            message = format('attempt %s at queue %s was taken before, or begun before the server was started',
                p_attempt_id, quote_literal(p_queue)),
            hint =
                'An attempt is for one howdah.receive_attempt. After a ROLLBACK call howdah.begin_attempts(queue) '
                'again, COMMIT, and then that.';
    elsif v_begun_in = pg_current_xact_id()::text::bigint then
        raise exception using errcode = 'HD022',
            message = format('attempt %s at queue %s was begun in this transaction', p_attempt_id,
                quote_literal(p_queue)),
            hint = 'Call howdah.begin_attempts(queue), COMMIT, and then this.';
    end if;
end
$$;
