-- howdah.read_imported(source, topic, subscription, keys): pass messages that the same subscription had read at the
-- source.
--
-- Returns  how many it had not read here (bigint).
-- Raises   HD001 no such topic or subscription; HD005 no such import, or keys is NULL; HD010 not allowed; HD045 the
--          master of changes is away.
-- Role     howdah_admin
--
-- keys are those of messages of the topic. The journal records them as discarded. Messages in somebody's hands stay.
create or replace function howdah.read_imported(source text, topic text, subscription text, keys text[])
returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_topic howdah.destinations := howdah._destination(topic, 'send');
    v_subscription howdah.destinations := howdah._subscription(subscription, 'receive');
    v_ids bigint[];
    v_read bigint;
begin
    if keys is null then
        raise exception using errcode = 'HD005', message = 'keys cannot be NULL',
            hint = 'See howdah.list_imported(source, queue).';
    end if;
    v_ids := array(
        select i.message_id from howdah.imported i
        where i.import_id = v_import.import_id and i.destination_id = v_topic.id and i.key = any (keys)
        order by i.store_id);
    if v_ids = '{}' then
        return 0;
    end if;
    perform howdah._commit_needs(4);
    v_read := cardinality(v_ids) - coalesce(cardinality(howdah._consume_published(v_subscription, v_ids, 'discarded',
        'read at the source')), 0);
    update howdah.imports i set withdrawn = i.withdrawn + v_read where i.import_id = v_import.import_id and v_read > 0;
    return v_read;
end
$$;
