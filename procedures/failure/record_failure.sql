-- howdah.record_failure(queue, message_id, …): record that a delivery failed, after its transaction was rolled back.
--
-- Returns  the incident's number, which failure of the message it was (from 1), and the outcome. If the message was
--          free, the policy was applied, and the outcome is returned, delayed, blocked, moved, discarded, quarantined
--          or ended. held: another session has it, and its next receive decides. gone: it is no longer there.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD022 the queue is hardened, and there is no
--          recorded attempt at the message that could have failed.
-- Role     howdah_consumer howdah_admin
--
-- Call it in a transaction of its own: a rollback of the receiving transaction would undo it. priority and position are
-- those of the message received; without them a replayed message is searched for.
--
-- delay overrides the queue's redelivery_delay_ms. reject: no more tries; the message is treated as if it had reached
-- its limit.
--
-- failure_key makes a second call with the same key return the first result. In a hardened queue it is the attempt. If
-- left out there, it is the last attempt of this session.
--
-- The failure does not count, and no policy is applied, in two cases. The message is under a lease, whose holder must
-- call howdah.nack; or it has gone from a hardened queue without its attempt.
create or replace function howdah.record_failure(
    queue text, message_id bigint, error_text text default null, error_class text default null,
    sqlstate text default null, traceback text default null, duration_ms integer default null, worker text default null,
    failure_key uuid default null, details jsonb default null, priority integer default null,
    "position" bigint default null,
    stage integer default null, delay interval default null, reject boolean default false
) returns table (incident_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set jit = off
as $$
begin
    return query
    select r.incident_id, r.attempt, r.outcome
    from howdah._told_failure(howdah._queue(queue, 'receive'), jsonb_build_object(
        'message_id', message_id, 'error_text', error_text, 'error_class', error_class, 'sqlstate', sqlstate,
        'traceback', traceback, 'duration_ms', duration_ms, 'worker', worker, 'failure_key', failure_key,
        'details', details, 'priority', priority, 'position', "position", 'stage', stage,
        'delay_ms', extract(epoch from delay) * 1000, 'reject', reject), false) r;
end
$$;
