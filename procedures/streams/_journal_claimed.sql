-- howdah._journal_claimed(p_destination_id, p_topic_id, p_nonpersistent, p_seqs, p_now): journal messages of a topic as
-- consumed.
--
-- Role     internal
--
-- p_seqs are positions in the topic. Where they are ascending without a gap, the first and the last say it all.
create or replace function howdah._journal_claimed(
    p_destination_id integer, p_topic_id integer, p_nonpersistent boolean, p_seqs bigint[], p_now timestamptz
) returns void
language plpgsql volatile
as $$
declare
    v_number integer := cardinality(p_seqs);
begin
    if v_number > 1 and p_seqs[v_number] - p_seqs[1] = v_number - 1
       and p_seqs = array(select s.seq from generate_series(p_seqs[1], p_seqs[v_number]) s(seq)) then
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, last_id)
        values (p_now, p_destination_id, p_nonpersistent, 'consumed', array[p_seqs[1] * 1000000 + p_topic_id],
            p_seqs[v_number] * 1000000 + p_topic_id);
    else
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)
        values (p_now, p_destination_id, p_nonpersistent, 'consumed',
            case when v_number = 1 then array[p_seqs[1] * 1000000 + p_topic_id]
                 else array(select s.seq * 1000000 + p_topic_id from unnest(p_seqs) s(seq)) end);
    end if;
end
$$;
