"""Every page of the console."""

from __future__ import annotations

from howdah.console.pages.catalog import LISTINGS

PATHS = (
    "/",
    "/queues",
    "/queue?name=orders",
    "/messages",
    "/messages?queue=orders",
    "/message?queue=orders&id={id}",
    "/causes",
    "/trace?id=0af7651916cd43dd8448eb211c80319c",
    "/found?part=o",
    *(f"{path}?queue=orders" if listing.needed else path for path, listing in LISTINGS.items()),
    "/act?act=pause&queue=orders",
    "/act?act=discard&queue=orders&filter=%7B%7D",
    "/act?act=park&queue=orders&id={id}",
    "/act?act=cancel-schedule&queue=orders&all=yes",
)
