"""Public links: addresses at which anybody may answer a questionnaire."""
