-- howdah._lock_key(p_kind, p_of): the key of an advisory lock, which nobody can guess.
--
-- Returns  bigint, negative; the keys of howdah._ticket_key are positive.
-- Role     internal
--
-- Any login may take any advisory lock. So a key contains a secret of the database: a sequence that only the owner can
-- read, at the cost of no query.
--
-- docs/locks-and-numbers.md lists the kinds.
--
-- A held key stands in pg_locks, where every login sees it; docs/security.md says what that allows. Locks of the engine
-- as a whole are rows: see howdah._latch. A turn or a group is no row. With a row lock, the transaction would have
-- written before it received, and then walks record no place (docs/decisions/0011).
create or replace function howdah._lock_key(p_kind text, p_of text) returns bigint
language sql volatile
as $$
    select ~ ('x' || encode(sha256(convert_to(pg_sequence_last_value('howdah.lock_secret'::regclass) || p_kind || ':'
        || p_of, 'UTF8')), 'hex'))
        ::bit(63)::bigint
$$;
