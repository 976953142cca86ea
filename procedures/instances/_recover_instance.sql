-- howdah._recover_instance(): clean up after earlier lives: journal lost messages, and close dead consumers.
--
-- Role     internal
create or replace function howdah._recover_instance() returns void
language plpgsql volatile
as $$
begin
    perform howdah._sweep_lost();
    perform howdah._close_dead(c.destination_id, howdah.now())
    from (select distinct o.destination_id from howdah.consumers o order by 1) c;
end
$$;
