-- pgmq._change_row(): what DELETE and UPDATE do in the view q_<queue>.
--
-- Returns  the row, or NULL if the message is gone.
-- Raises   0A000 the statement changes anything but vt; and as pgmq.delete and pgmq.set_vt.
-- Role     internal
create or replace function pgmq._change_row() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue text := substr(tg_table_name, 3);
begin
    if tg_op = 'DELETE' then
        return case when pgmq._delete(v_queue, array[old.msg_id]) is not null then old end;
    end if;
    if (new.msg_id, new.read_ct, new.enqueued_at, new.last_read_at, new.message, new.headers)
            is distinct from (old.msg_id, old.read_ct, old.enqueued_at, old.last_read_at, old.message, old.headers) then
        raise exception using errcode = 'feature_not_supported',
            message = format('of %s.%s only vt can be updated', tg_table_schema, tg_table_name);
    end if;
    perform pgmq._set_vt(v_queue, array[old.msg_id], new.vt);
    return case when found then new end;
end
$$;
