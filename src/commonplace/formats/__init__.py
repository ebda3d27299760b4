"""The formats of pages, parsed and rendered: pure text to values and back, without touching a file."""


class ParseProblem(Exception):
    """Why a text cannot be parsed, and the line (from 1) where that was noticed; 0 if unknown."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
