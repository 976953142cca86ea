-- howdah._touch_rules(p_rule_set): wait for whoever creates destinations or changes rules, and let nobody else do so
-- until the transaction ends.
--
-- Role     internal
--
-- p_rule_set: the set that changes; NULL: all of them.
create or replace function howdah._touch_rules(p_rule_set text) returns void
language plpgsql volatile
as $$
begin
    perform from howdah.access_rule_sets s order by s.name for update;
    update howdah.access_rule_sets s set changed_at = howdah.now() where p_rule_set is null or s.name = p_rule_set;
end
$$;
