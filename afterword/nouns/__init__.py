"""The kit of nouns: a record declared once gives its requests, resource, statements, routes, form and list."""
