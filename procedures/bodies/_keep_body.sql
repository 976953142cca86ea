-- howdah._keep_body(p_message_id, p_body): store a body in howdah.bodies.
--
-- Role     internal
--
-- The sequence records that there ever was such a body. An engine with only small messages then looks for none when
-- messages end.
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
