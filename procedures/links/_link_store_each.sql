-- howdah._link_store_each(p_queue, p_messages): send what came over a link one by one, to find which messages are to
-- blame for an error of the batch.
--
-- Returns  the ids here (bigint[]), in the order of p_messages, if none of them is.
-- Raises   HD043 at least one is; the detail names them.
-- Role     internal
create or replace function howdah._link_store_each(p_queue text, p_messages json) returns bigint[]
language plpgsql volatile
as $$
declare
    v_message json;
    v_ids bigint[] := '{}';
    v_refused jsonb[] := '{}';
    v_first text;
begin
    for v_message in select e.value from json_array_elements(p_messages) with ordinality e order by e.ordinality loop
        begin
            v_ids := v_ids || howdah._link_store(p_queue, json_build_array(v_message));
        exception when others then
            if howdah._link_refusal(sqlstate) is null then
                raise;
            end if;
            v_first := coalesce(v_first, sqlerrm);
            v_refused := v_refused || jsonb_build_object('message_id', (v_message ->> 'message_id')::bigint,
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
    return v_ids;
end
$$;
