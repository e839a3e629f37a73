from __future__ import annotations

import hashlib

import httpx
import pytest
from provider_kit import HELLO, KEY, READ, Server, collect, completed, streamed
from responses_kit import OK, answered, asked, responses, sent, xai

from caddie.chat.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolAnswer,
    ToolDefinition,
    ToolUse,
)
from caddie.errors import ContextOverflow, ProviderAuth, ProviderRejected, ThinkingRejected, ToolRejected
from caddie.tools.tool import ImageContent, TextContent
from fake_responses import call, message, reasoning, response
from responses_rules import check_input_tokens, check_openai_responses

PNG = "iVBORw0KGgo="
READ_CALL = Message("assistant", (ToolUse("call_1", "Read", {"path": "a"}),))


def answer(*content: TextContent | ImageContent, is_error: bool = False) -> Message:
    return Message("user", (ToolAnswer("call_1", "Read", content, is_error),))


async def test_a_first_request_keeps_nothing_at_the_vendor_and_asks_for_the_reasoning() -> None:
    server = Server(streamed(OK))
    await collect(responses(server.client), asked())
    [made], [body] = server.requests, server.bodies
    check_openai_responses(body)
    assert str(made.url) == "https://api.openai.com/v1/responses"
    assert made.headers["authorization"] == f"Bearer {KEY}"
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"summary": "auto"}
    assert body["instructions"] == "You are Caddie."
    assert body["prompt_cache_key"] == hashlib.sha256(b"s1").hexdigest()[:32]
    assert body["input"] == [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]
    [tool] = body["tools"]
    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "Read", False)


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        ("gpt-5.5", True), ("gpt-6.1-sol", True), ("o4-mini", True), ("openai/gpt-5.6-sol", True), ("gpt-10", True),
        ("gpt-4.1", False), ("gpt-4o", False), ("gpt-5-chat-latest", False), ("gpt-oss:20b", False), ("qwen3", False),
    ],
)  # fmt: skip
async def test_only_models_that_reason_are_asked_for_it(model: str, reasons: bool) -> None:
    body = await sent(model=model)
    assert ("include" in body, "reasoning" in body) == (reasons, reasons)


async def test_xai_is_asked_for_the_encrypted_reasoning_but_for_no_summary() -> None:
    body = await sent(make=xai, model="grok-4.5")
    assert body["include"] == ["reasoning.encrypted_content"]
    assert "reasoning" not in body
    assert body["store"] is False
    assert "include" not in await sent(make=xai, model="grok-4.20-non-reasoning")


async def test_grok_may_be_silent_for_a_quarter_of_an_hour() -> None:
    server = Server(streamed(OK))
    await collect(xai(server.client, idle_timeout=300), asked(model="grok-4.5"))
    assert server.requests[0].extensions["timeout"]["read"] == 900


async def test_a_system_prompt_that_says_nothing_is_left_out() -> None:
    assert "instructions" not in await sent(system=" \n")


async def test_no_more_tools_are_sent_than_the_api_takes_and_the_person_is_told_once() -> None:
    many = tuple(ToolDefinition(f"t{n}", "d", {}) for n in range(200))
    bridge = (ToolDefinition("ToolSearch", "d", {}), ToolDefinition("ExecuteTool", "d", {}))
    server = Server(lambda: streamed(OK))
    provider, tools = responses(server.client), (*many, *bridge)
    first = await completed(provider, asked(tools=tools))
    check_openai_responses(server.bodies[0])
    names = [tool["name"] for tool in server.bodies[0]["tools"]]
    assert names == [*(f"t{n}" for n in range(126)), "ToolSearch", "ExecuteTool"]
    assert "at most 128 tools" in first.note
    assert "last 74" in first.note
    assert (await completed(provider, asked(tools=tools))).note == ""


async def test_how_many_tools_another_server_takes_is_learned_from_its_refusal() -> None:
    text = "Invalid 'tools': array too long. Expected an array with maximum length 3, but got an array with length 5."
    server = Server(httpx.Response(400, json={"error": {"message": text}}), lambda: streamed(OK))
    provider = responses(server.client, base_url="http://127.0.0.1:9/v1", default_model="")
    tools = tuple(ToolDefinition(name, "d", {}) for name in ("a", "b", "c", "ToolSearch", "ExecuteTool"))
    end = await completed(provider, asked(model="m", tools=tools, deferral="native"))
    kept = [tool.get("name", tool["type"]) for tool in server.bodies[1]["tools"]]
    assert kept == ["a", "tool_search", "ExecuteTool"]
    assert "at most 3 tools" in end.note


