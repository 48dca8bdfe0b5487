import json
from pathlib import Path

import pytest

from a2c_smcp.cli.connect_options import Access, access_lines
from a2c_smcp.cli.mcp import address
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.computer import parse_config
from tests.unit.cli.running import a2c

SEAT = ("mcp", "--url", "http://127.0.0.1:9", "--office", "lab")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:9000", ("127.0.0.1", 9000)),
        ("localhost:0", ("localhost", 0)),
        ("9000", ("127.0.0.1", 9000)),
        ("[::1]:80", ("::1", 80)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, found: tuple[str, int]) -> None:
    assert address(text) == found


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("mcp", "--office", "lab"), 1, "error 400: --url is missing (or set A2C_AGENT_URL)"),
        (("mcp", "--url", "http://127.0.0.1:9"), 1, "error 400: --office is missing"),
        ((*SEAT, "--http", "0", "--no-auth", "--http-token", "a"), 1, "mutually exclusive"),
        ((*SEAT, "--http", "0.0.0.0:0", "--no-auth"), 1, "error 400: 0.0.0.0 can be reached by others"),
        ((*SEAT, "--http", "nonsense"), 2, "'nonsense' is no address"),
        ((*SEAT, "--http", ":9000"), 2, "':9000' is no address"),
        ((*SEAT, "--http", "127.0.0.1:99999"), 2, "is no address"),
        ((*SEAT, "--timeout", "0"), 2, "'0' is no time-out"),
        ((*SEAT, "--timeout", "nan"), 2, "'nan' is no time-out"),
        ((*SEAT, "--token", "a", "--token-file", "b"), 1, "--token, --token-file: one of them"),
        ((*SEAT, "--http", "0", "--http-token-file", "missing"), 1, "missing cannot be read"),
        ((*SEAT, "--http", "0", "--http-token", "a", "--http-token-file", "b"), 1, "one of them"),
        ((*SEAT, "--name", "\x07"), 1, "error 400"),
    ],
)
def test_what_cannot_work_is_refused_at_once(words: tuple[str, ...], code: int, told: str) -> None:
    run = a2c(*words)
    assert (run.code, run.out, told in run.err, "Traceback" in run.err) == (code, "", True, False)


def test_without_http_standard_output_belongs_to_the_client() -> None:
    run = a2c(*SEAT, "--json")
    assert (run.code, "--json needs --http" in run.out) == (2, True)


def test_an_empty_token_file_protects_nothing(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" \n", encoding="utf-8")
    run = a2c(*SEAT, "--http", "0", "--http-token-file", str(tmp_path / "token"))
    assert (run.code, "is empty" in run.err) == (1, True)


def test_the_configuration_that_is_printed_is_one_that_clients_read() -> None:
    access = Access("t0ken", generated=True)
    url = "http://127.0.0.1:9000/mcp"
    printed = list(access_lines(access.facts("a2c-lab", url), Terminal()))
    assert printed[0] == "token      t0ken"
    server = parse_config(json.loads("".join(printed[2:]))).config.servers["a2c-lab"]
    assert server.type == "streamable"
    assert (server.server_parameters.url, server.server_parameters.headers) == (url, {"Authorization": "Bearer t0ken"})


def test_a_token_that_was_chosen_is_not_printed() -> None:
    facts = Access("chosen").facts("a2c-lab", "http://127.0.0.1:9000/mcp")
    assert facts == {"token": None, "mcp": None}
    assert list(access_lines(facts, Terminal())) == []
