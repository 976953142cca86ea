-- pgmq.set_vt(queue_name, msg_id, vt): set the time from which messages are visible.
--
-- Returns  the messages as they are now. Numbers that are not there are left out.
-- Raises   42P01 no such queue; 23502 vt is NULL; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- vt is a number of seconds from now on, or a time. It may lie in the past.
create or replace function pgmq.set_vt(queue_name text, msg_id bigint, vt timestamptz)
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return query select * from pgmq._set_vt(queue_name, array[msg_id], vt); end $$;

create or replace function pgmq.set_vt(queue_name text, msg_id bigint, vt integer)
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._set_vt(queue_name, array[msg_id], howdah.now() + make_interval(secs => vt));
end
$$;

create or replace function pgmq.set_vt(queue_name text, msg_ids bigint[], vt timestamptz)
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return query select * from pgmq._set_vt(queue_name, msg_ids, vt); end $$;

create or replace function pgmq.set_vt(queue_name text, msg_ids bigint[], vt integer)
returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
begin
    return query select * from pgmq._set_vt(queue_name, msg_ids, howdah.now() + make_interval(secs => vt));
end
$$;
