"""The browser console: screens of what the API gives too, without SQL and without rules of its own."""
