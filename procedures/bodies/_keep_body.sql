-- howdah._keep_body(p_message_id, p_body): lay a body apart.
--
-- Role     internal
--
-- The sequence says that there ever was one: an engine of small messages looks for none where messages end.
create or replace function howdah._keep_body(p_message_id bigint, p_body bytea) returns void
language plpgsql volatile
as $$
begin
    if pg_sequence_last_value('howdah.bodies_apart'::regclass) is null then
        perform nextval('howdah.bodies_apart'::regclass);
    end if;
    insert into howdah.bodies (message_id, body) values (p_message_id, p_body);
end
$$;
