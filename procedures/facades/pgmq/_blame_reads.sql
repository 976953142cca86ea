-- pgmq._blame_reads(p_destination_id, p_now, p_dispose): count each read that ran out as a failed delivery, in a queue
-- with a limit of failures: the incident LeaseExpired.
--
-- Role     internal
--
-- p_dispose: then dispose of messages that are at the limit.
create or replace function pgmq._blame_reads(
    p_destination_id integer, p_now timestamptz, p_dispose boolean default true
) returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_message howdah.parked;
    v_rows tid[] := pgmq._overdue_rows(p_destination_id, p_now);
    v_dispose_at integer := (select d.dispose_at from howdah.destinations d where d.id = p_destination_id);
    v_secret text := (select e.digest_secret from howdah.engine e);
begin
    -- Who records a read has the message until its transaction ends: others pass it over.
    perform howdah._record_lease_incident(m.destination_id, m.message_id, m.stage, m.conversation_id,
        howdah._group(m.headers, m.conversation_id), -m.reads)
    from (
        select p.* from howdah.parked p
        where p.ctid = any (v_rows) and p.due_at <= p_now and p.parked_reason = 'lease' and p.lease_id is null
          and not exists (select from howdah.poison_details d  -- the key of howdah._record_lease_incident
              where d.failure_key = md5(format('%s lease %s of %s', v_secret, -p.reads, p.message_id))::uuid)
        for update of p skip locked) m;
    if not p_dispose then
        return;
    end if;
    for v_message in
        select p.* from howdah.parked p
        where p.ctid = any (v_rows) and p.due_at <= p_now and p.parked_reason = 'lease' and p.lease_id is null
          and (select s.weight from howdah._standing(p.destination_id, p.message_id, p.stage, p.conversation_id,
                  howdah._group(p.headers, p.conversation_id), null) s) >= v_dispose_at
        for update skip locked
    loop
        perform howdah._dispose(p_destination_id, howdah._as_ready(v_message), v_message.boot is not null, 'parked',
            p_now);
    end loop;
end
$$;
