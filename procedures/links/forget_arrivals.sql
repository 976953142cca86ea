-- howdah.forget_arrivals(link_id): forget a link that leads here, once it was dropped or began anew at its sender.
--
-- Returns  how many messages were in transit (bigint); if the link still forwards, they may come twice.
-- Raises   HD010 called from a maintenance command; HD041 no such link leads here; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- A link that still forwards then stops with HD025.
create or replace function howdah.forget_arrivals(link_id uuid) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer;
    v_count bigint;
begin
    delete from howdah.link_arrivals a where a.link_id = forget_arrivals.link_id returning a.arrival_id into v_id;
    if not found then
        raise exception using errcode = 'HD041', message = 'no such link leads here',
            hint = 'See howdah.list_arrivals().';
    end if;
    with forgotten as (
        delete from howdah.link_receipts r where r.arrival_id = v_id returning cardinality(r.message_ids) as messages
    )
    select coalesce(sum(f.messages), 0)::bigint into v_count from forgotten f;
    perform howdah._record_change('arrivals', link_id::text, 'dropped', jsonb_build_object('in_transit', v_count),
        null);
    return v_count;
end
$$;
