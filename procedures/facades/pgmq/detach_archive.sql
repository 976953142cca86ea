-- pgmq.detach_archive(queue_name): do nothing, as in pgmq itself.
--
-- Raises   P0001 a bad name.
-- Role     howdah_admin
create or replace function pgmq.detach_archive(queue_name text) returns void
language plpgsql volatile
as $$
begin
    perform pgmq.format_table_name(queue_name, 'a');
    raise warning 'detach_archive(queue_name) does nothing';
end
$$;
