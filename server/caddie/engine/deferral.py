"""Who answers a session's turns, and which way do deferred tools reach that model?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from caddie.chat.deferral import Effective, effective
from caddie.chat.provider import Capabilities, Chosen
from caddie.chat.refusals import Refusals
from caddie.errors import ProviderError
from caddie.layers import environment_names
from caddie.tools.states import who_set

if TYPE_CHECKING:
    from caddie.engine.configuration import Configuration
    from caddie.engine.engine import Engine
    from caddie.providers import Choice

_UNDECIDED = Capabilities(why="no model has been chosen yet; it is decided with the first message")


class Deferrals:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.refusals = Refusals()
        self._unreachable = ""

    async def chosen(self, session_id: str = "") -> Chosen:
        """Raises: ProviderAuth, ProviderRejected."""
        settings = self._engine.configuration.resolved(session_id).settings
        choice = await self._engine.models.choose(settings)
        speaker = _speaker(choice, settings.base_url)
        return Chosen(choice.provider, choice.model, self._effective(session_id, choice).mode, speaker)

    async def look(self, session_id: str = "") -> None:
        """Find out who would answer, so that `now` can tell."""
        self._unreachable = ""
        try:
            await self.chosen(session_id)
        except ProviderError as error:
            self._unreachable = error.message

    def now(self, session_id: str = "") -> Effective:
        """The mode in effect: that of the conversation where it has begun, else that of a new one."""
        fresh = self._effective(session_id, self._engine.models.chosen)
        session = self._engine.sessions.find(session_id) if session_id else None
        if session is None or session.prefix is None or session.prefix.deferral == fresh.mode:
            return fresh
        why = f"this conversation began with it; a new or compacted one takes {fresh.mode}, because {fresh.why}"
        return replace(fresh, mode=session.prefix.deferral, why=why)

    def _effective(self, session_id: str, choice: Choice | None) -> Effective:
        resolved = self._engine.configuration.resolved(session_id)
        wanted, who = resolved.settings.tools.deferral, who_set_deferral(self._engine.configuration, session_id)
        if choice is None:
            no_model = f"no model can be reached: {self._unreachable}"
            return effective(wanted, who, Capabilities(why=no_model) if self._unreachable else _UNDECIDED)
        refusal = self.refusals.of_native(_speaker(choice, resolved.settings.base_url))
        return effective(wanted, who, choice.provider.capabilities(choice.model), refusal)


def who_set_deferral(configuration: Configuration, session_id: str = "") -> str:
    source = who_set(configuration.resolved(session_id), "deferral")
    if source.scope == "environment":
        return f"the environment variable {environment_names(source.setting)[0]}"
    return source.words


def _speaker(choice: Choice, base_url: str) -> str:
    return f"{choice.provider.name}/{choice.model} {base_url}".strip()
