"""Webhook endpoints: who is told of which events, where, under which secrets."""
