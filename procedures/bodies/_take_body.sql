-- howdah._take_body(p_message_id): take the body of a message that is consumed, where it lies apart.
--
-- Returns  bytea.
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
