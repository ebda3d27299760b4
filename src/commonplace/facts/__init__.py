"""Facts in text: the statements that a text makes, and which of two statements is a newer version of the other."""
