-- howdah.renew_consumers(consumers): keep open consumers alive although they ask for no messages now.
--
-- Returns  the consumers that are open (setof bigint). The others were closed, or were silent for so long that others
--          took over.
-- Raises   HD005 consumers is NULL; HD010 called from a maintenance command. A consumer of a queue that the caller may
--          not receive from is left out.
-- Role     howdah_consumer howdah_admin
--
-- It is the heartbeat of sessions that work on messages held ahead. A consumer whose transaction is receiving is
-- skipped: that keeps it alive.
create or replace function howdah.renew_consumers(consumers bigint[]) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_open integer[];
begin
    if consumers is null then
        raise exception using errcode = 'HD005', message = 'consumers cannot be NULL',
            hint = 'Give the numbers from howdah.open_consumer.';
    end if;
    v_open := array(
        select c.id from howdah.consumers c join howdah.destinations d on d.id = c.destination_id
        where c.id = any (consumers) and d.dropped_at is null
          and howdah._has_right(d.id, 'receive', d.receivers)
    );
    update howdah.consumers c set seen_at = howdah.now()
    where c.ctid = any (array(select u.ctid from howdah.consumers u where u.id = any (v_open) for update skip locked));
    return query select o::bigint from unnest(v_open) o;
end
$$;
