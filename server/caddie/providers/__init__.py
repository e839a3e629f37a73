"""Adapters, one file per HTTP API: they translate both ways and no more. Importing this costs no HTTP library."""

from __future__ import annotations

from caddie.providers.choose import LOCAL_SERVERS, Choice, LocalServer, choose_provider, is_listening
from caddie.providers.table import PROVIDERS, build_provider

__all__ = ["LOCAL_SERVERS", "PROVIDERS", "Choice", "LocalServer", "build_provider", "choose_provider", "is_listening"]
