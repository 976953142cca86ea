-- howdah.list_xa_transactions(factory): list the transactions over several databases that this engine's log has.
--
-- Returns  one row per transaction, the oldest first. outcome NULL: nothing is decided. age: since it began. mine:
--          whether the caller may decide about it.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_producer howdah_consumer howdah_admin howdah_auditor
--
-- factory NULL: of all factories.
create or replace function howdah.list_xa_transactions(factory text default null) returns table (
    transaction_id text, xa_factory text, outcome text, begun_at timestamptz, begun_by text, decided_at timestamptz,
    age interval, mine boolean
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    return query
    select x.transaction_id, x.factory, x.outcome, x.begun_at, x.begun_by, x.decided_at, howdah.now() - x.begun_at,
        x.begun_by = howdah._caller() or howdah._has_role((select e.admin_role from howdah.engine e))
    from howdah.xa_transactions x
    where list_xa_transactions.factory is null or x.factory = list_xa_transactions.factory
    order by x.begun_at, x.transaction_id;
end
$$;
