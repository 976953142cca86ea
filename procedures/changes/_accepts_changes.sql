-- howdah._accepts_changes(): whether administrators may change the configuration now.
--
-- Returns  boolean; false if the cluster has a master of changes, and it does not run.
-- Role     internal
create or replace function howdah._accepts_changes() returns boolean
language sql volatile
as $$
    select e.cluster_mode = 'none' or exists (
        select from howdah.lock l
        where l.name = 'changes' and l.holder is not null and l.expires_at > howdah.now())
    from howdah.engine e
$$;
