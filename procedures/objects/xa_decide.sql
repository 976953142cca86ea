-- howdah.xa_decide(transaction_id, outcome): decide how a transaction over several databases ends, once and for all.
--
-- Returns  the outcome that stands (text): commit or rollback, whoever decided first.
-- Raises   HD005 wrong argument; HD010 a branch here was prepared by another role.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- The coordinator calls it when all branches are prepared, and commits; then it ends the branches. Who finds prepared
-- branches after a crash decides rollback, and obeys the answer.
create or replace function howdah.xa_decide(transaction_id text, outcome text) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    if (transaction_id ~ '^howdah:xa:[0-9a-f-]{36}$') is not true or (outcome in ('commit', 'rollback')) is not true then
        raise exception using errcode = 'HD005', message = 'no decision about a transaction',
            hint = 'transaction_id is howdah:xa: and a UUID; outcome is commit or rollback.';
    elsif exists (select from pg_prepared_xacts x where x.gid ^@ (transaction_id || ':')
                  and x.owner <> howdah._caller())
        and not howdah._has_role((select e.admin_role from howdah.engine e)) then
        raise exception using errcode = 'HD010', message = 'the transaction was prepared by another role',
            hint = 'The role that prepared it, or an administrator, decides.';
    end if;
    perform howdah._commit_needs(4);
    insert into howdah.xa_decisions (transaction_id, outcome, decided_at, decided_by)
    values (xa_decide.transaction_id, xa_decide.outcome, howdah.now(), howdah._caller())
    on conflict on constraint pk_xa_decisions do nothing;
    return (select d.outcome from howdah.xa_decisions d where d.transaction_id = xa_decide.transaction_id);
end
$$;
