"""Caddie's server, noting its process id in the file named by the first argument; then as `python -m caddie`."""

import os
import sys
from pathlib import Path

with Path(sys.argv[1]).open("a") as pids:
    pids.write(f"{os.getpid()}\n")
sys.argv = ["caddie", *sys.argv[2:]]

from caddie.__main__ import main  # noqa: E402

sys.exit(main())
