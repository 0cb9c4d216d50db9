"""The moves of a queue item that workers make: claim, begin, settle, release, renew, reap, late acceptance."""
