-- pgmq._change_archive(): what INSERT, DELETE and UPDATE do in the view a_<queue>.
--
-- Returns  the row.
-- Raises   as pgmq._refuse.
-- Role     internal
create or replace function pgmq._change_archive() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := pgmq._refuse(substr(tg_table_name, 3), 'receive');
begin
    if tg_op in ('DELETE', 'UPDATE') then
        delete from howdah.kept_messages k
        where k.destination_id = v_destination.id and k.kept_until = 'infinity'
          and k.message_id = any (pgmq._message_ids(v_destination.id, array[old.msg_id]));
        if not found or tg_op = 'DELETE' then
            return case when found then old end;
        end if;
    end if;
    insert into howdah.kept_messages (message_id, kept_at, kept_until, sent_at, visible_at, last_read_at,
        destination_id, delivery_count, stage, priority, reliability, nonpersistent, is_text, content_type, body,
        headers)
    select i.id, pgmq._readable(coalesce(new.archived_at, n.moment)), 'infinity',
        pgmq._readable(coalesce(new.enqueued_at, n.moment)), pgmq._readable(coalesce(new.vt, n.moment)),
        pgmq._readable(new.last_read_at), v_destination.id, coalesce(new.read_ct, 0), 0,
        v_destination.default_priority, 4, false, true,
        case when new.message is null then 'application/x-sql-null' else 'application/json' end,
        convert_to(coalesce(new.message::text, ''), 'UTF8'), pgmq._stored_headers(new.headers)
    from unnest(pgmq._message_ids(v_destination.id, array[new.msg_id])) i(id)
        cross join (select howdah.now() as moment) n;
    return new;
end
$$;
