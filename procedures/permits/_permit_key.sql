-- howdah._permit_key(p_key): the key of a limit in the form in which permits are on record.
--
-- Returns  uuid; all zeros for the limit of the queue itself (p_key NULL).
-- Role     internal
create or replace function howdah._permit_key(p_key text) returns uuid
language sql immutable
as $$ select coalesce(md5(p_key), repeat('0', 32))::uuid $$;
