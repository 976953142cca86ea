-- howdah._cursor(p_ack_id): where a cursor stands.
--
-- Returns  the highest step of howdah.ack_cursors.
-- Role     internal
--
-- It reads from the end of the index, so that deleted steps are never met.
create or replace function howdah._cursor(p_ack_id integer) returns howdah.ack_cursors
language sql volatile
as $$ select c from howdah.ack_cursors c where c.ack_id = p_ack_id order by c.n desc limit 1 $$;
