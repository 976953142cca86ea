-- howdah._deduplicate(p_destination, p_keys, p_ids): tell messages about to be sent from those that were sent already.
--
-- Returns  bigint[]: for each key the number of the message that was first to be sent with it, which is that of p_ids
--          if it is to be sent now.
-- Raises   HD005 a key is empty or too long.
-- Role     internal
--
-- A key that another open transaction has sent is waited for: if that commits it was the first, if it rolls back this
-- one is. The keys are taken in their order, so that two batches never wait for each other. A NULL key is no key. Under
-- a snapshot that a transaction holds on to it is error 40001 if the first was committed since: try again.
create or replace function howdah._deduplicate(
    p_destination howdah.destinations, p_keys text[], p_ids bigint[]
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_now constant timestamptz := howdah.now();
    v_key text;
begin
    select k.key into v_key from unnest(p_keys) k(key) where k.key = '' or length(k.key) > 250 limit 1;
    if found then
        raise exception using errcode = 'HD005', message = format('a deduplication key has 1 to 250 characters, not %s',
            length(v_key)),
            hint = 'Hash what is longer.';
    end if;
    insert into howdah.deduplications as d (destination_id, key, message_id, forgotten_at)
    select p_destination.id, k.key, k.id, v_now + p_destination.deduplication_window_ms * interval '1 millisecond'
    from (
        select distinct on (u.key) u.key, u.id
        from unnest(p_keys, p_ids) with ordinality u(key, id, n)
        where u.key is not null order by u.key, u.n
    ) k
    where not exists (select from howdah.deduplications o
                      where o.destination_id = p_destination.id and o.key = k.key collate "C"
                        and o.forgotten_at > v_now)
    order by k.key
    on conflict on constraint pk_deduplications do update set message_id = excluded.message_id,
        forgotten_at = excluded.forgotten_at
    where d.forgotten_at <= v_now;
    return array(
        select coalesce(d.message_id, u.id)
        from unnest(p_keys, p_ids) with ordinality u(key, id, n)
        left join howdah.deduplications d on d.destination_id = p_destination.id and d.key = u.key collate "C"
        order by u.n);
end
$$;
