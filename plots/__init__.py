"""Drawings as SVG text, to stand inside a page: what the benchmarks' page and the audit's share."""

from __future__ import annotations

from .curves import Curve, draw, look

__all__ = ["Curve", "draw", "look"]
