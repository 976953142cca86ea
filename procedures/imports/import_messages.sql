-- howdah.import_messages(source, queue, messages): store messages of another system's store, each once however often it
-- comes.
--
-- Returns  stored: how many are new; repeated: how many had come over before.
-- Raises   HD001, HD002, HD004, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027, HD039, HD040 as
--          howdah.send_batch; HD005 also if there is no such import, or messages is not what follows; HD045 the master
--          of changes is away; HD049 never, because bridges get nothing; HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_admin
--
-- messages is a JSON array, in the order of delivery. Each has key, its identity at the source, and message_id, its
-- number in the store, which grows. text or bytes (base64) is the body. content_type, headers, priority,
-- correlation_id, reply_to and message_type are as in howdah.send. expires_ms is the time of expiry in milliseconds
-- since 1970; the caller leaves out what has expired. A topic's messages do not go on to its bridges: the source has
-- sent them on itself.
create or replace function howdah.import_messages(source text, queue text, messages json)
returns table (stored integer, repeated integer)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_destination howdah.destinations := howdah._destination(queue, 'send');
    v_now constant timestamptz := howdah.now();
    v_new json;
    v_keys text[];
    v_numbers bigint[];
    v_stored record;
begin
    if messages is null or json_typeof(messages) <> 'array' then
        raise exception using errcode = 'HD005', message = 'messages is not a JSON array',
            hint = 'Each of its objects has key and message_id.';
    end if;
    begin
        select coalesce(json_agg(case when f.message ->> 'expires_ms' is null then f.message
                else f.message || jsonb_build_object('lives_ms', greatest(1, ceil((f.message ->> 'expires_ms')::numeric
                    - extract(epoch from v_now) * 1000)::bigint)) end order by f.n), '[]'),
            array_agg(f.message ->> 'key' order by f.n), array_agg((f.message ->> 'message_id')::bigint order by f.n)
        into v_new, v_keys, v_numbers
        from (
            select distinct on (e.message ->> 'key') e.message, e.n
            from (select m.value::jsonb as message, m.ordinality as n
                  from json_array_elements(messages) with ordinality m) e
            where not exists (select from howdah.imported i
                              where i.import_id = v_import.import_id and i.destination_id = v_destination.id
                                and i.key = e.message ->> 'key' collate "C")
            order by e.message ->> 'key', e.n
        ) f;
    exception when data_exception then
        raise exception using errcode = 'HD005', message = format('messages cannot be read: %s', sqlerrm);
    end;
    if array_position(v_keys, null) is not null or array_position(v_numbers, null) is not null
       or exists (select from unnest(v_keys) k(key) where length(k.key) not between 1 and 1000) then
        raise exception using errcode = 'HD005',
            message = 'each message has a key of 1 to 1000 characters and a message_id';
    end if;
    v_stored := howdah._link_store(queue, v_new, p_forward => false);
    insert into howdah.imported (import_id, destination_id, key, store_id, message_id)
    select v_import.import_id, v_destination.id, u.key, u.number, u.id
    from unnest(v_keys, v_numbers, v_stored.local_ids) u(key, number, id);
    stored := cardinality(v_stored.local_ids);
    repeated := json_array_length(messages) - stored;
    update howdah.imports i set stored = i.stored + import_messages.stored where i.import_id = v_import.import_id;
    return next;
end
$$;
