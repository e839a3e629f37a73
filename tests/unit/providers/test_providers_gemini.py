from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from gemini_kit import DUMMY, MODEL, Remembering, call, check_gemini, chunk, error, gemini, stop
from provider_kit import HELLO, KEY, READ, Pieces, Server, collect, completed, request, sse, streamed

from caddie.chat.messages import (
    Completed,
    Image,
    Message,
    ModelRequest,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolAnswer,
    ToolDefinition,
    ToolUse,
    ToolUseStarted,
)
from caddie.errors import (
    ContextOverflow,
    ProviderAuth,
    ProviderBusy,
    ProviderRejected,
    StreamTruncated,
    ThinkingRejected,
    ToolRejected,
)
from caddie.providers import build_provider
from caddie.providers.gemini_body import Manners
from caddie.settings import Settings
from caddie.tools.tool import ImageContent, TextContent

PNG = "iVBORw0KGgo="


def asked(*messages: Message, **fields: Any) -> ModelRequest:
    return request(*messages, **{"model": MODEL, **fields})


def answering(*chunks: dict[str, Any]) -> Server:
    return Server(lambda: streamed(sse(*chunks)))


def answer(use: ToolUse, text: str, **fields: Any) -> ToolAnswer:
    return ToolAnswer(use.id, use.name, (TextContent(text),), **fields)


async def body_for(*messages: Message, **fields: Any) -> dict[str, Any]:
    server = answering(stop({"text": "ok"}))
    await collect(gemini(server.client), asked(*messages, **fields))
    [body] = server.bodies
    return body


async def test_a_request_goes_to_the_models_own_address_with_the_key_in_a_header() -> None:
    server = answering(stop({"text": "ok"}))
    await collect(gemini(server.client), asked())
    [made] = server.requests
    base = "https://generativelanguage.googleapis.com/v1beta"
    assert str(made.url) == f"{base}/models/{MODEL}:streamGenerateContent?alt=sse"
    assert made.headers["x-goog-api-key"] == KEY
    [body] = server.bodies
    check_gemini(body)
    assert body == {
        "systemInstruction": {"parts": [{"text": "You are Caddie."}]},
        "tools": [{"functionDeclarations": [
            {"name": "Read", "description": "Reads a file.", "parametersJsonSchema": dict(READ.input_schema)}]}],
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"maxOutputTokens": 16_000, "thinkingConfig": {"includeThoughts": True}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("base_url", "path"),
    [
        ("https://generativelanguage.googleapis.com/", "/v1beta"),
        ("https://generativelanguage.googleapis.com/v1", "/v1"),
        ("https://generativelanguage.googleapis.com/v1alpha/", "/v1alpha"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "/v1beta"),
        ("http://127.0.0.1:9/gemini", "/gemini/v1beta"),
    ],
)
async def test_the_version_is_part_of_the_address(base_url: str, path: str) -> None:
    server = answering(stop({"text": "ok"}))
    await collect(gemini(server.client, base_url=base_url), asked(model="models/gemini-3-pro"))
    assert server.requests[0].url.path == f"{path}/models/gemini-3-pro:streamGenerateContent"


async def test_the_settings_lead_to_it() -> None:
    server = answering(stop({"text": "ok"}))
    built = build_provider(Settings(provider="gemini"), {"GEMINI_API_KEY": KEY}, server.client)
    await collect(built, asked(model=built.default_model))
    assert (built.name, server.requests[0].url.host) == ("gemini", "generativelanguage.googleapis.com")
    assert built.capabilities(built.default_model).deferral == ""
    versioned = Settings(provider="gemini", baseUrl="https://generativelanguage.googleapis.com/v1")
    assert build_provider(versioned, {"GEMINI_API_KEY": KEY}, server.client).default_model == built.default_model


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("gemini-2.0-flash", False),
        ("gemini-2.5-pro", True),
        ("gemini-3.8-flash", True),
        ("gemini-flash-latest", True),
        ("gemini-2.5-flash-image", False),
        ("gemma-3-27b-it", False),
    ],
)
async def test_thoughts_are_asked_for_where_the_model_has_some(model: str, thinks: bool) -> None:
    body = await body_for(model=model)
    assert ("thinkingConfig" in body["generationConfig"]) is thinks


