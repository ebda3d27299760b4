"""WHO ELSE'S INTERFACE DO WE SPEAK? One small module a framework, imported only on use."""
