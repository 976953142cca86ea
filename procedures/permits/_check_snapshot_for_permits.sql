-- howdah._check_snapshot_for_permits(p_queue): refuse a transaction that would not see which permits are leased.
--
-- Raises   HD005 a limit of concurrency needs READ COMMITTED.
-- Role     internal
create or replace function howdah._check_snapshot_for_permits(p_queue howdah.destinations) returns void
language plpgsql stable
as $$
begin
    if howdah._has_old_snapshot()
       and (p_queue.max_concurrent is not null or p_queue.max_concurrent_per_key is not null) then
        raise exception using errcode = 'HD005', message = format('receiving from %s needs READ COMMITTED',
            quote_literal(p_queue.name)),
            hint = 'It has a limit of concurrency, and an older snapshot does not see what others have leased.';
    end if;
end
$$;
