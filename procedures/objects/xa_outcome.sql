-- howdah.xa_outcome(transaction_id): what was decided about a transaction over several databases.
--
-- Returns  commit or rollback (text); NULL: nothing is decided, or all is done.
-- Role     howdah_producer howdah_consumer howdah_admin howdah_auditor
create or replace function howdah.xa_outcome(transaction_id text) returns text
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select d.outcome from howdah.xa_decisions d where d.transaction_id = xa_outcome.transaction_id
$$;
