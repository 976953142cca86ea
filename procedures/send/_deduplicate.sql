-- howdah._deduplicate(p_destination, p_keys, p_ids): find which of the messages about to be sent were sent already.
--
-- Returns  bigint[]: for each key, the id of the first message sent with it; that is the id in p_ids if the message is
--          new.
-- Raises   HD005 a key is empty or too long.
-- Role     internal
--
-- If another open transaction has sent the same key, this call waits for it. Its message is the first if it commits;
-- this one is if it rolls back.
--
-- Keys are taken in their order, so that two batches never deadlock. A NULL key is no key. Under REPEATABLE READ the
-- call fails with 40001 if the first message was committed after the snapshot; the caller tries again.
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
            hint = 'Hash a longer key.';
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
