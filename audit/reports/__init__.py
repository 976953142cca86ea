"""Reports over the kept views of an audit: functions from DataFrames to DataFrames, a subject a module.

``catalogue`` names them all and runs them; each is written as Parquet under the folder ``reports`` of an audit's
output.
"""

from __future__ import annotations

from .catalogue import Made, make_reports
from .kept import Kept

__all__ = ["Kept", "Made", "make_reports"]
