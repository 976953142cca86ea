-- howdah._journal_stream(p_stream, p_seqs): journal messages of a stream as consumed.
--
-- Role     internal
--
-- p_stream comes from howdah._begin_stream, and p_seqs are positions, ascending if they have no gap. Without a gap, the
-- least and the greatest say it all.
create or replace function howdah._journal_stream(p_stream record, p_seqs bigint[]) returns void
language plpgsql volatile
as $$
declare
    v_id integer := p_stream.topic_id;
    v_number integer := cardinality(p_seqs);
    v_gapless boolean := v_number > 1 and p_seqs[v_number] - p_seqs[1] = v_number - 1;
begin
    if (p_stream.destination).journal_level = 'off' then
        return;
    end if;
    if v_number > 1 and v_gapless then
        v_gapless := (select bool_and(s.seq = p_seqs[1] + s.n - 1) from unnest(p_seqs) with ordinality s(seq, n));
    end if;
    insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, last_id)
    values (p_stream.moment, (p_stream.destination).id, p_stream.nonpersistent, 'consumed',
        case when v_gapless then array[p_seqs[1] * 1000000 + v_id]
             else array(select s.seq * 1000000 + v_id from unnest(p_seqs) s(seq)) end,
        case when v_gapless then p_seqs[v_number] * 1000000 + v_id end);
end
$$;
