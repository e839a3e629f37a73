"""A language model for the tests that says what it is told to: `python model.py`, one JSON command a line.

{"do": "reply", "text": ...}, {"do": "call", "tool": ..., "params": {...}}, {"do": "stall"}, {"do": "reset"},
{"do": "requests"}; each is answered with one line of JSON. The first line is the address.
"""

import json
import sys

from llmock.pytest_plugin import LLMock
from llmock.testing import LLMockServer


def obey(model, command):
    match command["do"]:
        case "reply":
            model.reply(command["text"])
        case "call":
            model.call_tool(command["tool"], command["params"])
        case "stall":
            model.stall()
        case "reset":
            model.reset()
        case "requests":
            return [record.body for record in model.requests]
    return None


with LLMockServer() as server:
    print(json.dumps({"url": server.base_url("anthropic")}), flush=True)
    for line in sys.stdin:
        print(json.dumps({"result": obey(LLMock(server), json.loads(line))}), flush=True)
