-- howdah._pause_destinations(): let every queue, topic and subscription take new work or not, as the engine and each of
-- them now say.
--
-- Role     internal
--
-- Sends and receives look at their destination alone, so the engine's state costs them nothing. Ended temporary queues
-- are included, because they are used again.
create or replace function howdah._pause_destinations() returns void
language plpgsql volatile
as $$
declare
    v_halted constant boolean := howdah._engine_state() <> 'running';
begin
    update howdah.destinations d
    set sending_paused = d.own_sending_paused or v_halted, receiving_paused = d.own_receiving_paused or v_halted
    where (d.sending_paused, d.receiving_paused)
        <> (d.own_sending_paused or v_halted, d.own_receiving_paused or v_halted)
      and (d.dropped_at is null or exists (select from howdah.temporary_queues t where t.destination_id = d.id));
end
$$;
