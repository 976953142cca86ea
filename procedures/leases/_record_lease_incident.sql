-- howdah._record_lease_incident(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group, p_lease): store
-- the incident of a lease that ran out.
--
-- Role     internal
--
-- The key contains a secret. A caller who guessed the key could use it for a failure of a queue of
-- their own; this incident would then seem recorded.
create or replace function howdah._record_lease_incident(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text,
    p_lease bigint
) returns void
language plpgsql volatile
as $$
declare
    v_key uuid := md5(format('%s lease %s of %s', (select e.digest_secret from howdah.engine e), p_lease,
        p_message_id))::uuid;
    v_suspect boolean;
    v_text text := format('lease %s ended and was neither acknowledged nor extended', p_lease);
    v_now timestamptz;
begin
    if exists (select from howdah.poison_details p where p.failure_key = v_key)
       or not howdah._is_blamed(p_lease, p_message_id) then
        return;
    end if;
    perform nextval(d.failing) from howdah.destinations d where d.id = p_destination_id;
    v_suspect := howdah._use_up_suspect(p_lease);
    v_now := howdah.now();
    insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,
        conversation_id, message_group, failure_key, error_class, error_text, recorded_by, rejected, uncounted, details,
        fingerprint, digest)
    values (p_message_id, v_now, p_destination_id,
        1 + howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group), p_stage, 'returned',
        p_conversation_id, p_group, v_key, 'LeaseExpired', v_text, howdah._caller(), false, not v_suspect,
        case when not v_suspect then jsonb '{"uncounted": true}' end, howdah._fingerprint('LeaseExpired', v_text, null),
        howdah._seal((select e.digest_secret from howdah.engine e), p_message_id, v_now, 'LeaseExpired', v_text, null));
end
$$;
