-- howdah._ticket_mask(p_id): what hides the keys of a destination's tickets, and what shows them again.
--
-- Returns  bigint, positive.
-- Role     internal
--
-- A cheap hash, for each send to a limited queue needs it. Who knows a key can tell the secret from it, so it is one of
-- the tickets' own.
create or replace function howdah._ticket_mask(p_id integer) returns bigint
language sql volatile
as $$ select hashint8extended(p_id, pg_sequence_last_value('howdah.ticket_secret'::regclass)) & 9223372036854775807 $$;
