"""Where things are kept: the platform's usual directories."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import platformdirs

_NAME_BYTES = 200  # of the 255 that a name may have


@dataclass(frozen=True, slots=True)
class Places:
    config: Path
    data: Path
    workspace: Path

    @property
    def user_settings(self) -> Path:
        return self.config / "settings.json"

    @property
    def workspace_settings(self) -> Path:
        return self.workspace / ".caddie" / "settings.json"

    @property
    def sessions(self) -> Path:
        """One folder per workspace, so that listing one never reads the others."""
        path = str(self.workspace).encode("utf-8", "surrogateescape")
        key = hashlib.sha256(path).hexdigest()[:12]
        name = self.workspace.name.encode("utf-8", "replace")[:_NAME_BYTES].decode("utf-8", "ignore")
        return self.data / "sessions" / f"{name or 'root'}-{key}"

    @property
    def grants(self) -> Path:
        return self.data / "grants.json"

    @property
    def trust(self) -> Path:
        return self.data / "trust.json"

    @property
    def mcp_tokens(self) -> Path:
        return self.data / "mcp-tokens"

    @property
    def manifests(self) -> Path:
        return self.data / "manifests"

    @property
    def started(self) -> Path:
        return self.data / "started"

    @property
    def results(self) -> Path:
        return self.data / "results"


def usual_places(workspace: Path) -> Places:
    dirs = platformdirs.PlatformDirs("caddie", appauthor=False, roaming=True)
    return Places(Path(dirs.user_config_dir), Path(dirs.user_data_dir), workspace.resolve())


def cache_folder() -> Path:
    """For what can be made again at any time; shared by all workspaces."""
    return Path(platformdirs.user_cache_dir("caddie", appauthor=False))