async def test_text_thoughts_and_calls_become_events_and_parts() -> None:
    server = answering(
        chunk({"text": "Let me ", "thought": True}),
        chunk({"text": "see.", "thought": True}),
        chunk({"text": "I "}),
        chunk({"text": "read."}, call("Read", {"path": "a"}, call_id="a1", signature="CiQB")),
        chunk(call("Read", {"path": "b"}, call_id="a2")),
        stop(promptTokenCount=900, cachedContentTokenCount=512, candidatesTokenCount=20, thoughtsTokenCount=64),
    )
    events = await collect(gemini(server.client), asked())
    assert events[:-1] == [
        ThinkingDelta("Let me "), ThinkingDelta("see."), TextDelta("I "), TextDelta("read."),
        ToolUseStarted("a1", "Read"), ToolUseStarted("a2", "Read"),
    ]  # fmt: skip
    end = events[-1]
    assert isinstance(end, Completed)
    assert end.stop_reason == "tool_use"
    assert (end.usage.input, end.usage.cached, end.usage.output) == (900, 512, 84)
    thought, text, first, second = end.message.parts
    assert isinstance(thought, Thinking)
    assert thought.text == "Let me see."
    assert text == Text("I read.")
    assert isinstance(first, ToolUse)
    assert isinstance(second, ToolUse)
    assert (first.arguments, first.opaque["thoughtSignature"], first.opaque["id"]) == ({"path": "a"}, "CiQB", "a1")
    assert "thoughtSignature" not in second.opaque


async def test_a_conversation_goes_back_part_for_part_as_it_came() -> None:
    first_answer = [
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "Two at once."}),
        chunk(
            call("Read", {"path": "a"}, call_id="a1", signature="c2lnMQ=="), call("Read", {"path": "b"}, call_id="a2")
        ),
        stop(),
    ]
    second_answer = [chunk(call("Read", {"path": "c"}, signature="c2lnMg==")), stop({"text": ""})]
    third_answer = [
        chunk({"text": "Do"}), chunk({"text": "ne"}), stop({"text": "", "thoughtSignature": "c2lnMw=="})
    ]  # fmt: skip
    server = Remembering(first_answer, second_answer, third_answer, [stop({"text": "bye"})])
    provider = gemini(server.client)
    history = [HELLO]
    for _ in range(2):
        end = await completed(provider, asked(*history))
        answers = tuple(answer(use, f"text of {use.arguments}") for use in end.message.tool_uses)
        history += [end.message, Message("user", answers)]
    history += [(await completed(provider, asked(*history))).message, Message("user", (Text("thanks"),))]
    await completed(provider, asked(*history))
    assert not server.refused
    last = server.bodies[-1]["contents"]
    assert last[1]["parts"] == [
        {"text": "Two at once."},
        {"functionCall": {"id": "a1", "name": "Read", "args": {"path": "a"}}, "thoughtSignature": "c2lnMQ=="},
        {"functionCall": {"id": "a2", "name": "Read", "args": {"path": "b"}}},
    ]
    assert [part["functionResponse"]["id"] for part in last[2]["parts"]] == ["a1", "a2"]
    # This call came without an id, so ours stays at home.
    assert last[3]["parts"] == [
        {"functionCall": {"name": "Read", "args": {"path": "c"}}, "thoughtSignature": "c2lnMg=="}
    ]
    assert "id" not in last[4]["parts"][0]["functionResponse"]
    assert last[5]["parts"] == [{"text": "Done"}, {"text": "", "thoughtSignature": "c2lnMw=="}]
    for shorter, longer in zip(server.bodies, server.bodies[1:], strict=False):
        assert longer["contents"][: len(shorter["contents"])] == shorter["contents"]


async def test_the_fake_server_refuses_what_the_real_one_refuses() -> None:
    signed = [chunk(call("Read", {"path": "a"}, signature="c2lnMQ==")), stop()]
    use = ToolUse("1", "Read", {"path": "a"}, opaque={"type": "gemini", "thoughtSignature": "YmFk"})
    server = Remembering(signed)
    with pytest.raises(ThinkingRejected, match="Invalid thought signature"):
        await completed(gemini(server.client), asked(HELLO, Message("assistant", (use,)), Message("user", ())))
    assert server.refused == ["Invalid thought signature."]


