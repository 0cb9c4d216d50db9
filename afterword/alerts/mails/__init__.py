"""E-mails with notices to users: scheduled, claimed, sent by the worker, settled."""
