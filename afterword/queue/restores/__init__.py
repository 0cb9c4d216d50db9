"""Keeps a database that went back in time from mailing people twice: sending pauses until a person has looked."""