async def test_calls_of_another_model_are_marked_as_not_signed() -> None:
    uses = (ToolUse("toolu_1", "Read", {"path": "a"}), ToolUse("toolu_2", "Read", {"path": "b"}))
    foreign = Message("assistant", (Thinking("hm", {"type": "thinking", "signature": "x"}), Text("Both."), *uses))
    results = Message("user", tuple(answer(use, "x") for use in uses))
    body = await body_for(HELLO, foreign, results)
    check_gemini(body)
    _, first, second = body["contents"][1]["parts"]
    assert first == {"functionCall": {"name": "Read", "args": {"path": "a"}}, "thoughtSignature": DUMMY}
    assert "thoughtSignature" not in second
    older = await body_for(HELLO, foreign, results, model="gemini-2.5-flash")
    assert DUMMY not in json.dumps(older)


async def test_answers_stand_in_the_order_of_their_calls_and_one_that_is_missing_is_made() -> None:
    uses = tuple(ToolUse(f"c{i}", "Read", {"path": str(i)}) for i in range(3))
    given = Message("user", (Text("go on"), answer(uses[2], "two"), answer(uses[0], "zero", is_error=True)))
    body = await body_for(HELLO, Message("assistant", uses), given)
    check_gemini(body)
    first, second, third, text = body["contents"][2]["parts"]
    assert first["functionResponse"]["response"] == {"error": "zero"}
    assert "not run" in second["functionResponse"]["response"]["error"]
    assert third["functionResponse"]["response"] == {"output": "two"}
    assert text == {"text": "go on"}


async def test_images_travel_in_messages_and_in_answers() -> None:
    use = ToolUse("c1", "Shot", {})
    shot = ToolAnswer(
        "c1", "Shot", (TextContent("see"), ImageContent(PNG, "image/png"), ImageContent(PNG, "image/gif"))
    )
    messages = (Message("user", (Image(PNG, "image/jpeg"), Image("x", "image/gif"), Text("look"))),)
    history = (*messages, Message("assistant", (use,)), Message("user", (shot,)))
    body = await body_for(*history)
    check_gemini(body)
    assert body["contents"][0]["parts"][0] == {"inlineData": {"mimeType": "image/jpeg", "data": PNG}}
    assert "image/gif" in body["contents"][0]["parts"][1]["text"]
    [part] = body["contents"][2]["parts"]
    assert part["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
    assert part["functionResponse"]["response"]["output"].startswith("see")
    older = await body_for(*history, model="gemini-2.5-pro")
    check_gemini(older, signed=False)
    response, lead, image = older["contents"][2]["parts"]
    assert "parts" not in response["functionResponse"]
    assert lead == {"text": "Image result of Shot:"}
    assert image["inlineData"]["mimeType"] == "image/png"


async def test_a_tool_without_parameters_declares_none() -> None:
    bare = ToolDefinition("Now", "Tells the time.", {"type": "object", "properties": {}})
    free = ToolDefinition("Any", "Takes all.", {"type": "object", "additionalProperties": True})
    body = await body_for(tools=(bare, free))
    check_gemini(body)
    first, second = body["tools"][0]["functionDeclarations"]
    assert set(first) == {"name", "description"}
    assert second["parametersJsonSchema"]["additionalProperties"] is True


ODD = ToolDefinition(
    "Odd",
    "Has odd keys.",
    {
        "type": "object",
        "properties": {
            "dry-run": {"type": "boolean"},
            "filter": {"type": "object", "properties": {"user.name": {"type": "string"}, "1st": {"type": "integer"}}},
            "rows": {"type": "array", "items": {"anyOf": [{"properties": {"@id": {}}}, {"type": "string"}]}},
        },
        "required": ["dry-run"],
    },
)


async def test_keys_that_gemini_refuses_are_renamed_and_lead_back_at_every_depth() -> None:
    args = {"dry_run": True, "filter": {"user_name": "x", "_1st": 2}, "rows": [{"_id": 1}, "plain"]}
    server = answering(stop(call("Odd", args, signature="CiQB")))
    provider = gemini(server.client)
    end = await completed(provider, asked(tools=(ODD,)))
    [use] = end.message.tool_uses
    own = {"dry-run": True, "filter": {"user.name": "x", "1st": 2}, "rows": [{"@id": 1}, "plain"]}
    assert use.arguments == own
    results = Message("user", (answer(use, "x"),))
    await completed(provider, asked(HELLO, end.message, results, tools=(ODD,)))
    foreign = Message("assistant", (ToolUse("1", "Odd", own),))
    await completed(provider, asked(HELLO, foreign, Message("user", (ToolAnswer("1", "Odd", ()),)), tools=(ODD,)))
    for body in server.bodies[1:]:
        check_gemini(body)
        assert body["contents"][1]["parts"][0]["functionCall"]["args"] == args


@pytest.mark.parametrize("written", ["default_api.Read", "functions.Read", "Read"])
async def test_a_vendors_prefix_before_a_tools_name_is_not_part_of_it(written: str) -> None:
    server = answering(stop(call(written, {"path": "a"}, signature="CiQB")))
    end = await completed(gemini(server.client), asked())
    [use] = end.message.tool_uses
    assert use.name == "Read"
    body = await body_for(HELLO, end.message, Message("user", (answer(use, "x"),)))
    check_gemini(body)
    # It is signed as it was written.
    assert body["contents"][1]["parts"][0]["functionCall"]["name"] == written
    assert body["contents"][2]["parts"][0]["functionResponse"]["name"] == written


async def test_names_that_a_model_made_up_can_be_sent_back() -> None:
    uses = (ToolUse("1", "读 file!", {}), ToolUse("2", "1st", {}), ToolUse("3", "", {}))
    results = Message("user", tuple(answer(use, "unknown tool", is_error=True) for use in uses))
    check_gemini(await body_for(HELLO, Message("assistant", uses), results))


async def test_calls_without_ids_or_with_equal_ones_stay_apart() -> None:
    server = answering(chunk(call("Read", {}), call("Read", {}, call_id="x")), stop(call("Read", None, call_id="x")))
    end = await completed(gemini(server.client), asked())
    assert len({use.id for use in end.message.tool_uses}) == 3
    assert [use.opaque.get("id") for use in end.message.tool_uses] == [None, "x", "x"]
    assert [use.arguments for use in end.message.tool_uses] == [{}, {}, {}]


async def test_arguments_that_are_not_an_object_are_not_run() -> None:
    server = answering(stop(call("Read", "{broken"), call("Read", [1]), call("Read", '{"path": "a"}')))
    uses = (await completed(gemini(server.client), asked())).message.tool_uses
    assert [use.arguments for use in uses] == [None, None, {"path": "a"}]


async def test_an_answer_at_its_length_limit_says_so_and_runs_no_half_call() -> None:
    cut = chunk({"text": "So"}, call("Read"), finish="MAX_TOKENS")
    end = await completed(gemini(answering(cut).client), asked())
    assert end.stop_reason == "max_tokens"
    assert [use.arguments for use in end.message.tool_uses] == [None]


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "BLOCKLIST", "MODEL_ARMOR"])
async def test_a_stopped_answer_is_a_refusal_that_runs_nothing(reason: str) -> None:
    end = await completed(gemini(answering(chunk(call("Read", {}), finish=reason)).client), asked())
    assert (end.stop_reason, end.message.tool_uses) == ("refusal", ())
    assert reason in end.message.text


