"""The ways to reach a memory. Only surfaces read arguments, the environment and sockets."""
