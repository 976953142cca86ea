-- howdah._check_changes(): refuse a change of the configuration while the master of changes is away.
--
-- Raises   HD045 the master of changes is away.
-- Role     internal
create or replace function howdah._check_changes() returns void
language plpgsql volatile
as $$
begin
    if not howdah._accepts_changes() then
        raise exception using errcode = 'HD045',
            message = format('the instance %s is away, which is the master of changes',
                (select quote_literal(e.cluster_master) from howdah.engine e)),
            hint = 'Start it, name another with howdah.change_master(name), or call howdah.set_cluster(''none''). '
                'Messages are sent and received meanwhile.';
    end if;
end
$$;
