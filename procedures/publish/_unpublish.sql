-- howdah._unpublish(p_generation, p_topic_id, p_seqs): delete the caller's own rows from a table of the ring that was
-- closed while they were inserted.
--
-- Role     internal
create or replace function howdah._unpublish(p_generation bigint, p_topic_id integer, p_seqs bigint[]) returns void
language plpgsql volatile
as $$
begin
    -- for N in 0, 1, 2:
    if p_generation % 3 = N then
        delete from howdah.topic_msgs_N t where t.destination_id = p_topic_id and t.xid = pg_current_xact_id()
            and t.seq = any (p_seqs);
        delete from howdah.topic_nonpersistent_N t
        where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
    end if;
    -- end for
end
$$;
