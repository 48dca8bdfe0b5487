"""What the Computer's commands return, as lines for a person. Pure.

Names, titles, texts and arguments are other people's data: nothing in them drives the terminal.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from a2c_smcp.cli.terminal import Terminal, columns, one_line, printable
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.common.visible import exact, visible

OFFLINE: Final = "connection: none"
BOX_LINES: Final = 20
BOX_CHARACTERS: Final = 1_600
"""What of a text to decide on is shown at first; the rest has to be asked for."""


def status(value: Any, terminal: Terminal) -> Iterator[str]:
    """Who it is, the connection, a line for each server, and what needs care."""
    yield terminal.bold(one_line(value["name"]))
    yield from connection(value["connection"], terminal)
    for one in value["servers"]:
        yield server_line(one, terminal)
    for name in value["undeclared"]:
        yield f"note: {one_line(name)} has windows or documents but does not declare that it can be subscribed to"
    for claim in value.get("claimed_twice", ()):
        whose, same = " and ".join(claim["servers"]), claim["same"]
        both = f"; both list {same[0]}, {claim['servers'][0]} answers" if same else ""
        yield one_line(f"note: {claim['host']} is claimed by {whose}{both}")
    for name, count in value["left_out"]["windows"].items():
        yield one_line(f"note: {name} lists more windows than are read: {count} of the lowest priority are left out")
    for name, count in value["left_out"]["documents"].items():
        yield one_line(f"note: {count} documents of {name} have summaries or keywords that are searched only in part")
    for name, why in value["unlisted"].items():
        yield one_line(f"note: the tools of {name} are not known: {why}")
    for one in value["servers"]:
        yield from (one_line(f"note: {one['name']} left out {entry}") for entry in one.get("left_out", ()))
    for clash in value["tool_names"]:
        whose = " and ".join(clash["servers"])
        yield one_line(f"note: tool {clash['tool']!r} of {whose}: {clash['problem']} ({clash['advice']})")
    for change in value["changed_tools"]:
        fields = ", ".join(change["fields"])
        yield one_line(
            f"note: tool {change['listed']} of {change['server']} changed since auto_apply was set ({fields}): its "
            f"calls need confirmation; approvals shows what changed and how to accept it"
        )
    if problem := value.get("journal"):
        yield f"note: calls are not recorded and could run again after a restart: {one_line(problem)}"
    if problem := value["configuration"]["problem"]:
        yield f"configuration: {printable(problem)}"
    yield from (f"note: {one_line(note)}" for note in value["configuration"]["notes"])


def connection(value: Any, _: Terminal) -> Iterator[str]:
    """The state of the connection, in a line."""
    if value is None:
        yield OFFLINE
        return
    office = f" {one_line(value['office_id'])}" if value["office_id"] else ""
    retry = f"; next attempt in {value['retry_in']:.1f} s" if value["retry_in"] is not None else ""
    yield f"connection: {value['state']}{office}{_trouble(value)}{retry}"


def server(value: Any, terminal: Terminal) -> Iterator[str]:
    """What became of a server."""
    if value is None:
        yield "removed"
        return
    yield server_line(value, terminal)
    if note := value.get("note"):
        yield f"note: {one_line(note)}"


def server_line(value: Any, terminal: Terminal) -> str:
    """A server, its state, and what to do about it."""
    count = value["restarts"]
    restarts = f" after {count} restart{'' if count == 1 else 's'}" if count else ""
    elapsed, retry = value.get("starting_for"), value.get("retry_in")
    since = f" for {elapsed:.0f} s" if elapsed is not None and elapsed >= 1 else ""
    again = f"; next attempt in {_span(retry)}" if retry is not None and retry >= 1 else ""
    name = terminal.cyan(one_line(value["name"]))
    return f"server {name}: {value['state']}{since}{restarts}{_trouble(value)}{again}"


def event(value: Any, terminal: Terminal) -> Iterator[str]:
    """A change of state."""
    match value["event"]:
        case "ready":
            count = len(value["servers"])
            yield f"computer {one_line(value['name'])}: {count} server{'' if count == 1 else 's'}, Ctrl-C ends"
            yield from (f"note: {one_line(note)}" for note in value["notes"])
        case "server":
            # The reason was given when it failed; its next start does not repeat it.
            again = value["state"] == "starting" and value["restarts"]
            yield server_line(value | {"problem": None, "advice": None} if again else value, terminal)
        case "connection":
            yield from connection(value, terminal)
        case "configuration":
            yield f"configuration: {printable(value['problem'] or 'in use again')}"
        case "console":
            yield f"console: {value['url']} (opens once, in one browser)"
        case "stopped":
            yield "stopped"


def tools(value: Any, terminal: Terminal, indent: int = 0) -> Iterator[str]:
    """A tool a line."""
    for tool in value:
        name = one_line(tool["name"])
        about = terminal.fit(one_line(tool.get("description") or ""), columns(name) + 2 + indent)
        yield f"{terminal.cyan(name)}  {about}".rstrip()
    if not value:
        yield "no tools"


def desktop(value: Any, _: Terminal) -> Iterator[str]:
    """The windows as Agents get them."""
    yield from (printable(window) for window in value)
    if not value:
        yield "no windows"


def finder(value: Any, terminal: Terminal) -> Iterator[str]:
    """A document a line."""
    for document in value["documents"]:
        title = one_line(str(document.get("title") or ""))
        yield f"{terminal.cyan(one_line(str(document['uri'])))}  {title}".rstrip()
    yield f"{len(value['documents'])} of {value['total_count']} documents"
    for name in value.get("unavailable", ()):
        yield f"note: server {one_line(name)} cannot be asked now"


def contents(value: Any, _: Terminal) -> Iterator[str]:
    """The texts; binary contents by their size."""
    for content in value:
        if "text" in content:
            yield printable(content["text"])
        else:
            size = len(content.get("blob", "")) * 3 // 4
            yield f"({one_line(content.get('mimeType') or 'binary')}, about {size} bytes; --json shows it)"


def result(value: Any, _: Terminal, more: str = "--json shows it") -> Iterator[str]:
    """What a tool answered: texts as they are, of the rest what and where it is."""
    if value.get("isError"):
        yield "the tool failed:"
    for block in value.get("content", ()):
        yield _block(block, more)


def _block(block: Any, more: str) -> str:
    kind = str(block.get("type"))
    inner = block.get("resource")
    source = inner if isinstance(inner, dict) else block
    if isinstance(text := source.get("text"), str):
        return printable(text)
    if kind == "resource_link":
        return one_line(f"(link: {block.get('uri')} {block.get('title') or block.get('name') or ''}".rstrip() + ")")
    data = source.get("data") or source.get("blob")
    if not isinstance(data, str):
        return f"({one_line(kind)})"
    what = source.get("mimeType") or source.get("uri") or "binary"
    return one_line(f"({kind}: {what}, about {len(data) * 3 // 4} bytes; {more})")


def history(value: Any, _: Terminal) -> Iterator[str]:
    """A call a line."""
    for record in value:
        outcome = "done" if record["success"] else f"failed: {one_line(record['error'] or '')}"
        call = f"{one_line(record['server'])}/{one_line(record['tool'])} {one_line(exact(record['parameters'], None))}"
        yield f"{record['timestamp']}  {call}  {outcome}"
    if not value:
        yield "no calls yet"


def inputs(value: Any, terminal: Terminal) -> Iterator[str]:
    """An input a line, never its value."""
    for one in value:
        source = f"a value from {one_line(one['source'])}" if one["source"] else "no value yet"
        yield f"{terminal.cyan(one_line(one['id']))}  {one['type']}  {source}  {one_line(one['description'])}".rstrip()
    if not value:
        yield "no inputs"


def input_set(value: Any, _: Terminal) -> Iterator[str]:
    """What was started anew."""
    yield f"set; restarted: {', '.join(map(one_line, value['restarted'])) or 'nothing'}"


def forgotten(value: Any, _: Terminal) -> Iterator[str]:
    """Whether there was something to forget."""
    count = int(value["forgotten"])
    yield f"forgotten: {count} value{'' if count == 1 else 's'}; servers that run keep what they were given"


def approvals(value: Any, terminal: Terminal) -> Iterator[str]:
    """The questions, and what was said "always" to."""
    for question in value["pending"]:
        yield from approval(question, terminal)
    for one in value["standing"]:
        agent, tool = _name(one["agent"]), f"{_name(one['server'])}/{_name(one['tool'])}"
        yield f"always: {tool} for agent {agent} in office {_name(one['office'])}"
    for one in value["changed"]:
        yield one_line(f"changed since auto_apply was set: {one['server']}/{one['tool']}")
        yield from (f"  {visible(line)}" for line in one["lines"])
        yield one_line(f"approvals accept {one['listed']} {one['digest'][:12]}")
    if not value["pending"]:
        yield "nothing waits"


def approval(question: Any, terminal: Terminal) -> Iterator[str]:
    """A question: exactly what will run, or its beginning where that is long, and how to answer."""
    asked, number = question["confirmation"], question["number"]
    lines = decided_on(asked)
    yield from _question_head(question, terminal)
    if not is_long(lines):
        yield from lines
        yield _how(asked, number)
        return
    left = BOX_CHARACTERS
    for line in lines[:BOX_LINES]:
        yield line[:left]
        left -= len(line)
        if left <= 0:
            break
    characters = sum(map(len, lines))
    size = f"{characters:,} characters in {len(lines):,} lines"
    yield terminal.bold(f"… {size}: approvals show {number} prints all of them")
    within = seconds_text(asked["seconds"])
    yield f"then approvals approve {number} once|always; or approvals refuse {number}, within {within}"


def whole_approval(question: Any, terminal: Terminal) -> Iterator[str]:
    """A question in full."""
    yield from _question_head(question, terminal)
    yield from decided_on(question["confirmation"])
    yield _how(question["confirmation"], question["number"])


def decided_on(asked: Any) -> list[str]:
    """Return the lines that the owner decides on: the arguments, and what changed about the tool."""
    lines = [f"  {line}" for line in exact(asked["arguments"]).splitlines()]
    if asked["changes"]:
        lines.append("its definition changed since you allowed it; always accepts the new one:")
        lines += [f"  {visible(line)}" for line in asked["changes"]]
    return lines


def is_long(lines: list[str]) -> bool:
    """Whether lines are more than a person sees at a glance."""
    return len(lines) > BOX_LINES or sum(map(len, lines)) > BOX_CHARACTERS


def _question_head(question: Any, terminal: Terminal) -> Iterator[str]:
    asked, number = question["confirmation"], question["number"]
    tool = f"{exact(asked['tool'], None)} of server {exact(asked['server'], None)}"
    yield f"{terminal.bold(f'approval {number}')}: agent {exact(asked['agent'], None)} wants to run {tool} with"


def _name(text: str) -> str:
    return one_line(visible(text))


def _how(asked: Any, number: int) -> str:
    within = seconds_text(asked["seconds"])
    return f"approvals approve {number} once|always, or approvals refuse {number}, within {within}"


def answered(value: Any, _: Terminal) -> Iterator[str]:
    """What was answered."""
    yield f"{value['number']}: {value['answer']}"


def accepted(value: Any, _: Terminal) -> Iterator[str]:
    """What was accepted."""
    yield one_line(f"accepted: {value['server']}/{value['tool']} as it is now")
    yield from (f"  {visible(line)}" for line in value["lines"])


def withdrawn(value: Any, _: Terminal) -> Iterator[str]:
    """How much."""
    yield f"withdrawn: {value['withdrawn']}"


def guide(value: Any, terminal: Terminal) -> Iterator[str]:
    """A command a line."""
    width = max(len(one["usage"]) for one in value)
    yield from (f"{terminal.cyan(one['usage'].ljust(width))}  {one['help']}" for one in value)


def plain(value: Any, _: Terminal) -> Iterable[str]:
    """JSON, where a command has nothing better; nothing for nothing."""
    return [] if value is None else exact(value).splitlines()


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _trouble(value: Any) -> str:
    problem = f": {one_line(value['problem'])}" if value["problem"] else ""
    return problem + (f" ({one_line(value['advice'])})" if value["advice"] else "")
