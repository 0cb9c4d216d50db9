"""The domains and addresses that an organization's mails may come from."""
