"""The page of an audit, and its parts."""

from .page import environment, unproved, write_page

__all__ = ["environment", "unproved", "write_page"]
