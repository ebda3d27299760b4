"""The ports that servers listen on."""

from __future__ import annotations

import pytest

from commonplace.errors import StorageError
from commonplace.surfaces.cli.server import listen, listen_nearby


def test_a_busy_port_moves_on_unless_it_was_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with listen_nearby("127.0.0.1", port) as next_one:
            assert port < next_one.getsockname()[1] < port + 20
        with pytest.raises(StorageError, match=f"^port {port} is in use: choose another with --port$"):
            listen("127.0.0.1", port)


def test_a_host_that_is_not_ours_is_not_tried_on_every_port() -> None:
    with pytest.raises(StorageError, match=r"192\.0\.2\.1:7777"):
        listen_nearby("192.0.2.1", 7777)
