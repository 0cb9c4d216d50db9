"""The mails that carry notices to users: gathered, claimed, sent by the worker, settled."""