async def test_an_answer_goes_back_item_by_item_as_it_came() -> None:
    items = [reasoning(1, "I look."), message("Looking.", phase="commentary"), call("Read", 1, path="a"),
             call("Read", 2, path="b")]  # fmt: skip
    said = (await answered(*items)).message
    results = Message("user", tuple(ToolAnswer(use.id, "Read", (TextContent("r"),)) for use in said.tool_uses))
    body = await sent(HELLO, said, results)
    assert body["input"][1:5] == items
    assert [item["call_id"] for item in body["input"][5:]] == ["call_1", "call_2"]


async def test_items_keep_fields_that_nobody_here_knows() -> None:
    item = {**message("Hi."), "something_new": {"x": [1, None]}}
    said = (await answered(item)).message
    server = Server(streamed(OK))
    await collect(responses(server.client), asked(HELLO, said, HELLO))
    assert server.bodies[0]["input"][1] == item


async def test_reasoning_that_led_nowhere_does_not_go_back() -> None:
    said = (await answered(message("Hm."), reasoning(), incomplete="max_output_tokens")).message
    body = await sent(HELLO, said, HELLO)
    assert [item.get("type", item.get("role")) for item in body["input"]] == ["user", "message", "user"]


async def test_reasoning_that_cannot_be_taken_back_stays_behind_with_all_ids() -> None:
    item = {key: value for key, value in reasoning(1, "Thought.").items() if key != "encrypted_content"}
    said = (await answered(item, call("Read", path="a"))).message
    body = await sent(HELLO, said, answer(TextContent("r")))
    assert body["input"][1] == {
        "type": "function_call", "call_id": "call_1", "name": "Read", "arguments": '{"path": "a"}',
    }  # fmt: skip
    assert said.parts[0] == Thinking("Thought.")


async def test_the_thoughts_of_an_open_model_go_back_in_the_clear() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
    said = (await answered(item, message("Hi."))).message
    assert said.parts[0] == Thinking("Hm.", item)
    assert (await sent(HELLO, said, HELLO))["input"][1] == item


async def test_another_providers_history_is_told_plainly() -> None:
    foreign = Message(
        "assistant",
        (
            Thinking("hm", {"type": "thinking", "thinking": "hm", "signature": "s"}),
            Text("Looking."),
            ToolUse("toolu:1/ü", "mcp.odd name", {"path": "a"}),
        ),
    )
    result = Message("user", (ToolAnswer("toolu:1/ü", "mcp.odd name", (TextContent("r"),)), Text("and?")))
    _, text, use, output, question = (await sent(HELLO, foreign, result))["input"]
    assert text == {"role": "assistant", "content": "Looking."}
    assert (use["type"], use["name"], use["arguments"]) == ("function_call", "mcp_odd_name", '{"path": "a"}')
    assert output == {"type": "function_call_output", "call_id": use["call_id"], "output": "r"}
    assert question["content"] == [{"type": "input_text", "text": "and?"}]


async def test_an_error_says_so_in_its_text() -> None:
    body = await sent(HELLO, READ_CALL, answer(TextContent("no such file"), is_error=True))
    assert body["input"][2]["output"] == "Error: no such file"


async def test_an_empty_answer_is_not_empty_on_the_wire() -> None:
    assert (await sent(HELLO, READ_CALL, answer(TextContent(" "))))["input"][2]["output"] == "(no output)"


async def test_images_of_a_tool_stay_in_its_output_at_openai() -> None:
    given = answer(TextContent("seen"), ImageContent(PNG, "image/png"), is_error=True)
    text, image = {"type": "input_text", "text": "seen"}, f"data:image/png;base64,{PNG}"
    error = {"type": "input_text", "text": "Error:"}
    shown = {"type": "input_image", "image_url": image, "detail": "auto"}
    assert (await sent(HELLO, READ_CALL, given))["input"][2]["output"] == [error, text, shown]


async def test_elsewhere_images_of_tools_follow_after_all_outputs() -> None:
    calls = Message("assistant", (*READ_CALL.parts, ToolUse("call_2", "Read", {})))
    results = Message(
        "user",
        (
            ToolAnswer("call_1", "Read", (ImageContent(PNG, "image/png"),)),
            ToolAnswer("call_2", "Read", (TextContent("r"),)),
            Text("go on"),
        ),
    )
    one, two, after = (await sent(HELLO, calls, results, make=xai, model="grok-4.5"))["input"][3:]
    assert one["output"] == "The result is an image; it follows below."
    assert two["output"] == "r"
    assert [block["type"] for block in after["content"]] == ["input_text", "input_image", "input_text"]


