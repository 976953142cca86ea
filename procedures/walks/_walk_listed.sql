-- howdah._walk_listed(p_lane, p_walk, p_want, p_tail, p_all): lock what a selector selects, as far as looks have found
-- it ahead; look ahead if it is not enough.
--
-- Returns  up to p_want positions, ascending, and the position from which to walk on for more. It also says whether no
--          message that is selected lies before it, free or not.
-- Role     internal
--
-- p_tail: the last position given out. A queue that ends less than a page behind what was looked through is walked. One
-- consumer of a selector looks ahead at a time (an advisory lock); others walk meanwhile, and wait for nobody.
create or replace function howdah._walk_listed(
    p_lane howdah.lanes, p_walk howdah.walk, p_want integer, p_tail bigint, p_all boolean, out keys bigint[],
    out upto bigint, out clear boolean
) returns record
language plpgsql volatile
as $$
declare
    v_note boolean := howdah._hides_nothing();  -- before a lock gives the transaction an id
    v_taken record;
    v_ahead record;
    v_back bigint[];
begin
    if howdah._hint(p_lane.head) > p_tail then
        perform setval(p_lane.head, p_tail);
    end if;
    if p_all or howdah._is_due(howdah._hint(p_lane.search), howdah._pace(clock_timestamp())) then
        v_back := howdah._search_unlisted(p_lane, p_walk,
            greatest(howdah._hint(p_lane.head), (select max(c.upto) from howdah.candidates c
                where c.destination_id = p_lane.destination_id and c.digest = md5(p_walk.selector)::uuid
                  and c.rank = p_lane.rank and c.selector = p_walk.selector and c.upto <= p_tail)),
            p_tail, p_want, p_all);
    end if;
    select * into v_taken from howdah._take_listed(p_lane, p_walk, p_want - coalesce(cardinality(v_back), 0),
        v_note);
    upto := v_taken.upto;
    clear := v_taken.clear;
    keys := v_taken.keys;
    if cardinality(v_back) > 0 then
        keys := array(select k from unnest(v_back || keys) k group by k order by k);
        clear := false;
    end if;
    if cardinality(keys) < p_want and p_tail - upto > 4096
       and pg_try_advisory_xact_lock(howdah._lock_key('selector', p_lane.destination_id || ':' || p_walk.selector)) then
        select * into v_ahead from howdah._look_ahead(p_lane, p_walk, upto, p_want - cardinality(keys), p_tail,
            v_note);
        if clear and v_note then
            perform howdah._advance(p_lane.head, coalesce(v_ahead.seqs[1] - 1, v_ahead.upto));
        end if;
        clear := clear and cardinality(v_ahead.seqs) = 0;
        upto := v_ahead.upto;
        for v_from in 1..cardinality(v_ahead.seqs) by 100 loop
            exit when cardinality(keys) >= p_want;
            keys := keys || howdah._lock_listed(p_lane, v_ahead.seqs[v_from:v_from + 99],
                v_ahead.message_ids[v_from:v_from + 99], p_want - cardinality(keys));
        end loop;
    end if;
end
$$;
