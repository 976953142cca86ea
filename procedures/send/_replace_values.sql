-- howdah._replace_values(p_destination, p_keys, p_message_ids): discard the unread messages of a last-value queue that
-- these new messages replace.
--
-- Role     internal
--
-- p_keys has the value of the header last_value_key of each message; NULL: it replaces nothing. No key comes twice. The
-- caller has drawn the ids and stores the messages afterwards, in the same transaction.
--
-- Senders of one key wait for each other. Nobody waits for a receiver: a message that somebody holds stays, and is
-- discarded by the next send if it comes back.
--
-- A send inserts a row and deletes the one before. It finds the newest first, whatever number of dead rows an old
-- snapshot keeps. With an update, every send would read all of those.
create or replace function howdah._replace_values(
    p_destination howdah.destinations, p_keys text[], p_message_ids bigint[]
) returns void
language plpgsql volatile set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_key record;
    v_last record;
    v_held bigint[];
    v_id bigint;
    v_found record;
    v_persistent bigint[];
    v_nonpersistent bigint[];
begin
    perform howdah._lock_values(p_destination, p_keys);
    for v_key in
        select howdah._value_key(p_destination.last_value_key, k.key) as hash, k.id
        from unnest(p_keys, p_message_ids) k(key, id)
        where k.key is not null
    loop
        v_held := '{}';
        select l.message_id, l.held into v_last from howdah.last_values l
        where l.destination_id = p_destination.id and l.key = v_key.hash and l.message_id > 0
        order by l.message_id desc limit 1;
        if found then
            delete from howdah.last_values l
            where l.destination_id = p_destination.id and l.key = v_key.hash and l.message_id = v_last.message_id;
            foreach v_id in array coalesce(v_last.held, '{}') || v_last.message_id loop
                select f.* into v_found from howdah._find(p_destination.id, v_id, null, null) f;
                if v_found.free then
                    perform howdah._remove(v_found.message, v_found.place);
                    if v_found.nonpersistent then
                        v_nonpersistent := v_nonpersistent || v_id;
                    else
                        v_persistent := v_persistent || v_id;
                    end if;
                elsif v_found.place is not null then
                    v_held := v_held || v_id;
                end if;
            end loop;
        end if;
        insert into howdah.last_values (destination_id, key, message_id, held)
        values (p_destination.id, v_key.hash, v_key.id, nullif(v_held, '{}'));
    end loop;
    perform howdah._journal(p_destination, 'discarded', v_persistent, false, null, 'replaced by a later value');
    perform howdah._journal(p_destination, 'discarded', v_nonpersistent, true, null, 'replaced by a later value');
end
$$;
