-- howdah._record_change(p_kind, p_name, p_act, p_before, p_after, …): record what an administrator changed.
--
-- Raises   HD010 called from a maintenance command; HD045 the master of changes is away.
-- Role     internal
--
-- Every administrative verb calls it once for each thing that it makes, alters or drops, after all its checks. p_act is
-- created, altered or dropped. p_before and p_after are the thing's properties, without secrets. It records nothing if
-- nothing changed. The reason is p_reason, or else the setting howdah.reason of the caller.
--
-- The cluster itself, its instances and locks can be changed without its master.
create or replace function howdah._record_change(
    p_kind text, p_name text, p_act text, p_before jsonb, p_after jsonb, p_undoes bigint default null,
    p_reason text default null
) returns void
language plpgsql volatile
as $$
begin
    if p_before is not distinct from p_after then
        return;
    end if;
    perform howdah._refuse_maintenance();
    if p_kind not in ('cluster', 'instance', 'lock') then
        perform howdah._check_changes();
    end if;
    perform howdah._commit_needs(4);
    insert into howdah.config_changes as c (transaction, at, actor, kind, name, act, before, after, reason, undoes)
    values (pg_current_xact_id()::text::bigint, howdah.now(), howdah._caller(), p_kind, p_name, p_act, p_before,
        p_after, left(coalesce(p_reason, nullif(current_setting('howdah.reason', true), '')), 1000), p_undoes);
end
$$;
