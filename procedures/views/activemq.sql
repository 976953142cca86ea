-- activemq_msgs, activemq_acks, activemq_lock: the message store in the layout of ActiveMQ's JDBC adapter, read-only.
--
-- Role     howdah_auditor howdah_admin
--
-- The columns are those of ActiveMQ's DDL for PostgreSQL. As there, a message is a row until it is acknowledged,
-- whoever has it in hand. MSG is NULL if the caller may not browse the container. XID is NULL, because SQL cannot see a
-- prepared transaction's rows.
create or replace view howdah.activemq_msgs as
select m.message_id as id,
    d.kind || '://' || d.name as container,
    'ID:howdah-' || e.name as msgid_prod,
    m.message_id as msgid_seq,
    coalesce((extract(epoch from m.expires_at) * 1000)::bigint, 0) as expiration,
    case when d.shown then coalesce(m.body, (select b.body from howdah.bodies b
        where b.message_id = m.message_id)) end as msg,
    (9 - m.rank)::bigint as priority,
    null::text as xid
from (
    select c.destination_id, c.message_id, c.rank, c.expires_at, c.body from howdah.msgs c
    union all
    select c.destination_id, c.message_id, c.rank, c.expires_at, c.body from howdah.msgs_nonpersistent c
    where c.boot = pg_postmaster_start_time()
    union all
    select c.destination_id, c.message_id, c.rank, c.expires_at, c.body from howdah.leased c
    union all
    select c.destination_id, c.message_id, c.rank, c.expires_at, c.body from howdah.parked c
    where c.boot is null or c.boot = pg_postmaster_start_time()
    -- for N in 0, 1, 2:
    union all
    select t.destination_id, t.seq * 1000000 + t.destination_id, t.rank, t.expires_at, t.body from howdah.topic_msgs_N t
    -- end for
    -- for N in 0, 1, 2:
    union all
    select t.destination_id, t.seq * 1000000 + t.destination_id, t.rank, t.expires_at, t.body
    from howdah.topic_nonpersistent_N t
    where t.boot = pg_postmaster_start_time()
    -- end for
) m
-- The right is checked once per destination, and not at all if no body is asked for.
join (select s.id, s.kind, s.name, howdah.may_browse(s.id) as shown from howdah.destinations s offset 0) d
    on d.id = m.destination_id
cross join howdah.engine e;

comment on view howdah.activemq_msgs is
    'Messages of queues (ready, parked or leased) until they are acknowledged, and stored messages of topics, with '
    'the columns of ActiveMQ''s ACTIVEMQ_MSGS.';

create or replace view howdah.activemq_acks as
select 'topic://' || d.name as container,
    'topic://' || s.topic as sub_dest,
    a.client_id,
    a.subscription_name as sub_name,
    a.selector,
    howdah.last_acked_id(a.id) as last_acked_id,
    a.priority::bigint as priority,
    null::text as xid
from howdah.acks a
join howdah.destinations d on d.id = a.destination_id
join howdah.subscriptions s on s.destination_id = a.subscription_id
where s.durable;

comment on view howdah.activemq_acks is 'Durable subscriptions with the columns of ActiveMQ''s ACTIVEMQ_ACKS.';

create or replace view howdah.activemq_lock as
select l.id::bigint as id,
    (extract(epoch from l.expires_at) * 1000)::bigint as time,
    l.holder as broker_name
from howdah.lock l;

comment on view howdah.activemq_lock is
    'Leases with the columns of ActiveMQ''s ACTIVEMQ_LOCK; 1 is the maintenance leader''s.';
