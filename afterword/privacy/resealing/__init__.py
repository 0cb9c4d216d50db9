"""Values that were sealed with a secret of before, sealed again with the one in use."""
