-- howdah.set_cluster(mode, master): say who may change the configuration.
--
-- Returns  true if that is new (boolean).
-- Raises   HD003 bad name; HD005 there is no such mode, or the mode master has no name; HD010 called from a
--          maintenance command.
-- Role     howdah_admin
--
-- none: administrators change it at any time. master: only while the instance of the name master runs. Nobody has to
-- stop for it. This is possible without the master, too: it is the way out when that is lost.
create or replace function howdah.set_cluster(mode text, master text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before jsonb;
    v_after jsonb;
begin
    perform howdah._refuse_maintenance();
    select jsonb_build_object('mode', e.cluster_mode, 'master', e.cluster_master) into v_before
    from howdah.engine e for update;
    v_after := jsonb_build_object('mode', mode, 'master', coalesce(master, v_before ->> 'master'));
    if (mode in ('none', 'master')) is not true or mode = 'master' and v_after ->> 'master' is null then
        raise exception using errcode = 'HD005', message = 'a cluster has the mode none, or master and a name',
            hint = 'For example howdah.set_cluster(''master'', ''first'').';
    elsif v_after ->> 'master' !~ '^[A-Za-z0-9._:/-]{1,200}$' then
        raise exception using errcode = 'HD003', message = 'bad instance name',
            hint = 'A name has 1 to 200 characters out of A-Z a-z 0-9 . _ - / :';
    end if;
    update howdah.engine e set cluster_mode = v_after ->> 'mode', cluster_master = v_after ->> 'master';
    update howdah.lock l set epoch = l.epoch + 1, holder = null, held_as = null, expires_at = null
    where l.name = 'changes' and l.holder is not null
      and (v_after ->> 'mode' = 'none' or v_before ->> 'master' is distinct from v_after ->> 'master');
    perform howdah._record_change('cluster', 'mode', 'altered', v_before, v_after);
    return v_before <> v_after;
end
$$;
