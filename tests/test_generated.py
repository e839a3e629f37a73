"""The generated files are fresh, complete and true: what the tables say is what the models do."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from caddie import errors
from caddie.layers import environment_layer, environment_names, leaf_settings
from caddie.protocol.export import __main__ as export
from caddie.protocol.export import schema, settings_page, settings_tree, vscode
from caddie.protocol.methods import METHODS, Method
from caddie.protocol.permissions import SettingsWrite
from caddie.settings import MEANINGS, Settings

ROOT = Path(__file__).parents[1]
EXAMPLES = export.read_examples(ROOT / "tests" / "golden")
BY_NAME = [pytest.param(method, id=method.name) for method in METHODS]


def test_generated_files_are_fresh() -> None:
    assert export.stale(ROOT) == [], "run `python -m caddie.protocol.export`"


def test_check_names_stale_files_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export.main(["--check", "--repository", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "docs/reference/schema.json is stale" in told
    assert "editors/nvim/lua/caddie/_meta/protocol.lua is stale" in told
    assert list(tmp_path.iterdir()) == []


def test_writing_makes_the_check_pass_and_twice_gives_the_same(tmp_path: Path) -> None:
    assert export.main(["--repository", str(tmp_path)]) == 0
    first = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert export.main(["--repository", str(tmp_path)]) == 0
    assert first == {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert export.main(["--check", "--repository", str(tmp_path)]) == 0


def test_every_generated_file_says_who_made_it() -> None:
    for path, text in export.render_all(EXAMPLES).items():
        assert "python -m caddie.protocol.export" in text[:200], path


@pytest.mark.parametrize("method", BY_NAME)
def test_every_method_has_an_example_that_survives_the_round_trip(method: Method) -> None:
    example = EXAMPLES[method.name]
    assert method.params.model_validate(example["params"]).wire() == _with_defaults(method.params, example["params"])
    assert ("result" in example) == (method.result is not None)
    if method.result is not None:
        assert method.result.model_validate(example["result"]).wire() == example["result"]


@pytest.mark.parametrize("method", BY_NAME)
def test_the_published_schema_accepts_what_travels(method: Method) -> None:
    document = schema.document(schema.wire())
    row = next(row for row in document["methods"] if row["method"] == method.name)
    example = EXAMPLES[method.name]
    _validator(row["params"], document).validate(example["params"])
    if method.result is not None:
        _validator(row["result"], document).validate(method.result.model_validate(example["result"]).wire())


def test_the_published_schema_refuses_an_unknown_field() -> None:
    document = schema.document(schema.wire())
    validator = _validator({"$ref": "#/$defs/TurnParams"}, document)
    assert validator.is_valid({"message": "hi"})
    assert not validator.is_valid({"message": "hi", "sesionId": "s-1"})


def test_what_the_server_always_sends_is_marked_as_always_there() -> None:
    models = schema.wire().models
    assert "kind" in models["TextEvent"]["required"]
    assert "isError" in models["ToolCallEvent"]["required"]
    assert "server" not in models["ToolCallEvent"]["required"]
    assert "attachments" not in models["TurnParams"]["required"]


def test_removing_a_setting_travels_as_null() -> None:
    assert SettingsWrite(key="tools.use", value=None, scope="user").wire()["value"] is None


def test_error_kinds_of_the_methods_exist() -> None:
    kinds = {error.kind for _, error in inspect.getmembers(errors, inspect.isclass) if hasattr(error, "kind")}
    assert {kind for method in METHODS for kind in method.errors} <= kinds


def test_links_of_the_reference_page_lead_somewhere() -> None:
    page = export.render_all(EXAMPLES)["docs/reference/protocol.md"]
    headings = {line.lstrip("# ").lower().replace("/", "") for line in page.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings


def test_every_setting_is_described() -> None:
    rows = [line for line in settings_page.render().splitlines() if line.startswith("| `")]
    assert len(rows) > len(dict(leaf_settings()))
    assert [row for row in rows if not row.split(" | ")[3].strip()] == []


@pytest.mark.parametrize("path", [path for path, _ in leaf_settings()])
def test_every_documented_variable_sets_its_setting(path: str) -> None:
    value = _sample(path)
    for name in environment_names(path):
        node: Any = environment_layer({name: value}).tree
        for part in path.split("."):
            node = node[part]
        assert node in (value, [value])


def test_every_setting_and_choice_is_said_in_english_and_in_chinese() -> None:
    english, chinese = vscode.words("en"), vscode.words("zh")
    assert english.keys() == chinese.keys()
    assert [key for key, text in english.items() if not text.strip()] == []
    assert [key for key, text in chinese.items() if not re.search("[\u4e00-\u9fff]", text)] == []
    table = settings_tree.leaves()
    choices = {leaf.path: set(leaf.node["enum"]) for leaf in table if "enum" in leaf.node}
    assert choices == {path: set(meanings) for path, meanings in MEANINGS.items()}


def test_vscodes_settings_are_the_tree_and_every_placeholder_has_its_words() -> None:
    properties = {key: node for group in vscode.configuration() for key, node in group["properties"].items()}
    assert set(properties) == {f"caddie.{leaf.path}" for leaf in settings_tree.leaves()}
    assert {key for key, _ in leaf_settings()} <= {key.removeprefix("caddie.") for key in properties}
    used = set(re.findall("%([^%]+)%", json.dumps(vscode.configuration())))
    assert used == set(vscode.words("en"))
    defaults = {key: node["default"] for key, node in properties.items()}
    assert defaults["caddie.tools.profile"] == "standard"
    for key, node in properties.items():
        jsonschema_rs.Draft202012Validator({**node, "default": None}).validate(defaults[key])


def test_what_is_written_by_hand_in_vscodes_files_stays(tmp_path: Path) -> None:
    folder = tmp_path / "editors" / "vscode"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "caddie", "contributes": {"commands": [], "configuration": {}}}')
    (folder / "package.nls.json").write_text('{"command.open": "Open", "configuration.gone": "old"}')
    assert export.main(["--repository", str(tmp_path)]) == 0
    package, words = (json.loads((folder / name).read_text()) for name in ("package.json", "package.nls.json"))
    assert package["contributes"]["configuration"] == vscode.configuration()
    assert (package["name"], package["contributes"]["commands"]) == ("caddie", [])
    assert words["command.open"] == "Open"
    assert "configuration.gone" not in words
    assert words["configuration.tools.use"] == "Master switch: off sends no tools at all."
    assert export.main(["--check", "--repository", str(tmp_path)]) == 0


def test_the_schema_of_the_files_accepts_what_the_server_accepts_and_no_more() -> None:
    validator = jsonschema_rs.Draft202012Validator(settings_tree.file_schema())
    server = {"mcp": {"servers": {"git": {"command": "git", "args": ["x"]}}}}
    for tree in ({}, {"version": 1, "$schema": "x", "tools": {"disabled": ["a"]}}, server, {"search": {"limit": 5}}):
        assert validator.is_valid(tree), tree
    for tree in ({"tols": {}}, {"tools": {"disabled": "a"}}, {"hints": {"threshold": 101}}, {"search": {"limit": 0}}):
        assert not validator.is_valid(tree), tree


def _with_defaults(model: type[Any], example: dict[str, Any]) -> dict[str, Any]:
    """What a client may leave out comes back as its default."""
    return {
        **{key: value for key, value in model.model_validate(example).wire().items() if key not in example},
        **example,
    }


def _validator(node: dict[str, Any], document: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({**node, "$defs": document["$defs"]})


def _sample(path: str) -> str:
    node: Any = json.loads(Settings().model_dump_json(by_alias=True))
    for part in path.split("."):
        node = node[part]
    return str(node) if node and not isinstance(node, list) else "x"
