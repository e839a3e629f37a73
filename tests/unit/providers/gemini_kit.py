"""What the Gemini tests share: a provider, chunks of its streams, a judge of request bodies, and a server with a memory
that refuses what the real one refuses, in its words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
from provider_kit import KEY, sse

from caddie.providers.gemini import Gemini

MODEL = "gemini-3.8-flash"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_KINDS = {"text", "inlineData", "functionCall", "functionResponse"}
DUMMY = "skip_thought_signature_validator"
MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance."
)
UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)


def gemini(client: httpx.AsyncClient, **options: Any) -> Gemini:
    given = {"base_url": "https://generativelanguage.googleapis.com", "api_key": KEY, "idle_timeout": 5.0, **options}
    return Gemini(client, **given)


def chunk(*parts: Mapping[str, Any], finish: str = "", **fields: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    if "finishMessage" in fields:
        candidate["finishMessage"] = fields.pop("finishMessage")
    return {"candidates": [candidate], **fields}


def call(name: str, args: Any = None, *, call_id: str = "", signature: str = "") -> dict[str, Any]:
    made = {**({"id": call_id} if call_id else {}), "name": name, **({} if args is None else {"args": args})}
    return {"functionCall": made, **({"thoughtSignature": signature} if signature else {})}


def stop(*parts: Mapping[str, Any], **usage: int) -> dict[str, Any]:
    return chunk(*parts, finish="STOP", usageMetadata=usage or {"promptTokenCount": 9, "candidatesTokenCount": 2})


def error(status: int, message: str, code: str = "INVALID_ARGUMENT", *details: Any) -> httpx.Response:
    told = {"code": status, "message": message, "status": code, **({"details": list(details)} if details else {})}
    return httpx.Response(status, json={"error": told})


def check_gemini(body: Mapping[str, Any], *, signed: bool = True) -> None:
    """Raises when generateContent would answer 400: the SDK's own types, then the rules that they leave out.

    `signed`: as for Gemini 3 and later, which want the first call of each message signed.
    """
    from google.genai import types

    assert set(body) <= {"systemInstruction", "contents", "tools", "toolConfig", "generationConfig"}
    for content in [*body["contents"], *filter(None, [body.get("systemInstruction")])]:
        types.Content.model_validate(content)
    for tool in body.get("tools", []):
        types.Tool.model_validate(tool)
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))
    _check_tools([declared for tool in body.get("tools", []) for declared in tool["functionDeclarations"]])
    _check_contents(body["contents"], signed=signed)


def _check_tools(declarations: list[Mapping[str, Any]]) -> None:
    names = [declaration["name"] for declaration in declarations]
    assert len(set(names)) == len(names) <= 512
    for declaration in declarations:
        assert _NAME.fullmatch(declaration["name"])
        assert not {"parameters", "parametersJsonSchema"} <= set(declaration)
        if "parametersJsonSchema" in declaration:
            check_json_schema(declaration["parametersJsonSchema"])
        if "parameters" in declaration:
            check_proto(declaration["parameters"])


def check_json_schema(schema: Mapping[str, Any]) -> None:
    """What `parametersJsonSchema` takes."""
    import jsonschema_rs

    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "const"} & set(schema)
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    for node in nodes(schema):
        assert not {"$ref", "$defs", "definitions", "$schema", "$id", "allOf", "oneOf", "prefixItems"} & set(node)
        assert node.get("type") != "array" or isinstance(node.get("items"), dict)
        assert all(_PARAMETER.fullmatch(key) for key in node.get("properties", ()))
        assert set(node.get("required", ())) <= set(node.get("properties", node.get("required", ())))
        texts = node.get("enum")
        assert not texts or not all(isinstance(text, str) for text in texts) or "type" in node


_PROTO = {
    "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties",
    "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum", "anyOf",
    "default",
}  # fmt: skip


def check_proto(schema: Mapping[str, Any], *, is_root: bool = True) -> None:
    """What `parameters` takes: the rules whose error texts are known."""
    assert set(schema) <= _PROTO, f"Unknown name {set(schema) - _PROTO}"
    if is_root:
        assert schema["type"] == "OBJECT", "parameters schema should be of type OBJECT"
    assert ("type" in schema) != ("anyOf" in schema), "schema didn't specify the schema type field"
    kind = schema.get("type")
    assert kind in {None, "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
    if "enum" in schema:
        assert kind == "STRING", "only allowed for STRING type"
        assert all(isinstance(text, str) and text for text in schema["enum"]), "cannot be empty"
    assert kind != "ARRAY" or "items" in schema, "items: missing field"
    assert schema.get("properties", {"a": 1}), "should be non-empty for OBJECT type"
    assert schema.get("format") in {None, "int32", "int64", "float", "double", "enum", "date-time"}
    assert set(schema.get("required", ())) <= set(schema.get("properties", ()))
    for key, inner in schema.get("properties", {}).items():
        assert _PARAMETER.fullmatch(key)
        check_proto(inner, is_root=False)
    for inner in [*schema.get("anyOf", ()), *filter(None, [schema.get("items")])]:
        check_proto(inner, is_root=False)


def nodes(schema: Any) -> list[Mapping[str, Any]]:
    """Every schema inside a JSON Schema; data (`enum`, `default`) is not looked into."""
    if not isinstance(schema, Mapping):
        return []
    inner: list[Any] = []
    for key in ("properties", "patternProperties", "dependentSchemas"):
        inner += schema.get(key, {}).values()
    for key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        inner += schema.get(key, ())
    inner += [schema.get(key) for key in ("items", "additionalProperties", "contains", "propertyNames")]
    return [schema, *(node for member in inner for node in nodes(member))]


def _check_contents(contents: list[Mapping[str, Any]], *, signed: bool) -> None:
    assert contents
    assert contents[0]["role"] == contents[-1]["role"] == "user"
    waiting: list[Mapping[str, Any]] = []
    before = "model"
    for content in contents:
        assert content["role"] in ("user", "model")
        assert content["role"] != before
        before = content["role"]
        parts = content["parts"]
        assert parts, "contents.parts must not be empty"
        for part in parts:
            assert len(_KINDS & set(part)) == 1
            assert not part.get("thought"), "thoughts are not sent back"
            assert part.get("text") != "" or "thoughtSignature" in part
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        assert len(responses) == len(waiting), UNEQUAL
        for response, made in zip(responses, waiting, strict=True):
            assert response["name"] == made["name"]
            assert response.get("id") == made.get("id")
            assert isinstance(response["response"], dict)
        calls = [part for part in parts if "functionCall" in part]
        assert not calls or content["role"] == "model"
        assert not (signed and calls) or "thoughtSignature" in calls[0], MISSING
        waiting = [part["functionCall"] for part in calls]
        assert all(_NAME.fullmatch(made["name"]) and isinstance(made["args"], dict) for made in waiting)
    assert not waiting


class Remembering:
    """Plays the model's answers one by one and refuses, in the vendor's words, a conversation whose model parts are not
    what it said itself, whose calls are not answered one to one, or whose signatures are lost."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self._answers = list(answers)
        self._said: list[list[dict[str, Any]]] = []
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[str] = []
        # Takes no signature that it made itself, as after a change of its own keys.
        self.forget = False
        # The name of a tool whose schema it does not take.
        self.refuses = ""
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        assert request.url.params["alt"] == "sse"
        assert "key" not in request.url.params
        body = json.loads(request.content)
        if complaint := self._bad_tool(body) or self._complaint(body["contents"]):
            self.refused.append(complaint)
            return error(400, complaint)
        check_gemini(body)
        self.bodies.append(body)
        answer = self._answers.pop(0)
        parts = [part for piece in answer for part in piece["candidates"][0]["content"]["parts"]]
        if parts:
            self._said.append(parts)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=sse(*answer))

    def _bad_tool(self, body: dict[str, Any]) -> str:
        names = [declared["name"] for tool in body.get("tools", ()) for declared in tool["functionDeclarations"]]
        if self.refuses not in names:
            return ""
        place = f"tools[0].function_declarations[{names.index(self.refuses)}].parameters_json_schema"
        return f"Invalid value at '{place}' (type.googleapis.com/google.protobuf.Value)"

    def _complaint(self, contents: list[dict[str, Any]]) -> str:
        own = [content["parts"] for content in contents if content["role"] == "model"]
        for place, parts in enumerate(own):
            made = [part for part in parts if "functionCall" in part]
            if made and "thoughtSignature" not in made[0]:
                return MISSING
            if any(part.get("thoughtSignature") not in (None, DUMMY, *self._signatures()) for part in parts):
                return "Invalid thought signature."
            foreign = len(own) - len(self._said)
            if place >= foreign and not self.forget:
                said = [part for part in self._said[place - foreign] if not part.get("thought")]
                if [p for p in parts if _is_marked(p)] != [p for p in said if _is_marked(p)]:
                    return "Corrupted thought signature."
        for content, after in zip(contents, [*contents[1:], {"parts": []}], strict=True):
            made = [part for part in content["parts"] if "functionCall" in part]
            given = [part for part in after["parts"] if "functionResponse" in part]
            if len(made) != len(given):
                return UNEQUAL
        return ""

    def _signatures(self) -> list[str]:
        if self.forget:
            return []
        return [part["thoughtSignature"] for parts in self._said for part in parts if "thoughtSignature" in part]


def _is_marked(part: Mapping[str, Any]) -> bool:
    return "functionCall" in part or "thoughtSignature" in part
