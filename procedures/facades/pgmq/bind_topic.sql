-- pgmq.bind_topic(pattern, queue_name): have a queue get a copy of each message whose routing key matches a pattern.
--
-- Raises   P0001 a bad pattern, or no such queue; HD010 not allowed.
-- Role     howdah_admin
create or replace function pgmq.bind_topic(pattern text, queue_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform pgmq.validate_topic_pattern(pattern);
    if queue_name is null or queue_name = '' then
        raise exception 'queue_name cannot be NULL or empty';
    elsif not exists (select from pgmq.meta m where m.queue_name = bind_topic.queue_name) then
        raise exception 'Queue "%" does not exist. Create the queue first using pgmq.create()', queue_name;
    end if;
    perform pgmq._refuse(queue_name, 'admin');
    insert into pgmq.topic_bindings (pattern, queue_name) values (bind_topic.pattern, bind_topic.queue_name)
    on conflict on constraint topic_bindings_unique_pattern_queue do nothing;
end
$$;
