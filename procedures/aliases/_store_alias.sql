-- howdah._store_alias(p_alias, p_target, p_options): store an alias, or change the one of that name.
--
-- Raises   HD001 there is no such target; HD004 unknown or wrong option; HD010 the caller does not administer the
--          target.
-- Role     internal
create or replace function howdah._store_alias(p_alias text, p_target text, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
    v_target howdah.destinations := howdah._destination(p_target, 'admin');
    v_alias howdah.aliases;
    v_before jsonb := howdah._properties('alias', p_alias);
begin
    perform howdah._check_options('alias', p_options);
    if v_target.kind = 'subscription' or v_target.name ^@ '_TEMP.' then
        raise exception using errcode = 'HD001',
            message = format('%s cannot have an alias', quote_literal(p_target)),
            hint = 'Queues and topics can, except temporary ones.';
    end if;
    select a.* into v_alias from howdah.aliases a where a.name = p_alias;
    v_alias := jsonb_populate_record(v_alias, p_options);
    v_target.default_reliability := coalesce(v_alias.default_reliability, v_target.default_reliability);
    v_target.max_reliability := coalesce(v_alias.max_reliability, v_target.max_reliability);
    perform howdah._check_levels(v_target);
    insert into howdah.aliases (name, target, default_reliability, max_reliability, producer_may_override, created_at,
        created_by)
    values (p_alias, p_target, v_alias.default_reliability, v_alias.max_reliability, v_alias.producer_may_override,
        howdah.now(), howdah._caller())
    on conflict (name) do update set target = excluded.target, default_reliability = excluded.default_reliability,
        max_reliability = excluded.max_reliability, producer_may_override = excluded.producer_may_override;
    perform howdah._record_change('alias', p_alias, case when v_before is null then 'created' else 'altered' end,
        v_before, howdah._properties('alias', p_alias));
end
$$;
