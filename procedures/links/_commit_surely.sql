-- howdah._commit_surely(): let the caller's transaction wait at its commit until it is on disk.
--
-- Role     internal
--
-- A stronger setting, such as remote_apply, stays.
create or replace function howdah._commit_surely() returns void
language plpgsql volatile
as $$
begin
    if current_setting('synchronous_commit') in ('off', 'local') then
        perform set_config('synchronous_commit', 'on', true);
    end if;
end
$$;
