"""HERE IS A PAGE: WHAT DOES IT SAY? Pure text to values and back; nothing here reads or writes a file."""
