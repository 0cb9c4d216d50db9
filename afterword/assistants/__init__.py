"""Tools for assistants (Model Context Protocol): requests of the API, with the token of whoever connects the assistant.

A tool is declared once, in `reading` or `writing`, and serves both transports: `server` over standard input and output
(`afterword mcp`), `endpoint` over HTTP. Both call the routes of the API, so no tool can do more than its token.
"""
