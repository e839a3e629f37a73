"""caddie/models/*"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caddie.protocol import methods
from caddie.protocol import models as wire
from caddie.rpc.codec import Server, bind

if TYPE_CHECKING:
    from caddie.engine.models import ModelList
    from caddie.rpc.app import App


def bind_handlers(server: Server, app: App) -> None:
    async def list_models(params: wire.ModelsListParams) -> wire.ModelsListResult:
        engine = await app.engine()
        settings = engine.configuration.resolved(params.session_id or "").settings
        return models(await engine.models.listing(settings))

    bind(server, methods.MODELS_LIST, list_models)


def models(found: ModelList) -> wire.ModelsListResult:
    return wire.ModelsListResult(
        provider=found.choice.provider.name,
        model=found.choice.model,
        why=found.choice.why,
        models=[
            wire.ModelInfo(id=model.id, label=model.label, context=model.context, output=model.output)
            for model in found.models
        ],
        problem=found.problem or None,
    )
