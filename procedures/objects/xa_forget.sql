-- howdah.xa_forget(transaction_id): take a transaction over several databases out of the log.
--
-- Returns  true if it was there (boolean).
-- Raises   HD005 another engine keeps the log, or nothing is decided; HD010 another role began it.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- Call it after every branch has ended: while one is prepared, a decision to commit must stay.
create or replace function howdah.xa_forget(transaction_id text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_xa(xa_forget.transaction_id);
    if exists (select from howdah.xa_transactions x
               where x.transaction_id = xa_forget.transaction_id and x.outcome is null) then
        raise exception using errcode = 'HD005', message = 'nothing is decided about the transaction',
            hint = 'Decide with howdah.xa_decide, and end its branches first.';
    end if;
    delete from howdah.xa_transactions x where x.transaction_id = xa_forget.transaction_id;
    return found;
end
$$;
