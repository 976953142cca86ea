"""One database that uses every feature there is, at journal_level full.

What an audit of a healthy database must call sound.

A function a feature, each with queues of its own, in the modules below. A new verb gets its call in one of them;
test_every_feature.py counts them.
"""

from __future__ import annotations

import features_of_administration
import features_of_delivery
import features_of_maintenance
import features_of_messages
import features_of_topics
from feature_engine import FEATURES, Engine
from support import Connect, Db

#: In their order: later features send to queues of earlier ones.
MODULES = (
    features_of_messages,
    features_of_delivery,
    features_of_administration,
    features_of_topics,
    features_of_maintenance,
)


def use_every_feature(db: Db, connect: Connect) -> set[str]:
    """Use them all in one database; the verbs that were called."""
    engine = Engine(db, connect)
    for module in MODULES:
        for function in FEATURES[module.__name__]:
            function(engine)
    return engine.called
