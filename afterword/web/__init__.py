"""HTTP: requests, responses, pages, limits. Opens each request's transaction; holds no business rule and no SQL."""
