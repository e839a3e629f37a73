"""Asking the person: what can be chosen, and waiting for the answer while the world moves on.

Several calls may wait at once, each in sight at the door. A permission given for one settles the others that it
covers; a rule or state that changes meanwhile settles them too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from caddie.errors import ClientCannotAsk, PermissionRefused
from caddie.tools.context import Choice, PermissionAnswer, PermissionRequest, Person
from caddie.tools.permissions import Verdict
from caddie.tools.tool import ToolSpec

Settled = Literal["allowed", "nobody"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """`runs_without_person`: where nobody can be asked, the call runs all the same."""

    request: PermissionRequest
    runs_without_person: bool


class Prompts:
    """The prompts that are open now."""

    def __init__(self) -> None:
        self._open: set[asyncio.Event] = set()

    def look_again(self) -> None:
        """Permissions, rules or states have changed."""
        for event in self._open:
            event.set()

    async def ask(self, prompt: Prompt, person: Person, still: Callable[[], Verdict]) -> PermissionAnswer | Settled:
        """The person's yes, or what else settled it: a permission given meanwhile, or the setting for when nobody
        can be asked. `still` decides anew and raises what refuses the call now.

        Raises: PermissionRefused, and what `still` raises.
        """
        try:
            answer = await self._answer(prompt.request, person, still)
        except ClientCannotAsk as error:
            return _without_person(prompt, error)
        return answer if answer == "allowed" else _yes(prompt.request, answer)

    async def _answer(
        self, request: PermissionRequest, person: Person, still: Callable[[], Verdict]
    ) -> PermissionAnswer | Literal["allowed"]:
        changed = asyncio.Event()
        self._open.add(changed)
        asking = asyncio.ensure_future(person.ask_permission(request))
        try:
            while True:
                waiting = asyncio.ensure_future(changed.wait())
                try:
                    await asyncio.wait({asking, waiting}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waiting.cancel()
                if asking.done():
                    return asking.result()
                changed.clear()
                if still().kind == "allow":
                    return "allowed"
        finally:
            self._open.discard(changed)
            if not asking.done():
                asking.cancel()  # the door takes the prompt back
                await asyncio.wait({asking})


def choices(spec: ToolSpec, siblings: Sequence[ToolSpec], *, is_firm: bool) -> tuple[Choice, ...]:
    """Only what can hold: where each call must be seen, there is nothing to remember."""
    once, reject = Choice("once", "Allow once", "allowOnce"), Choice("reject", "Reject", "reject")
    if is_firm:
        return (once, reject)
    what = {"Bash": "this command", "WebFetch": "this address"}.get("" if spec.server else spec.name, spec.label)
    found = [
        once,
        Choice("session", f"Allow {what} in this session", "allowSession"),
        Choice("always", f"Always allow {what}", "allowAlways"),
    ]
    if spec.server and len(siblings) > 1:
        label = f"Allow all {len(siblings)} tools of {spec.server} in this session"
        found.append(Choice("server", label, "allowServerSession"))
    return (*found, reject)


def _yes(request: PermissionRequest, answer: PermissionAnswer) -> PermissionAnswer:
    """Raises: PermissionRefused for anything but one of the yeses offered."""
    kinds = {choice.id: choice.kind for choice in request.choices}
    kind = kinds.get(answer.choice)
    if kind in (None, "reject"):
        how = "The person refused" if kind else "The answer was none of the choices, which counts as a refusal of"
        said = f" and said: {answer.feedback}" if answer.feedback else "."
        raise PermissionRefused(
            f"{how} {request.label}{said}", name=request.tool, by="person", feedback=answer.feedback
        )
    return answer


def _without_person(prompt: Prompt, error: ClientCannotAsk) -> Literal["nobody"]:
    """Raises: PermissionRefused unless it may run without."""
    request = prompt.request
    if error.data.get("answered"):
        raise PermissionRefused(
            f"{request.label} was not run: {error.message} That counts as a refusal.", name=request.tool, by="person"
        ) from None
    if prompt.runs_without_person:
        return "nobody"
    if len(request.choices) > 2:
        way_out = "Allow it by a rule in permissions.allow, or set permissions.whenClientCannotAsk."
        said = f"{request.label} needs a permission, and {error.message} It was not run. {way_out}"
    else:
        said = f"{request.label} was not run. {request.reason} A person must see that, and {error.message}"
    raise PermissionRefused(said, name=request.tool, by="default") from None