async def test_images_of_the_person_are_sent_and_unknown_kinds_are_told() -> None:
    body = await sent(Message("user", (Image(PNG, "image/png"), Image(PNG, "image/tiff"), Text("what?"))))
    image, odd, text = body["input"][0]["content"]
    assert image == {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
    assert "image/tiff" in odd["text"]
    assert text["text"] == "what?"


async def test_a_call_that_did_not_parse_goes_back_as_one_that_does() -> None:
    said = (await answered(reasoning(), call("Read", arguments='{"path": '))).message
    assert said.tool_uses[0].arguments is None
    body = await sent(HELLO, said, answer(TextContent("not JSON"), is_error=True))
    assert body["input"][2]["arguments"] == "{}"
    assert body["input"][1] == reasoning()


async def test_a_call_id_that_breaks_the_rules_is_mended_in_call_and_output_alike() -> None:
    said = (await answered({**call("Read"), "call_id": "functions.Read:0" + "x" * 80})).message
    result = Message("user", (ToolAnswer(said.tool_uses[0].id, "Read", (TextContent("r"),)),))
    use, output = (await sent(HELLO, said, result))["input"][1:]
    assert use["call_id"] == output["call_id"]


async def test_the_prefix_is_byte_identical_and_the_input_only_grows() -> None:
    server = Server(lambda: streamed(OK))
    provider = responses(server.client)
    tools = (READ, ToolDefinition("Odd", "d", {"anyOf": [{"required": ["b"]}], "properties": {"b": {}, "a b": {}}}))
    said = (await answered(reasoning(), call("Read", path="a"))).message
    talk = [(HELLO,), (HELLO, said, answer(TextContent("r"))), (HELLO, said, answer(TextContent("r")), HELLO)]
    for messages in talk:
        await collect(provider, asked(*messages, tools=tools))
    await collect(responses(server.client), asked(*talk[-1], tools=tools))
    contents = [made.content for made in server.requests]
    assert contents[3] == contents[2]
    for shorter, longer in ((0, 1), (1, 2)):
        assert contents[longer].startswith(contents[shorter].removesuffix(b"]}").removesuffix(b"]}"))
    before = {content.partition(b'"input":')[0] for content in contents}
    assert len(before) == 1
    assert b'"tools"' in before.pop()


@pytest.mark.parametrize(
    ("refusal", "lost"),
    [
        ("Your organization must be verified to generate reasoning summaries.", "reasoning"),
        ("Unsupported parameter: 'reasoning.summary' is not supported with this model.", "reasoning"),
        ("Encrypted content is not supported with this model.", "include"),
        ("Unknown parameter: 'prompt_cache_key'.", "prompt_cache_key"),
    ],
)
async def test_what_an_account_or_model_is_refused_is_given_up_once_and_for_good(refusal: str, lost: str) -> None:
    refused = httpx.Response(400, json={"error": {"message": refusal, "type": "invalid_request_error"}})
    server = Server(refused, lambda: streamed(OK))
    provider = responses(server.client)
    await collect(provider, asked())
    await collect(provider, asked())
    assert [lost in body for body in server.bodies] == [True, False, False]


async def test_a_refusal_that_nothing_helps_against_is_told() -> None:
    server = Server(lambda: httpx.Response(400, json={"error": {"message": "Encrypted content is not supported"}}))
    with pytest.raises(ThinkingRejected):
        await collect(responses(server.client), asked())
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}, ProviderAuth),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, ProviderRejected),
        (400, {"message": "Your input exceeds the window", "code": "context_length_exceeded"}, ContextOverflow),
        (400, {"message": "Invalid schema for function 'Read': x", "param": "tools[0].parameters"}, ToolRejected),
        (400, {"message": "Item with id 'rs_1' not found. Items are not persisted"}, ThinkingRejected),
    ],
)
async def test_errors_are_understood(status: int, error: dict[str, str], kind: type[Exception]) -> None:
    server = Server(httpx.Response(status, json={"error": error}))
    with pytest.raises(kind) as caught:
        await collect(responses(server.client), asked())
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", ContextOverflow),
        (400, "Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai.", ProviderAuth),
    ],
)
async def test_xais_words_are_understood(status: int, said: str, kind: type[Exception]) -> None:
    body = {"code": "Client specified an invalid argument", "error": said}
    server = Server(httpx.Response(status, json=body))
    with pytest.raises(kind, match=r"XAI_API_KEY|longer than the model reads"):
        await collect(xai(server.client), asked(model="grok-4.5"))


