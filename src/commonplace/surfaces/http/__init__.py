"""Memory over HTTP: one application, guarded as a whole. `guard` lets in who may come in, `app` says what is where."""
