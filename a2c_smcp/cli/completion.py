"""`a2c completion`: scripts that complete the command line in a shell, written from the command table."""

import shlex
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from a2c_smcp.cli.command import COMMON, Argument, Command, Context

TOP: Final = ("--help", "--version")


def complete(context: Context, arguments: Namespace) -> str:
    """Return the completion script of one shell."""
    return "\n".join(SCRIPTS[arguments.shell](context.commands))


def nodes(commands: Sequence[Command], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Yield every command, nouns before their verbs, with the words that lead to it."""
    for command in commands:
        path = (*above, command.name)
        yield path, command
        yield from nodes(command.commands, path)


def bash(commands: Sequence[Command]) -> Iterator[str]:
    """Yield the lines of a script for bash 3.2 and newer."""
    known = "|".join(f'"{" ".join(path)}"' for path, _ in nodes(commands))
    yield '# Load it with: eval "$(a2c completion bash)"'
    yield "_a2c() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" path="" next index'
    yield "    COMPREPLY=()"
    yield "    for ((index = 1; index < COMP_CWORD; index++)); do"
    yield '        next="${path:+$path }${COMP_WORDS[index]}"'
    yield f'        case "$next" in {known}) path="$next" ;; esac'
    yield "    done"
    yield '    case "$path" in'
    yield from _bash_case("", [*(command.name for command in commands), *TOP])
    for path, command in nodes(commands):
        yield from _bash_case(" ".join(path), _words_of(command), _options_with_choices(command))
    yield "    esac"
    yield "}"
    yield "complete -o default -F _a2c a2c"


def zsh(commands: Sequence[Command]) -> Iterator[str]:
    """Yield the lines of a script for zsh."""
    yield "#compdef a2c"
    yield '# Load it with: eval "$(a2c completion zsh)"'
    for path, command in reversed(list(nodes(commands))):
        name = "_".join(("_a2c", *path))
        specs = [shlex.quote(_zsh_spec(argument)) for argument in (*command.arguments, *COMMON)]
        arguments = f"_arguments {' '.join(specs)}"
        if command.commands:
            yield from _zsh_noun(name, command.commands, arguments if command.handler else "")
        else:
            yield from (f"{name}() {{", f"    {arguments}", "}")
    yield from _zsh_noun("_a2c", commands)
    yield "compdef _a2c a2c"


def fish(commands: Sequence[Command]) -> Iterator[str]:
    """Yield the lines of a script for fish."""
    yield "# Load it with: a2c completion fish | source"
    top = " ".join(command.name for command in commands)
    yield "complete -c a2c -f"
    yield f"complete -c a2c -n 'not __fish_seen_subcommand_from {top}' -l version -d 'Print the version.'"
    for path, command in nodes(commands):
        siblings = [other[-1] for other, _ in nodes(commands) if other[:-1] == path[:-1]]
        seen = [f"__fish_seen_subcommand_from {word}" for word in path[:-1]]
        condition = "; and ".join([*seen, f"not __fish_seen_subcommand_from {' '.join(siblings)}"])
        yield f"complete -c a2c -n '{condition}' -a {path[-1]} -d {_fish_quote(command.summary)}"
        inside = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in path)
        for argument in (*command.arguments, *COMMON):
            yield f"complete -c a2c -n '{inside}' {_fish_spec(argument)}"


SCRIPTS: Final[Mapping[str, Callable[[Sequence[Command]], Iterator[str]]]] = {"bash": bash, "zsh": zsh, "fish": fish}

COMMAND: Final = Command(
    name="completion",
    summary="Print a script that completes a2c in your shell.",
    arguments=(Argument("shell", "The shell to write for.", choices=tuple(SCRIPTS)),),
    handler=complete,
    examples=('eval "$(a2c completion bash)"', "a2c completion fish | source"),
)


def _words_of(command: Command) -> list[str]:
    words = [verb.name for verb in command.commands]
    for argument in (*command.arguments, *COMMON):
        words += [argument.name] if argument.is_option else argument.choices
    return words


def _options_with_choices(command: Command) -> list[Argument]:
    return [argument for argument in command.arguments if argument.is_option and argument.choices]


def _bash_case(path: str, words: Sequence[str], options: Sequence[Argument] = ()) -> Iterator[str]:
    yield f'        "{path}")'
    if options:
        yield '            case "$before" in'
        for option in options:
            choices = " ".join(option.choices)
            yield f'                {option.name}) COMPREPLY=($(compgen -W "{choices}" -- "$word")); return ;;'
        yield "            esac"
    yield f'            COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")) ;;'


def _zsh_noun(name: str, commands: Sequence[Command], otherwise: str = "") -> Iterator[str]:
    rows = " ".join(shlex.quote(f"{command.name}:{command.summary}") for command in commands)
    yield f"{name}() {{"
    yield f"    local -a commands=({rows})"
    if otherwise:
        yield f"    if (( CURRENT == 2 )); then _describe command commands; {otherwise}; return; fi"
        yield f"    if (( ! ${{commands[(I)$words[2]:*]}} )); then {otherwise}; return; fi"
    else:
        yield "    if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield "    shift words; (( CURRENT-- ))"
    yield '    case "$words[1]" in'
    yield from (f"        {command.name}) {name}_{command.name} ;;" for command in commands)
    yield "    esac"
    yield "}"


def _zsh_spec(argument: Argument) -> str:
    text = argument.help.replace("[", "(").replace("]", ")").replace(":", " -")
    offers = {"file": "_files", "directory": "_files -/", "": ""}[argument.completes]
    values = f"({' '.join(argument.choices)})" if argument.choices else offers
    if not argument.is_option:
        return f"{'*' if argument.many else '1'}:{argument.placeholder.replace(':', ' ')}:{values}"
    return f"{argument.name}[{text}]" + ("" if argument.flag else f":{argument.placeholder}:{values}")


def _fish_spec(argument: Argument) -> str:
    text = f"-d {_fish_quote(argument.help)}"
    values = f"-a {_fish_quote(' '.join(argument.choices))}" if argument.choices else ""
    files = {"file": "-F", "directory": "-a '(__fish_complete_directories)'", "": ""}[argument.completes]
    if not argument.is_option:
        return " ".join(filter(None, (values or files, text)))
    name = f"-l {argument.name.removeprefix('--')}"
    return " ".join(filter(None, (name, "" if argument.flag else "-r", values or files, text)))


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
