"""The shop's tasks."""

import asyncio

from django.db import connection, transaction
from django.utils import timezone

try:
    from django.tasks import task
except ImportError:
    from django_tasks import task

from shop.models import Order


@task
def brew(number, *, milk=False):
    """Brew an order."""
    order = Order.objects.get(pk=number)
    order.state, order.at, order.extra = "brewed", timezone.now(), {"milk": milk}
    order.save()
    return {"item": order.item, "milk": order.extra["milk"], "aware": timezone.is_aware(order.at)}


@task
def spill(number):
    """Fail after a write."""
    Order.objects.filter(pk=number).update(state="spilt")
    raise ValueError("the cup was full")


@task(queue_name="mail")
async def write(to):
    """Be asynchronous, and use the ORM."""
    await asyncio.sleep(0)
    await Order.objects.acreate(item=f"letter to {to}")
    return [to, await Order.objects.acount()]


@task(takes_context=True)
def tell(context):
    """Tell of itself."""
    return [context.task_result.status, context.attempt, context.task_result.id]


@task
def note(text):
    """Write down in which order tasks run."""
    Order.objects.create(item=text)


@task
def nested(number):
    """Roll a part back, and enqueue another task."""
    try:
        with transaction.atomic():
            Order.objects.filter(pk=number).update(item="lost")
            raise KeyError("back")
    except KeyError:
        pass
    transaction.on_commit(lambda: note.enqueue("after"))
    brew.enqueue(number)
    list(Order.objects.iterator(chunk_size=1))
    return Order.objects.get(pk=number).item


@task
def cheat(number):
    """Try to commit."""
    Order.objects.filter(pk=number).update(state="stolen")
    with connection.cursor() as cursor:
        cursor.execute("commit")


@task
def durable():
    """Ask for a transaction of its own."""
    with transaction.atomic(durable=True):
        pass


@task
def unjson():
    """Return what is not JSON."""
    return object()


@task(takes_context=True)
def stumble(context):
    """Fail at the first attempt."""
    if context.attempt == 1:
        raise LookupError("no beans")
    return context.attempt


@task
def look():
    """Tell who and when it is: the role, and a naive time that the database has got and one that it gives."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select current_user, %s::timestamptz = '2026-01-31 23:00:00+00', to_timestamp(0)", ["2026-02-01 08:00"]
        )
        role, same, epoch = cursor.fetchone()
    return [role, same, epoch.hour]
