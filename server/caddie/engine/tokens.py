"""Token counts before anyone has counted: an estimate by the provider's family, labelled as such wherever shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# Characters of English and JSON per token, and tokens per character of Chinese, Japanese and Korean.
_FAMILIES: Mapping[str, tuple[float, float]] = {
    "anthropic": (3.5, 1.1),
    "openai": (4.0, 0.8),
    "gemini": (4.0, 0.7),
    "xai": (3.9, 0.9),
    "offline": (4.0, 0.8),
}
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
OTHERS = "openai"  # what most servers that speak its API were trained with is near it


def family_of(provider: str) -> str:
    return provider if provider in _FAMILIES else OTHERS


def estimate_tokens(text: str, family: str = OTHERS) -> int:
    per_token, per_ideograph = _FAMILIES[family]
    ideographs = len(_IDEOGRAPHS.findall(text))
    return -int(-((len(text) - ideographs) / per_token + ideographs * per_ideograph) // 1)


def tokens_of(name: str, description: str, schema: Mapping[str, Any], family: str = OTHERS) -> int:
    return estimate_tokens(name + description + compact(schema), family)


def compact(tree: Any) -> str:
    """JSON as it goes over the wire."""
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
