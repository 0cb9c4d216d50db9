"""The invitations behind the figures of reports."""
