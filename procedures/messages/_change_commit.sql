-- howdah._change_commit(p_level, p_message_id): as howdah._commit_needs, whatever the transaction noted before.
--
-- Returns  p_message_id (bigint).
-- Role     internal
--
-- p_level may also be NULL, to note nothing. If howdah.commit_by_reliability is neither on nor off, nothing changes.
--
-- howdah.commit_state holds the caller's own synchronous_commit, the highest level (3 for all up to it, -1 for none),
-- and what was set last. If synchronous_commit differs from the last, the caller set it since, and it is the caller's
-- own. All are settings of the transaction, so ROLLBACK TO SAVEPOINT takes back what the messages after the savepoint
-- needed.
create or replace function howdah._change_commit(p_level integer, p_message_id bigint) returns bigint
language plpgsql volatile
as $$
declare
    v_word text := lower(current_setting('howdah.commit_by_reliability', true));
    v_state text[] := string_to_array(current_setting('howdah.commit_state', true), ' ');
    v_now text := current_setting('synchronous_commit');
    v_own text := v_state[1];
    v_level integer := greatest(v_state[2]::integer, case when p_level between 0 and 3 then 3 else p_level end, -1);
    v_wanted text;
begin
    if v_word in ('off', 'false', 'no', '0') then
        if cardinality(v_state) > 0 then
            perform set_config('synchronous_commit', v_own, true), set_config('howdah.commit_state', '', true);
        end if;
        return p_message_id;
    elsif v_word not in ('', 'on', 'true', 'yes', '1') then
        return p_message_id;
    elsif coalesce(v_word, '') = '' and coalesce(cardinality(v_state), 0) = 0 then
        return p_message_id;
    end if;
    if v_own is null or v_now <> v_state[3] then
        v_own := v_now;
    end if;
    v_wanted := case when v_level < 0 then v_own when v_level <= 3 then 'off' when v_own = 'off' then 'on'
        else v_own end;
    if v_wanted <> v_now then
        perform set_config('synchronous_commit', v_wanted, true);
    end if;
    if v_state is distinct from array[v_own, v_level::text, v_wanted] then
        perform set_config('howdah.commit_state', concat_ws(' ', v_own, v_level, v_wanted), true);
    end if;
    return p_message_id;
end
$$;
