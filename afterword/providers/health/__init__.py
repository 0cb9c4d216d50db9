"""Health of provider accounts: circuit breaker, pauses, the rate after throttles."""
