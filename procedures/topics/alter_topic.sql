-- howdah.alter_topic(topic, options): change options of a topic.
--
-- Raises   HD001 no such topic; HD003 an option names an invalid destination; HD004 unknown or wrong option; HD010 not
--          allowed; HD023 the selector is invalid; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.alter_topic(topic text, options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic howdah.destinations;
    v_before jsonb;
begin
    perform howdah._check_options('topic', options);
    perform howdah._hold_limits();
    loop  -- while this waits, the topic may be dropped and another one of its name created
        v_topic := howdah._topic(topic, 'admin');
        perform from howdah.destinations d where d.id = v_topic.id and d.dropped_at is null for no key update;
        exit when found;
    end loop;
    v_before := howdah._properties('topic', topic);
    perform howdah._alter_topic(v_topic.id, options);
    perform howdah._adopt(v_topic.id);
    perform howdah._record_change('topic', topic, 'altered', v_before, howdah._properties('topic', topic));
end
$$;
