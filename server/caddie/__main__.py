"""`caddie`: which door is meant? Each command is imported only when it runs."""

from __future__ import annotations

import sys


def main() -> None:
    from caddie.cli.commands import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
