-- howdah.withdraw_imported(source, queue, keys): take back messages that were consumed at the source
-- after they had come over.
--
-- Returns  how many were still here (bigint). The others were consumed here, too, or are in somebody's hands.
-- Raises   HD001 no such queue; HD005 no such import, or keys is NULL; HD010 not allowed; HD012 it belongs to the
--          engine; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- queue is a queue; howdah.read_imported does the same for a subscription. The journal records the messages as
-- discarded, and so does howdah.list_acts, with the setting howdah.reason.
create or replace function howdah.withdraw_imported(source text, queue text, keys text[]) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_destination howdah.destinations := howdah._own_queue(queue);
    v_named bigint[];
    v_persistent bigint[];
    v_nonpersistent bigint[];
    v_ids bigint[];
begin
    if keys is null then
        raise exception using errcode = 'HD005', message = 'keys cannot be NULL',
            hint = 'See howdah.list_imported(source, queue).';
    end if;
    v_named := array(
        select i.message_id from howdah.imported i
        where i.import_id = v_import.import_id and i.destination_id = v_destination.id and i.key = any (keys));
    select coalesce(array_agg((t.message).message_id) filter (where not t.nonpersistent), '{}'),
        coalesce(array_agg((t.message).message_id) filter (where t.nonpersistent), '{}')
    into v_persistent, v_nonpersistent from howdah._take_back(v_destination, v_named, null) t;
    v_ids := v_persistent || v_nonpersistent;
    perform howdah._journal(v_destination, 'discarded', v_persistent, false, null, 'consumed at the source');
    perform howdah._journal(v_destination, 'discarded', v_nonpersistent, true, null, 'consumed at the source');
    perform howdah._record_act('discarded', v_destination.id, v_ids, null, howdah._why('consumed at the source'));
    delete from howdah.imported i
    where i.import_id = v_import.import_id and i.destination_id = v_destination.id and i.key = any (keys)
      and i.message_id = any (v_ids);
    update howdah.imports i set withdrawn = i.withdrawn + cardinality(v_ids)
    where i.import_id = v_import.import_id and v_ids <> '{}';
    return cardinality(v_ids);
end
$$;
