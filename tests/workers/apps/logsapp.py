"""An application that logs: in its handler, in threads, and on the way an exception."""

from __future__ import annotations

import contextvars
import logging
import threading

from howdah.engine import Message
from howdah.workers import App, Transaction

app = App("logs")
log = logging.getLogger("shop.orders")


@app.handler("work")
def work(message: Message, transaction: Transaction) -> None:
    """Log in the handler, in a thread with its context and in one without."""
    log.debug("too much")
    log.info("brewing %s", message.body, extra={"cups": 2})
    context = contextvars.copy_context()
    for target in (lambda: context.run(log.info, "in a thread with context"), lambda: log.info("in a plain thread")):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
