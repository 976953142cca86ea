-- pgmq._create(p_queue, p_partitioned, p_unlogged): create a queue, with its views and its row of pgmq.meta.
--
-- Raises   P0001 a bad name; HD003 a name that howdah does not allow; HD010 not allowed.
-- Role     internal
--
-- A queue of howdah that has the name gets the views, and keeps its options. A new one has no limit of failures, as
-- pgmq has none. These views are the only dynamic DDL of the facade.
create or replace function pgmq._create(p_queue text, p_partitioned boolean, p_unlogged boolean) returns void
language plpgsql volatile
as $$
declare
    v_queue text := pgmq.format_table_name(p_queue, 'q');
    v_archive text := pgmq.format_table_name(p_queue, 'a');
    v_id integer;
    v_readers text;
    v_writers text;
begin
    perform pgmq.validate_queue_name(p_queue);
    perform pgmq.acquire_queue_lock(p_queue);
    select d.id into v_id from howdah.destinations d
    where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue';
    if v_id is null then
        v_id := howdah.create_queue(lower(p_queue), '{"max_failed_deliveries": 0}');
    else
        perform howdah._destination(lower(p_queue), 'admin');
    end if;
    -- A queue that howdah.drop_queue dropped has left its views.
    if position(format('_rows(%s)', v_id) in coalesce(pg_get_viewdef(to_regclass(format('pgmq.%I', v_queue))), '')) = 0
    then
        select concat_ws(', ', quote_ident(e.admin_role), quote_ident(e.consumer_role), quote_ident(e.browser_role)),
            concat_ws(', ', quote_ident(e.admin_role), quote_ident(e.consumer_role))
        into v_readers, v_writers from howdah.engine e;
        execute format('create or replace view pgmq.%I as select * from pgmq._rows(%s)', v_queue, v_id);
        execute format('create or replace trigger change instead of delete or update on pgmq.%I'
            ' for each row execute function pgmq._change_row()', v_queue);
        execute format('create or replace view pgmq.%I as select * from pgmq._archived_rows(%s)', v_archive, v_id);
        execute format('create or replace trigger change instead of insert or delete or update on pgmq.%I'
            ' for each row execute function pgmq._change_archive()', v_archive);
        execute format('grant select on pgmq.%I, pgmq.%I to %s', v_queue, v_archive, v_readers);
        execute format('grant delete, update on pgmq.%I to %s', v_queue, v_writers);
        execute format('grant insert, delete, update on pgmq.%I to %s', v_archive, v_writers);
    end if;
    insert into pgmq.meta (queue_name, is_partitioned, is_unlogged) values (p_queue, p_partitioned, p_unlogged)
    on conflict do nothing;
end
$$;
