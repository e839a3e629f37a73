"""How does the rest of the server speak to the client? In messages, with back-pressure, and never for ever."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import ValidationError

from caddie.errors import ClientCannotAsk
from caddie.protocol.base import Message
from caddie.protocol.chat import ChatEvent, DoneEvent, TextEvent, ThinkingEvent, ToolCallEvent
from caddie.protocol.methods import CHAT_EVENT, Method
from caddie.rpc.codec import Proto, ask
from caddie.rpc.codes import METHOD_NOT_FOUND
from caddie.rpc.errors import ClientError


@dataclass(slots=True)
class _Held:
    """An event that waits for the client to read. Texts that follow one another are joined when it is sent."""

    message: ChatEvent
    texts: list[str] = field(default_factory=list)

    def absorb(self, later: ChatEvent) -> bool:
        mine, event = self.message.event, later.event
        if self.message.turn_id != later.turn_id:
            return False
        if isinstance(event, TextEvent | ThinkingEvent) and mine.kind == event.kind:
            self.texts.append(event.text)
            return True
        if _is_progress(mine) and _is_progress(event) and mine.call_id == event.call_id:  # type: ignore[union-attr]
            self.message = later
            return True
        return False

    def joined(self) -> ChatEvent:
        event = self.message.event
        if not self.texts or not isinstance(event, TextEvent | ThinkingEvent):
            return self.message
        whole = event.model_copy(update={"text": "".join([event.text, *self.texts])})
        return self.message.model_copy(update={"event": whole})


class Peer:
    """The client, seen from the handlers. It numbers the chat events of each turn, as they leave."""

    def __init__(self, protocol: Proto) -> None:
        self._protocol = protocol
        self._held: list[_Held] = []
        self._sent: dict[str, int] = {}
        protocol.on_relief.append(self._send_held)

    def notify(self, method: Method, message: Message) -> None:
        if method is not CHAT_EVENT or not isinstance(message, ChatEvent):
            self._protocol.notify(method.name, message.wire())
        elif isinstance(message.event, DoneEvent):  # the turn's answer follows at once: nothing may be left behind it
            self._send_held(everything=True)
            self._send_event(message)
        elif self._held or self._protocol.congested:
            self._hold(message)
        else:
            self._send_event(message)

    async def request(self, method: Method, message: Message, timeout: float | None = None) -> Message:
        """The client's validated answer. TimeoutError when it takes longer; ClientCannotAsk when it cannot."""
        assert method.result is not None
        self._send_held(everything=True)
        try:
            # A prompt's own id is also the request's: a client that never sees the latter can tell what is withdrawn.
            msg_id = getattr(message, "request_id", "")
            answer = await ask(self._protocol, method.name, message.wire(), timeout, msg_id=msg_id)
            return method.result.model_validate(answer if answer is not None else {})
        except ClientError as error:
            raise _cannot(
                method, "does not know it" if error.code == METHOD_NOT_FOUND else "answered with an error"
            ) from None
        except ValidationError:
            raise _cannot(method, "gave an answer that does not fit the protocol", answered=True) from None
        except ConnectionError:
            raise _cannot(method, "is gone") from None

    def _hold(self, message: ChatEvent) -> None:
        if not self._held or not self._held[-1].absorb(message):
            self._held.append(_Held(message))

    def _send_held(self, everything: bool = False) -> None:
        count = 0
        for held in self._held:
            if self._protocol.congested and not everything:
                break
            self._send_event(held.joined())
            count += 1
        del self._held[:count]

    def _send_event(self, message: ChatEvent) -> None:
        number = self._sent.get(message.turn_id, 0) + 1
        self._sent[message.turn_id] = number
        if isinstance(message.event, DoneEvent):
            del self._sent[message.turn_id]
        self._protocol.notify(CHAT_EVENT.name, message.model_copy(update={"seq": number}).wire())


def _is_progress(event: object) -> bool:
    return isinstance(event, ToolCallEvent) and event.status == "running"


def _cannot(method: Method, why: str, *, answered: bool = False) -> ClientCannotAsk:
    """`answered`: there was an answer, though none that can be read as a yes."""
    return ClientCannotAsk(
        f"The editor could not be asked: `{method.name}` was sent, and the client {why}.",
        method=method.name,
        answered=answered,
    )
