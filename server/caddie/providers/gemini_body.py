"""What does a conversation look like to Gemini's generateContent?

A message is rendered from itself and the one before it alone, so a longer conversation begins with the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from caddie.chat.messages import Image, Message, ModelRequest, Part, Text, ToolAnswer, ToolDefinition, ToolUse
from caddie.providers.history import fit, readable, wire_name
from caddie.providers.schema import WireSchema, for_gemini, for_gemini_proto
from caddie.providers.schema_keys import NO_KEYS, Keys
from caddie.tools.tool import ImageContent, TextContent

Json = dict[str, Any]
MAX_TOOLS = 512
MARK = "gemini"
"""The `type` of what this API put beside a part."""
_SKIP = "skip_thought_signature_validator"
_LEVELS = 5
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_SPECIAL = re.compile(r"image|tts|audio|live|embedding|computer-use")
# The field itself is not known; what stands in it is another matter.
_NO_JSON_SCHEMA = re.compile(
    r"(?:unknown|unsupported|unexpected|unrecognized) (?:name|field|property|parameter)\W*parameters_?json_?schema"
    r"|parameters_?json_?schema\W*(?:field )?(?:is )?(?:unknown|unsupported|not supported|not recognized)",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(
    r"thinking_?config|include_?thoughts|thinking is not|thinking_?(?:level|budget)|does not support thinking",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Manners:
    """What this one address takes; learned from its refusals and kept for its adapter's life."""

    form: Literal["json_schema", "proto"] = "json_schema"
    levels: int | None = None
    thoughts: bool = True

    def clean(self, schema: object) -> WireSchema:
        return (for_gemini_proto if self.form == "proto" else for_gemini)(schema, levels=self.levels)

    def concede(self, refusal: str) -> Manners | None:
        """What to do differently after this refusal; None when it is about something else or was tried already."""
        if "nesting depth" in refusal.lower() and self.levels is None:
            return Manners(self.form, _LEVELS, self.thoughts)
        if self.form == "json_schema" and _NO_JSON_SCHEMA.search(refusal):
            return Manners("proto", self.levels, self.thoughts)
        if self.thoughts and _THOUGHTS.search(refusal):
            return Manners(self.form, self.levels, thoughts=False)
        return None


@dataclass(frozen=True, slots=True)
class Declared:
    """The tools of a request, and by tool how its keys on the wire lead to its own and back."""

    declarations: list[Json]
    keys: Mapping[str, Keys]

    @property
    def names(self) -> list[str]:
        return [declaration["name"] for declaration in self.declarations]


def declare(definitions: Iterable[ToolDefinition], manners: Manners) -> Declared:
    tools = [(tool, manners.clean(tool.input_schema)) for tool in definitions][:MAX_TOOLS]
    keys = {tool.name: schema.keys for tool, schema in tools if schema.keys}
    return Declared([_declaration(tool, schema, manners) for tool, schema in tools], keys)


def _declaration(tool: ToolDefinition, cleaned: WireSchema, manners: Manners) -> Json:
    declaration = {"name": tool.name, "description": f"{tool.description}\n{cleaned.note}".strip() or tool.name}
    schema = cleaned.schema
    if not schema.get("properties") and schema.get("additionalProperties") in (None, False):
        return declaration  # An object without properties is refused; without a schema there are no parameters.
    field = "parameters" if manners.form == "proto" else "parametersJsonSchema"
    return {**declaration, field: schema}


def body_of(request: ModelRequest, declared: Declared, manners: Manners) -> Json:
    body: Json = {}
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if declared.declarations:
        body["tools"] = [{"functionDeclarations": declared.declarations}]
    body["contents"] = contents(fit(request.messages), declared.keys, request.model)
    body["generationConfig"] = {"maxOutputTokens": request.max_output_tokens}
    if manners.thoughts and thinks(request.model):
        body["generationConfig"]["thinkingConfig"] = {"includeThoughts": True}
    return body


def version(model: str) -> tuple[int, int] | None:
    found = _VERSION.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def thinks(model: str) -> bool:
    """Releases from 2.5 on, and names such as gemini-flash-latest, which mean the newest."""
    known = version(model)
    return "gemini" in model and not _SPECIAL.search(model) and (known is None or known >= (2, 5))


def _is_3(model: str) -> bool:
    """It signs its calls and wants them back signed, and sees images inside a function's response."""
    known = version(model)
    return known >= (3, 0) if known else "gemma" not in model


