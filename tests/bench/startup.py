"""Process start to the answer to `initialize`: Caddie beside a bare pygls server, in turns, in the same run.

    python tests/bench/startup.py [ROUNDS]

Prints the best CPU and wall milliseconds of each, and the ratio of the CPU times (design: not above 1).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import psutil

BARE = "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()"
COMMANDS = {"bare pygls": [sys.executable, "-c", BARE], "caddie serve": [sys.executable, "-m", "caddie", "serve"]}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None}}


def once(command: list[str]) -> tuple[float, float]:
    """(CPU ms, wall ms) until the answer is there."""
    body = json.dumps(INITIALIZE).encode()
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    process.stdin.flush()
    process.stdout.readline()
    wall = time.perf_counter() - started
    times = psutil.Process(process.pid).cpu_times()
    process.kill()
    process.wait()
    return (times.user + times.system) * 1000, wall * 1000


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    best = {name: (float("inf"), float("inf")) for name in COMMANDS}
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            cpu, wall = once(command)
            best[name] = (min(best[name][0], cpu), min(best[name][1], wall))
    for name, (cpu, wall) in best.items():
        print(f"{name:<14} {cpu:6.0f} ms CPU  {wall:6.0f} ms wall")
    print(f"ratio (CPU)    {best['caddie serve'][0] / best['bare pygls'][0]:.2f}")


if __name__ == "__main__":
    main()
