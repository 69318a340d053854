"""Serves a study: uvicorn on the loopback, or elsewhere with a certificate."""

from __future__ import annotations

from unfazed.collect.store import open_store
from unfazed.collect.study import Study
from unfazed.core.errors import MissingExtra, UsageError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(study: Study, host: str, port: int, certificate: str | None, key: str | None, proxied: bool = False) -> None:
    """Serves until it is interrupted. `proxied`: something in front of it does TLS."""
    try:
        import uvicorn

        from unfazed.collect.app import Site, make_app
    except ImportError as error:
        raise MissingExtra("`unfazed collect serve`", "collect") from error
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key go together.")
    if host not in _LOOPBACK and not certificate and not proxied:
        raise UsageError(
            f"{host} can be reached from other machines, so people's answers would travel unprotected. "
            "Give --certificate and --key, or say --proxied if a proxy in front does TLS."
        )
    with open_store(study.place) as store:
        app = make_app(Site(study, store, secure=bool(certificate) or proxied))
        config = uvicorn.Config(
            app, host=host, port=port, ssl_certfile=certificate, ssl_keyfile=key, log_level="warning",
            access_log=False, server_header=False, proxy_headers=proxied, h11_max_incomplete_event_size=64 << 10,
        )  # fmt: skip
        uvicorn.Server(config).run()
