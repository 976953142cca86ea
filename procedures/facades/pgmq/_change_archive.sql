-- pgmq._change_archive(): what INSERT, DELETE and UPDATE do in the view a_<queue>.
--
-- Returns  the row.
-- Role     internal
create or replace function pgmq._change_archive() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := pgmq._refuse(substr(tg_table_name, 3), 'receive');
begin
    if tg_op in ('DELETE', 'UPDATE') then
        delete from pgmq.archived a where a.destination_id = v_destination.id and a.msg_id = old.msg_id;
        if not found or tg_op = 'DELETE' then
            return case when found then old end;
        end if;
    end if;
    insert into pgmq.archived (destination_id, msg_id, read_ct, enqueued_at, last_read_at, archived_at, vt, message,
        headers)
    values (v_destination.id, new.msg_id, coalesce(new.read_ct, 0), coalesce(new.enqueued_at, howdah.now()),
        new.last_read_at, coalesce(new.archived_at, howdah.now()), new.vt, new.message, new.headers);
    return new;
end
$$;
