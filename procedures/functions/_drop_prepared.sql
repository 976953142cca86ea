-- howdah._drop_prepared(p_but): drop the session's prepared statements, except those that howdah._left_in_session()
-- reported before.
--
-- Role     internal
create or replace function howdah._drop_prepared(p_but jsonb[]) returns void
language plpgsql volatile
as $$
declare
    v_what jsonb;
begin
    for v_what in select l.what from howdah._left_in_session() l(what)
        where l.what ->> 0 = 'statement' and l.what <> all (p_but) loop
        execute format('deallocate %I', v_what ->> 1);
    end loop;
end
$$;
