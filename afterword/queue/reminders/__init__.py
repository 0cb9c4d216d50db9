"""Messages that follow an unanswered one: made when the one before was sent, ended by the first answer."""
