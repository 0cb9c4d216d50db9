"""SMS: by an HTTP gateway that a file describes, by a provider of Twilio's shape, or by SMPP."""
