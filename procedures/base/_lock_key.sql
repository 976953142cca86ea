-- howdah._lock_key(p_kind, p_of): the key of an advisory lock, which nobody can guess.
--
-- Returns  bigint, negative; howdah._ticket_key's are positive.
-- Role     internal
--
-- Any login may take any advisory lock. So a key holds a secret of the database: a sequence that only the owner reads, which costs no query.
-- Kinds: client id, consumer, consumers, conversation, cursor, failure, group, lane, listener, number, published,
-- schedule, selector, subscription, subscription name, temporary receiver, temporary sender, turn. A held key stands in pg_locks, where
-- every login sees it: what that is good for says docs/security.md. Locks of the engine as a whole are rows: see howdah._latch.
-- A turn or a group is none: a row's lock makes the transaction one that wrote before it received, in which walks note no place (docs/decisions/0011).
create or replace function howdah._lock_key(p_kind text, p_of text) returns bigint
language sql volatile
as $$
    select ~ ('x' || encode(sha256(convert_to(pg_sequence_last_value('howdah.lock_secret'::regclass) || p_kind || ':' || p_of, 'UTF8')), 'hex'))
        ::bit(63)::bigint
$$;

-- howdah._latch(p_name): take one of the engine's own locks until the transaction ends, and wait for whoever has it.
--
-- Role     internal
--
-- A row's lock: those who may not read the table cannot take it, nor can they see how.
create or replace function howdah._latch(p_name text) returns void
language sql volatile
as $$ select from howdah.latches l where l.name = p_name for update $$;

-- howdah._try_latch(p_name): take one of the engine's own locks until the transaction ends, if it is free.
--
-- Returns  boolean; false: another transaction has it.
-- Role     internal
create or replace function howdah._try_latch(p_name text) returns boolean
language plpgsql volatile
as $$
begin
    perform from howdah.latches l where l.name = p_name for update skip locked;
    return found;
end
$$;

-- howdah._share_latch(p_name): share one of the engine's own locks until the transaction ends, and wait for who has it alone.
--
-- Role     internal
create or replace function howdah._share_latch(p_name text) returns void
language sql volatile
as $$ select from howdah.latches l where l.name = p_name for share $$;
