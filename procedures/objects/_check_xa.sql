-- howdah._check_xa(p_name): refuse whoever may not decide about a transaction over several databases.
--
-- Raises   HD005 it is no transaction of this engine's log; HD010 another role began it.
-- Role     internal
create or replace function howdah._check_xa(p_name text) returns void
language plpgsql volatile
as $$
begin
    perform howdah._refuse_maintenance();
    if (p_name ^@ format('howdah:xa:%s:', howdah._engine_id())) is not true then
        raise exception using errcode = 'HD005',
            message = format('%s is no transaction of this engine''s log',
                coalesce(quote_literal(left(p_name, 100)), 'NULL')),
            hint = 'The database that howdah.xa_begin was called in keeps the log.';
    elsif exists (select from howdah.xa_transactions x
                  where x.transaction_id = p_name and x.begun_by <> howdah._caller())
        and not howdah._has_role((select e.admin_role from howdah.engine e)) then
        raise exception using errcode = 'HD010', message = 'another role began the transaction',
            hint = 'That role, or an administrator, decides and forgets.';
    end if;
end
$$;
