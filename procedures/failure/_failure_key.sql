-- howdah._failure_key(p_destination_id, p_message_id, p_key, p_hardened): the key under which a failure is stored.
--
-- Returns  p_key (uuid); NULL if it reported the failure of another message, which must not hide this one. Without
--          p_key, the attempt that this session began last at a message of a hardened queue.
-- Role     internal
--
-- If the session that began an attempt reports a failure, it is most likely that attempt's.
create or replace function howdah._failure_key(
    p_destination_id integer, p_message_id bigint, p_key uuid, p_hardened boolean
) returns uuid
language plpgsql volatile
as $$
begin
    if p_key is null and p_hardened then
        select a.attempt_id into p_key from howdah.attempts a
        where a.message_id = p_message_id and a.destination_id = p_destination_id and a.backend = pg_backend_pid()
          and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id)
        order by a.begun_at desc limit 1;
    end if;
    if exists (select from howdah.poison_details p
               where p.failure_key = p_key
                 and (p.message_id, p.destination_id) is distinct from (p_message_id, p_destination_id)) then
        return null;
    end if;
    return p_key;
end
$$;
