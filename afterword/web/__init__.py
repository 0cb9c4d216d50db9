"""HTTP: requests, answers, pages, limits. It holds no rule and no SQL; it opens the transaction of each request."""
