-- howdah.alter_link(name, …): change a link; what is left out stays as it is.
--
-- Raises   HD003, HD005, HD023 as howdah.create_link; HD010 not allowed; HD041 there is no such link; HD045 the master
--          of changes is away.
-- Role     howdah_admin
--
-- '' takes selector or transformation away. service and dsn_env replace each other. They must lead to the same engine
-- as before: for another one, drop the link and create it anew.
create or replace function howdah.alter_link(
    name text, target_queue text default null, service text default null, dsn_env text default null,
    selector text default null, batch_size integer default null, retry_ms_max integer default null,
    transformation text default null
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_link howdah.links;
    v_before jsonb;
begin
    perform from howdah.links l where l.name = alter_link.name for update;
    v_link := howdah._link(alter_link.name, 'admin');
    v_before := howdah._properties('link', v_link.name);
    v_link.target_queue := coalesce(alter_link.target_queue, v_link.target_queue);
    if coalesce(alter_link.service, alter_link.dsn_env) is not null then
        v_link.service := nullif(alter_link.service, '');
        v_link.dsn_env := nullif(alter_link.dsn_env, '');
    end if;
    v_link.selector := nullif(btrim(coalesce(alter_link.selector, v_link.selector)), '');
    v_link.batch_size := coalesce(alter_link.batch_size, v_link.batch_size);
    v_link.retry_ms_max := coalesce(alter_link.retry_ms_max, v_link.retry_ms_max);
    v_link.transformation := howdah._transformation(coalesce(alter_link.transformation, v_link.transformation));
    perform howdah._check_link(v_link);
    update howdah.links l
    set target_queue = v_link.target_queue, service = v_link.service, dsn_env = v_link.dsn_env,
        selector = v_link.selector, batch_size = v_link.batch_size, retry_ms_max = v_link.retry_ms_max,
        transformation = v_link.transformation
    where l.link_id = v_link.link_id;
    perform howdah._record_change('link', v_link.name, 'altered', v_before, howdah._properties('link', v_link.name));
end
$$;