async def test_a_blocked_prompt_is_a_refusal_with_its_reason() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 7}}
    end = await completed(gemini(answering(blocked).client), asked())
    assert (end.stop_reason, end.usage.input) == ("refusal", 7)
    assert "PROHIBITED_CONTENT" in end.message.text


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
async def test_an_answer_that_is_none_may_be_asked_for_again(reason: str) -> None:
    broken = chunk(finish=reason, finishMessage="Malformed function call: print(")
    with pytest.raises(ProviderBusy, match="Malformed function call") as caught:
        await completed(gemini(answering(chunk({"text": "So"}), broken).client), asked())
    assert caught.value.retryable


@pytest.mark.parametrize("reason", ["OTHER", "TOO_MANY_TOOL_CALLS", "SOMETHING_NEW"])
async def test_an_end_without_a_known_meaning_is_told(reason: str) -> None:
    with pytest.raises(ProviderRejected, match=reason):
        await completed(gemini(answering(chunk({"text": "So"}, finish=reason)).client), asked())


async def test_a_missing_signature_at_the_end_of_a_stream_drops_the_thinking() -> None:
    with pytest.raises(ThinkingRejected):
        await completed(gemini(answering(chunk(finish="MISSING_THOUGHT_SIGNATURE")).client), asked())


@pytest.mark.parametrize("chunks", [[], [chunk({"text": "half"})], [chunk(call("Read", {"path": "a"}))]])
async def test_a_stream_without_a_finish_reason_is_truncated(chunks: list[dict[str, Any]]) -> None:
    with pytest.raises(StreamTruncated):
        await completed(gemini(answering(*chunks).client), asked())


