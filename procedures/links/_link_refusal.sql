-- howdah._link_refusal(p_sqlstate): what an error says of a message that came over a link.
--
-- Returns  text: failed (it counts as a failure of the message) or rejected (another try cannot help). NULL if the
--          message is not to blame, and waits until the error is gone.
-- Role     internal
--
-- A message that is too large, that breaks the queue's contract, or whose level is above the queue's highest, is
-- rejected. A paused or full queue, a halted engine, a missing right, an older snapshot and a restored database are
-- not the message's fault.
--
-- Errors of these classes of PostgreSQL are not its fault, either: connections (08), unsupported features (0A), states
-- and ends of transactions (25, 2D, 3B, 40). The same holds for rights and names (26, 28, 34, 3D, 3F, 42), resources
-- (53), objects in use (55) and operators (57). It also holds for the system (58, F0, XX), old snapshots (72) and
-- foreign servers (HV). All other errors are the message's fault, even a state that an application made up. Raised for
-- one message, it would keep all behind it waiting.
create or replace function howdah._link_refusal(p_sqlstate text) returns text
language sql immutable
as $$
    select case
        when p_sqlstate in ('HD008', 'HD010', 'HD018', 'HD025', 'HD027', 'HD040', 'HD049')
            or substr(p_sqlstate, 1, 2) in ('00', '01', '02', '03', '08', '0A', '25', '26', '28', '2D', '34', '3B',
                '3D', '3F', '40', '42', '53', '55', '57', '58', '72', 'F0', 'HV', 'XX') then null
        when p_sqlstate in ('HD007', 'HD039', 'HD050') then 'rejected'
        when p_sqlstate is not null then 'failed' end
$$;
