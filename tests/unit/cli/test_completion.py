"""The scripts, and what bash makes of one."""

import subprocess

import pytest

from a2c_smcp.cli.command import Argument, Command
from a2c_smcp.cli.completion import bash, fish, zsh
from tests.unit.cli.running import a2c

COMMANDS = (
    Command(
        "docs",
        "Show 'em.",
        lambda _, __: None,
        (
            Argument("folder", "A folder.", many=True, completes="directory"),
            Argument("--depth", "How far: a word.", choices=("pages", "elements")),
            Argument("--out", "Where to [maybe].", completes="file"),
            Argument("--dry", "Do nothing.", flag=True),
        ),
    ),
    Command("completion", "Scripts.", lambda _, __: None, (Argument("shell", "Which.", choices=("bash", "zsh")),)),
    Command("token", "Tokens.", commands=(Command("create", "Create.", lambda _, __: None),)),
)
COMMON = "'--json[Print the result as JSON; a failure is printed as the error ack.]' '--help[Show this help.]'"


def completed(*words: str) -> set[str]:
    """What bash offers for the last of `words`."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = "\n".join(
        [
            *bash(COMMANDS),
            f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _a2c",
            'printf "%s\\n" "${COMPREPLY[@]}"',
        ]
    )
    run = subprocess.run(["bash"], input=script, capture_output=True, text=True, timeout=60, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("a2c", ""), {"docs", "completion", "token", "--help", "--version"}),
        (("a2c", "d"), {"docs"}),
        (("a2c", "docs", "--d"), {"--depth", "--dry"}),
        (("a2c", "docs", "--depth", ""), {"pages", "elements"}),
        (("a2c", "docs", "x", "--depth", "e"), {"elements"}),
        (("a2c", "docs", "fold"), set()),
        (("a2c", "completion", ""), {"bash", "zsh", "--json", "--help"}),
        (("a2c", "token", "c"), {"create"}),
        (("a2c", "token", "create", "--j"), {"--json"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bash_offers_what_the_table_knows(words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(*words) == offered


def test_zsh_describes_every_command_and_argument() -> None:
    assert list(zsh(COMMANDS)) == [
        "#compdef a2c",
        '# Load it with: eval "$(a2c completion zsh)"',
        "_a2c_token_create() {",
        f"    _arguments {COMMON}",
        "}",
        "_a2c_token() {",
        "    local -a commands=(create:Create.)",
        "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
        "    shift words; (( CURRENT-- ))",
        '    case "$words[1]" in',
        "        create) _a2c_token_create ;;",
        "    esac",
        "}",
        "_a2c_completion() {",
        f"    _arguments '1:bash|zsh:(bash zsh)' {COMMON}",
        "}",
        "_a2c_docs() {",
        (
            "    _arguments '*:FOLDER:_files -/' '--depth[How far - a word.]:pages|elements:(pages elements)' "
            f"'--out[Where to (maybe).]:OUT:_files' '--dry[Do nothing.]' {COMMON}"
        ),
        "}",
        "_a2c() {",
        "    local -a commands=('docs:Show '\"'\"'em.' completion:Scripts. token:Tokens.)",
        "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
        "    shift words; (( CURRENT-- ))",
        '    case "$words[1]" in',
        "        docs) _a2c_docs ;;",
        "        completion) _a2c_completion ;;",
        "        token) _a2c_token ;;",
        "    esac",
        "}",
        "compdef _a2c a2c",
    ]


def test_fish_offers_each_word_only_where_it_belongs() -> None:
    lines = list(fish(COMMANDS))
    assert [line for line in lines if "-l json" not in line and "-l help" not in line] == [
        "# Load it with: a2c completion fish | source",
        "complete -c a2c -f",
        "complete -c a2c -n 'not __fish_seen_subcommand_from docs completion token' -l version -d 'Print the version.'",
        "complete -c a2c -n 'not __fish_seen_subcommand_from docs completion token' -a docs -d 'Show \\'em.'",
        "complete -c a2c -n '__fish_seen_subcommand_from docs' -a '(__fish_complete_directories)' -d 'A folder.'",
        "complete -c a2c -n '__fish_seen_subcommand_from docs' -l depth -r -a 'pages elements' -d 'How far: a word.'",
        "complete -c a2c -n '__fish_seen_subcommand_from docs' -l out -r -F -d 'Where to [maybe].'",
        "complete -c a2c -n '__fish_seen_subcommand_from docs' -l dry -d 'Do nothing.'",
        "complete -c a2c -n 'not __fish_seen_subcommand_from docs completion token' -a completion -d 'Scripts.'",
        "complete -c a2c -n '__fish_seen_subcommand_from completion' -a 'bash zsh' -d 'Which.'",
        "complete -c a2c -n 'not __fish_seen_subcommand_from docs completion token' -a token -d 'Tokens.'",
        (
            "complete -c a2c -n '__fish_seen_subcommand_from token; and not __fish_seen_subcommand_from create' "
            "-a create -d 'Create.'"
        ),
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_script_of_a_shell(shell: str) -> None:
    run = a2c("completion", shell)
    assert (run.code, run.err) == (0, "")
    assert "completion" in run.out
