-- howdah._link_store_each(p_queue, p_messages): send what came over a link one by one, to find which messages are to
-- blame for an error of the batch.
--
-- Returns  as howdah._link_store, if none of them is.
-- Raises   HD043 at least one is; the detail names them.
-- Role     internal
create or replace function howdah._link_store_each(
    p_queue text, p_messages json, out message_ids bigint[], out sent_ats timestamptz[], out local_ids bigint[],
    out levels text[]
) returns record
language plpgsql volatile
as $$
declare
    v_message json;
    v_one record;
    v_refused jsonb[] := '{}';
    v_first text;
begin
    message_ids := '{}';
    sent_ats := '{}';
    local_ids := '{}';
    levels := '{}';
    for v_message in select e.value from json_array_elements(p_messages) with ordinality e order by e.ordinality loop
        begin
            v_one := howdah._link_store(p_queue, json_build_array(v_message));
            message_ids := message_ids || v_one.message_ids;
            sent_ats := sent_ats || v_one.sent_ats;
            local_ids := local_ids || v_one.local_ids;
            levels := levels || v_one.levels;
        exception when others then
            if howdah._link_refusal(sqlstate) is null then
                raise;
            end if;
            v_first := coalesce(v_first, sqlerrm);
            v_refused := v_refused || jsonb_build_object('message_id', v_message -> 'message_id',
                'sqlstate', sqlstate, 'error_text', sqlerrm,
                'reject', howdah._link_refusal(sqlstate) = 'rejected');
        end;
    end loop;
    if cardinality(v_refused) > 0 then
        raise exception using errcode = 'HD043',
            message = format('%s messages of a link are refused, the first because %s', cardinality(v_refused),
                v_first),
            detail = to_jsonb(v_refused)::text,
            hint = 'Roll back at the sender, too, and record a failure of each there.';
    end if;
end
$$;
