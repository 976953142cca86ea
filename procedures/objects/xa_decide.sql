-- howdah.xa_decide(transaction_id, outcome): decide how a transaction over several databases ends, once and for all.
--
-- Returns  the outcome that stands (text): commit or rollback, whoever decided first. A transaction that the log does
--          not have is rolled back.
-- Raises   HD005 wrong argument, or another engine keeps the log; HD010 another role began it.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- The coordinator calls it when all branches are prepared. It commits that, and then ends the branches. A client that
-- finds prepared branches after a crash decides rollback, and obeys the answer.
create or replace function howdah.xa_decide(transaction_id text, outcome text) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_xa(xa_decide.transaction_id);
    if (outcome in ('commit', 'rollback')) is not true then
        raise exception using errcode = 'HD005', message = 'there is no such outcome of a transaction',
            hint = 'It is commit or rollback.';
    end if;
    perform howdah._commit_needs(4);
    update howdah.xa_transactions x set outcome = xa_decide.outcome, decided_at = howdah.now()
    where x.transaction_id = xa_decide.transaction_id and x.outcome is null;
    return coalesce((select x.outcome from howdah.xa_transactions x
        where x.transaction_id = xa_decide.transaction_id), 'rollback');
end
$$;
