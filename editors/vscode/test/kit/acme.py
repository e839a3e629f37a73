"""An MCP server for the tests: an office that writes invoices. `python acme.py [LOG]` notes each call in LOG."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "tests" / "fixtures" / "mcp_servers"))

from rpc import serve, text  # noqa: E402

TOOLS = {
    "find_invoices": ("Find invoices by state and date", {"status": {"type": "string", "enum": ["open", "overdue", "paid"]}}),
    "send_reminder": ("Send a payment reminder for an invoice", {"invoice": {"type": "string"}, "message": {"type": "string"}}),
    "create_credit_note": ("Create a credit note for a paid invoice", {"invoice": {"type": "string"}}),
    "export_ledger": ("Export ledger entries as CSV or JSON", {"format": {"type": "string", "enum": ["csv", "json"]}}),
    "delete_customer": ("Delete a customer and all that belongs to it", {"customer": {"type": "string"}}),
    "big_report": ("Write the yearly report, a long text", {"kilobytes": {"type": "integer"}}),
}


def listing(params):
    return {"tools": [
        {
            "name": name, "description": words,
            "inputSchema": {"type": "object", "properties": properties, "required": list(properties)[:1]},
            "annotations": {"readOnlyHint": name.startswith(("find", "export", "big")), "destructiveHint": name.startswith("delete")},
        }
        for name, (words, properties) in TOOLS.items()
    ]}


def call(params):
    arguments = params.get("arguments") or {}
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("a") as log:
            log.write(json.dumps([params["name"], arguments]) + "\n")
    if params["name"] == "big_report":
        line = "the quick brown fox pays its invoices late and gets a reminder\n"
        return text((line * (arguments["kilobytes"] * 1024 // len(line) + 1))[: arguments["kilobytes"] * 1024])
    if params["name"] == "find_invoices":
        return text("INV-1042  8,400 EUR  overdue\nINV-1043  120 EUR  overdue")
    return text(f"{params['name']} done for {', '.join(map(str, arguments.values()))}")


serve({
    "tools/list": listing,
    "tools/call": call,
    "resources/list": lambda params: {"resources": [{"uri": "acme://terms", "name": "terms", "description": "Terms of payment"}]},
    "resources/read": lambda params: {"contents": [{"uri": params["uri"], "text": "Payable within 30 days."}]},
})
