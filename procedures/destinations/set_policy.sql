-- howdah.set_policy(pattern, options, apply): set options for all queues whose names match a wildcard.
--
-- Returns  how many existing queues were changed (bigint).
-- Raises   HD003 the pattern is no wildcard; HD004 unknown or wrong option; HD001, HD002, HD010, HD012 as
--          howdah.alter_queue; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- It works like ActiveMQ's policy entries. Names are parts between dots; * stands for one part, and > at the end for
-- the rest. Only the most specific pattern applies.
--
-- New queues take its options when they are created. With apply (the default), existing queues for which it is the most
-- specific pattern take them now, except the engine's own. Options given to create_queue or alter_queue override them.
--
-- It takes the right admin at all queues and topics that the pattern covers, also at those to come.
create or replace function howdah.set_policy(pattern text, options jsonb, apply boolean default true) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue text;
    v_count bigint := 0;
    v_before jsonb;
begin
    perform howdah._refuse_maintenance();
    perform howdah._check_pattern(pattern);
    perform howdah._check_pattern_right(pattern);
    perform howdah._with_options(howdah._new_destination('policy'), options);
    if options ->> 'poison_procedure' is not null then
        raise exception using errcode = 'HD004',
            message = 'option poison_procedure is for single queues, not for patterns',
            hint = 'Set it with howdah.alter_queue(queue, options).';
    end if;
    perform howdah._check_targets(options);
    v_before := howdah._properties('policy', pattern);
    insert into howdah.destination_policies as p (pattern, options, set_at, set_by)
    values (set_policy.pattern, set_policy.options, howdah.now(), howdah._caller())
    on conflict on constraint pk_destination_policies do update set options = excluded.options,
        set_at = excluded.set_at, set_by = excluded.set_by;
    perform howdah._record_change('policy', pattern, case when v_before is null then 'created' else 'altered' end,
        v_before, howdah._properties('policy', pattern));
    if apply is not false then
        for v_queue in
            select d.name from howdah.destinations d
            where d.dropped_at is null and not d.is_system and d.kind = 'queue' and not d.name ^@ '_TEMP.'
              and howdah._most_specific(d.name) = set_policy.pattern order by d.name
        loop
            perform howdah.alter_queue(v_queue, howdah._policy_for(v_queue));
            v_count := v_count + 1;
        end loop;
    end if;
    return v_count;
end
$$;
