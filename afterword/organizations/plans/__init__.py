"""Plans and credits: the contingent of an organization, agreed with the operator."""
