-- howdah._replace_values(p_destination, p_keys, p_message_ids): discard the unread messages of a last-value queue that
-- these new messages replace.
--
-- Role     internal
--
-- p_keys has the value of the header last_value_key of each message; NULL: it replaces nothing. No key comes twice. The
-- caller has drawn the ids and stores the messages afterwards, in the same transaction.
--
-- Senders of one key wait for each other, at the key's row. Nobody waits for a receiver: a message that somebody holds
-- stays, and is discarded by the next send if it comes back. Keys are locked in one order, so that two batches do not
-- deadlock.
create or replace function howdah._replace_values(
    p_destination howdah.destinations, p_keys text[], p_message_ids bigint[]
) returns void
language plpgsql volatile
as $$
declare
    v_key record;
    v_known bigint[];
    v_held bigint[];
    v_id bigint;
    v_found record;
    v_persistent bigint[];
    v_nonpersistent bigint[];
begin
    for v_key in
        select sha256(convert_to(k.key, 'UTF8')) as hash, k.id from unnest(p_keys, p_message_ids) k(key, id)
        where k.key is not null order by hash
    loop
        loop
            insert into howdah.last_values (destination_id, key, message_ids, changed_at)
            values (p_destination.id, v_key.hash, '{}', howdah.now()) on conflict do nothing;
            select l.message_ids into v_known from howdah.last_values l
            where l.destination_id = p_destination.id and l.key = v_key.hash for update;
            exit when found;  -- otherwise maintenance has just deleted it
        end loop;
        v_held := '{}';
        foreach v_id in array v_known loop
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
        update howdah.last_values l set message_ids = v_held || v_key.id, changed_at = howdah.now()
        where l.destination_id = p_destination.id and l.key = v_key.hash;
    end loop;
    perform howdah._journal(p_destination, 'discarded', v_persistent, false, null, 'replaced by a later value');
    perform howdah._journal(p_destination, 'discarded', v_nonpersistent, true, null, 'replaced by a later value');
end
$$;
