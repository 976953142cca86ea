-- howdah._take_body(p_message_id): remove the body of a consumed message from howdah.bodies and return it.
--
-- Returns  bytea; NULL if its body is not there.
-- Role     internal
create or replace function howdah._take_body(p_message_id bigint) returns bytea
language plpgsql volatile
as $$
declare
    v_body bytea;
begin
    delete from howdah.bodies b where b.message_id = p_message_id returning b.body into v_body;
    return v_body;
end
$$;
