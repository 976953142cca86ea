-- howdah._derive(): keep the columns of a destination that the fast paths read in place of others.
--
-- Returns  trigger.
-- Role     internal
--
-- A statement that computes one of them prepares the functions of its expression in every call, which costs one percent
-- of a send for each. A generated column would not do: howdah._add_destination inserts whole rows.
create or replace function howdah._derive() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    new.usual_batch := new.main_rank = 9 - new.default_priority and not new.sending_paused;
    new.usual_send := new.usual_batch and new.journal_level <> 'full';
    new.assured := new.default_reliability = 'ASSURED_PERSISTENT';
    new.usual_publish := new.kind = 'topic' and not new.sending_paused and new.journal_level <> 'full'
        and new.persistent and new.assured and new.room is null;
    new.is_queue := new.kind = 'queue';
    new.usual_receive := not new.receiving_paused and new.keep_bodies_ms is null;
    new.journaled := new.journal_level <> 'off';
    new.grouped := new.message_groups = 'transaction' and not new.limited;
    new.default_time_to_live := new.default_time_to_live_ms * interval '1 millisecond';
    return new;
end
$$;

create or replace trigger derive before insert or update on howdah.destinations
for each row execute function howdah._derive();
