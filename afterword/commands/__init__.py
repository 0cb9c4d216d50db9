"""What the command line starts: the roots. They read the settings once and pass values on."""
