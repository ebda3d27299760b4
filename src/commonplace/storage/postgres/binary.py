"""Vectors on their way into PostgreSQL, as the server keeps them: quicker than to write them out."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

    from ...embedding.base import Vectors


class Packed(bytes):
    """A vector: how many numbers, nothing, and the numbers."""


def packing(connection: Connection[tuple[Any, ...]]) -> Callable[[Vectors], Packed]:
    """What packs vectors for statements of this connection."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class PackedDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: Packed) -> bytes:
            return bytes(obj)

    connection.adapters.register_dumper(Packed, PackedDumper)
    return _packed


def _packed(vector: Vectors) -> Packed:
    return Packed(struct.pack(">HH", len(vector), 0) + vector.astype(">f4").tobytes())
