-- howdah._has_old_snapshot(): whether the transaction keeps one snapshot, and so may not see what others have committed
-- since.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._has_old_snapshot() returns boolean
language sql stable
as $$ select current_setting('transaction_isolation') in ('repeatable read', 'serializable') $$;
