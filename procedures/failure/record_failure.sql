-- howdah.record_failure(queue, message_id, …): record that a delivery failed, after its transaction was rolled back.
--
-- Returns  the incident's number, which failure of the message it was (from 1), and the outcome: returned, delayed,
--          blocked, moved, discarded, quarantined or ended (the message was free and the policy was applied), held
--          (another session has it; its next receive decides) or gone.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD022 the queue is hardened, and no attempt at
--          the message is on record that could have failed.
-- Role     howdah_consumer howdah_admin
--
-- Call it in a transaction of its own: what is written inside the receiving transaction rolls back with it. priority
-- and position are those of the message received (without them a replayed message is searched for). delay overrides the
-- queue's redelivery_delay_ms. reject: no more tries, the message goes the way of one that has reached its limit.
-- failure_key, if given, makes a second call with the same key return the first result. Of a hardened queue it is the
-- attempt; left out, it is the last one of this session. A failure does not count, and applies nothing, if the message
-- is under a lease (howdah.nack is for who has that), or if it is gone from a hardened queue without its attempt.
create or replace function howdah.record_failure(
    queue text, message_id bigint, error_text text default null, error_class text default null,
    sqlstate text default null,
    traceback text default null, duration_ms integer default null, worker text default null,
    failure_key uuid default null,
    details jsonb default null, priority integer default null, "position" bigint default null,
    stage integer default null, delay interval default null, reject boolean default false
) returns table (incident_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off
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
