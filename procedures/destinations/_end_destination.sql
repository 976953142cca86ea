-- howdah._end_destination(p_id): drop a destination, its listeners, links, bridges and kept messages. Its row and
-- sequences stay for a while.
--
-- Role     internal
create or replace function howdah._end_destination(p_id integer) returns void
language plpgsql volatile
as $$
begin
    update howdah.destinations d set dropped_at = howdah.now() where d.id = p_id;
    delete from howdah.listeners l where l.destination_id = p_id;
    delete from howdah.links l where l.source_id = p_id;
    delete from howdah.kept_messages k where k.destination_id = p_id;
    perform howdah._leave_topics(p_id);
end
$$;
