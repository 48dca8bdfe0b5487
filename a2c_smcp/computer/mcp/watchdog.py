"""The process that outlives a Computer by a moment and ends what it left behind.

Run as a script, with nothing but the standard library's cheapest modules: it starts within milliseconds and waits.
Its Computer tells it on standard input, a line each: `+123` for a process group that lives, `-123` for one that has
ended, `.` for a farewell. When the Computer is gone without one (killed, crashed), it ends the groups, and whatever
else still carries the Computer's mark in its environment, because processes can leave their group.
"""

import os
import select
import signal
import sys
import time

MARK = "A2C_SMCP_RUN"
"""The environment variable that every process started for a Computer inherits."""

# What ends the Computer (Ctrl-C, a service manager) must not end this process before its work.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# A process whose standard input ended needs a moment to leave by itself, and one that was asked to leave another.
LEAVE_SECONDS = 0.5
TERMINATE_SECONDS = 2.0
POLL_SECONDS = 0.02
PARENT_SECONDS = 2.0


def survivors(groups: set[int], mark: str) -> list[int]:
    """Return the processes of the groups, and those whose mark begins with `mark`.

    Zombies do not count: they have ended, and wait for somebody else. Where there is no `/proc`, the groups that live
    stand for their processes, and marks cannot be seen.
    """
    wanted = f"\0{MARK}={mark}".encode()
    try:
        # Not pathlib, which costs more to import than all else here.
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
    """Return the processor seconds of a process, and the bytes that it read and wrote; zeros where they are unknown."""
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        counts = dict(line.split(b": ") for line in _read(f"/proc/{pid}/io").splitlines())
        return cpu, int(counts[b"rchar"]) + int(counts[b"wchar"])
    except (OSError, ValueError, LookupError):
        return 0.0, 0


def signal_all(groups: set[int], mark: str, number: int) -> None:
    """Send a signal to the groups and to the marked processes."""
    # Whole groups first: a process that forks meanwhile has its child reached too.
    for send, targets in ((os.killpg, list(groups)), (os.kill, survivors(set(), mark))):
        for target in targets:
            try:
                send(target, number)
            except OSError:
                continue


def end_all(groups: set[int], mark: str) -> None:
    """End the groups and everything marked, politely first. Returns when nothing is left, or cannot be helped."""
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
    # The name, in brackets, can hold anything; after it come state, parent and group.
    state, _, group, *_ = stat.rpartition(b")")[2].split()
    return state, int(group)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def listen(descriptor: int) -> set[int] | None:
    """Follow the Computer until it is gone; return the groups it left, or None after a farewell."""
    groups: set[int] = set()
    unread = b""
    parent = os.getppid()
    while True:
        # A forked copy of the Computer may hold the pipe open, so the parent is looked at as well.
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
    """Watch over one Computer, whose mark it is."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    groups = listen(0)
    if groups is not None:
        end_all(groups, mark)


if __name__ == "__main__":
    main(sys.argv[1])
