-- howdah.transform_subscription(subscription, transformation): let a subscription's consumers get messages as a
-- transformation makes them.
--
-- Raises   HD001 there is no such subscription; HD005 there is no such transformation; HD010 not allowed; HD045 the
--          master of changes is away; HD024 the subscription is being read.
-- Role     howdah_admin
--
-- transformation NULL or empty: they get messages as they were published. The change waits for whoever reads the
-- subscription now. Messages that were set aside are transformed, too, at their next delivery.
create or replace function howdah.transform_subscription(subscription text, transformation text default null)
returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._subscription(subscription, 'admin');
    v_transformation text := howdah._transformation(transformation);
    v_before jsonb := howdah._properties('subscription', v_destination.name);
begin
    perform howdah._lock_subscription(v_destination);
    update howdah.subscriptions s set transformation = v_transformation where s.destination_id = v_destination.id;
    perform howdah._record_change('subscription', v_destination.name, 'altered', v_before,
        howdah._properties('subscription', v_destination.name));
end
$$;