async def test_an_error_inside_a_stream_keeps_its_status() -> None:
    overload = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    for content in (sse(chunk({"text": "So"}), overload), sse([overload])):
        with pytest.raises(ProviderBusy, match="overloaded"):
            await completed(gemini(Server(streamed(content)).client), asked())


async def test_a_server_that_does_not_stream_is_read_all_the_same() -> None:
    whole = [chunk({"text": "Hel"}), stop({"text": "lo"})]
    for content in (whole, stop({"text": "Hello"})):
        end = await completed(gemini(Server(httpx.Response(200, json=content)).client), asked())
        assert (end.message.text, end.stop_reason) == ("Hello", "end_turn")


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}


def quota(quota_id: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


async def test_a_rate_limit_waits_as_long_as_it_says_and_a_days_quota_not_at_all() -> None:
    minute = quota("GenerateRequestsPerMinutePerProjectPerModel")
    limited = error(429, "Resource exhausted", "RESOURCE_EXHAUSTED", minute, RETRY_INFO)
    with pytest.raises(ProviderBusy) as caught:
        await completed(gemini(Server(limited).client), asked())
    assert caught.value.retry_after == 34
    for quota_id in ("GenerateRequestsPerDay", "GenerateRequestsPerDayPerProjectPerModel-FreeTier"):
        spent = error(429, "You exceeded your current quota", "RESOURCE_EXHAUSTED", quota(quota_id), RETRY_INFO)
        with pytest.raises(ProviderRejected, match="quota"):
            await completed(gemini(Server(spent).client), asked())


async def test_errors_are_told_as_what_they_are() -> None:
    bad_key = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    overflow = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
    cases = [
        (error(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", bad_key), ProviderAuth),
        (error(403, "denied", "PERMISSION_DENIED"), ProviderAuth),
        (error(400, overflow), ContextOverflow),
        (error(404, "models/x is not found", "NOT_FOUND"), ProviderRejected),
        (error(500, "internal", "INTERNAL"), ProviderBusy),
        (error(504, "late", "DEADLINE_EXCEEDED"), ProviderBusy),
        (error(400, "Invalid thought signature."), ThinkingRejected),
        (httpx.Response(503, json=[{"error": {"code": 503, "message": "overloaded"}}]), ProviderBusy),
    ]
    for response, expected in cases:
        with pytest.raises(expected) as caught:
            await completed(gemini(Server(response).client), asked())
        assert KEY not in str(caught.value)


async def test_a_bad_tool_is_named_by_its_place() -> None:
    tools = tuple(ToolDefinition(f"T{i}", "", {}) for i in range(12))
    message = "Invalid value at 'tools[0].function_declarations[9].parameters_json_schema.properties': broken"
    with pytest.raises(ToolRejected) as caught:
        await completed(gemini(Server(error(400, message)).client), asked(tools=tools))
    assert caught.value.tool == "T9"


async def test_a_bad_tool_is_named_by_the_details_of_an_error_in_an_array() -> None:
    tools = tuple(ToolDefinition(f"T{i}", "", {}) for i in range(12))
    violation = {"field": "tools[0].function_declarations[11].parameters", "description": "Invalid schema"}
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    told = {"code": 400, "message": "Invalid value", "status": "INVALID_ARGUMENT", "details": details}
    with pytest.raises(ToolRejected) as caught:
        await completed(gemini(Server(httpx.Response(400, json=[{"error": told}])).client), asked(tools=tools))
    assert caught.value.tool == "T11"


async def test_a_cancelled_answer_closes_its_connection() -> None:
    pieces = Pieces([sse(chunk({"text": "a"})), sse(chunk({"text": "b"}))])
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=pieces)
    events = gemini(Server(response).client).stream(asked())
    assert await anext(events) == TextDelta("a")
    await events.aclose()  # type: ignore[attr-defined]
    assert pieces.closed


DEEP = ToolDefinition("Deep", "", {"properties": {"a": {"properties": {"b": {"properties": {"c": {"properties": {
    "d": {"properties": {"e": {"properties": {"f": {"type": "string"}}}}}}}}}}}}})  # fmt: skip


async def test_what_an_address_refuses_is_given_up_once_and_for_good() -> None:
    ok = stop({"text": "ok"})
    unknown = (
        "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0].function_declarations[0]': "
    )
    server = Server(
        error(400, "The schema of function Deep exceeds the maximum allowed nesting depth."),
        error(400, f"{unknown}Cannot find field."),
        error(400, "Invalid JSON payload received. Unknown name \"thinkingConfig\" at 'generation_config'"),
        streamed(sse(ok)),
        streamed(sse(ok)),
    )
    provider = gemini(server.client)
    for _ in range(2):
        await completed(provider, asked(tools=(DEEP, ODD)))
    full, flat, proto, plain, again = server.bodies
    assert len(json.dumps(flat["tools"])) < len(json.dumps(full["tools"]))
    declared = proto["tools"][0]["functionDeclarations"]
    assert all("parameters" in tool and "parametersJsonSchema" not in tool for tool in declared)
    assert "thinkingConfig" not in plain["generationConfig"]
    assert again == plain
    for body in server.bodies:
        check_gemini(body)


@pytest.mark.parametrize(
    ("refusal", "conceded"),
    [
        ("Unknown name \"parametersJsonSchema\" at 'tools[0]…': Cannot find field.", Manners("proto")),
        ('Unknown name "parameters_json_schema": Cannot find field.', Manners("proto")),
        ("parametersJsonSchema is not supported by this model", Manners("proto")),
        ("tools[0].function_declarations[3].parameters_json_schema: 'x' is not supported", None),
        ("Unknown name \"x\" at 'tools[0].function_declarations[3].parametersJsonSchema': Cannot find field.", None),
        ("exceeds the maximum allowed nesting depth", Manners(levels=5)),
        ('Unknown name "includeThoughts" at generation_config.thinking_config', Manners(thoughts=False)),
        ("Thinking is not supported for this model", Manners(thoughts=False)),
        ("Invalid thought signature.", None),
        ("Function call is missing a thought_signature in functionCall parts.", None),
    ],
)
def test_each_refusal_gives_up_just_what_it_names(refusal: str, conceded: Manners | None) -> None:
    assert Manners().concede(refusal) == conceded
    assert conceded is None or conceded.concede(refusal) is None


async def test_a_refusal_that_nothing_mends_is_told_after_one_request() -> None:
    server = Server(error(400, "Request contains an invalid argument."))
    with pytest.raises(ProviderRejected):
        await completed(gemini(server.client), asked())
    assert len(server.requests) == 1


async def test_tools_beyond_the_cap_are_left_out_and_told_once() -> None:
    tools = tuple(ToolDefinition(f"T{i}", "", {}) for i in range(515))
    server = answering(stop({"text": "ok"}))
    provider = gemini(server.client)
    first = await completed(provider, asked(tools=tools))
    assert "3 were left out" in first.note
    assert not (await completed(provider, asked(tools=tools))).note
    check_gemini(server.bodies[0])


async def test_models_are_listed_page_by_page() -> None:
    def entry(name: str, *methods: str) -> dict[str, Any]:
        sizes = {"inputTokenLimit": 1000, "outputTokenLimit": 100}
        return {"name": f"models/{name}", "displayName": name.title(), **sizes, "supportedGenerationMethods": methods}

    small = entry("gemini-3-flash", "generateContent")
    pages = [
        {"models": [entry("gemini-3-pro", "generateContent", "countTokens")], "nextPageToken": "p2"},
        {"models": [entry("gemini-embedding", "embedContent"), small], "nextPageToken": "p3"},
        {"models": [entry("gemini-3-flash-tts", "generateContent")]},
    ]
    server = Server(*(httpx.Response(200, json=page) for page in pages))
    listed = await gemini(server.client).list_models()
    assert [(model.id, model.context, model.output) for model in listed] == [
        ("gemini-3-pro", 1000, 100),
        ("gemini-3-flash", 1000, 100),
    ]
    assert server.requests[1].url.params["pageToken"] == "p2"
    assert all(made.url.path == "/v1beta/models" and KEY not in str(made.url) for made in server.requests)


async def test_tokens_are_counted_as_the_request_would_be_sent() -> None:
    server = Server(httpx.Response(200, json={"totalTokens": 321}))
    assert await gemini(server.client).count_tokens(asked()) == 321
    [made] = server.requests
    assert made.url.path == f"/v1beta/models/{MODEL}:countTokens"
    counted = server.bodies[0]["generateContentRequest"]
    assert counted.pop("model") == f"models/{MODEL}"
    check_gemini(counted)
    gateway = Server(httpx.Response(404, json={}))
    assert await gemini(gateway.client).count_tokens(asked()) is None
