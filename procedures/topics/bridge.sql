-- howdah.bridge(topic, queue, selector, transformation): send every message of a topic on to a queue, or only those
-- that a selector selects.
--
-- Raises   HD001 no such topic or queue; HD005 there is no such transformation; HD010 not allowed; HD012 the queue
--          belongs to the engine; HD023 the selector is invalid; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The publisher's transaction stores the message as a new message of the queue. A second call changes the selector
-- and the transformation, which makes the queue's message out of the topic's (howdah.register_transformation).
create or replace function howdah.bridge(
    topic text, queue text, selector text default null, transformation text default null
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic howdah.destinations := howdah._topic(topic, 'admin');
    v_queue howdah.destinations := howdah._own_queue(queue);
    v_name text := concat_ws(' ', topic, queue);
    v_before jsonb := howdah._properties('bridge', v_name);
begin
    if v_queue.kind <> 'queue' then
        raise exception using errcode = 'HD001', message = format('%s is no queue', quote_literal(queue));
    end if;
    insert into howdah.bridges as b (topic_id, queue_id, selector, selector_sql, transformation)
    values (v_topic.id, v_queue.id, nullif(btrim(bridge.selector), ''), howdah._compile_selector(bridge.selector),
        howdah._transformation(bridge.transformation))
    on conflict on constraint pk_bridges do update set selector = excluded.selector,
        selector_sql = excluded.selector_sql, transformation = excluded.transformation;
    perform howdah._note_readers(v_topic.id);
    perform howdah._record_change('bridge', v_name, case when v_before is null then 'created' else 'altered' end,
        v_before, howdah._properties('bridge', v_name));
end
$$;
