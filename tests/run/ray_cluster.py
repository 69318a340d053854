"""A Ray cluster on this machine: prints where it is, adds a node for each line it reads, ends with its input."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    with tempfile.TemporaryDirectory(
        prefix="r", dir="/tmp", ignore_cleanup_errors=True
    ) as place:  # sockets need it short
        # Ray writes where its newest cluster is into this folder, and does not make it on a machine that is new to Ray.
        os.environ["RAY_TMPDIR"] = place
        Path(place, "ray").mkdir()
        from ray.cluster_utils import Cluster

        client = free_port()
        quick = {  # a node that is dead is noticed in seconds, one that is slow is not taken for dead
            "health_check_initial_delay_ms": 0,
            "health_check_period_ms": 1000,
            "health_check_timeout_ms": 10_000,
            "health_check_failure_threshold": 3,
        }
        head = {"num_cpus": 0, "include_dashboard": False, "ray_client_server_port": client, "temp_dir": place}
        out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        cluster = Cluster(initialize_head=True, head_node_args={**head, "_system_config": quick})
        out.write(json.dumps({"address": cluster.address, "client": f"ray://127.0.0.1:{client}"}) + "\n")
        out.flush()
        for _ in sys.stdin:
            node = cluster.add_node(num_cpus=1, num_gpus=1, include_dashboard=False)  # what a GPU is, Ray believes us
            out.write(f"{node.all_processes['raylet'][0].process.pid}\n")
            out.flush()
        with suppress(Exception):  # some of its nodes were killed
            cluster.shutdown()


if __name__ == "__main__":
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    token.write_text(os.urandom(32).hex())
    main()
