-- pgmq.unbind_topic(pattern, queue_name): end what pgmq.bind_topic began.
--
-- Returns  whether there was such a binding.
-- Raises   P0001 an argument is NULL or empty; HD010 not allowed.
-- Role     howdah_admin
create or replace function pgmq.unbind_topic(pattern text, queue_name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if pattern is null or pattern = '' then
        raise exception 'pattern cannot be NULL or empty';
    elsif queue_name is null or queue_name = '' then
        raise exception 'queue_name cannot be NULL or empty';
    elsif exists (select from pgmq.topic_bindings b where b.queue_name = unbind_topic.queue_name) then
        perform pgmq._refuse(queue_name, 'admin');
    end if;
    delete from pgmq.topic_bindings b
    where b.pattern = unbind_topic.pattern and b.queue_name = unbind_topic.queue_name;
    return found;
end
$$;
