"""How the model's Markdown looks in a terminal: rich's renderer with its loud parts turned down."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, HorizontalRule, Markdown, MarkdownElement
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text

from caddie.terminal.text import clean


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "left")


class _CodeBlock(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        theme = ANSISyntaxTheme(Syntax.get_theme("ansi_dark").style_map)  # type: ignore[attr-defined]
        code = str(self.text).rstrip()
        syntax = Syntax(code, self.lexer_name, theme=theme, word_wrap=True, background_color="default")
        yield Padding(syntax, (0, 0, 0, 2))


class _Rule(HorizontalRule):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="dim")


class QuietMarkdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "hr": _Rule,
    }

    def __init__(self, text: str) -> None:
        # Links are written out, not hidden behind their text: a stranger's text must not choose where a click leads.
        super().__init__(clean(text), hyperlinks=False)


def markdown(text: str) -> Markdown | Text:
    return QuietMarkdown(text) if text.strip() else Text()
