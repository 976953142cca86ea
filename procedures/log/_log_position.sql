-- howdah._log_position(p_position): read where a reader of the log goes on.
--
-- Returns  since and until, the snapshots between which it reads; until NULL: it begins a new page now. Also at, source
--          and number of the last row that it has read.
-- Raises   HD005 it is no such place.
-- Role     internal
--
-- NULL means now. So does a place of another cluster, whose transaction ids mean nothing here.
create or replace function howdah._log_position(
    p_position jsonb, out since pg_snapshot, out until pg_snapshot, out at timestamptz, out source integer,
    out number bigint
)
returns record
language plpgsql volatile
as $$
begin
    begin
        since := p_position ->> 'since';
        until := p_position ->> 'until';
        at := coalesce((p_position ->> 'at')::timestamptz, '-infinity');
        source := coalesce((p_position ->> 'source')::integer, 0);
        number := coalesce((p_position ->> 'event_id')::bigint, 0);
    exception when data_exception then
        since := null;
    end;
    if p_position is not null and (since is null or at is null) then
        raise exception using errcode = 'HD005', message = 'position is not one that a call returned',
            hint = 'Pass next_position of the previous call, or NULL for now.';
    end if;
    if since is null
       or pg_snapshot_xmax(coalesce(until, since))::text::bigint
           > pg_snapshot_xmax(pg_current_snapshot())::text::bigint then
        since := pg_current_snapshot();
        until := null;
        at := '-infinity';
    end if;
end
$$;
