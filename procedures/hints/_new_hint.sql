-- howdah._new_hint(p_name, p_unlogged): create a sequence that serves as memory outside transactions: it never bloats,
-- and everybody sees it at once.
--
-- Returns  regclass.
-- Role     internal
--
-- It is UNLOGGED where PostgreSQL allows it (from 15 on), unless only transactions that write change it: a logged one
-- costs less to make. A crash resets it to nothing, which is a hint like any other.
create or replace function howdah._new_hint(p_name text, p_unlogged boolean default true) returns regclass
language plpgsql volatile set default_tablespace = ''
as $$
begin
    execute format('create %s sequence howdah.%I minvalue 0 start 1',
        case when p_unlogged and current_setting('server_version_num')::integer >= 150000 then 'unlogged' else '' end,
        p_name);
    return format('howdah.%I', p_name)::regclass;
end
$$;
