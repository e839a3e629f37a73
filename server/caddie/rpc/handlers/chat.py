"""caddie/chat/* and caddie/session/*"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from caddie.engine.attachments import read_attachments, read_picture
from caddie.engine.compacting import compact
from caddie.engine.whole_results import whole_result
from caddie.errors import CaddieError
from caddie.protocol import chat as wire
from caddie.protocol import methods
from caddie.protocol.base import Empty, Message
from caddie.rpc import convert, convert_review
from caddie.rpc.codec import Server, bind

if TYPE_CHECKING:
    from caddie.chat.events import TurnEvent
    from caddie.chat.session import Session
    from caddie.engine.engine import Engine
    from caddie.rpc.app import App


def bind_handlers(server: Server, app: App) -> None:
    async def turn(params: wire.TurnParams) -> wire.TurnResult:
        engine = await app.engine()
        ids: list[str] = []

        def send(session_id: str, turn_id: str, event: Message) -> None:
            app.peer.notify(
                methods.CHAT_EVENT,
                wire.ChatEvent(session_id=session_id, turn_id=turn_id, seq=1, event=event),  # the peer numbers it
            )

        def emit(session_id: str, turn_id: str, event: TurnEvent) -> None:
            ids[:] = [session_id, turn_id]
            if (message := convert.event(event)) is not None:
                send(session_id, turn_id, message)

        pictures = [read_picture(item.name, item.data, item.media_type) for item in params.attachments if item.data]
        others = [(item.name, item.path, item.text) for item in params.attachments if not item.data]
        attachments = (*await read_attachments(engine.workspace, engine.door.editor, others), *pictures)
        try:
            session, turn_id, outcome = await engine.turns.run(
                params.session_id,
                params.message,
                emit,
                attachments=attachments,
                attached=tuple(item.name for item in params.attachments),
                picked=tuple(params.picked_tools),
                servers=tuple(params.servers),
                mode=params.mode,
            )
        except asyncio.CancelledError:
            if ids:
                send(ids[0], ids[1], wire.DoneEvent(stop_reason="cancelled", text=""))
            raise
        except CaddieError as error:
            if ids:
                send(ids[0], ids[1], wire.NoticeEvent(level="error", message=error.message, code=error.kind))
                send(ids[0], ids[1], wire.DoneEvent(stop_reason="error", text=""))
                error.data["session_id"] = ids[0]
            raise
        return wire.TurnResult(
            session_id=session.id,
            turn_id=turn_id,
            stop_reason=outcome.stop,
            text=outcome.text,
            usage=convert.usage(outcome.usage),
            mode=session.state.mode,
            model=outcome.model,
            changed_files=await engine.changed_files(session.id, turn_id),
        )

    async def draft(params: wire.DraftParams) -> None:
        engine = await app.engine()
        await engine.hints.draft(params.draft_id, params.text, params.session_id or "", tuple(params.servers))

    async def list_sessions(params: Empty) -> wire.SessionListResult:
        engine = await app.engine()
        return wire.SessionListResult(sessions=[convert.summary(item) for item in await engine.sessions.summaries()])

    async def open_session(params: wire.SessionParams) -> wire.SessionOpenResult:
        engine = await app.engine()
        return opened(engine, await engine.sessions.get(params.session_id))

    async def rewind_session(params: wire.RewindParams) -> wire.SessionOpenResult:
        engine = await app.engine()
        return opened(engine, await engine.sessions.rewind(params.session_id, params.turn_id))

    def opened(engine: Engine, session: Session) -> wire.SessionOpenResult:
        return wire.SessionOpenResult(
            session=convert.session(session),
            transcript=convert.transcript(session),
            todo=convert.todo(session.state.todo),
            notices=engine.sessions.notices(session.id),
            interrupted=engine.sessions.is_cut(session),
        )

    async def result_of_call(params: wire.CallParams) -> wire.WholeResult:
        engine = await app.engine()
        session = await engine.sessions.get(params.session_id)
        return wire.WholeResult(text=await whole_result(session, engine.results, params.call_id))

    async def rename_session(params: wire.SessionRenameParams) -> wire.SessionInfo:
        engine = await app.engine()
        return convert.session(await engine.sessions.rename(params.session_id, params.title))

    async def delete_session(params: wire.SessionParams) -> None:
        engine = await app.engine()
        await engine.sessions.delete(params.session_id)
        engine.configuration.forget_session(params.session_id)
        engine.grants.forget_session(params.session_id)
        await engine.changes.run(lambda: engine.changes.store.forget(params.session_id))

    async def compact_session(params: wire.SessionParams) -> wire.CompactResult:
        made = await compact(await app.engine(), params.session_id)
        return wire.CompactResult(notes=made.notes, tokens_before=made.tokens_before, tokens_after=made.tokens_after)

    async def undo(params: wire.UndoParams) -> wire.UndoResult:
        engine = await app.engine()
        if params.files is None:
            return convert_review.undone(await engine.undo(params.session_id, params.turn_id or ""))
        async with engine.sessions.held(params.session_id, "take changes back"):
            report = await engine.review.take_back(params.session_id, convert_review.choices(params.files))
            return convert_review.undone(report)

    async def changes(params: wire.ChangesParams) -> wire.ChangesResult:
        engine = await app.engine()
        await engine.sessions.get(params.session_id)
        found = await engine.review.changes(params.session_id, params.path or "")
        return convert_review.changes(found, with_text=bool(params.path))

    async def keep(params: wire.KeepParams) -> wire.ChangesResult:
        engine = await app.engine()
        await engine.sessions.get(params.session_id)
        chosen = None if params.files is None else convert_review.choices(params.files)
        await engine.review.keep(params.session_id, chosen)
        return convert_review.changes(await engine.review.changes(params.session_id))

    bind(server, methods.CHAT_TURN, turn)
    bind(server, methods.CHAT_DRAFT, draft)
    bind(server, methods.SESSION_LIST, list_sessions)
    bind(server, methods.SESSION_OPEN, open_session)
    bind(server, methods.SESSION_RESULT, result_of_call)
    bind(server, methods.SESSION_RENAME, rename_session)
    bind(server, methods.SESSION_DELETE, delete_session)
    bind(server, methods.SESSION_COMPACT, compact_session)
    bind(server, methods.SESSION_REWIND, rewind_session)
    bind(server, methods.SESSION_UNDO, undo)
    bind(server, methods.SESSION_CHANGES, changes)
    bind(server, methods.SESSION_KEEP, keep)
