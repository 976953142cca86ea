-- howdah._keep_until(p_destination): until when a message that is consumed now stays readable.
--
-- Returns  timestamptz; NULL if the queue keeps no bodies.
-- Role     internal
create or replace function howdah._keep_until(p_destination howdah.destinations) returns timestamptz
language sql volatile
as $$ select howdah.now() + p_destination.keep_bodies_ms * interval '1 millisecond' $$;