def contents(messages: Iterable[Message], keys: Mapping[str, Keys], model: str) -> list[Json]:
    found: list[Json] = []
    calls: tuple[ToolUse, ...] = ()
    for message in messages:
        if message.role == "assistant":
            calls = message.tool_uses
            parts = _model_parts(message, keys, is_signed=_is_3(model))
        else:
            parts = _user_parts(message, calls, sees_images=_is_3(model))
        role = "model" if message.role == "assistant" else "user"
        if parts and found and found[-1]["role"] == role:
            found[-1]["parts"] += parts  # What stood between them was thoughts alone.
        elif parts:
            found.append({"role": role, "parts": parts})
    return found


def _model_parts(message: Message, keys: Mapping[str, Keys], *, is_signed: bool) -> list[Json]:
    parts = [rendered for part in message.parts if (rendered := _model_part(part, keys))]
    # Of parallel calls the first is signed. One that another model wrote has no signature, and this word stands for it.
    first = next((part for part in parts if "functionCall" in part), None)
    if is_signed and first is not None:
        first.setdefault("thoughtSignature", _SKIP)
    return parts


def _model_part(part: Part, keys: Mapping[str, Keys]) -> Json | None:
    match part:
        case Text(text):
            return {"text": text, **_signature(part)}
        case ToolUse(_, _, arguments):
            own = _own(part)
            given = own["args"] if "args" in own else keys.get(part.name, NO_KEYS).to_wire(arguments or {})
            call = {**_id(part), "name": _name(part), "args": given}
            return {"functionCall": call, **_signature(part)}
        case _:
            return None  # Thoughts are shown, not sent back.


def _own(part: Text | ToolUse) -> Mapping[str, Any]:
    return part.opaque if part.opaque.get("type") == MARK else {}


def _signature(part: Text | ToolUse) -> Json:
    own = _own(part)
    return {"thoughtSignature": own["thoughtSignature"]} if "thoughtSignature" in own else {}


def _id(use: ToolUse) -> Json:
    own = _own(use)
    return {"id": own["id"]} if "id" in own else {}


def _name(use: ToolUse) -> str:
    name: str = _own(use).get("name", use.name)
    if _NAME.fullmatch(name):
        return name
    plain = wire_name(name)
    return plain if _NAME.fullmatch(plain) else f"_{plain}"[:64]


def _user_parts(message: Message, calls: Iterable[ToolUse], *, sees_images: bool) -> list[Json]:
    # `fit` made one answer for each call, in their order.
    answers = list(zip((part for part in message.parts if isinstance(part, ToolAnswer)), calls, strict=False))
    parts = [_response(answer, call, sees_images=sees_images) for answer, call in answers]
    if not sees_images:
        parts += [image for answer, call in answers for image in _images_beside(answer, call)]
    for part in message.parts:
        if isinstance(part, Text):
            parts.append({"text": part.text})
        elif isinstance(part, Image):
            parts.append(_image(part.data, part.media_type))
    return parts


def _response(answer: ToolAnswer, call: ToolUse, *, sees_images: bool) -> Json:
    content = [_taken(item) for item in readable(answer)]
    text = "\n\n".join(item.text for item in content if isinstance(item, TextContent))
    images = [item for item in content if isinstance(item, ImageContent)]
    text = text or ("The result is the image in this response." if sees_images else "The result is the image below.")
    response: Json = {**_id(call), "name": _name(call), "response": {"error" if answer.is_error else "output": text}}
    if images and sees_images:
        response["parts"] = [_image(item.data, item.media_type) for item in images]
    return {"functionResponse": response}


def _images_beside(answer: ToolAnswer, call: ToolUse) -> list[Json]:
    images = [item for item in map(_taken, readable(answer)) if isinstance(item, ImageContent)]
    lead = [{"text": f"Image result of {_name(call)}:"}] if images else []
    return [*lead, *(_image(item.data, item.media_type) for item in images)]


def _taken(item: TextContent | ImageContent) -> TextContent | ImageContent:
    if isinstance(item, ImageContent) and item.media_type not in _IMAGE_TYPES:
        return TextContent(_unseen(item.media_type))
    return item


def _image(data: str, media_type: str) -> Json:
    if media_type not in _IMAGE_TYPES:
        return {"text": _unseen(media_type)}
    return {"inlineData": {"mimeType": media_type, "data": data}}


def _unseen(media_type: str) -> str:
    return f"[an image of type {media_type or 'unknown'}, which the model cannot see]"
