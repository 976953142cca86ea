-- howdah._lock_key(p_kind, p_of): the key of an advisory lock, which nobody can guess.
--
-- Returns  bigint, negative; howdah._ticket_key's are positive.
-- Role     internal
--
-- Any login may take any advisory lock. So a key holds a secret of the database: a sequence that only the owner reads,
-- which costs no query. Kinds: client id, consumer, consumers, conversation, cursor, failure, group, lane, listener,
-- number, published, schedule, selector, subscription, subscription name, temporary receiver, temporary sender, turn. A
-- held key stands in pg_locks, where every login sees it: what that is good for says docs/security.md. Locks of the
-- engine as a whole are rows: see howdah._latch. A turn or a group is none: a row's lock makes the transaction one that
-- wrote before it received, in which walks note no place (docs/decisions/0011).
create or replace function howdah._lock_key(p_kind text, p_of text) returns bigint
language sql volatile
as $$
    select ~ ('x' || encode(sha256(convert_to(pg_sequence_last_value('howdah.lock_secret'::regclass) || p_kind || ':'
        || p_of, 'UTF8')), 'hex'))
        ::bit(63)::bigint
$$;
