-- howdah._drop_bodies(p_message_ids): delete from howdah.bodies the bodies of messages that have ended.
--
-- Role     internal
create or replace function howdah._drop_bodies(p_message_ids bigint[]) returns void
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
begin
    delete from howdah.bodies b where b.message_id = any (p_message_ids);
end
$$;
