"""Cases: their list and story, answers to customers, rules that open them."""
