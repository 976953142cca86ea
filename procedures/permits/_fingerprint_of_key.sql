-- howdah._fingerprint_of_key(p_key): a number for a key of a rate.
--
-- Returns  bigint from 1 on, 63 bits.
-- Role     internal
create or replace function howdah._fingerprint_of_key(p_key text) returns bigint
language sql immutable
as $$ select greatest(('x' || left(md5(p_key), 16))::bit(64)::bigint & 9223372036854775807, 1) $$;
