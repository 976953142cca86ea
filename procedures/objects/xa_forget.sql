-- howdah.xa_forget(transaction_id): forget a decision after every branch has ended.
--
-- Returns  true if there was one (boolean).
-- Raises   HD010 another role decided.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- While a branch is prepared anywhere, the decision must stay: without it, recovery rolls the branch back.
create or replace function howdah.xa_forget(transaction_id text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    if exists (select from howdah.xa_decisions d where d.transaction_id = xa_forget.transaction_id
               and d.decided_by <> howdah._caller())
        and not howdah._has_role((select e.admin_role from howdah.engine e)) then
        raise exception using errcode = 'HD010', message = 'another role decided about the transaction',
            hint = 'It or an administrator forgets the decision.';
    end if;
    delete from howdah.xa_decisions d where d.transaction_id = xa_forget.transaction_id;
    return found;
end
$$;
