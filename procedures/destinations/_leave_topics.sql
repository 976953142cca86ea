-- howdah._leave_topics(p_queue_id): remove all bridges to a queue.
--
-- Role     internal
create or replace function howdah._leave_topics(p_queue_id integer) returns void
language plpgsql volatile
as $$
declare
    v_topic integer;
begin
    for v_topic in
        with gone as (delete from howdah.bridges b where b.queue_id = p_queue_id returning b.topic_id)
        select g.topic_id from gone g order by 1
    loop
        perform howdah._note_readers(v_topic);
    end loop;
end
$$;
