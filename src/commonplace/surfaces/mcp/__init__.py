"""Memory as a server of the Model Context Protocol, over standard input and output or over HTTP.

`server` answers requests with `tools` and `resources`. Only modules in this folder and the HTTP
application import the `mcp` package, which is loaded when a server starts.
"""
