"""The demo: a year of flights out of New York, each a message, through every part of Howdah."""
