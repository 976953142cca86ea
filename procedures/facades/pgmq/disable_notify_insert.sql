-- pgmq.disable_notify_insert(queue_name): end what pgmq.enable_notify_insert began.
--
-- Raises   P0001 a bad name; HD010 not allowed.
-- Role     howdah_admin
create or replace function pgmq.disable_notify_insert(queue_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if to_regclass(format('pgmq.%I', pgmq.format_table_name(queue_name, 'q'))) is not null then
        perform pgmq._refuse(queue_name, 'admin');
    end if;
    delete from pgmq.notify_insert_throttle t where t.queue_name = disable_notify_insert.queue_name;
end
$$;
