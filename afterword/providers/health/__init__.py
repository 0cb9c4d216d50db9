"""Whether a provider account may be sent through: its breaker, its pauses, the rate it was throttled to."""
