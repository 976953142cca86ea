-- howdah._ticket_mask(p_id): the mask that hides the keys of a destination's tickets, and reveals them again.
--
-- Returns  bigint, positive.
-- Role     internal
--
-- The hash is cheap, because each send to a limited queue needs it. The secret can be computed from a known key, so
-- tickets have a secret of their own.
create or replace function howdah._ticket_mask(p_id integer) returns bigint
language sql volatile
as $$ select hashint8extended(p_id, pg_sequence_last_value('howdah.ticket_secret'::regclass)) & 9223372036854775807 $$;
