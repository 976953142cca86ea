-- howdah._is_large(p_bytes): whether a body of so many bytes lies apart from its message.
--
-- Returns  boolean.
-- Role     internal
--
-- A row of msgs with a longer one would be stored out of line by PostgreSQL, and written again wherever it is moved to.
create or replace function howdah._is_large(p_bytes integer) returns boolean
language sql immutable
as $$ select p_bytes > 1900 $$;

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

-- howdah._apart(p_message): a new persistent message as it is stored: a large body is laid apart.
--
-- Returns  howdah.msgs.
-- Role     internal
create or replace function howdah._apart(p_message howdah.msgs) returns howdah.msgs
language plpgsql volatile
as $$
begin
    if howdah._is_large(octet_length(p_message.body)) then
        perform howdah._keep_body(p_message.message_id, p_message.body);
        p_message.body := null;
    end if;
    return p_message;
end
$$;

-- howdah._body(p_message_id): the body of a message, where it lies apart.
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

-- howdah._body_bytes(p_body, p_message_id): the length of a message's body, wherever that lies.
--
-- Returns  integer.
-- Role     internal
create or replace function howdah._body_bytes(p_body bytea, p_message_id bigint) returns integer
language sql stable
as $$ select coalesce(octet_length(p_body), octet_length(howdah._body(p_message_id))) $$;

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

-- howdah._drop_bodies(p_message_ids): delete the bodies of messages that have ended, as far as they lie apart.
--
-- Role     internal
create or replace function howdah._drop_bodies(p_message_ids bigint[]) returns void
language plpgsql volatile
    set enable_seqscan = off
as $$
begin
    delete from howdah.bodies b where b.message_id = any (p_message_ids);
end
$$;
