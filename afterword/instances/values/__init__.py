"""Values of metadata, one by one: those of instances and those of the people who were asked."""
