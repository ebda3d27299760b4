"""Memory as a server of the Model Context Protocol, over standard input and output or over HTTP.

`serving` says what is served and to whom, `tools`, `resources` and `prompts` answer, `notices` tells of changes,
`server` puts them together. The `mcp` package is imported below here only, when a server starts.
"""
