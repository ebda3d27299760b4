"""Facts in text: which statements a text makes, and which statement of two is the newer version of the other."""
