"""The watchdog process: ends the MCP servers of a Computer that was killed or crashed.

It runs as a script and imports only cheap modules of the standard library, so that it starts within milliseconds. The
Computer writes lines to its standard input: `+123` registers a process group, `-123` removes one, `.` ends the
watchdog. If the input ends without `.`, the watchdog ends the registered groups, and all processes that have the
Computer's mark in their environment, because a process can leave its group.
"""

import os
import select
import signal
import sys
import time

MARK = "A2C_SMCP_RUN"
"""The environment variable that every process started for a Computer inherits."""

# Signals that end the Computer (Ctrl-C, a service manager) must not end the watchdog before it is done.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Time for processes to exit after their standard input ended, and after SIGTERM.
LEAVE_SECONDS = 0.5
TERMINATE_SECONDS = 2.0
POLL_SECONDS = 0.02
PARENT_SECONDS = 2.0


def survivors(groups: set[int], mark: str) -> list[int]:
    """Return the processes of the groups, and those whose mark begins with `mark`.

    Zombies do not count. Without `/proc` it returns the ids of the groups that still exist and cannot see marks.
    """
    wanted = f"\0{MARK}={mark}".encode()
    try:
        # Not pathlib, whose import costs more than everything else here.
        names = os.listdir("/proc")  # noqa: PTH208
    except OSError:
        return [group for group in groups if _group_lives(group)]
    found = []
    for name in names:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            state, group = _state_and_group(_read(f"/proc/{name}/stat"))
            if state not in (b"Z", b"X") and (group in groups or wanted in b"\0" + _read(f"/proc/{name}/environ")):
                found.append(int(name))
        except OSError:  # it has just ended, or is not ours
            continue
    return found


def work_of(pid: int) -> tuple[float, int]:
    """Return the CPU seconds of a process and the bytes that it read and wrote; zeros if unknown."""
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        counts = dict(line.split(b": ") for line in _read(f"/proc/{pid}/io").splitlines())
        return cpu, int(counts[b"rchar"]) + int(counts[b"wchar"])
    except (OSError, ValueError, LookupError):
        return 0.0, 0


def signal_all(groups: set[int], mark: str, number: int) -> None:
    """Send a signal to the groups and to the marked processes."""
    # Groups first, so that a child forked meanwhile gets the signal too.
    for send, targets in ((os.killpg, list(groups)), (os.kill, survivors(set(), mark))):
        for target in targets:
            try:
                send(target, number)
            except OSError:
                continue


def end_all(groups: set[int], mark: str) -> None:
    """End the groups and the marked processes: wait, then SIGTERM, then SIGKILL."""
    for number, seconds in ((0, LEAVE_SECONDS), (signal.SIGTERM, TERMINATE_SECONDS), (signal.SIGKILL, LEAVE_SECONDS)):
        signal_all(groups, mark, number)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not survivors(groups, mark):
                return
            time.sleep(POLL_SECONDS)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def _state_and_group(stat: bytes) -> tuple[bytes, int]:
    # The name in parentheses can contain anything; state, parent and group follow it.
    state, _, group, *_ = stat.rpartition(b")")[2].split()
    return state, int(group)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def listen(descriptor: int) -> set[int] | None:
    """Read from the Computer until it ends; return the groups to end, or None after `.`."""
    groups: set[int] = set()
    unread = b""
    parent = os.getppid()
    while True:
        # A fork of the Computer may keep the pipe open, so check the parent as well.
        ready, _, _ = select.select([descriptor], [], [], PARENT_SECONDS)
        if not ready:
            if os.getppid() != parent:
                return groups
            continue
        data = os.read(descriptor, 65536)
        if not data:
            return groups
        *lines, unread = (unread + data).split(b"\n")
        for line in lines:
            if line == b".":
                return None
            change = groups.add if line.startswith(b"+") else groups.discard
            change(int(line[1:]))


def main(mark: str) -> None:
    """Watch the Computer that has this mark."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    groups = listen(0)
    if groups is not None:
        end_all(groups, mark)


if __name__ == "__main__":
    main(sys.argv[1])
