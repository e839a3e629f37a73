"""The early answer to `initialize` is the one that pygls would give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder

from caddie.rpc.app import create_server
from caddie.rpc.greeting import CAPABILITIES, choose_encoding, greet

ENCODINGS = st.lists(st.sampled_from(["utf-8", "utf-16", "utf-32", "latin-1"]), max_size=4)


class Sink:
    congested = False

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


@given(ENCODINGS)
def test_the_position_encoding_is_chosen_as_pygls_chooses_it(offered: list[str]) -> None:
    client = types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=offered))
    expected = ServerCapabilitiesBuilder.choose_position_encoding(client)
    assert choose_encoding({"general": {"positionEncodings": offered}}) == expected


def test_the_capabilities_are_those_that_pygls_derives_from_our_handlers() -> None:
    server = create_server()
    derived = ServerCapabilitiesBuilder(
        types.ClientCapabilities(),
        {*server.protocol.fm.features, *server.protocol.fm.builtin_features},
        server.protocol.fm.feature_options,
        list(server.protocol.fm.commands.keys()),
        types.TextDocumentSyncKind.Incremental,
        None,
        types.PositionEncodingKind.Utf16,
    ).build()
    ours = {name: value for name, value in CAPABILITIES.items() if name != "experimental"}
    theirs: dict[str, Any] = server.protocol._converter.unstructure(derived)
    assert {name: theirs[name] for name in ours} == ours
    assert set(theirs) == {*ours, "positionEncoding"}


@pytest.mark.parametrize(
    "params",
    [None, [], {}, {"capabilities": []}, {"capabilities": {}, "rootUri": 7}, {"capabilities": {}, "trace": "loud"}],
)
def test_what_is_not_plainly_well_formed_is_left_to_pygls(params: Any) -> None:
    assert greet({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}) is None


def test_other_messages_are_left_to_pygls() -> None:
    assert greet({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}) is None
    assert greet({"jsonrpc": "1.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}) is None
    assert greet([]) is None
