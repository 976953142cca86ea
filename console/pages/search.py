"""Where a search leads: to a queue, a topic, or a message by its number."""

from __future__ import annotations

from urllib.parse import urlencode

from ..database import Work


def place_of(work: Work, sought: str) -> str:
    """The path of the best page for what was sought."""
    sought = sought.replace("\0", "").strip()
    names = [row["queue_name"] for row in work.part(lambda: work.admin.queue_figures([sought], 0))]
    if sought in names:
        return "/queue?" + urlencode({"name": sought})
    if sought.isascii() and sought.isdigit() and len(sought) < 19:
        found = work.part(lambda: [work.admin.poison_message(int(sought))])
        if found and found[0] is not None:
            return "/message?" + urlencode({"queue": found[0].message.queue, "id": sought})
    return "/queues?" + urlencode({"like": sought})
