"""Acts on things other than messages: queues, schedules, subscriptions, consumers, links. One, chosen ones or all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..engine.admin.links import Links
from ..engine.admin.logs import Logs
from ..engine.admin.schedules import Schedules
from ..engine.calls.consumers import close_consumer
from ..engine.errors import BadArgument, HowdahError
from .asked import REASON, Act, Asked, Done, Things, UnconfirmedError
from .database import Work
from .times import moment, whole

#: Things of one batch: a transaction of its own.
BATCH = 100
#: Names that a preview shows.
MOST_NAMES = 20

QUEUES = Things("queue", "list_queues", "", "queue", "queue", "/queues")
SCHEDULES = Things("schedule", "list_schedules", "queue", "schedule_id", "name", "/schedules", True)
SUBSCRIPTIONS = Things("subscription", "list_subscriptions", "topic", "subscription", "subscription", "/subscriptions")
CONSUMERS = Things("consumer", "list_consumers", "queue", "consumer", "consumer", "/consumers", True)
KEPT = Things("kept message", "browse_kept", "queue", "message_id", "message_id", "/kept", True)
LINKS = Things("link", "list_links", "", "name", "name", "/links")

Key = int | str


def described(work: Work, things: Things, asked: Asked) -> tuple[str, int]:
    """Which things an act deals with, in words, and how many they are."""
    names = _names(work, things, asked)
    if not asked.whole and len(names) == 1:
        return "", 1
    rest = ", …" if len(names) > MOST_NAMES else ""
    listed = f": {', '.join(list(names.values())[:MOST_NAMES])}{rest}" if names else ""
    every = f"all {things.noun}s of {asked.queue}, " if asked.whole else ""
    return f"It deals with {every}{len(names):,} {things.noun}{'' if len(names) == 1 else 's'}{listed}.", len(names)


def word(work: Work, act: Act, asked: Asked) -> tuple[str, str]:
    """What a person must write to destroy something: what it names, and the word."""
    if act.things is None:
        return "the queue's name", asked.queue
    if asked.whole:
        return f"the {act.things.of}'s name", asked.queue
    names = _names(work, act.things, asked)
    if len(names) == 1:
        (name,) = names.values()
        return f"the {act.things.noun}'s name", name
    return "how many they are", str(len(names))


def _names(work: Work, things: Things, asked: Asked) -> dict[Key, str]:
    """What an act deals with, by key, in the order of keys: the name of each. Raises BadArgument."""
    if asked.whole and (things is KEPT or not (things.of and asked.queue)):
        raise BadArgument(f"say whose {things.noun}s")
    alone = (asked.queue,) if things is QUEUES and asked.queue else ()
    keys = {_key(things, target) for target in asked.targets or alone}
    names: dict[Key, str] = {key: str(key) for key in keys}
    if asked.whole or things.name != things.key:
        given = {things.of: ("text", asked.queue or None)} if things.of else {}
        for row in work.table(things.function, f"{things.key}, {things.name}", **given):
            if asked.whole or row[things.key] in keys:
                names[row[things.key]] = str(row[things.name] or row[things.key])
    return dict(sorted(names.items()))


def _key(things: Things, target: str) -> Key:
    if not things.numbered:
        return target
    number = whole(target)
    if number is None:
        raise BadArgument(f"{target!r} is no number")
    return number


def _on(things: Things, do: Callable[[Work, Asked, Key], object]) -> Callable[[Work, Asked], Done]:
    """An act on one batch of things. Its reason goes to the acts, to the changes and to the log."""

    def perform(work: Work, asked: Asked) -> Done:
        work.because(asked.reason)
        keys: list[Key] = list(_names(work, things, asked))
        alone = not asked.whole and len(keys) == 1
        if asked.after:
            keys = [key for key in keys if key > _key(things, asked.after)]  # type: ignore[operator]
        batch = keys[:BATCH]
        results = [do(work, asked, key) if alone else work.attempt(partial(do, work, asked, key)) for key in batch]
        left = [result for result in results if isinstance(result, HowdahError)]
        facts = {"queue": asked.queue, "target": ", ".join(map(str, batch)), "by": work.person.name}
        Logs(work.run).write("INFO", f"from the console: {asked.reason}"[:2000], facts)
        count = sum(int(result) if isinstance(result, int) else 1 for result in results) - len(left)
        after = str(batch[-1]) if len(keys) > BATCH else None
        return Done(count, after, len(left), left[0].message if left else "")

    return perform


def _seek(work: Work, asked: Asked, name: Key) -> bool:
    since = moment(asked.values.get("since"))
    if since is None:
        raise BadArgument("say since when")
    skipped = work.admin.seek_subscription(str(name), since)
    if skipped and asked.values.get("typed") != word(work, THINGS["seek"], asked)[1]:
        raise UnconfirmedError(f"{name} has not read {skipped:,} messages from before that time: it would skip them.")
    return True


def _fire(work: Work, asked: Asked, number: Key) -> bool:
    Schedules(work.run).fire_now(int(number), work.reason(asked.reason))
    return True


def _replay_kept(work: Work, asked: Asked, number: Key) -> int:
    target = asked.values.get("other") or None
    return work.admin.replay_kept(asked.queue, [int(number)], target=target, reason=work.reason(asked.reason))


def _delete_kept(work: Work, asked: Asked, number: Key) -> int:
    return work.admin.delete_kept(asked.queue, [int(number)], reason=work.reason(asked.reason))


SINCE = ("since", "Since when, such as 2026-01-31T06:00:00Z", "needed")
THINGS = {
    "pause": Act("Pause", _on(QUEUES, lambda work, asked, name: work.admin.pause(str(name))), things=QUEUES),
    "resume": Act("Resume", _on(QUEUES, lambda work, asked, name: work.admin.resume(str(name))), things=QUEUES),
    # It asks for the name only if messages are skipped.
    "seek": Act("Seek", _on(SUBSCRIPTIONS, _seek), (SINCE, REASON), things=SUBSCRIPTIONS),
    "pause-schedule": Act(
        "Pause the schedule",
        _on(SCHEDULES, lambda work, asked, number: Schedules(work.run).pause(int(number))),
        things=SCHEDULES,
    ),
    "resume-schedule": Act(
        "Resume the schedule",
        _on(SCHEDULES, lambda work, asked, number: Schedules(work.run).resume(int(number))),
        things=SCHEDULES,
    ),
    "fire-schedule": Act("Fire the schedule now", _on(SCHEDULES, _fire), things=SCHEDULES),
    "cancel-schedule": Act(
        "Cancel the schedule",
        _on(SCHEDULES, lambda work, asked, number: Schedules(work.run).cancel(int(number))),
        destructive=True,
        things=SCHEDULES,
    ),
    "replay-kept": Act(
        "Replay",
        _on(KEPT, _replay_kept),
        (("other", "To which queue (empty: the same)", "optional"), REASON),
        things=KEPT,
    ),
    "delete-kept": Act("Delete for good", _on(KEPT, _delete_kept), destructive=True, things=KEPT),
    "pause-link": Act(
        "Pause the link", _on(LINKS, lambda work, asked, name: Links(work.run).pause(str(name))), things=LINKS
    ),
    "resume-link": Act(
        "Resume the link", _on(LINKS, lambda work, asked, name: Links(work.run).resume(str(name))), things=LINKS
    ),
    "end-consumer": Act(
        "End the consumer",
        _on(CONSUMERS, lambda work, asked, number: work.run(close_consumer(int(number)))),
        destructive=True,
        things=CONSUMERS,
    ),
}
