"""HOW IS IT REACHED? Only here are arguments, the environment and sockets read."""