async def test_a_server_that_does_not_stream_is_understood() -> None:
    items = [reasoning(), message("Hi."), call("Read", path="a")]
    whole = httpx.Response(200, json=response(items, usage={"input_tokens": 3, "output_tokens": 4}))
    end = await completed(responses(Server(whole).client), asked())
    assert (end.message.text, end.stop_reason, end.usage.input) == ("Hi.", "tool_use", 3)
    assert [part.opaque for part in end.message.parts] == items


async def test_without_a_model_nothing_is_sent() -> None:
    server = Server(streamed(OK))
    with pytest.raises(ProviderRejected, match=r"caddie\.model"):
        await collect(responses(server.client), asked(model=""))
    assert not server.requests


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1/responses"),
        ("http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/responses"),
        ("https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1/responses"),
        ("https://gw.test/v1/responses?api-version=1", "https://gw.test/v1/responses?api-version=1"),
    ],
)
async def test_a_base_url_may_end_where_it_likes(base_url: str, url: str) -> None:
    server = Server(streamed(OK))
    await collect(responses(server.client, base_url=base_url), asked())
    assert str(server.requests[0].url) == url


async def test_servers_that_build_grammars_get_no_formats() -> None:
    schema = {"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}}}
    tools = (ToolDefinition("T", "d", schema),)
    near = await sent(tools=tools, make=lambda client: responses(client, base_url="http://127.0.0.1:9/v1"))
    assert "format" not in near["tools"][0]["parameters"]["properties"]["when"]
    assert (await sent(tools=tools))["tools"][0]["parameters"]["properties"]["when"]["format"] == "date-time"


async def test_tokens_are_counted_by_openai_and_by_nobody_else() -> None:
    counted = httpx.Response(200, json={"object": "response.input_tokens", "input_tokens": 77})
    server = Server(counted)
    assert await responses(server.client).count_tokens(asked(HELLO)) == 77
    check_input_tokens(server.bodies[0])
    assert server.requests[0].url.path == "/v1/responses/input_tokens"
    assert server.bodies[0]["tools"]
    assert await responses(Server(httpx.Response(404)).client).count_tokens(asked()) is None
    assert await xai(Server(counted).client).count_tokens(asked(model="grok-4.5")) is None


async def test_openais_list_holds_chat_models_only_newest_first() -> None:
    ids = ["gpt-4.1", "gpt-image-2", "gpt-6.1-sol", "text-embedding-3-small", "o4-mini", "gpt-4o-audio-preview",
           "sora-2", "whisper-1", "gpt-5-search-api", "gpt-realtime", "o3-deep-research", "codex-mini"]  # fmt: skip
    created = {"gpt-6.1-sol": 9, "o4-mini": 5, "gpt-4.1": 4, "codex-mini": 4}
    data = [{"id": name, "object": "model", "created": created.get(name, 7), "owned_by": "x"} for name in ids]
    server = Server(httpx.Response(200, json={"object": "list", "data": data}))
    listed = await responses(server.client).list_models()
    assert [model.id for model in listed] == ["gpt-6.1-sol", "o4-mini", "codex-mini", "gpt-4.1"]
    assert server.requests[0].url.path == "/v1/models"


async def test_xais_list_holds_what_answers_in_words() -> None:
    models = [
        {"id": "grok-4.5", "output_modalities": ["text"], "context_length": 500_000},
        {"id": "grok-imagine", "output_modalities": ["image"]},
        {"id": "grok-4.3"},
    ]
    server = Server(httpx.Response(200, json={"models": models}))
    listed = await xai(server.client).list_models()
    assert [(model.id, model.context) for model in listed] == [("grok-4.5", 500_000), ("grok-4.3", None)]
    assert server.requests[0].url.path == "/v1/language-models"


async def test_another_servers_list_is_asked_for_too() -> None:
    server = Server(httpx.Response(200, json={"data": [{"id": "qwen3", "max_model_len": 4096}, {"id": "bge-embed"}]}))
    listed = await responses(server.client, base_url="http://127.0.0.1:9/v1", default_model="").list_models()
    assert [(model.id, model.context) for model in listed] == [("qwen3", 4096)]


async def test_a_server_without_this_api_is_told_apart_from_a_wrong_address() -> None:
    server = Server(httpx.Response(404, json={"error": "not found"}))
    with pytest.raises(ProviderRejected, match=r"set caddie\.provider to openai-chat"):
        await collect(responses(server.client, base_url="http://127.0.0.1:9/v1", default_model=""), asked(model="m"))
