-- howdah._touch_rules(p_rule_set): wait for whoever creates destinations or changes rules, and let nobody else do so
-- until the transaction ends.
--
-- Raises   HD005 the transaction is above READ COMMITTED.
-- Role     internal
--
-- p_rule_set: the set that changes; NULL: all of them. An older snapshot would not show what others have created since,
-- and the changed rules would not be compiled there.
create or replace function howdah._touch_rules(p_rule_set text) returns void
language plpgsql volatile
as $$
begin
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005',
            message = format('rights are not changed in a transaction that is %s',
                current_setting('transaction_isolation')),
            hint = 'Change them under READ COMMITTED, which sees all queues that others have created.';
    end if;
    perform from howdah.access_rule_sets s order by s.name for update;
    update howdah.access_rule_sets s set changed_at = howdah.now() where p_rule_set is null or s.name = p_rule_set;
end
$$;
