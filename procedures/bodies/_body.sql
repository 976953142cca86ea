-- howdah._body(p_message_id): the body of a message whose body is stored in howdah.bodies.
--
-- Returns  bytea.
-- Role     internal
create or replace function howdah._body(p_message_id bigint) returns bytea
language plpgsql stable
as $$
begin
    return (select b.body from howdah.bodies b where b.message_id = p_message_id);
end
$$;
