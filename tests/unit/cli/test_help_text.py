from pathlib import Path

from a2c_smcp.cli.command import Argument, Command
from a2c_smcp.cli.help_text import help_lines, leaves, reference
from a2c_smcp.cli.table import COMMANDS
from a2c_smcp.cli.terminal import Terminal

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"


def test_the_reference_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(COMMANDS), "python -m a2c_smcp.cli.reference writes it"


def test_the_help_of_the_program_lists_every_command() -> None:
    text = "\n".join(help_lines((), COMMANDS, Terminal()))
    assert [command.name for command in COMMANDS if f"\n  {command.name} " not in text] == []


def test_the_help_of_a_command_has_its_usage_arguments_and_examples() -> None:
    command = Command(
        "read",
        "Read a file.",
        lambda _, __: None,
        (Argument("file", "The file."), Argument("--limit", "How many.", metavar="N", default=3)),
        help="More of it.",
        examples=("a2c read notes.md",),
    )
    assert list(help_lines((command,), (), Terminal())) == [
        "usage: a2c read FILE [--limit N] [--json]",
        "",
        "Read a file.",
        "",
        "More of it.",
        "",
        "arguments:",
        "  FILE       The file.",
        "  --limit N  How many. (default: 3)",
        "  --json     Print the result as JSON; a failure is printed as the error ack.",
        "  --help     Show this help.",
        "",
        "examples:",
        "  a2c read notes.md",
    ]


def test_verbs_are_documented_under_their_nouns() -> None:
    create = Command("create", "Create a token.", lambda _, __: None, extra="server")
    commands = (Command("token", "Tokens.", commands=(create,)),)
    assert [[step.name for step in path] for path in leaves(commands)] == [["token", "create"]]
    assert "## `a2c token create`" in reference(commands)
    assert "pip install '.[server]'" in reference(commands)


def test_the_help_of_a_noun_lists_its_verbs() -> None:
    create = Command("create", "Create a token.", lambda _, __: None)
    lines = list(help_lines((Command("token", "Tokens.", commands=(create,)),), (), Terminal()))
    assert lines[:6] == ["usage: a2c token COMMAND ...", "", "Tokens.", "", "commands:", "  create  Create a token."]


def test_a_long_name_gets_a_line_of_its_own() -> None:
    option = Argument("--a-very-long-option", "What it does.", metavar="A_LONG_VALUE")
    lines = list(help_lines((Command("x", "X.", lambda _, __: None, (option,)),), (), Terminal()))
    assert lines[5:7] == ["  --a-very-long-option A_LONG_VALUE", " " * 32 + "What it does."]
