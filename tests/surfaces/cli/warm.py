"""Imported by the process that commands are forked off: what each of them would load anew is there already."""

from __future__ import annotations

from commonplace.embedding.static import StaticEmbedder

StaticEmbedder().embed_query("tea")
