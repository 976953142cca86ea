"""What Howdah tells monitoring: metrics and health."""
