"""How memory is reached. Only surfaces read arguments, the environment and sockets."""
