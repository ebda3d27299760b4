"""WHAT IS THERE, AND WHAT IS IT LIKE? Memory from above, for people who look at it, as far as an agent may see.

`sight` says what a path is to who looks, `outline` and `listing` what there is to browse, `web` what hangs together,
`growth` how much there is and since when, `recalls` what was recalled and what never, `talk` what was said; `edit`
changes a page.
"""
