-- pgmq._change_archive(): what INSERT, DELETE and UPDATE do in the view a_<queue>.
--
-- Returns  the row.
-- Raises   as pgmq._refuse; 23502 msg_id is NULL; 23505 the archive has the number; HD005 a number that no message has.
-- Role     internal
create or replace function pgmq._change_archive() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := pgmq._refuse(substr(tg_table_name, 3), 'receive');
    v_old howdah.kept_messages;
begin
    if tg_op in ('DELETE', 'UPDATE') then
        delete from howdah.kept_messages k
        where k.destination_id = v_destination.id and k.kept_until = 'infinity'
          and k.message_id = any (pgmq._message_ids(v_destination.id, array[old.msg_id]))
        returning k.* into v_old;
        if not found or tg_op = 'DELETE' then
            return case when found then old end;
        end if;
    end if;
    if new.msg_id is null then
        raise exception using errcode = 'not_null_violation', message = 'msg_id is NULL';
    elsif exists (select from howdah.kept_messages k
            where k.destination_id = v_destination.id and k.kept_until = 'infinity'
              and k.message_id = any (pgmq._message_ids(v_destination.id, array[new.msg_id]))) then
        raise exception using errcode = 'unique_violation',
            message = format('the archive has message %s already', new.msg_id);
    end if;
    insert into howdah.kept_messages (message_id, kept_at, kept_until, sent_at, visible_at, last_read_at,
        destination_id, delivery_count, stage, priority, reliability, nonpersistent, is_text, content_type, body,
        headers, correlation_id, reply_to, message_type, conversation_id)
    select i.id, pgmq._readable(coalesce(new.archived_at, n.moment)), 'infinity',
        pgmq._readable(coalesce(new.enqueued_at, n.moment)), pgmq._readable(coalesce(new.vt, n.moment)),
        pgmq._readable(new.last_read_at), v_destination.id, coalesce(new.read_ct, 0), coalesce(v_old.stage, 0),
        coalesce(v_old.priority, v_destination.default_priority), 4, false, true,
        case when new.message is null then 'application/x-sql-null' else 'application/json' end,
        convert_to(coalesce(new.message::text, ''), 'UTF8'), pgmq._stored_headers(new.headers),
        v_old.correlation_id, v_old.reply_to, v_old.message_type, v_old.conversation_id
    from unnest(pgmq._message_ids(v_destination.id, array[new.msg_id])) i(id)
        cross join (select howdah.now() as moment) n;
    if not found then
        raise exception using errcode = 'HD005', message = format('no message has the number %s', new.msg_id),
            hint = 'Numbers begin with 1.';
    end if;
    return new;
end
$$;
