-- howdah._lock_values(p_destination, p_keys): make other senders of these keys of a last-value queue wait until this
-- transaction ends.
--
-- Role     internal
--
-- It locks the row with number 0 of each key, and creates it for a new key. Nobody changes that row while the key is in
-- use, so that no row of it dies. Keys are locked in one order, so that two batches do not deadlock.
create or replace function howdah._lock_values(p_destination howdah.destinations, p_keys text[]) returns void
language plpgsql volatile set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_key bytea;
begin
    for v_key in
        select distinct howdah._value_key(p_destination.last_value_key, k.key) as hash from unnest(p_keys) k(key)
        where k.key is not null order by hash
    loop
        loop
            perform from howdah.last_values l
            where l.destination_id = p_destination.id and l.key = v_key and l.message_id = 0 for update;
            exit when found;
            insert into howdah.last_values (destination_id, key, message_id, looked_at)
            values (p_destination.id, v_key, 0, howdah.now()) on conflict do nothing;
        end loop;
    end loop;
end
$$;
