"""Runs the commands that it reads from standard input, and prints the cost of each.

A process starts as a copy of its parent, and Linux counts this copy in the peak memory of the
process. This program therefore imports almost nothing. `processes.py` starts it once, and sends it
a JSON list for each command.
"""

import json
import os
import sys
import time


def main() -> None:
    """Answer each line with its seconds, its peak memory in KiB, and its exit status."""
    for line in sys.stdin:
        argv = json.loads(line)
        null = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
        started = time.perf_counter()
        process = os.posix_spawnp(argv[0], argv, os.environ, file_actions=null)
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - started
        cost = seconds, usage.ru_maxrss, os.waitstatus_to_exitcode(status)
        print(json.dumps(cost), flush=True)


if __name__ == "__main__":
    main()
