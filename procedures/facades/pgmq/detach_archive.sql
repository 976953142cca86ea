-- pgmq.detach_archive(queue_name): do nothing, as in pgmq itself.
--
-- Role     howdah_admin
create or replace function pgmq.detach_archive(queue_name text) returns void
language plpgsql volatile
as $$
begin
    raise warning 'detach_archive(queue_name) does nothing';
end
$$;
